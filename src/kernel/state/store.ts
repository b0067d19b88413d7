import { refuse } from '../errors.ts'
import {
  type Change,
  type Commit,
  type Journal,
  type LoggedCommit,
  type Row,
  replayed,
  type TableOrder,
  target,
} from './commit.ts'

type Rows = Map<string, Row>

/** What a typed view of a table needs to know; a collection is one. */
export interface TableOf<T extends Row> {
  readonly name: string
  /** The singular word for messages: "page", "batch prediction". */
  readonly label: string
  /** Never there; carries the record's type. */
  readonly record?: T
}

/** A way to find records by a key of theirs. A constant: what it finds is kept as long as the table does not change. */
export interface Index<T extends Row> {
  readonly keyOf: (record: T) => string
}

/** Hears of every commit after it is durable and visible. */
export type CommitListener = (commit: Commit) => void

/**
 * The tables of one world. Records are replaced, never mutated, and only inside a transaction: it collects its writes,
 * the journal takes them as one line, and only then do they become visible, all at once.
 */
export class Store {
  readonly #tables = new Map<string, Rows>()
  readonly #shared = new WeakSet<Rows>()
  readonly #versions = new Map<string, number>()
  readonly #listeners = new Set<CommitListener>()
  readonly #indexes = new WeakMap<
    object,
    { readonly version: number; readonly groups: ReadonlyMap<string, readonly Row[]> }
  >()
  #revision = 0
  journal: Journal | undefined

  get revision(): number {
    return this.#revision
  }

  /** Runs `work` against a private view and commits what it wrote. When it throws, nothing has happened. */
  transaction<T>(at: string, work: (tx: Transaction) => T): T {
    const tx = new Transaction(this)
    const result = work(tx)
    this.commit(tx, at)
    return result
  }

  /** A transaction that the caller commits, or drops by forgetting it. */
  begin(): Transaction {
    return new Transaction(this)
  }

  /** Makes a transaction's writes durable, then visible. Returns what changed, undefined when it wrote nothing. */
  commit(tx: Transaction, at: string, order?: readonly TableOrder[]): Commit | undefined {
    const changes = tx.changes()
    if (changes.length === 0) return undefined
    const commit: Commit = { revision: this.#revision + 1, at, changes, ...(order && { order }) }
    this.journal?.append(commit)
    this.#revision = commit.revision
    for (const { table, id, after } of changes) this.#write(table, id, after)
    for (const listener of this.#listeners) listener(commit)
    return commit
  }

  /** @returns stops listening */
  onCommit(listener: CommitListener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Applies a commit read back from a log, without logging it again. */
  replay(commit: LoggedCommit): void {
    for (const change of commit.changes) {
      const [table, id] = target(change)
      this.#write(table, id, replayed(change, this.get(table, id)))
    }
    for (const [table, ids] of commit.order ?? []) this.#arrange(table, ids)
    this.#revision = commit.revision
  }

  /** The revision of a document that is being loaded. */
  startAt(revision: number): void {
    this.#revision = revision
  }

  /** Fills a table while a world is being built: no transaction, no log line. */
  load(table: string, rows: Iterable<Row>): void {
    const map: Rows = new Map()
    for (const row of rows) map.set(row.id, row)
    this.#tables.set(table, map)
    this.#touch(table)
  }

  /**
   * Takes over another store's contents. Its tables are shared until one side writes, so the cost is that of a few
   * references. Records that both have in common, as objects, are no change: going back to a world costs what differs.
   * `besides` are rows that take precedence over the other store's.
   */
  replaceAll(
    other: Store,
    at: string,
    besides: readonly (readonly [table: string, row: Row])[] = [],
  ): Commit | undefined {
    const tx = this.begin()
    for (const table of new Set([...this.#tables.keys(), ...other.#tables.keys()])) {
      const next = other.rows(table)
      if (next === this.#tables.get(table)) continue
      for (const id of this.rows(table).keys()) if (!next.has(id)) tx.delete(table, id)
      for (const row of next.values()) if (this.get(table, row.id) !== row) tx.put(table, row)
    }
    for (const [table, row] of besides) tx.put(table, row)
    const commit = this.commit(tx, at, this.#ordersLost(other))
    this.#adopt(other)
    for (const [table, row] of besides) this.#write(table, row.id, row)
    return commit
  }

  /** As {@link replaceAll} for a store that is being made: no commit, no log line, the other's revision. */
  static from(other: Store): Store {
    const store = new Store()
    store.#adopt(other)
    store.#revision = other.#revision
    return store
  }

  // A replay of deletions and insertions puts what comes back at the end: where it stood elsewhere, the log has to say so.
  #ordersLost(other: Store): readonly TableOrder[] | undefined {
    const lost: TableOrder[] = []
    for (const [table, next] of other.#tables) {
      const present = this.rows(table)
      if (present === next) continue
      const ids = [...next.keys()]
      const replayed = [
        ...[...present.keys()].filter((id) => next.has(id)),
        ...ids.filter((id) => !present.has(id)),
      ]
      if (replayed.some((id, n) => id !== ids[n])) lost.push([table, ids])
    }
    return lost.length === 0 ? undefined : lost
  }

  #arrange(table: string, ids: readonly string[]): void {
    const rows = this.rows(table)
    this.load(
      table,
      ids.map((id) => rows.get(id)).filter((row) => row !== undefined),
    )
  }

  #adopt(other: Store): void {
    this.#tables.clear()
    for (const [table, rows] of other.#tables) {
      this.#tables.set(table, rows)
      this.#shared.add(rows)
      other.#shared.add(rows)
      this.#touch(table)
    }
  }

  get(table: string, id: string): Row | undefined {
    return this.#tables.get(table)?.get(id)
  }

  /** The table's records in the order in which they were first written. */
  rows(table: string): ReadonlyMap<string, Row> {
    return this.#tables.get(table) ?? EMPTY
  }

  /** Grows with each commit that touches the table, so that something derived from it knows when to be made anew. */
  version(table: string): number {
    return this.#versions.get(table) ?? 0
  }

  /** The records by the key of an index; made anew when the table has changed. */
  indexed<T extends Row>(table: string, index: Index<T>): ReadonlyMap<string, readonly T[]> {
    const kept = this.#indexes.get(index)
    if (kept?.version === this.version(table)) return kept.groups as ReadonlyMap<string, readonly T[]>
    const groups = groupedBy(this.rows(table).values() as Iterable<T>, index)
    this.#indexes.set(index, { version: this.version(table), groups })
    return groups
  }

  #write(table: string, id: string, row: Row | undefined): void {
    const rows = this.#writable(table)
    if (row === undefined) rows.delete(id)
    else rows.set(id, row)
    this.#touch(table)
  }

  #writable(table: string): Rows {
    const rows = this.#tables.get(table)
    if (rows !== undefined && !this.#shared.has(rows)) return rows
    const own: Rows = new Map(rows)
    this.#tables.set(table, own)
    return own
  }

  #touch(table: string): void {
    this.#versions.set(table, this.version(table) + 1)
  }
}

const EMPTY: ReadonlyMap<string, Row> = new Map()

function groupedBy<T extends Row>(
  records: Iterable<T>,
  { keyOf }: Index<T>,
): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>()
  for (const record of records) {
    const group = groups.get(keyOf(record))
    if (group === undefined) groups.set(keyOf(record), [record])
    else group.push(record)
  }
  return groups
}

/** Reads see the transaction's own writes on top of the world; nobody else does until it is committed. */
export class Transaction {
  readonly #store: Store
  #written: Map<string, Map<string, Row | undefined>> | undefined

  constructor(store: Store) {
    this.#store = store
  }

  /** The typed view of one collection. */
  in<T extends Row>(collection: TableOf<T>): Records<T> {
    return new Records(this, collection)
  }

  get(table: string, id: string): Row | undefined {
    const own = this.#written?.get(table)
    if (own?.has(id)) return own.get(id)
    return this.#store.get(table, id)
  }

  put(table: string, row: Row): void {
    this.#writes(table).set(row.id, row)
  }

  delete(table: string, id: string): void {
    this.#writes(table).set(id, undefined)
  }

  /** The records with a key, in the order in which they were first written. */
  where<T extends Row>(table: string, index: Index<T>, key: string): readonly T[] {
    if (this.#written?.has(table) !== true) return this.#store.indexed(table, index).get(key) ?? []
    return groupedBy(this.rows(table) as Iterable<T>, index).get(key) ?? []
  }

  *rows(table: string): Iterable<Row> {
    const own = this.#written?.get(table)
    const rows = this.#store.rows(table)
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

  /** What has been written so far, in the order of the first write to each record. */
  changes(): Change[] {
    const changes: Change[] = []
    for (const [table, rows] of this.#written ?? []) {
      for (const [id, after] of rows) {
        const before = this.#store.get(table, id)
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
export class Records<T extends Row> implements Iterable<T> {
  readonly #tx: Transaction
  readonly #collection: TableOf<T>

  constructor(tx: Transaction, collection: TableOf<T>) {
    this.#tx = tx
    this.#collection = collection
  }

  get(id: string): T | undefined {
    return this.#tx.get(this.#collection.name, id) as T | undefined
  }

  /** The record, or the catalog's `not_found` naming what was looked for. */
  require(id: string): T {
    return (
      this.get(id) ??
      refuse('not_found', { detail: `There is no ${this.#collection.label} with the id "${id}".` })
    )
  }

  /** Writes a record and returns it. The record replaces one with the same id. */
  put(record: T): T {
    this.#tx.put(this.#collection.name, record)
    return record
  }

  delete(id: string): void {
    this.#tx.delete(this.#collection.name, id)
  }

  *[Symbol.iterator](): Iterator<T> {
    yield* this.#tx.rows(this.#collection.name) as Iterable<T>
  }

  /** The records with a key of an index: what `filter` would find, without looking at the others. */
  where(index: Index<T>, key: string): readonly T[] {
    return this.#tx.where(this.#collection.name, index, key)
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
}
