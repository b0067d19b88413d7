import { refuseInvalid } from '../errors.ts'
import type { JsonObject } from '../json.ts'
import type { Scope } from '../operation.ts'
import { withSecrets } from '../secrets.ts'
import type { Commit, Row } from '../state/commit.ts'
import { checkDocument } from '../state/document.ts'
import { unmaskedDocument } from '../state/masked.ts'
import { SANDBOX_TABLE, type SandboxState, SETTINGS } from '../state/state.ts'
import { runDueEvents } from '../time/run-events.ts'
import type { Sandbox } from './sandbox.ts'

/** A change from outside the API, in a transaction of its own. When `work` throws, nothing has changed. */
export function change<T>(
  sandbox: Sandbox,
  work: (scope: Scope) => T,
  cause = 'control',
): { readonly result: T; readonly commit: Commit | undefined } {
  runDueEvents(sandbox)
  sandbox.instantLimit.reset()
  const scope = sandbox.scope(cause)
  const result = work(scope)
  return { result, commit: sandbox.commit(scope) }
}

/** Replaces the settings, or refuses them whole with every issue. A masked secret stays as it is stored. */
export function setSettings(sandbox: Sandbox, given: JsonObject): void {
  const values = withSecrets(given, sandbox.settings.overrides)
  refuseInvalid(sandbox.assumptions.check(values))
  // Records that were valid under the old settings need not be valid under the new ones.
  const document = { ...sandbox.document(), settings: values }
  const checked = checkDocument(document, sandbox.service, sandbox.assumptions, sandbox.options.strict)
  if ('issues' in checked) refuseInvalid(checked.issues)
  change(sandbox, ({ tx }) => tx.put(SANDBOX_TABLE, { id: SETTINGS, values } as Row))
}

/** Replaces the state by a document from outside, or refuses it whole with every issue. A masked secret stays as it is stored. */
export function loadDocument(sandbox: Sandbox, document: unknown): void {
  const whole = unmaskedDocument(document, () => sandbox.document())
  const checked = checkDocument(whole, sandbox.service, sandbox.assumptions, sandbox.options.strict)
  if ('issues' in checked) refuseInvalid(checked.issues)
  else replaceState(sandbox, checked.state)
}

/** Replaces everything on behalf of a request. Refused during an advance. */
export function replaceState(sandbox: Sandbox, state: SandboxState): void {
  sandbox.refuseDuringAdvance()
  sandbox.replaceWith(state)
}
