import TinyQueue from 'tinyqueue'
import type { Commit, Row } from '../state/commit.ts'
import type { Store } from '../state/store.ts'
import { isHeld, isSameSubscriber } from './hold.ts'
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
  /** Those that wait for the next one to their subscriber; hardly ever more than one of each. */
  #held = new Set<string>()
  /** Those that a fault has dropped and nobody has been told of. */
  #dropped: Delivery[] = []
  #queue = new TinyQueue<Entry>([], inOrder)

  constructor(store: Store) {
    this.#store = store
    this.rebuild()
  }

  /** How many are to be sent, or told of. */
  get size(): number {
    return this.#pending.size + this.#dropped.length
  }

  /** Reads the whole table again, after a world has been loaded or restored. */
  rebuild(): void {
    this.#pending = new Set()
    this.#held = new Set()
    this.#dropped = []
    this.#queue = new TinyQueue<Entry>([], inOrder)
    for (const row of this.#store.rows(deliveries.name).values()) this.#note(row as Delivery)
  }

  /** Follows a commit; to be called for each. */
  hear({ changes }: Commit): void {
    for (const { table, id, before, after } of changes) {
      if (table !== deliveries.name) continue
      if (after === undefined) this.#forget(id)
      else this.#note(after as Delivery)
      if (before === undefined && isDropped(after)) this.#dropped.push(after as Delivery)
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

  /** The deliveries that were held until this later one to their subscriber has had an attempt, oldest first. */
  heldFor(later: Delivery): Delivery[] {
    const held = [...this.#held].map((id) => this.#store.get(deliveries.name, id) as Delivery)
    return held
      .filter((each) => isSameSubscriber(each, later) && inOrder(entry(each), entry(later)) < 0)
      .sort((a, b) => inOrder(entry(a), entry(b)))
  }

  /** The deliveries that faults have dropped since this was last asked. */
  takeDropped(): Delivery[] {
    return this.#dropped.splice(0)
  }

  #forget(id: string): void {
    this.#pending.delete(id)
    this.#held.delete(id)
  }

  #note(delivery: Delivery): void {
    const { id, status } = delivery
    if (isHeld(delivery)) this.#held.add(id)
    else this.#held.delete(id)
    if (status !== 'pending') this.#pending.delete(id)
    else if (!this.#pending.has(id)) {
      this.#pending.add(id)
      this.#queue.push(entry(delivery))
    }
  }
}

function isDropped(row: Row | undefined): boolean {
  return (row as Delivery | undefined)?.status === 'dropped'
}

function entry({ id, created_at }: Delivery): Entry {
  return { id, created: Date.parse(created_at) }
}

// Ids of one instant ascend in order of creation.
function inOrder(a: Entry, b: Entry): number {
  return a.created - b.created || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0)
}
