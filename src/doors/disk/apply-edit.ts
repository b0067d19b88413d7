import { type Issue, pointer, same } from '../../kernel/json.ts'
import { armRecord } from '../../kernel/operation.ts'
import { SCENARIO } from '../../kernel/scenario/row.ts'
import type { Row } from '../../kernel/state/commit.ts'
import { checkDocument } from '../../kernel/state/document.ts'
import {
  CLOCK,
  COUNTERS,
  type CountersRow,
  type Document,
  KERNEL_TABLES,
  ORIGIN,
  SETTINGS,
  type SettingsRow,
  WORLD,
  type WorldState,
} from '../../kernel/state/state.ts'
import type { Transaction } from '../../kernel/state/store.ts'
import { type ClockRow, clockRow } from '../../kernel/time/clock.ts'
import { advanceTo } from '../../kernel/time/settle.ts'
import type { Sandbox } from '../../kernel/worlds/sandbox.ts'
import { merge, recordsById } from './merge.ts'

/** An edit of the state file that has passed the check of documents. */
export interface Edit {
  /** What the edited file says. */
  readonly edited: Document
  /** The same as a world of its own. */
  readonly checked: WorldState
  /** The file as the emulator wrote it. */
  readonly base: Document
  /** False when the edit was made on an older file than `base`. */
  readonly exact: boolean
  /** Writes away what is about to be replaced; returns where. */
  readonly keep: (records: readonly Replaced[]) => string
}

/** A record that an edit replaces although it had changed since the file was written. */
export interface Replaced {
  /** The key of its table in the document, `collections/pages`. */
  readonly table: string
  readonly record: Row
}

/** What an edit has done to the world. */
export interface EditOutcome {
  readonly written: number
  readonly removed: number
  readonly replaced: readonly Replaced[]
  /** Where the replaced records have been kept. */
  readonly kept: string | undefined
  /** Parts of the edit that cannot be taken as they are, and what has become of them. */
  readonly notes: readonly string[]
}

/** An edit that contradicts what has happened since the file was written. Nothing of it has been taken. */
export class EditRefused extends Error {
  constructor(issues: readonly Issue[]) {
    const [first] = issues
    const more = issues.length > 1 ? `, and ${issues.length - 1} more` : ''
    super(
      `the edit does not fit what has changed since the file was written: ${first?.pointer}: ${first?.detail}${more}`,
    )
    this.name = 'EditRefused'
  }
}

/** Takes an edit into the world, in one transaction. Throws {@link EditRefused}, or what the journal throws. */
export function applyEdit(sandbox: Sandbox, edit: Edit): EditOutcome {
  const { result } = sandbox.change((scope) => {
    const { tx } = scope
    const tables = mergedTables(sandbox, edit, tx)
    const facts = mergedFacts(sandbox, edit, tx)
    const replaced = [
      ...tables.flatMap(({ key, replaced }) => replaced.map((record) => ({ table: key, record }))),
      ...facts.replaced,
    ]
    const kept = replaced.length === 0 ? undefined : edit.keep(replaced)
    for (const { table, puts, deletes } of tables) {
      for (const row of puts) tx.put(table, row)
      for (const id of deletes) tx.delete(table, id)
    }
    for (const row of facts.puts) tx.put(WORLD, row)
    for (const id of facts.deletes) tx.delete(WORLD, id)
    // After the counters, from which new events take their numbers.
    for (const { table, puts } of tables)
      for (const row of puts) armRecord(sandbox.service, scope, table, row)
    refuseContradictions(sandbox, tx)
    const written = tables.reduce((sum, { puts }) => sum + puts.length, facts.puts.length)
    const removed = tables.reduce((sum, { deletes }) => sum + deletes.length, facts.deletes.length)
    return { written, removed, replaced, kept }
  })
  mergeLimits(sandbox, edit)
  return { ...result, notes: moveClock(sandbox, edit) }
}

function mergedTables({ service }: Sandbox, { edited, checked, base, exact }: Edit, tx: Transaction) {
  const kernel = Object.entries(KERNEL_TABLES).map(([key, table]) => ({
    key,
    table: table as string,
    from: (document: Document): unknown => document[key as keyof typeof KERNEL_TABLES],
  }))
  const collections = [...service.collections.keys()].map((name) => ({
    key: `collections/${name}`,
    table: name,
    // A document may leave out a table, or all of them, and then has no records there.
    from: ({ collections = {} }: Partial<Document>): unknown => collections[name],
  }))
  return [...collections, ...kernel].map(({ key, table, from }) => ({
    key,
    table,
    ...merge({
      base: recordsById(from(base)),
      edited: recordsById(from(edited)),
      checked: checked.store.rows(table),
      current: (id) => tx.get(table, id),
      exact,
    }),
  }))
}

/** Settings, seed, counters and the way in which time passes: records that a world has one of. */
function mergedFacts(sandbox: Sandbox, edit: Edit, tx: Transaction) {
  const { edited, base, checked } = edit
  const [puts, replaced]: [Row[], Replaced[]] = [[], []]
  const current = tx.get(WORLD, SETTINGS) as SettingsRow
  const settings = checked.store.get(WORLD, SETTINGS)
  if (settings !== undefined && !same(edited.settings ?? {}, base.settings) && !same(settings, current)) {
    if (!(edit.exact && same(current.values, base.settings)))
      replaced.push({ table: 'settings', record: current })
    puts.push(settings)
  }
  if (edited.seed !== base.seed && edited.seed !== sandbox.seed)
    puts.push({ id: ORIGIN, seed: edited.seed } as Row)
  const scenario = scenarioOf(edit, tx)
  if (scenario?.replaced !== undefined) replaced.push({ table: SCENARIO, record: scenario.replaced })
  return {
    puts: [...puts, ...(scenario?.puts ?? []), ...countersOf(edit, tx), ...clockOf(sandbox, edit, tx)],
    deletes: scenario?.deletes ?? [],
    replaced,
  }
}

// Which scenario is active; what it has armed stands in tables of its own.
function scenarioOf({ edited, base, checked, exact }: Edit, tx: Transaction) {
  const { scenario = null } = edited
  const current = tx.get(WORLD, SCENARIO)
  const next = checked.store.get(WORLD, SCENARIO)
  if (same(scenario, base.scenario ?? null) || same(next ?? null, current ?? null)) return undefined
  const known = base.scenario == null ? undefined : { id: SCENARIO, ...base.scenario }
  return {
    puts: next === undefined ? [] : [next],
    deletes: next === undefined ? [SCENARIO] : [],
    replaced: exact && same(current ?? null, known ?? null) ? undefined : current,
  }
}

// Numbers that have been given out are never given out again, whatever the file says.
function countersOf({ edited, base }: Edit, tx: Transaction): Row[] {
  if (same(edited.counters, base.counters)) return []
  const now = tx.get(WORLD, COUNTERS) as CountersRow
  const { ids, uuids, events } = edited.counters
  const row: CountersRow = {
    id: 'counters',
    ids: Math.max(ids, now.ids),
    uuids: Math.max(uuids, now.uuids),
    events: Math.max(events, now.events),
  }
  return same(row, now) ? [] : [row]
}

function clockOf(sandbox: Sandbox, { edited, base }: Edit, tx: Transaction): Row[] {
  const current = tx.get(WORLD, CLOCK) as ClockRow
  const rate = edited.clock.rate === base.clock.rate ? current.rate : edited.clock.rate
  const skip_on_poll =
    edited.clock.skip_on_poll === base.clock.skip_on_poll ? current.skip_on_poll : edited.clock.skip_on_poll
  if (rate === current.rate && skip_on_poll === current.skip_on_poll) return []
  return [clockRow({ now: sandbox.clock.now, rate, skip_on_poll }, sandbox.options.host)]
}

function mergeLimits({ limiter }: Sandbox, { edited, base, checked, exact }: Edit): void {
  const windows = new Map(limiter.save().map((each) => [each.id, each]))
  const { puts, deletes } = merge({
    base: recordsById(base.limits),
    edited: recordsById(edited.limits),
    checked: new Map(checked.limits.map((each) => [each.id, each])),
    current: (id) => windows.get(id),
    exact,
  })
  if (puts.length + deletes.length === 0) return
  for (const id of deletes) windows.delete(id)
  for (const row of puts) windows.set(row.id, row as (typeof checked.limits)[number])
  limiter.load(windows.values())
}

// Only a world that starts anew goes back in time. Forward it goes event by event, as by the control API.
function moveClock(sandbox: Sandbox, { edited, base }: Edit): string[] {
  if (edited.clock.now === base.clock.now) return []
  const target = Date.parse(edited.clock.now)
  if (target > sandbox.clock.now) advanceTo(sandbox, target)
  else if (target < sandbox.clock.now) {
    return [
      '/clock/now is in the past and has been left out: time only moves forward. Reset, or restore a snapshot, to go back.',
    ]
  }
  return []
}

// The edited file is right by itself, and so is the world; what they make together need not be.
function refuseContradictions(sandbox: Sandbox, tx: Transaction): void {
  const { service, ledger, options } = sandbox
  const settings = tx.get(WORLD, SETTINGS) as SettingsRow
  const collections = Object.fromEntries(
    [...service.collections.keys()].map((name) => [name, [...tx.rows(name)]]),
  )
  const merged = { ...sandbox.document(), settings: settings.values, collections }
  const checked = checkDocument(merged, service, ledger, options.strict)
  if (!('issues' in checked)) return
  throw new EditRefused(
    checked.issues.map((issue) => ({ ...issue, pointer: byId(issue.pointer, collections) })),
  )
}

// `/collections/pages/3/name` with the record's id in place of its number, which is that of no file.
function byId(path: string, collections: Readonly<Record<string, readonly Row[]>>): string {
  const [, top, name = '', number, ...rest] = path.split('/')
  const id = collections[name]?.[Number(number)]?.id
  return top === 'collections' && id !== undefined ? [pointer(top, name, id), ...rest].join('/') : path
}
