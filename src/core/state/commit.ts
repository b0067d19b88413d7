import { isObject, type Json, type JsonObject, same } from '../json.ts'

/** One record of a table: immutable, addressed by `id`. */
export interface Row {
  readonly id: string
}

/** The change of one record by one transaction. `before` and `after` are the stored objects, which share unchanged parts. */
export interface Change {
  readonly table: string
  readonly id: string
  readonly before: Row | undefined
  readonly after: Row | undefined
}

/** The statuses of a record before and after a change; undefined when it has no status, or the same one. */
export function transitionOf({ before, after }: Pick<Change, 'before' | 'after'>) {
  const [from, to] = [recordStatus(before), recordStatus(after)]
  return from === undefined || to === undefined || from === to ? undefined : { from, to }
}

/** The status of a record; undefined when it has none. */
export function recordStatus(row: Row | undefined): string | undefined {
  const status = (row as { status?: unknown } | undefined)?.status
  return typeof status === 'string' ? status : undefined
}

/** One committed transaction: its number in the sandbox's history, its virtual instant and what it changed. */
export interface Commit {
  readonly revision: number
  /** Virtual instant, ISO 8601. */
  readonly at: string
  readonly changes: readonly Change[]
  readonly order?: readonly TableOrder[]
  /** Tables that the log contains as a whole. `changes` has their changes too, for listeners. */
  readonly tables?: readonly WholeTable[]
}

/** The ids of a table in the order of its records, where the changes alone would result in another order. */
export type TableOrder = readonly [table: string, ids: readonly string[]]

/** A table with all of its rows, for a log line: these are shorter than the changes when most rows are new or removed. */
export type WholeTable = readonly [table: string, rows: readonly Row[]]

/**
 * A change in a journal line: the whole record, the difference to the record before, or a removal.
 * The difference keeps a line short when a record with thousands of items only changes its status.
 */
export type LoggedChange =
  | readonly ['put', string, Row]
  | readonly ['patch', string, string, readonly PatchStep[]]
  | readonly ['delete', string, string]

/** A commit in the journal. */
export interface LoggedCommit extends Omit<Commit, 'changes'> {
  readonly changes: readonly LoggedChange[]
}

/** Makes commits durable. Its methods return after the operating system has accepted the lines, and throw when it has not. */
export interface Journal {
  /** Writes the line of a commit, after those that are held. @param isHeld whether the line waits for the next write instead */
  append(commit: Commit, isHeld?: boolean): void
  /** Writes the lines that are held. */
  flush(): void
}

/** Converts a commit to the content of its log line. @param isWhole whether changed records of a table are in it completely */
export function logged(commit: Commit, isWhole = (_table: string) => false): LoggedCommit {
  const { revision, at, order, tables } = commit
  return {
    revision,
    at,
    changes: loggedOneByOne(commit).map((change) => loggedChange(change, isWhole(change.table))),
    ...(order === undefined ? {} : { order }),
    ...(tables === undefined ? {} : { tables }),
  }
}

/** The changes of a commit that the log lists one by one: those of tables that it does not contain as a whole. */
function loggedOneByOne({ changes, tables }: Commit): readonly Change[] {
  if (tables === undefined) return changes
  const whole = new Set(tables.map(([table]) => table))
  return changes.filter(({ table }) => !whole.has(table))
}

function loggedChange({ table, id, before, after }: Change, isWhole: boolean): LoggedChange {
  if (after === undefined) return ['delete', table, id]
  if (before === undefined || isWhole || !keepsOrder(asObject(before), asObject(after)))
    return ['put', table, after]
  return ['patch', table, id, diff(asObject(before), asObject(after))]
}

/**
 * The record after a logged change, given the record before it.
 * Throws when the record of a difference is missing, which means that the journal does not belong to this state.
 */
export function replayed(change: LoggedChange, before: Row | undefined): Row | undefined {
  switch (change[0]) {
    case 'put':
      return change[2]
    case 'delete':
      return undefined
    case 'patch':
      if (before === undefined) {
        throw new Error(`the journal changes ${change[1]}/${change[2]}, which does not exist at that point`)
      }
      return patch(asObject(before), change[3]) as unknown as Row
  }
}

/** The table and id that a logged change is about. */
export function changedRow(change: LoggedChange): readonly [table: string, id: string] {
  return change[0] === 'put' ? [change[1], change[2].id] : [change[1], change[2]]
}

function asObject(row: Row): JsonObject {
  return row as unknown as JsonObject
}

/** One step of a difference: the path of keys to a field, and its new value; without a value the field is removed. */
export type PatchStep = readonly [path: readonly string[], value?: Json]

/**
 * The difference between two JSON objects, field by field. Parts that are the same object are skipped, so the cost depends
 * on the size of the change, not of the objects. Arrays are compared by identity and replaced as a whole.
 */
export function diff(before: JsonObject, after: JsonObject): PatchStep[] {
  const steps: PatchStep[] = []
  collect(before, after, [], steps)
  return steps
}

function collect(before: JsonObject, after: JsonObject, path: readonly string[], steps: PatchStep[]): void {
  for (const key of Object.keys(after)) {
    const value = after[key]
    if (value === undefined) continue
    const old = Object.hasOwn(before, key) ? before[key] : undefined
    if (old === value) continue
    if (isObject(old) && isObject(value) && keepsOrder(old, value)) collect(old, value, [...path, key], steps)
    else steps.push([[...path, key], value])
  }
  for (const key of Object.keys(before)) {
    const gone = !Object.hasOwn(after, key) || after[key] === undefined
    if (gone && before[key] !== undefined) steps.push([[...path, key]])
  }
}

/** Whether a patch results in the order of fields: those that stay keep their place, and new ones come after them. */
function keepsOrder(before: JsonObject, after: JsonObject): boolean {
  const [olds, all] = [Object.keys(before), Object.keys(after)]
  // Most changes only replace values.
  if (olds.every((key, n) => key === all[n] && before[key] !== undefined)) return true
  const keys = all.filter((key) => after[key] !== undefined)
  const kept = new Set(keys)
  return olds.filter((key) => before[key] !== undefined && kept.has(key)).every((key, n) => key === keys[n])
}

/** Applies a difference. The given object does not change; the result shares its unchanged parts. */
export function patch(before: JsonObject, steps: readonly PatchStep[]): JsonObject {
  return steps.reduce((object, step) => replace(object, step[0], step), before)
}

function replace(object: JsonObject, path: readonly string[], step: PatchStep): JsonObject {
  const [key, ...rest] = path
  if (key === undefined) throw new Error('a patch step needs a path')
  const copy = { ...object }
  if (rest.length === 0) {
    if (step.length === 1) delete copy[key]
    else define(copy, key, step[1] as Json)
    return copy
  }
  const inner = Object.hasOwn(object, key) ? object[key] : undefined
  if (!isObject(inner))
    throw new Error(`the log changes ${path.join('/')}, which is not an object at that point`)
  define(copy, key, replace(inner, rest, step))
  return copy
}

// Plain assignment to `__proto__` would set the prototype and lose the field.
function define(object: { [key: string]: Json }, key: string, value: Json): void {
  Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true })
}

type Rows = ReadonlyMap<string, Row>
type Tables = ReadonlyMap<string, Rows>

/** A row and its table. */
export type PlacedRow = readonly [table: string, row: Row]

/** Fewer changes of one table than this are logged one by one. */
const MANY = 1_000

const NONE: Rows = new Map()

/**
 * The changes from one set of tables to another, as in a commit; undefined when there are none. Records with equal content
 * are no change. Rows in `overrides` take precedence over those of the other set, and are written also with equal content.
 */
export function differences(
  present: Tables,
  other: Tables,
  overrides: readonly PlacedRow[],
): Pick<Commit, 'changes' | 'order' | 'tables'> | undefined {
  const changes: Change[] = []
  const [order, tables]: [TableOrder[], WholeTable[]] = [[], []]
  for (const table of new Set([...present.keys(), ...other.keys()])) {
    const [rows, next] = [present.get(table) ?? NONE, other.get(table) ?? NONE]
    if (rows === next) continue
    const found = compareTables(table, rows, next)
    const isWholeTable = !overrides.some(([name]) => name === table)
    if (isWholeTable && found.changes.length >= MANY && found.changes.length > next.size / 2)
      tables.push([table, [...next.values()]])
    else if (found.isOrderLost) order.push([table, [...next.keys()]])
    const isOverridden = ({ id }: Change) => overrides.some(([name, row]) => name === table && row.id === id)
    for (const change of found.changes) if (isWholeTable || !isOverridden(change)) changes.push(change)
  }
  for (const [table, after] of overrides) {
    const before = present.get(table)?.get(after.id)
    if (before !== after) changes.push({ table, id: after.id, before, after })
  }
  if (changes.length === 0 && order.length === 0) return undefined
  return { changes, ...(order.length > 0 && { order }), ...(tables.length > 0 && { tables }) }
}

/**
 * The changes from one table to another, removals first. A replay of the changes adds new records at the end. `isOrderLost`
 * is true when this results in another order.
 */
function compareTables(table: string, rows: Rows, next: Rows) {
  const [gone, written]: [Change[], Change[]] = [[], []]
  const olds = rows.values()
  let old = olds.next()
  let isInStep = true
  for (const after of next.values()) {
    // Both usually have the same records in the same order. Then a lookup of each one would be most of the work.
    isInStep = isInStep && old.done !== true && old.value.id === after.id
    const before = isInStep ? old.value : rows.get(after.id)
    if (isInStep) old = olds.next()
    if (!same(before, after)) written.push({ table, id: after.id, before, after })
  }
  if (isInStep) {
    for (; old.done !== true; old = olds.next()) gone.push(removalOf(table, old.value))
  } else {
    for (const row of rows.values()) if (!next.has(row.id)) gone.push(removalOf(table, row))
  }
  return { changes: [...gone, ...written], isOrderLost: !isInStep && isOrderLost(rows, next) }
}

function removalOf(table: string, before: Row): Change {
  return { table, id: before.id, before, after: undefined }
}

function isOrderLost(rows: Rows, next: Rows): boolean {
  const ids = next.keys()
  for (const id of rows.keys()) if (next.has(id) && ids.next().value !== id) return true
  return false
}
