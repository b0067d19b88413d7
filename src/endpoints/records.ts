import { frozen, plainData } from '../adapters/scenarios/run-function.ts'
import { IssueList } from '../core/issue-list.ts'
import { type Issue, isObject, valueAt } from '../core/json.ts'
import type { Request } from '../core/operation.ts'
import { armRecord, type Service } from '../core/service.ts'
import { type AnyCollection, collectionFor } from '../core/state/collection.ts'
import type { Row } from '../core/state/commit.ts'
import { acceptNew, UUID } from '../core/state/rows.ts'
import { brokenBy } from '../core/state/write-record.ts'
import type { Records } from './define.ts'

type Call = Request<object, unknown>

/**
 * The records of one call. They are written to the transaction of its request, which is dropped when the call fails: reads see
 * the writes, and a call that is stopped leaves nothing.
 */
export function callRecords(request: Call, service: Service) {
  const { tx, caller, settings, newId, newUuid } = request
  let [isOver, hasWritten] = [false, false]

  function of(name: string): Records<object> {
    const collection = collectionFor(service.collections, String(name))
    const table = tx.in<Row>(collection)
    // Frozen at its first read, with everything in it. Records are replaced, never changed, so no copy is needed.
    const read = (row: Row) => (Object.isFrozen(row) ? row : frozen(row))
    const all = () => {
      refuseAfter()
      return table.filter(() => true).map(read)
    }
    return {
      get: (id) => {
        refuseAfter()
        const row = table.get(id)
        return row && read(row)
      },
      all,
      find: (fits) => all().filter(fits),
      insert: (record) => insert(collection, record),
      update: (id, changes) => {
        const before = table.get(id)
        if (before === undefined) throw new Error(`${name} has no record with the id "${id}"`)
        return write(collection, { ...before, ...plain(changes), id })
      },
      delete: (id) => {
        refuseAfter()
        if (table.get(id) === undefined) return false
        hasWritten ||= isBuiltIn(collection)
        table.delete(id)
        request.unschedule(`${name}/${id}`, [...service.events.keys()])
        return true
      },
      newId: () => idFor(collection),
      visibleTo: ({ teamspace_id } = caller) =>
        all().filter((row) => [undefined, teamspace_id].includes(teamspaceOf(row) as string | undefined)),
    }
  }

  function insert(collection: AnyCollection, record: object): Row {
    const given = plain(record)
    const id = given.id ?? idFor(collection)
    if (typeof id !== 'string' || id === '')
      throw new Error('the id of a record must be a text that is not empty')
    if (tx.get(collection.name, id) !== undefined)
      throw new Error(`${collection.name} already has a record with the id "${id}"; use update`)
    const issues = new IssueList()
    const row = accepted(collection, { ...given, id }, issues)
    if (row !== undefined) return put(collection, row)
    // The first record of a collection whose ids are UUIDs.
    const isOfOtherForm = given.id === undefined && issues.some(({ pointer }) => pointer === '/id')
    return write(collection, isOfOtherForm ? { ...given, id: newUuid() } : { ...given, id })
  }

  function write(collection: AnyCollection, record: Record<string, unknown>): Row {
    const issues = new IssueList()
    const row = accepted(collection, record, issues)
    if (row === undefined) throw new Error(`the record does not fit ${collection.name}: ${inWords(issues)}`)
    return put(collection, row)
  }

  function accepted(collection: AnyCollection, record: Record<string, unknown>, issues: IssueList) {
    refuseAfter()
    return acceptNew(collection, record, { id: '', created_at: request.at }, settings, '', issues)
  }

  function put(collection: AnyCollection, row: Row): Row {
    tx.put(collection.name, row)
    if (isBuiltIn(collection)) {
      hasWritten = true
      armRecord(service, request, collection.name, row)
    }
    return frozen(row)
  }

  const isBuiltIn = ({ name }: AnyCollection): boolean => service.collections.has(name)

  function idFor(collection: AnyCollection): string {
    refuseAfter()
    const [first] = tx.rows(collection.name)
    return UUID.test(first?.id ?? '') ? newUuid() : newId()
  }

  function refuseAfter(): void {
    if (isOver) throw new Error('The function has already returned, and what it has written is committed.')
  }

  /** Refuses what comes after a failure of the function. */
  function end(): void {
    isOver = true
  }

  /** Refuses what comes after the return of the function. Throws when the records written break a rule between records. */
  function close(): void {
    end()
    const [broken] = hasWritten ? brokenBy({ service }, tx) : []
    if (broken !== undefined)
      throw new Error(`${broken.ref} is not valid: ${broken.pointer}: ${broken.detail}`)
  }

  return { of, end, close }
}

/** A copy of a record as JSON. Its later changes by the function have no effect. */
function plain(record: object): Record<string, unknown> {
  if (!isObject(record)) throw new Error('a record must be an object')
  const { data, issues } = plainData(record)
  const dated = pointerOfDate(record, '')
  const problem =
    dated === undefined ? issues[0] : { pointer: dated, detail: 'is a Date; write toISOString()' }
  if (problem !== undefined) throw new Error(`the record is not JSON: ${inWords([problem])}`)
  return data as Record<string, unknown>
}

function pointerOfDate(value: unknown, at: string): string | undefined {
  if (value instanceof Date) return at
  if (typeof value !== 'object' || value === null || at.length > 1_000) return undefined
  return Object.entries(value)
    .map(([key, member]) => pointerOfDate(member, `${at}/${key}`))
    .find((found) => found !== undefined)
}

function inWords(issues: readonly Issue[]): string {
  return issues.map(({ pointer, detail }) => `${pointer} ${detail}`).join('; ')
}

function teamspaceOf(row: Row): unknown {
  return valueAt(row, '/teamspace_id') ?? valueAt(row, '/_emulator/teamspace_id')
}
