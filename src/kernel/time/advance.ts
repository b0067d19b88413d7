import { refuse } from '../errors.ts'
import type { AnyMilestone } from '../operation.ts'
import type { World } from '../worlds/world.ts'
import { END_OF_TIME } from './clock.ts'
import { formatInstant } from './instant.ts'
import type { Outbox } from './outbox.ts'
import type { Receipt, ReceiptEvent } from './receipt.ts'
import { endless, nextEventOf, settle } from './settle.ts'

/** How far time is to pass. */
export type Target =
  /** To an instant, named when it is this target's turn; it may refuse. */
  | { readonly to: (now: number) => number }
  /** Over so many events, whenever they are due. */
  | { readonly steps: number }
  /** To what a room knows of its records. */
  | { readonly until: Goal }

export interface Goal {
  readonly milestone: AnyMilestone
  /** What the milestone's schema has read. */
  readonly goal: unknown
}

/**
 * Lets time pass and waits at each instant until its webhooks are delivered, so that a receiver who looks at the world sees
 * it as it was when the webhook was due. The clock's new instant is durable when this resolves. Whatever happens meanwhile,
 * also on behalf of other requests, is in the receipt.
 */
export async function advance(world: World, target: Target, outbox: Outbox = NO_OUTBOX): Promise<Receipt> {
  // A clock that stands still has nothing to catch up with: what an earlier step has left due is part of this passage.
  if (world.clock.rate > 0) settle(world, world.clock.due())
  const passage = new Passage(world, outbox)
  try {
    if ('steps' in target) await passage.steps(target.steps)
    else if ('until' in target) await passage.until(target.until)
    else await passage.to(target.to(world.clock.now))
  } finally {
    passage.end()
  }
  world.setClock()
  return passage.receipt()
}

const NO_OUTBOX: Outbox = { isIdle: true, settled: async () => {} }

class Passage {
  readonly #world: World
  readonly #outbox: Outbox
  readonly #from: number
  readonly #epoch: number
  readonly #events: ReceiptEvent[] = []
  readonly #parked: ReceiptEvent[] = []
  /** Stops taking notes; harmless when repeated. */
  readonly end: () => void

  constructor(world: World, outbox: Outbox) {
    this.#world = world
    this.#outbox = outbox
    this.#from = world.clock.now
    this.#epoch = world.epoch
    this.end = world.onEvent((event) => {
      if (event.error === undefined) this.#events.push(event)
      else this.#parked.push(event)
    })
  }

  receipt(): Receipt {
    return {
      from: formatInstant(this.#from),
      to: formatInstant(this.#world.clock.now),
      events: this.#events,
      parked: this.#parked,
    }
  }

  async to(instant: number): Promise<void> {
    for (;;) {
      await this.#deliver()
      settle(this.#world, instant, () => !this.#outbox.isIdle)
      this.#bound()
      if (this.#outbox.isIdle) return
    }
  }

  async steps(count: number): Promise<void> {
    for (let ran = 0; ran < count; ran++) {
      await this.#deliver()
      const next = this.#world.scheduler.peek()
      if (next === undefined || Date.parse(next.due_at) > END_OF_TIME) return
      settle(this.#world, Date.parse(next.due_at), () => true)
    }
    await this.#deliver()
  }

  async until({ milestone, goal }: Goal): Promise<void> {
    const world = this.#world
    const ref = milestone.ref(goal)
    for (;;) {
      await this.#deliver()
      const reached = milestone.reachedAt(world.scope('until'), goal)
      if (reached !== undefined && reached <= world.clock.now) return
      const next = nextEventOf(world, ref)
      const instant = Math.min(reached ?? Number.POSITIVE_INFINITY, dueOf(next?.due_at))
      if (instant > END_OF_TIME) this.#unreachable(ref)
      await this.to(instant)
    }
  }

  async #deliver(): Promise<void> {
    if (!this.#outbox.isIdle) await this.#outbox.settled()
    if (this.#world.retired !== undefined) throw this.#world.retired
    if (this.#world.epoch === this.#epoch) return
    refuse('conflict', {
      detail: 'The world was reset, restored or replaced while time was passing.',
      mitigation: 'Advance again: the clock is that of the new world.',
    })
  }

  // One settlement has a bound of its own; this is the one over all of them.
  #bound(): void {
    const ran = this.#events.length + this.#parked.length
    if (ran >= this.#world.options.mostEvents) endless(this.#events, this.#world)
  }

  #unreachable(ref: string): never {
    return refuse('conflict', {
      detail: `Time alone does not bring that about: nothing is scheduled for ${ref}. The clock stands at ${formatInstant(this.#world.clock.now)}.`,
      mitigation: `Look at what holds it: GET /__emulator/state/${ref} and GET /__emulator/clock/horizon.`,
    })
  }
}

function dueOf(due: string | undefined): number {
  return due === undefined ? Number.POSITIVE_INFINITY : Date.parse(due)
}
