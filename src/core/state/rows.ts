import { z } from 'zod'
import type { Settings } from '../assumptions.ts'
import { intBetween, objectAs, type ShapeOf } from '../fields.ts'
import { IssueList } from '../issue-list.ts'
import { type Issue, isObject, type JsonObject, pointer, valueAt } from '../json.ts'
import type { Request, Scope } from '../operation.ts'
import { armRecord, type Service } from '../service.ts'
import { nameAmong, strictObject } from '../strict-input.ts'
import type { AnyCollection } from './collection.ts'
import type { Row } from './commit.ts'
import { acceptRecord, brokenRecords } from './intake.ts'

/** The request that causes an insert. Parameters of this type are undefined when a scenario inserts the records. */
// biome-ignore lint/suspicious/noExplicitAny: input and target do not matter here.
type RequestContext = Pick<Request<any, any>, 'caller' | 'call'>

/** The maximum number of records that one change may insert. */
const MAX_ROWS = 1_000

/** The part of the service that names collections. */
interface Collections {
  readonly collections: ReadonlyMap<string, AnyCollection>
}

/** New records: either `records` as given, or a number (`count`) of copies of an existing record. */
type InsertRows = ShapeOf<typeof insertRowsSchema>

export function insertRowsSchema({ collections }: Collections) {
  return strictObject({
    collection: nameAmong([...collections.keys()], 'collection'),
    records: z.array(objectAs<JsonObject>()).min(1).max(MAX_ROWS).optional(),
    count: intBetween(1, MAX_ROWS).optional(),
  }).refine(({ records, count }) => (records === undefined) !== (count === undefined), {
    error: 'must have either records or count',
  })
}

/** Values for fields that a given record may leave out: they are known only when it is inserted. */
interface NewFields {
  readonly id: string
  readonly created_at: string
}

/** Used to check the records of a rule, before the rule fires. */
const PLACEHOLDER: NewFields = { id: 'made-when-the-rule-fires', created_at: '2026-01-01T00:00:00.000Z' }

/**
 * The issues of the records in the field `insert_rows` of a change, with pointers into the change. The rules between records
 * are checked only when the change is made; if one is broken then, no record is inserted.
 */
export function checkInsertRows(raw: unknown, service: Collections, settings: Settings): Issue[] {
  const rows = isObject(raw) ? raw.insert_rows : undefined
  if (!isObject(rows) || typeof rows.collection !== 'string') return []
  const collection = service.collections.get(rows.collection)
  if (collection === undefined) return []
  if (rows.count !== undefined && collection.secrets.length > 0) {
    const secrets = collection.secrets.join(', ')
    const detail = `cannot be given for ${collection.name}, because its ${secrets} cannot be generated; give records`
    return [{ pointer: '/insert_rows/count', detail }]
  }
  const issues = new IssueList()
  for (const [index, record] of (Array.isArray(rows.records) ? rows.records : []).entries()) {
    const at = pointer('insert_rows', 'records', index)
    acceptNew(collection, record, PLACEHOLDER, settings, at, issues)
  }
  return issues
}

/**
 * Inserts records into a collection: all of them, or none when one of them is not valid in the sandbox. An existing record
 * with the same id does not change. With `count`, the new records are copies of the newest record that fits the request, with
 * new ids and the current instant. They are not generated, because faker is loaded asynchronously.
 */
export function insertRows(
  scope: Scope,
  service: Service,
  request: RequestContext | undefined,
  { collection: name, records, count = 0 }: InsertRows,
): void {
  const collection = service.collections.get(name)
  if (collection === undefined) return
  const newId = [...scope.tx.rows(name)].some(({ id }) => UUID.test(id)) ? scope.newUuid : scope.newId
  const wanted = records ?? copies(scope, collection, request, count)
  const issues = new IssueList()
  const rows = wanted.flatMap((record) => {
    // Only a record without an id uses up an id of the sandbox.
    const id = Object.hasOwn(record, 'id') ? '' : newId()
    return acceptNew(collection, record, { id, created_at: scope.at }, scope.settings, '', issues) ?? []
  })
  const fresh = rows.filter((row) => {
    const isNew = scope.tx.get(name, row.id) === undefined
    if (isNew) scope.tx.insert(name, row)
    return isNew
  })
  const misfits = fresh.some((row) => (collection.check?.(row, scope.tx) ?? []).length > 0)
  if (issues.length > 0 || misfits) for (const { id } of fresh) scope.tx.delete(name, id)
  else for (const row of fresh) armRecord(service, scope, name, row)
}

export const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

// Not every collection has `created_at`, so it is added only when the schema reports it as missing.
export function acceptNew(
  collection: AnyCollection,
  record: unknown,
  { id, created_at }: NewFields,
  settings: Settings,
  at: string,
  issues: IssueList,
): Row | undefined {
  if (!isObject(record)) return acceptRecord(collection, record, settings, at, issues)
  const named = Object.hasOwn(record, 'id') ? record : { id, ...record }
  const found = new IssueList()
  const row = acceptRecord(collection, named, settings, at, found)
  if (row !== undefined) return row
  const isDated = !found.some((issue) => issue.pointer === `${at}/created_at`)
  if (isDated || Object.hasOwn(record, 'created_at')) issues.addAll(found)
  else return acceptRecord(collection, { ...named, created_at }, settings, at, issues)
  return undefined
}

function copies(
  { tx, at }: Scope,
  collection: AnyCollection,
  request: RequestContext | undefined,
  count: number,
): JsonObject[] {
  if (collection.secrets.length > 0) return []
  const model = modelFor([...tx.rows(collection.name)], request)
  if (model === undefined) return []
  const { id: _, ...rest } = model as unknown as JsonObject
  const copy = Object.hasOwn(rest, 'created_at') ? { ...rest, created_at: at } : rest
  return Array.from({ length: count }, () => copy)
}

// The response would not show a copy of a record that the caller cannot see, or that the query leaves out.
function modelFor(rows: readonly Row[], request: RequestContext | undefined): Row | undefined {
  if (request === undefined) return rows.at(-1)
  const { caller, call } = request
  const near = (row: Row) =>
    (valueAt(row, '/teamspace_id') ?? valueAt(row, '/_emulator/teamspace_id')) === caller.teamspace_id
  const asked = (row: Row) =>
    Object.entries(call.query).every(
      ([name, value]) => !Object.hasOwn(row, name) || valueAt(row, [name]) === value,
    )
  return (
    rows.findLast((row) => near(row) && asked(row)) ??
    rows.findLast(near) ??
    rows.findLast(asked) ??
    rows.at(-1)
  )
}

/** A change of records: those that are deleted and inserted, and the moves that the resources of the service declare. */
interface RecordsChange {
  readonly id?: unknown
  readonly delete?: { readonly collection: string; readonly id?: unknown } | undefined
  readonly insert_rows?: InsertRows | undefined
}

/**
 * Changes records. A move that does not fit the record or its status changes nothing.
 * @param request as for {@link insertRows}
 * @param idOf the id that a reference of the change names; that of an absent one is the default
 */
export function changeRecords(
  scope: Scope,
  service: Service,
  request: RequestContext | undefined,
  wanted: RecordsChange & Readonly<Record<string, unknown>>,
  idOf: (ref: unknown) => string | undefined,
): void {
  const { delete: gone, insert_rows: rows } = wanted
  const id = idOf(wanted.id)
  if (gone !== undefined)
    deleteRow(scope, service, gone.collection, gone.id === undefined ? id : idOf(gone.id))
  if (rows !== undefined) insertRows(scope, service, request, rows)
  for (const { name, apply } of service.recordFaults.values()) {
    if (Object.hasOwn(wanted, name) && wanted[name] !== undefined) apply(scope, id, wanted[name])
  }
}

/**
 * Deletes a record, the future events about it, and all records that are not valid without it: the state can still be loaded.
 * Does nothing when there is no such record.
 */
function deleteRow(scope: Scope, service: Service, name: string, id: string | undefined): void {
  if (id === undefined || scope.tx.get(name, id) === undefined) return
  const before = new Set([...brokenRecords(service, scope.tx)].map(({ row }) => row))
  let orphans: readonly { readonly table: string; readonly row: Row }[] = [{ table: name, row: { id } }]
  while (orphans.length > 0) {
    for (const { table, row } of orphans) {
      scope.tx.delete(table, row.id)
      scope.unschedule(`${table}/${row.id}`, [...service.events.keys()])
    }
    orphans = [...brokenRecords(service, scope.tx)].filter(({ row }) => !before.has(row))
  }
}
