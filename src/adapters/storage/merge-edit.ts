import { Refusal } from '../../core/errors.ts'
import { isObject, pointer, same } from '../../core/json.ts'
import { change } from '../../core/sandboxes/change.ts'
import type { Sandbox } from '../../core/sandboxes/sandbox.ts'
import { SCENARIO } from '../../core/scenarios/row.ts'
import { armRecord, type Service } from '../../core/service.ts'
import type { Row } from '../../core/state/commit.ts'
import { checkDocument } from '../../core/state/document.ts'
import {
  CLOCK,
  CORE_TABLES,
  COUNTERS,
  type CountersRow,
  type Document,
  ORIGIN,
  SANDBOX_TABLE,
  type SandboxState,
  SETTINGS,
  type SettingsRow,
} from '../../core/state/state.ts'
import type { Transaction } from '../../core/state/transaction.ts'
import { type ClockRow, clockRow } from '../../core/time/clock.ts'
import { advanceTo } from '../../core/time/run-events.ts'

/** An edit of the state file that has passed the check of documents. */
interface Edit {
  /** The edited file. */
  readonly edited: Document
  /** The state in the edited file. */
  readonly checked: SandboxState
  /** The file as the emulator wrote it. */
  readonly base: Document
  /** Called immediately before the edit is committed. */
  readonly commits: () => void
  /** Saves the records that are about to be replaced. @returns the name of the file */
  readonly keep: (records: readonly Replaced[]) => string
}

/** A record that an edit replaces although it had changed since the file was written. */
export interface Replaced {
  /** The key of its table in the document, `collections/pages`. */
  readonly table: string
  readonly record: Row
}

/** The effects of an edit on the sandbox. */
export interface EditOutcome {
  readonly written: number
  readonly removed: number
  readonly replaced: readonly Replaced[]
  /** The file with the replaced records. */
  readonly kept: string | undefined
  /** Messages about parts of the edit that were left out or need another step. */
  readonly notes: readonly string[]
}

/** Applies an edit to the sandbox in one transaction. Throws when the two contradict each other, or when the journal fails. */
export function applyEdit(sandbox: Sandbox, edit: Edit): EditOutcome {
  const { edited, base, checked } = edit
  const { result } = change(sandbox, (scope) => {
    const { tx } = scope
    const merged = tablesOf(sandbox.service).map(({ key, table, from }) => ({
      key,
      table,
      ...merge({
        base: recordsById(from(base)),
        edited: recordsById(from(edited)),
        checked: checked.store.rows(table),
        current: (id) => tx.get(table, id),
      }),
    }))
    const counted = [...countersOf(edit, tx), ...clockOf(sandbox, edit, tx)]
    for (const { table, puts, deletes } of merged) {
      for (const row of puts) tx.put(table, row)
      for (const id of deletes) tx.delete(table, id)
    }
    for (const row of counted) tx.put(SANDBOX_TABLE, row)
    // This must follow the counters, because new events get their numbers from them.
    for (const { table, puts } of merged)
      for (const row of puts) armRecord(sandbox.service, scope, table, row)
    throwIfContradictory(sandbox, tx)
    const replaced = merged.flatMap(({ key, replaced }) => replaced.map((record) => ({ table: key, record })))
    const kept = replaced.length === 0 ? undefined : edit.keep(replaced)
    edit.commits()
    return {
      written: counted.length + merged.flatMap(({ puts }) => puts).length,
      removed: merged.flatMap(({ deletes }) => deletes).length,
      replaced,
      kept,
    }
  })
  mergeLimits(sandbox, edit)
  return { ...result, notes: moveClock(sandbox, edit) }
}

/** The tables of a store, each with its key in a document and its records there. */
function tablesOf(service: Service) {
  const core = Object.entries(CORE_TABLES).map(([key, table]) => ({
    key,
    table: table as string,
    from: (document: Document): unknown => document[key as keyof typeof CORE_TABLES],
  }))
  const collections = [...service.collections.keys()].map((name) => ({
    key: `collections/${name}`,
    table: name,
    // A document may leave out a table, or all of them, and then has no records there.
    from: ({ collections = {} }: Partial<Document>): unknown => collections[name],
  }))
  // Settings, seed and active scenario: a sandbox has one of each.
  const single = {
    key: 'sandbox',
    table: SANDBOX_TABLE,
    from: ({ settings = {}, seed, scenario = null }: Partial<Document>): unknown => [
      { id: SETTINGS, values: settings },
      { id: ORIGIN, seed },
      ...(scenario === null ? [] : [{ id: SCENARIO, ...scenario }]),
    ],
  }
  return [...collections, ...core, single]
}

// Numbers that have been used are never used again, even if the file has lower counters.
function countersOf({ checked }: Edit, tx: Transaction): Row[] {
  const now = tx.get(SANDBOX_TABLE, COUNTERS) as CountersRow
  const { ids, uuids, events } = checked.store.get(SANDBOX_TABLE, COUNTERS) as CountersRow
  const row: CountersRow = {
    id: 'counters',
    ids: Math.max(ids, now.ids),
    uuids: Math.max(uuids, now.uuids),
    events: Math.max(events, now.events),
  }
  return same(row, now) ? [] : [row]
}

function clockOf(sandbox: Sandbox, { edited, base }: Edit, tx: Transaction): Row[] {
  const current = tx.get(SANDBOX_TABLE, CLOCK) as ClockRow
  const rate = edited.clock.rate === base.clock.rate ? current.rate : edited.clock.rate
  const skip_on_poll =
    edited.clock.skip_on_poll === base.clock.skip_on_poll ? current.skip_on_poll : edited.clock.skip_on_poll
  if (rate === current.rate && skip_on_poll === current.skip_on_poll) return []
  return [clockRow({ now: sandbox.clock.now, rate, skip_on_poll }, sandbox.options.host)]
}

function mergeLimits({ limiter }: Sandbox, { edited, base, checked }: Edit): void {
  const windows = new Map(limiter.save().map((each) => [each.id, each]))
  const { puts, deletes } = merge({
    base: recordsById(base.limits),
    edited: recordsById(edited.limits),
    checked: new Map(checked.limits.map((each) => [each.id, each])),
    current: (id) => windows.get(id),
  })
  if (puts.length + deletes.length === 0) return
  for (const id of deletes) windows.delete(id)
  for (const row of puts) windows.set(row.id, row as (typeof checked.limits)[number])
  limiter.load(windows.values())
}

// Only a reset or a restore moves the clock back. Moving it forward runs the due events one by one, like the control API.
function moveClock(sandbox: Sandbox, { edited, base }: Edit): string[] {
  if (edited.clock.now === base.clock.now) return []
  const target = Date.parse(edited.clock.now)
  if (target > sandbox.clock.now) return moveForward(sandbox, target)
  if (target < sandbox.clock.now) {
    return [
      '/clock/now is in the past and has been ignored: time only moves forward. To go back, reset the sandbox or restore a snapshot.',
    ]
  }
  return []
}

// The records of the edit are already committed. If one turn cannot run all due events, the note describes the next step.
function moveForward(sandbox: Sandbox, target: number): string[] {
  try {
    advanceTo(sandbox, target, 'An edit of /clock/now')
    return []
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== 'conflict') throw error
    return [`${error.message} ${error.options.mitigation}`]
  }
}

// The edited file and the sandbox are both valid, but the merged result may be invalid.
function throwIfContradictory(sandbox: Sandbox, tx: Transaction): void {
  const { service, assumptions, options } = sandbox
  const settings = tx.get(SANDBOX_TABLE, SETTINGS) as SettingsRow
  const collections = Object.fromEntries(
    [...service.collections.keys()].map((name) => [name, [...tx.rows(name)]]),
  )
  const merged = { ...sandbox.document(), settings: settings.values, collections }
  const checked = checkDocument(merged, service, assumptions, options.strict)
  if (!('issues' in checked)) return
  const [first] = checked.issues
  const more = checked.issues.length > 1 ? `, and ${checked.issues.length - 1} more` : ''
  throw new Error(
    `the edit conflicts with changes since the file was written: ${byId(first?.pointer ?? '', collections)}: ${first?.detail}${more}`,
  )
}

// `/collections/pages/3/name` with the id of the record in place of its index, because the merged array is in no file.
function byId(path: string, collections: Readonly<Record<string, readonly Row[]>>): string {
  const [, top, name = '', number, ...rest] = path.split('/')
  const id = collections[name]?.[Number(number)]?.id
  return top === 'collections' && id !== undefined ? [pointer(top, name, id), ...rest].join('/') : path
}

/** Three states of one table: the file as the emulator wrote it, the file as it was edited, and the sandbox as it is now. */
interface Versions {
  /** Records of the file before the edit. */
  readonly base: ReadonlyMap<string, unknown>
  /** Records of the edited file. */
  readonly edited: ReadonlyMap<string, unknown>
  /** The records of the edited file after the check, in the form in which they are stored. */
  readonly checked: ReadonlyMap<string, Row>
  readonly current: (id: string) => Row | undefined
}

/** The effects of an edit on one table. */
export interface Merge {
  readonly puts: readonly Row[]
  readonly deletes: readonly string[]
  /** The replaced or removed records that had changed in the sandbox since the file was written, with their content before. */
  readonly replaced: readonly Row[]
}

/**
 * Merges record by record. A change only in the file is applied. A change only in the sandbox is kept. If both have changed,
 * the edit wins, and the record that it replaces is in `replaced`.
 */
export function merge({ base, edited, checked, current }: Versions): Merge {
  const [puts, deletes, replaced]: [Row[], string[], Row[]] = [[], [], []]
  const note = (id: string): void => {
    const row = current(id)
    if (row !== undefined && !same(row, base.get(id))) replaced.push(row)
  }
  for (const [id, raw] of edited) {
    if (base.has(id) && same(raw, base.get(id))) continue
    const row = checked.get(id)
    if (row === undefined || same(row, current(id))) continue
    note(id)
    puts.push(row)
  }
  for (const id of base.keys()) {
    if (edited.has(id) || current(id) === undefined) continue
    note(id)
    deletes.push(id)
  }
  return { puts, deletes, replaced }
}

/** The records of a table of a document, by id. Other values are skipped: the check of the document has refused them. */
export function recordsById(rows: unknown): Map<string, unknown> {
  const map = new Map<string, unknown>()
  if (!Array.isArray(rows)) return map
  for (const row of rows) if (isObject(row) && typeof row.id === 'string') map.set(row.id, row)
  return map
}
