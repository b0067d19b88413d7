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
export class CallRecords {
  readonly #request: Call
  readonly #service: Service
  #isOver = false
  #hasWritten = false

  constructor(request: Call, service: Service) {
    this.#request = request
    this.#service = service
  }

  /** Refuses what comes after a failure of the function. */
  end(): void {
    this.#isOver = true
  }

  /** Refuses what comes after the return of the function. Throws when the records written break a rule between records. */
  close(): void {
    this.#isOver = true
    if (!this.#hasWritten) return
    const [broken] = brokenBy({ service: this.#service }, this.#request.tx)
    if (broken !== undefined)
      throw new Error(`${broken.ref} is not valid: ${broken.pointer}: ${broken.detail}`)
  }

  readonly of = (name: string): Records<object> => {
    const collection = collectionFor(this.#service.collections, String(name))
    const { tx, caller } = this.#request
    const table = tx.in<Row>(collection)
    // Frozen at its first read, with everything in it. Records are replaced, never changed, so no copy is needed.
    const read = (row: Row) => (Object.isFrozen(row) ? row : frozen(row))
    const all = () => {
      this.#refuseAfter()
      return table.filter(() => true).map(read)
    }
    return {
      get: (id) => {
        this.#refuseAfter()
        const row = table.get(id)
        return row && read(row)
      },
      all,
      find: (fits) => all().filter(fits),
      insert: (record) => this.#insert(collection, record),
      update: (id, changes) => {
        const before = table.get(id)
        if (before === undefined) throw new Error(`${name} has no record with the id "${id}"`)
        return this.#write(collection, { ...before, ...plain(changes), id })
      },
      delete: (id) => {
        this.#refuseAfter()
        if (table.get(id) === undefined) return false
        this.#hasWritten ||= this.#isBuiltIn(collection)
        table.delete(id)
        this.#request.unschedule(`${name}/${id}`, [...this.#service.events.keys()])
        return true
      },
      newId: () => this.#newId(collection),
      visibleTo: ({ teamspace_id } = caller) =>
        all().filter((row) => [undefined, teamspace_id].includes(teamspaceOf(row) as string | undefined)),
    }
  }

  #insert(collection: AnyCollection, record: object): Row {
    const given = plain(record)
    const { tx, newUuid } = this.#request
    const id = given.id ?? this.#newId(collection)
    if (typeof id !== 'string' || id === '')
      throw new Error('the id of a record must be a text that is not empty')
    if (tx.get(collection.name, id) !== undefined)
      throw new Error(`${collection.name} already has a record with the id "${id}"; use update`)
    const issues = new IssueList()
    const row = this.#accepted(collection, { ...given, id }, issues)
    if (row !== undefined) return this.#put(collection, row)
    // The first record of a collection whose ids are UUIDs.
    const isOfOtherForm = given.id === undefined && issues.some(({ pointer }) => pointer === '/id')
    return this.#write(collection, isOfOtherForm ? { ...given, id: newUuid() } : { ...given, id })
  }

  #write(collection: AnyCollection, record: Record<string, unknown>): Row {
    const issues = new IssueList()
    const row = this.#accepted(collection, record, issues)
    if (row === undefined) throw new Error(`the record does not fit ${collection.name}: ${inWords(issues)}`)
    return this.#put(collection, row)
  }

  #accepted(collection: AnyCollection, record: Record<string, unknown>, issues: IssueList): Row | undefined {
    this.#refuseAfter()
    const { settings, at } = this.#request
    return acceptNew(collection, record, { id: '', created_at: at }, settings, '', issues)
  }

  #put(collection: AnyCollection, row: Row): Row {
    this.#request.tx.put(collection.name, row)
    if (this.#isBuiltIn(collection)) {
      this.#hasWritten = true
      armRecord(this.#service, this.#request, collection.name, row)
    }
    return frozen(row)
  }

  #isBuiltIn({ name }: AnyCollection): boolean {
    return this.#service.collections.has(name)
  }

  #newId(collection: AnyCollection): string {
    this.#refuseAfter()
    const { tx, newId, newUuid } = this.#request
    const [first] = tx.rows(collection.name)
    return UUID.test(first?.id ?? '') ? newUuid() : newId()
  }

  #refuseAfter(): void {
    if (this.#isOver)
      throw new Error('The function has already returned, and what it has written is committed.')
  }
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
