import TinyQueue from 'tinyqueue'
import type { Commit } from '../state/commit.ts'
import type { Store } from '../state/store.ts'
import { type Delivery, deliveries } from './records.ts'

interface Entry {
  readonly id: string
  readonly created: number
}

/**
 * The deliveries of a world that are to be sent, in order of creation. The table is the truth; what is pending follows from
 * commits, so that a long history costs nothing.
 */
export class DueDeliveries {
  readonly #store: Store
  #pending = new Set<string>()
  #queue = new TinyQueue<Entry>([], inOrder)

  constructor(store: Store) {
    this.#store = store
    this.rebuild()
  }

  get size(): number {
    return this.#pending.size
  }

  /** Reads the whole table again, after a world has been loaded or restored. */
  rebuild(): void {
    this.#pending = new Set()
    this.#queue = new TinyQueue<Entry>([], inOrder)
    for (const row of this.#store.rows(deliveries.name).values()) this.#note(row as Delivery)
  }

  /** Follows a commit; to be called for each. */
  hear({ changes }: Commit): void {
    for (const { table, id, after } of changes) {
      if (table !== deliveries.name) continue
      if (after === undefined) this.#pending.delete(id)
      else this.#note(after as Delivery)
    }
  }

  /** The one to be sent next; undefined when there is none. */
  next(): Delivery | undefined {
    for (;;) {
      const first = this.#queue.peek()
      if (first === undefined) return undefined
      if (this.#pending.has(first.id)) return this.#store.get(deliveries.name, first.id) as Delivery
      this.#queue.pop()
    }
  }

  #note({ id, status, created_at }: Delivery): void {
    if (status !== 'pending') this.#pending.delete(id)
    else if (!this.#pending.has(id)) {
      this.#pending.add(id)
      this.#queue.push({ id, created: Date.parse(created_at) })
    }
  }
}

// Ids of one instant ascend in order of creation.
function inOrder(a: Entry, b: Entry): number {
  return a.created - b.created || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0)
}
