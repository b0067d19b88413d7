import type { Scope } from '../operation.ts'
import type { Commit } from '../state/commit.ts'
import type { Store } from '../state/store.ts'
import { formatInstant, MINUTE, parseDuration } from '../time/instant.ts'
import { TinyQueue } from '../tiny-queue.ts'
import { type Delivery, deliveries, deliveryLifecycle } from './records.ts'

/** Virtual milliseconds after which a delivery no longer waits for the next one to its subscriber. */
const MAX_HOLD = MINUTE

/**
 * The first status of a new delivery: pending, unless its faults drop it or make it wait. With `order` it is held for the next
 * delivery to the same subscriber, unless another one is held already: then this is the next.
 */
export function placed(scope: Scope, delivery: Delivery): Delivery {
  const { status, faults } = delivery
  if (faults === null) return delivery
  if (faults.drop) return { ...delivery, status: deliveryLifecycle.move(status, 'drop') }
  if (faults.gate !== undefined)
    return { ...unordered(delivery), status: deliveryLifecycle.move(status, 'wait') }
  if (faults.order === undefined) return waiting(scope, delivery, scope.now)
  const held = scope.tx.in(deliveries).find((each) => isHeld(each) && isSameSubscriber(each, delivery))
  return held === undefined
    ? waiting(scope, delivery, scope.now + MAX_HOLD)
    : waiting(scope, unordered(delivery), scope.now)
}

/** A held delivery after the next one was attempted: pending, or waiting for the rest of its delay. */
export function released(scope: Scope, delivery: Delivery): Delivery {
  const due = delayedUntil(delivery)
  return due > scope.now
    ? { ...unordered(delivery), retry_at: formatInstant(due) }
    : { ...delivery, status: deliveryLifecycle.move(delivery.status, 'repeat'), retry_at: null }
}

/** Whether a delivery waits for the next one to the same subscriber. */
export function isHeld({ status, attempts, faults }: Delivery): boolean {
  return status === 'waiting' && attempts.length === 0 && faults?.order !== undefined
}

function isSameSubscriber(a: Delivery, b: Delivery): boolean {
  return a.webhook_id === b.webhook_id && a.url === b.url
}

function unordered(delivery: Delivery): Delivery {
  if (delivery.faults === null) return delivery
  const { order: _, ...faults } = delivery.faults
  return { ...delivery, faults }
}

function waiting(scope: Scope, delivery: Delivery, until: number): Delivery {
  const due = Math.max(until, delayedUntil(delivery))
  if (due <= scope.now) return delivery
  return {
    ...delivery,
    status: deliveryLifecycle.move(delivery.status, 'wait'),
    retry_at: formatInstant(due),
  }
}

function delayedUntil({ created_at, faults }: Delivery): number {
  const delay = faults?.delay === undefined ? 0 : (parseDuration(faults.delay) ?? 0)
  return Date.parse(created_at) + delay
}

interface Entry {
  readonly id: string
  readonly created: number
}

/**
 * The deliveries of a sandbox that are to be sent, in order of creation. The table is the source of truth; this index follows
 * its commits, so that a long history costs nothing. A sandbox that is replaced needs a new index.
 */
export class DueDeliveries {
  readonly #store: Store
  readonly #pending = new Set<string>()
  /** Deliveries that wait for the next one to their subscriber; rarely more than one for each. */
  readonly #held = new Set<string>()
  /** Deliveries that a fault has dropped and that are not reported yet. */
  readonly #dropped: Delivery[] = []
  readonly #queue = new TinyQueue<Entry>([], inOrder)

  constructor(store: Store) {
    this.#store = store
    for (const row of store.rows(deliveries.name).values()) this.#note(row as Delivery)
  }

  /** Number of deliveries to be sent or reported. */
  get size(): number {
    return this.#pending.size + this.#dropped.length
  }

  /** Updates the index from a commit; must be called for each. */
  update({ changes }: Commit): void {
    for (const { table, id, before, after } of changes) {
      if (table !== deliveries.name) continue
      const delivery = after as Delivery | undefined
      if (delivery !== undefined) this.#note(delivery)
      else for (const ids of [this.#pending, this.#held]) ids.delete(id)
      if (before === undefined && delivery?.status === 'dropped') this.#dropped.push(delivery)
    }
  }

  /** The next delivery to be sent; undefined when there is none. */
  next(): Delivery | undefined {
    for (;;) {
      const first = this.#queue.peek()
      if (first === undefined) return undefined
      if (this.#pending.has(first.id)) return this.#store.get(deliveries.name, first.id) as Delivery
      this.#queue.pop()
    }
  }

  /** The deliveries that are held until an attempt of this later one to their subscriber, oldest first. */
  heldFor(later: Delivery): Delivery[] {
    const held = [...this.#held].map((id) => this.#store.get(deliveries.name, id) as Delivery)
    return held
      .filter((each) => isSameSubscriber(each, later) && inOrder(entry(each), entry(later)) < 0)
      .sort((a, b) => inOrder(entry(a), entry(b)))
  }

  /** The deliveries that faults have dropped since the last call. */
  takeDropped(): Delivery[] {
    return this.#dropped.splice(0)
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

function entry({ id, created_at }: Delivery): Entry {
  return { id, created: Date.parse(created_at) }
}

// Ids of one instant ascend in order of creation.
function inOrder(a: Entry, b: Entry): number {
  return a.created - b.created || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0)
}
