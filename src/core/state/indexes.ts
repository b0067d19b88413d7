import type { Row } from './commit.ts'

/** Finds records by a key. Declare an index once, as a constant: the store keeps its groups by the identity of the object. */
export interface Index<T extends Row> {
  readonly keyOf: (record: T) => string
}

/** The records of a table by key, each group in the order in which its records were first written. */
export type Groups<T extends Row> = ReadonlyMap<string, ReadonlyMap<string, T>>

type Growing<T extends Row> = Map<string, Map<string, T>>

/** The indexes of one store: each is built at its first use and updated by each write, so a lookup reads only its group. */
export class Indexes {
  readonly #tables = new Map<string, Map<Index<never>, Growing<Row>>>()

  /** The groups of a table by an index. `rows`: all records of that table. */
  of<T extends Row>(table: string, index: Index<T>, rows: Iterable<T>): Groups<T> {
    let made = this.#tables.get(table)
    if (made === undefined) {
      made = new Map()
      this.#tables.set(table, made)
    }
    const known = made.get(index)
    if (known !== undefined) return known as unknown as Groups<T>
    const groups = groupedBy(rows, index)
    made.set(index, groups as unknown as Growing<Row>)
    return groups
  }

  /** Updates the indexes of a table for one write of a record. */
  follow(table: string, before: Row | undefined, after: Row | undefined): void {
    const made = this.#tables.get(table)
    if (made === undefined) return
    for (const [index, groups] of made) {
      const { keyOf } = index as Index<Row>
      const from = before && keyOf(before)
      const to = after && keyOf(after)
      // The place of the record in its new group depends on the whole table, so the index is built again.
      if (from !== undefined && to !== undefined && from !== to) made.delete(index)
      else if (after !== undefined) add(groups, to as string, after)
      else if (before !== undefined) groups.get(from as string)?.delete(before.id)
    }
  }

  /** Drops the indexes of a table, or of all tables. */
  forget(table?: string): void {
    if (table === undefined) this.#tables.clear()
    else this.#tables.delete(table)
  }
}

/** Records by the key of an index. */
export function groupedBy<T extends Row>(records: Iterable<T>, { keyOf }: Index<T>): Growing<T> {
  const groups: Growing<T> = new Map()
  for (const record of records) add(groups, keyOf(record), record)
  return groups
}

function add<T extends Row>(groups: Growing<T>, key: string, record: T): void {
  const group = groups.get(key)
  if (group === undefined) groups.set(key, new Map([[record.id, record]]))
  else group.set(record.id, record)
}
