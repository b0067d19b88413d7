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

/** Makes a change from outside the API, in its own transaction. When `work` throws, nothing of it is written. */
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

/** Replaces the settings, or refuses all of them with every issue. A masked secret means the stored one. */
export function setSettings(sandbox: Sandbox, given: JsonObject): void {
  const values = withSecrets(given, sandbox.settings.overrides)
  refuseInvalid(sandbox.assumptions.check(values))
  // Records that were valid under the old settings may be invalid under the new ones.
  const document = { ...sandbox.document(), settings: values }
  const checked = checkDocument(document, sandbox.service, sandbox.assumptions, sandbox.options.strict)
  if ('issues' in checked) refuseInvalid(checked.issues)
  change(sandbox, ({ tx }) => tx.put(SANDBOX_TABLE, { id: SETTINGS, values } as Row))
}

/** Replaces the state by a document, or refuses the whole document with every issue. A masked secret means the stored one. */
export function loadDocument(sandbox: Sandbox, document: unknown): void {
  const whole = unmaskedDocument(document, () => sandbox.document())
  const checked = checkDocument(whole, sandbox.service, sandbox.assumptions, sandbox.options.strict)
  if ('issues' in checked) refuseInvalid(checked.issues)
  else replaceState(sandbox, checked.state)
}

/** Replaces the whole state on behalf of a request. Refuses with `conflict` during an advance. */
export function replaceState(sandbox: Sandbox, state: SandboxState): void {
  sandbox.refuseDuringAdvance()
  sandbox.replaceWith(state)
}
