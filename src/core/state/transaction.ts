import { refuse } from '../errors.ts'
import type { Change, Row } from './commit.ts'
import { type Groups, groupedBy, type Index } from './indexes.ts'

/** The tables of fault rules and of their counters. */
export const FAULTS = '$faults'
export const FAULT_COUNTERS = '$fault_counters'

/** The name and the record type of a table. Every collection is one. */
export interface TableOf<T extends Row> {
  readonly name: string
  /** The singular word for messages: "page", "batch prediction". */
  readonly label: string
  /** Never set: only its type is used, as the type of the records. */
  readonly record?: T
}

/** The part of a store that a transaction reads. */
interface Tables {
  get(table: string, id: string): Row | undefined
  rows(table: string): ReadonlyMap<string, Row>
  indexed<T extends Row>(table: string, index: Index<T>): Groups<T>
  has(id: string): boolean
  derived<T>(key: string, tables: readonly string[], make: () => T): T
}

const NO_CHANGES: readonly Change[] = []
const NO_ROWS: readonly never[] = []
const NO_RECORDS: ReadonlyMap<string, never> = new Map<string, never>()

/** Reads see the transaction's own writes on top of the store; other readers see them after the commit. */
export class Transaction {
  /** The tables without its own writes. */
  readonly store: Tables
  #written: Map<string, Map<string, Row | undefined>> | undefined

  constructor(store: Tables) {
    this.store = store
  }

  /** Whether nothing has been written. */
  get isEmpty(): boolean {
    return this.#written === undefined
  }

  /** The typed view of one collection. */
  in<T extends Row>(collection: TableOf<T>): TableRecords<T> {
    return new TableRecords(this, collection)
  }

  /** Its own writes to a table, by id: undefined for a deleted record. */
  written(table: string): ReadonlyMap<string, Row | undefined> | undefined {
    return this.#written?.get(table)
  }

  get(table: string, id: string): Row | undefined {
    const own = this.#written?.get(table)
    if (own?.has(id)) return own.get(id)
    return this.store.get(table, id)
  }

  /** Writes a record. It replaces one with the same id. */
  put(table: string, row: Row): void {
    this.#writes(table).set(row.id, row)
  }

  /** Writes a new record. Throws when a record with its id exists: the caller has to choose a free id. */
  insert(table: string, row: Row): void {
    if (this.get(table, row.id) !== undefined)
      throw new Error(`${table} already has a record with the id "${row.id}": an insert cannot replace it`)
    this.put(table, row)
  }

  /** Whether an id is not free in any table. The ids of records that this transaction deletes are not free yet. */
  isTaken(id: string): boolean {
    if (this.store.has(id)) return true
    for (const rows of this.#written?.values() ?? []) if (rows.has(id)) return true
    return false
  }

  delete(table: string, id: string): void {
    this.#writes(table).set(id, undefined)
  }

  /** The result of `make`, kept until one of the tables changes. @param key unique among all derived values */
  derived<T>(key: string, tables: readonly TableOf<Row>[], make: () => T): T {
    const names = tables.map(({ name }) => name)
    if (names.some((name) => this.#written?.has(name))) return make()
    return this.store.derived(key, names, make)
  }

  *rows(table: string): Iterable<Row> {
    const own = this.#written?.get(table)
    const rows = this.store.rows(table)
    if (own === undefined) {
      yield* rows.values()
      return
    }
    for (const [id, row] of rows) {
      const current = own.has(id) ? own.get(id) : row
      if (current !== undefined) yield current
    }
    for (const [id, row] of own) if (row !== undefined && !rows.has(id)) yield row
  }

  /** The changes so far, in the order of the first write to each record. A write that was undone is no change. */
  changes(): readonly Change[] {
    if (this.#written === undefined) return NO_CHANGES
    const changes: Change[] = []
    for (const [table, rows] of this.#written) {
      for (const [id, after] of rows) {
        const before = this.store.get(table, id)
        if (before !== after) changes.push({ table, id, before, after })
      }
    }
    return changes
  }

  #writes(table: string): Map<string, Row | undefined> {
    this.#written ??= new Map()
    let rows = this.#written.get(table)
    if (rows === undefined) {
      rows = new Map()
      this.#written.set(table, rows)
    }
    return rows
  }
}

/** One collection as seen by one transaction. */
export class TableRecords<T extends Row> implements Iterable<T> {
  readonly #tx: Transaction
  readonly #name: string
  readonly #label: string

  constructor(tx: Transaction, { name, label }: TableOf<T>) {
    this.#tx = tx
    this.#name = name
    this.#label = label
  }

  get(id: string): T | undefined {
    return this.#tx.get(this.#name, id) as T | undefined
  }

  /** The record. Refuses with `not_found` when there is none. */
  require(id: string): T {
    return (
      this.get(id) ??
      refuse('not_found', {
        detail: `There is no ${this.#label} with the id "${id}".`,
        mitigation: `"workspace-emulator state list ${this.#name}" lists every ${this.#label}.`,
      })
    )
  }

  /** Writes a record and returns it. The record replaces one with the same id. */
  put(record: T): T {
    this.#tx.put(this.#name, record)
    return record
  }

  /** Writes a new record and returns it. Throws when a record with its id exists. */
  insert(record: T): T {
    this.#tx.insert(this.#name, record)
    return record
  }

  delete(id: string): void {
    this.#tx.delete(this.#name, id)
  }

  [Symbol.iterator](): Iterator<T> {
    return (this.#tx.rows(this.#name) as Iterable<T>)[Symbol.iterator]()
  }

  /** The records with a key of an index: the result of a `filter`, without reading the other records. */
  where(index: Index<T>, key: string): readonly T[] {
    if (this.#own !== undefined) return [...this.having(index, key)]
    const group = this.#tx.store.indexed(this.#name, index).get(key)
    return group === undefined ? NO_ROWS : [...group.values()]
  }

  /** As {@link where}, but each record is looked up only when the caller iterates to it. */
  *having(index: Index<T>, key: string): Iterable<T> {
    const group = this.#group(index, key)
    const own = this.#own
    for (const [id, row] of group) {
      const current = own?.has(id) ? own.get(id) : row
      if (current !== undefined) yield current
    }
    for (const [id, row] of own ?? [])
      if (row !== undefined && !group.has(id) && index.keyOf(row) === key) yield row
  }

  /** How many records have a key of an index. */
  count(index: Index<T>, key: string): number {
    const group = this.#group(index, key)
    let count = group.size
    for (const [id, row] of this.#own ?? []) {
      if (group.has(id)) count -= Number(row === undefined)
      else count += Number(row !== undefined && index.keyOf(row) === key)
    }
    return count
  }

  /** How many records there are. */
  get size(): number {
    const rows = this.#tx.store.rows(this.#name)
    let size = rows.size
    for (const [id, row] of this.#own ?? []) size += Number(row !== undefined) - Number(rows.has(id))
    return size
  }

  filter(keep: (record: T) => boolean): T[] {
    const kept: T[] = []
    for (const record of this) if (keep(record)) kept.push(record)
    return kept
  }

  find(keep: (record: T) => boolean): T | undefined {
    for (const record of this) if (keep(record)) return record
    return undefined
  }

  get #own(): ReadonlyMap<string, T | undefined> | undefined {
    return this.#tx.written(this.#name) as ReadonlyMap<string, T | undefined> | undefined
  }

  // When its own writes have changed keys, the order of the records is only known from the whole table.
  #group(index: Index<T>, key: string): ReadonlyMap<string, T> {
    const { store } = this.#tx
    for (const [id, row] of this.#own ?? []) {
      const before = row && (store.get(this.#name, id) as T | undefined)
      if (before === undefined || index.keyOf(before) === index.keyOf(row as T)) continue
      return groupedBy(this, index).get(key) ?? NO_RECORDS
    }
    return store.indexed(this.#name, index).get(key) ?? NO_RECORDS
  }
}
