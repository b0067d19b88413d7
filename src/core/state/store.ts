import {
  type Change,
  type Commit,
  changedRow,
  differences,
  type Journal,
  type LoggedCommit,
  type PlacedRow,
  type Row,
  replayed,
} from './commit.ts'
import { type Groups, type Index, Indexes } from './indexes.ts'
import { Transaction } from './transaction.ts'

type Rows = Map<string, Row>

type CommitListener = (commit: Commit) => void

/** Commits that share one write. */
interface Group {
  /** Those that are not durable yet. */
  readonly held: Commit[]
  readonly onFailure: (undone: readonly Commit[], error: unknown) => void
}

/**
 * The tables of one sandbox. Records are replaced, never mutated, and only inside a transaction. A transaction collects its
 * writes. At the commit the journal records them as one line, and all of them become visible at once.
 */
export class Store {
  readonly #tables = new Map<string, Rows>()
  readonly #shared = new WeakSet<Rows>()
  readonly #versions = new Map<string, number>()
  readonly #listeners = new Set<CommitListener>()
  readonly #followers: CommitListener[] = []
  readonly #indexes = new Indexes()
  readonly #derived = new Map<string, { readonly version: number; readonly value: unknown }>()
  #group: Group | undefined
  /** The number of its last commit. To be set only while a store is built, such as from a document. */
  revision = 0
  journal: Journal | undefined

  /** Runs `work` in a transaction and commits its writes. When `work` throws, nothing is written. @param at virtual instant */
  transaction<T>(at: string, work: (tx: Transaction) => T): T {
    const tx = new Transaction(this)
    const result = work(tx)
    this.commit(tx, at)
    return result
  }

  /** Starts a transaction. Its writes have an effect only when the caller passes it to {@link commit}. */
  begin(): Transaction {
    return new Transaction(this)
  }

  /**
   * Appends a transaction's writes to the journal, then makes them visible. Returns undefined when nothing changed.
   * Throws when the journal cannot append, and then nothing has changed. In a {@link group}, the writes may be undone later.
   */
  commit(tx: Transaction, at: string): Commit | undefined {
    const changes = tx.changes()
    if (changes.length === 0) return undefined
    // An undone removal would be at another place in its table.
    const isHeld = this.#group !== undefined && changes.every(({ after }) => after !== undefined)
    const commit = this.#journalled({ at, changes }, isHeld)
    this.#apply(commit)
    if (!isHeld) this.#tell(commit)
    return commit
  }

  /**
   * Runs `work`, whose commits share one write to the journal at its end. A commit that removes a record is written at once, with
   * those before it. When the write fails, its commits are undone, and given to `onFailure` with the error.
   */
  group(work: () => void, onFailure: Group['onFailure']): void {
    this.#group = { held: [], onFailure }
    try {
      work()
    } finally {
      try {
        this.#durable(() => this.journal?.flush())
      } catch {
        // `onFailure` has the error.
      }
      this.#group = undefined
    }
  }

  #journalled(facts: Omit<Commit, 'revision'>, isHeld = false): Commit {
    const commit = { revision: this.revision + 1, ...facts }
    if (isHeld) {
      this.journal?.append(commit, true)
      this.#group?.held.push(commit)
    } else this.#durable(() => this.journal?.append(commit))
    this.revision = commit.revision
    return commit
  }

  /** Writes to the journal. If that fails, undoes the commits that were to be written with it. */
  #durable(write: () => void): void {
    const held = this.#group?.held.splice(0) ?? []
    try {
      write()
    } catch (error) {
      for (const { revision, at, changes } of held.reverse()) {
        this.revision = revision - 1
        const undone = changes.map(({ before, after, ...place }) => ({
          ...place,
          before: after,
          after: before,
        }))
        this.#apply({ revision: this.revision, at, changes: undone.reverse() })
      }
      if (held.length > 0) this.#group?.onFailure(held, error)
      throw error
    }
    for (const commit of held) this.#tell(commit)
  }

  #apply(commit: Commit): void {
    for (const { table, id, after } of commit.changes) this.#write(table, id, after)
    for (const follower of this.#followers) follower(commit)
  }

  #tell(commit: Commit): void {
    for (const listener of this.#listeners) listener(commit)
  }

  /** For parts that must agree with the tables: called when a commit is visible, and when it is undone, with opposite changes. */
  follow(follower: CommitListener): void {
    this.#followers.push(follower)
  }

  /** For other parts: called when a commit is durable and visible. @returns stops listening */
  onCommit(listener: CommitListener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Applies a commit read back from a log, without logging it again. */
  replay(commit: LoggedCommit): void {
    for (const [table, rows] of commit.tables ?? []) this.load(table, rows)
    for (const change of commit.changes) {
      const [table, id] = changedRow(change)
      this.#write(table, id, replayed(change, this.get(table, id)))
    }
    for (const [table, ids] of commit.order ?? []) {
      const rows = ids.map((id) => this.get(table, id))
      this.load(
        table,
        rows.filter((row) => row !== undefined),
      )
    }
    this.revision = commit.revision
  }

  /** Fills a table while a sandbox is being built: no transaction, no log line. */
  load(table: string, rows: Iterable<Row>): void {
    const map: Rows = new Map()
    for (const row of rows) map.set(row.id, row)
    this.#tables.set(table, map)
    this.#indexes.forget(table)
    this.#touch(table)
  }

  /**
   * Replaces all contents by those of another store. Tables are shared until one of the two stores writes, so records are
   * compared, but not copied. A record that is equal in both stores is no change and not in the log. When most of a large
   * table differs, the log contains the whole table. `besides` are rows that take precedence over the other store's.
   */
  replaceAll(other: Store, at: string, besides: readonly PlacedRow[] = []): Commit | undefined {
    const facts = differences(this.#tables, other.#tables, besides)
    const commit = facts && this.#journalled({ at, ...facts })
    this.#adopt(other)
    for (const [table, row] of besides) this.#write(table, row.id, row)
    if (commit === undefined) return undefined
    for (const follower of this.#followers) follower(commit)
    this.#tell(commit)
    return commit
  }

  /** The changes that would lead to the contents of another store. */
  changesTo(other: Store): readonly Change[] {
    return differences(this.#tables, other.#tables, [])?.changes ?? []
  }

  /** Creates a store with the contents and the revision of another. Tables are shared as in {@link replaceAll}; no log line. */
  static from(other: Store): Store {
    const store = new Store()
    store.#adopt(other)
    store.revision = other.revision
    return store
  }

  #adopt(other: Store): void {
    for (const table of this.#tables.keys()) this.#touch(table)
    this.#tables.clear()
    this.#indexes.forget()
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

  /** Whether a record of any table has the id: an id is unique in the whole sandbox. */
  has(id: string): boolean {
    // Most tables of most sandboxes are empty, and this runs for every record that is created.
    for (const rows of this.#tables.values()) if (rows.size > 0 && rows.has(id)) return true
    return false
  }

  /** The table's records in the order in which they were first written. */
  rows(table: string): ReadonlyMap<string, Row> {
    return this.#tables.get(table) ?? EMPTY
  }

  /** The names of the tables of users that have records: those of neither core nor the service. */
  own(declared: { has(name: string): boolean }): string[] {
    const all = [...this.#tables].filter(
      ([name, rows]) => rows.size > 0 && !name.startsWith('$') && !declared.has(name),
    )
    return all.map(([name]) => name).sort()
  }

  /** Grows with each change of the table, so that a value derived from it can be computed again after a change. */
  version(table: string): number {
    return this.#versions.get(table) ?? 0
  }

  /** The result of `make`, computed again when one of the tables has changed. @param key unique among all derived values */
  derived<T>(key: string, tables: readonly string[], make: () => T): T {
    let version = 0
    // Versions only grow, so their sum changes when any of them changes.
    for (const table of tables) version += this.version(table)
    const known = this.#derived.get(key)
    if (known?.version === version) return known.value as T
    if (this.#derived.size >= MAX_DERIVED) this.#derived.clear()
    const value = make()
    this.#derived.set(key, { version, value })
    return value
  }

  /** The records by the key of an index. */
  indexed<T extends Row>(table: string, index: Index<T>): Groups<T> {
    return this.#indexes.of(table, index, this.rows(table).values() as Iterable<T>)
  }

  #write(table: string, id: string, row: Row | undefined): void {
    const rows = this.#writable(table)
    this.#indexes.follow(table, rows.get(id), row)
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

const MAX_DERIVED = 100
const EMPTY: ReadonlyMap<string, Row> = new Map()
