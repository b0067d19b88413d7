import { Settings } from '../assumptions.ts'
import { limitOverrides, successOverrides } from '../core-assumptions.ts'
import { refuse, refuseInvalid } from '../errors.ts'
import { type Issue, type JsonObject, pointer } from '../json.ts'
import { operationName } from '../log/request-criteria.ts'
import type { Scope } from '../operation.ts'
import { withSecrets } from '../secrets.ts'
import { armRecord } from '../service.ts'
import type { Commit, Row } from '../state/commit.ts'
import { checkDocument } from '../state/document.ts'
import { unmaskedDocument } from '../state/masked.ts'
import { CLOCK, SANDBOX_TABLE, type SandboxState, SETTINGS } from '../state/state.ts'
import { Clock, type ClockRow, clockRow } from '../time/clock.ts'
import { runDueEvents } from '../time/run-events.ts'
import { isKind, tomorrow } from '../tomorrow.ts'
import { zodIssues } from '../zod-issues.ts'
import type { Sandbox } from './sandbox.ts'

/** Makes a change from outside the API, in its own transaction. When `work` throws, nothing of it is written. */
export function change<T>(sandbox: Sandbox, work: (scope: Scope) => T, cause = 'control') {
  runDueEvents(sandbox)
  sandbox.advances.instantLimit.reset()
  const scope = sandbox.scope(cause)
  const result = work(scope)
  return { result, commit: sandbox.commit(scope) }
}

/**
 * Refuses settings with every issue, also those of records that would no longer be valid.
 * @returns the settings, with the stored secret for a masked one
 */
export function checkedSettings(sandbox: Sandbox, given: JsonObject): JsonObject {
  const values = withSecrets(given, sandbox.settings.overrides)
  refuseInvalid(sandbox.service.assumptions.check(values))
  refuseInvalid(newNames(sandbox, values))
  // Records that were valid under the old settings may be invalid under the new ones.
  checkedState(sandbox, { ...sandbox.document(), settings: values })
  return values
}

// A limit for an operation that is gone stays, so only the others are checked.
function newNames({ service, settings }: Sandbox, values: JsonObject): Issue[] {
  const known = new Set(settings.get(limitOverrides).map(({ operation }) => operation))
  const check = (name: string, ...place: readonly PropertyKey[]): Issue[] => {
    const { error } = known.has(name) || isKind(name) ? {} : operationName(service).safeParse(name)
    return error === undefined ? [] : [...zodIssues(error, pointer(...place))]
  }
  const own = new Settings(values)
  const later = Object.entries<readonly string[]>(Object(own.get(tomorrow)))
  return [
    ...own
      .get(limitOverrides)
      .flatMap((each, n) => check(each.operation, limitOverrides.key, n, 'operation')),
    ...Object.keys(own.get(successOverrides)).flatMap((name) => {
      const isFixed = typeof service.operations.get(name)?.success === 'number'
      const detail = 'Its success status is declared with the operation, so no setting changes it.'
      return isFixed
        ? [{ pointer: pointer(successOverrides.key, name), detail }]
        : check(name, successOverrides.key, name)
    }),
    ...later.flatMap(([list, names]) => names.flatMap((name, n) => check(name, tomorrow.key, list, n))),
  ]
}

/** The state in a document for a sandbox. Refuses the whole document with every issue. */
export function checkedState(sandbox: Sandbox, document: unknown): SandboxState {
  const checked = checkDocument(document, sandbox.service, sandbox.options.strict)
  refuseInvalid('issues' in checked ? checked.issues : [])
  return (checked as { readonly state: SandboxState }).state // without a state there are issues, refused above
}

/** Replaces the settings, or refuses all of them with every issue. A masked secret means the stored one. */
export function setSettings(sandbox: Sandbox, given: JsonObject): void {
  const values = checkedSettings(sandbox, given)
  change(sandbox, ({ tx }) => tx.put(SANDBOX_TABLE, { id: SETTINGS, values } as Row))
}

/**
 * Replaces the state by a document, or refuses the whole document with every issue. A masked secret means the stored one.
 * @param ifRevision the document is an edit of the state at this revision: it is refused with `precondition_failed` if content
 * has changed since. The clock then goes on and is never set back, the request log stays, and new records get their events.
 * @returns the commit of the edit; undefined if it changes nothing
 */
export function loadDocument(sandbox: Sandbox, document: unknown, ifRevision?: number): Commit | undefined {
  const whole = unmaskedDocument(document, () => sandbox.document())
  const state = checkedState(sandbox, whole)
  if (ifRevision !== undefined) return applyEdit(sandbox, state, ifRevision)
  replaceState(sandbox, state)
  return undefined
}

function applyEdit(sandbox: Sandbox, { store, limits }: SandboxState, revision: number): Commit | undefined {
  sandbox.advances.refuseOther()
  const { service, options } = sandbox
  const { commit } = change(sandbox, (scope) => {
    const { tx } = scope
    refuseOutdated(sandbox, revision)
    const changes = sandbox.store.changesTo(store)
    for (const { table, id, after } of changes) {
      if (after === undefined) tx.delete(table, id)
      else tx.put(table, after)
    }
    const row = store.get(SANDBOX_TABLE, CLOCK) as ClockRow
    const now = Math.max(sandbox.clock.now, new Clock(options.host, row).due())
    tx.put(SANDBOX_TABLE, clockRow({ ...row, now }, options.host))
    for (const { table, after } of changes)
      if (after !== undefined && service.collections.has(table)) armRecord(service, scope, table, after)
  })
  sandbox.limits.windows.load(limits)
  return commit
}

function refuseOutdated({ content, store }: Sandbox, revision: number): void {
  if (revision > store.revision)
    refuse('precondition_failed', {
      detail: `The document is an edit of revision ${revision}, but the sandbox is at revision ${store.revision}.`,
      mitigation: 'Replace the state without this check, or edit the present document.',
    })
  if (revision < content.revision)
    refuse('precondition_failed', {
      detail: `The document is an edit of revision ${revision}, but the sandbox has changed in revision ${content.revision}.`,
      mitigation: 'Make the edit in the present document, or replace the state without this check.',
    })
}

/** Replaces the whole state on behalf of a request. Refuses with `conflict` during an advance. */
export function replaceState(sandbox: Sandbox, state: SandboxState): void {
  sandbox.advances.refuseOther()
  sandbox.replaceWith(state)
}
