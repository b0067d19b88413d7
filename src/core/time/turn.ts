import { Refusal } from '../errors.ts'
import { formatInstant } from './instant.ts'

/** How much of one thing is done before the thread is given back, so that requests and signals never wait long for it. */
export interface TurnLimit {
  /** Events of one turn; also as many as a request may let happen, since it cannot give the thread back. */
  readonly events: number
  /** Real milliseconds after which a turn ends although events are left. */
  readonly ms: number
  /** Gives the thread back; resolves when it is there again. */
  readonly next: () => Promise<void>
}

// Taken when this is loaded: the emulator can run in a test that replaces timers by fake ones later.
const { setImmediate } = globalThis

const waiting: (() => void)[] = []

// One turn for each round of the event loop: a hundred sandboxes with much to do must not add up to one long wait.
function pass(): void {
  waiting.shift()?.()
  if (waiting.length > 0) setImmediate(pass)
}

/** The turns of every sandbox of a process. Five hundred events take about fifteen milliseconds. */
export const TURN: TurnLimit = {
  events: 500,
  ms: 3,
  next: () =>
    new Promise((resolve) => {
      waiting.push(resolve)
      if (waiting.length === 1) setImmediate(pass)
    }),
}

/** One turn after the other of a work that takes many. */
export class Turn {
  readonly #limit: TurnLimit
  readonly #elapsed: () => number
  #left: number
  #end: number

  /** @param elapsed real milliseconds of a clock that cannot be set */
  constructor(limit: TurnLimit, elapsed: () => number) {
    this.#limit = limit
    this.#elapsed = elapsed
    this.#left = limit.events
    this.#end = elapsed() + limit.ms
  }

  get isOver(): boolean {
    return this.#left <= 0 || this.#elapsed() >= this.#end
  }

  /** Counts an event. @returns whether the turn is over */
  count(): boolean {
    this.#left -= 1
    return this.isOver
  }

  /** Gives the thread back; the next turn begins when this resolves. */
  async next(): Promise<void> {
    await this.#limit.next()
    this.#left = this.#limit.events
    this.#end = this.#elapsed() + this.#limit.ms
  }
}

/** How many of the last events are examined to name what never ends. */
const LAST = 1_000

/** Counts the events that run at one instant: beyond a bound, something schedules itself while time stands still. */
export class InstantLimit {
  readonly #most: number
  #now = Number.NaN
  #events = 0
  #last: string[] = []

  constructor(most: number) {
    this.#most = most
  }

  /** Whether no event may run at this instant any more. */
  isFull(now: number): boolean {
    return now === this.#now && this.#events >= this.#most
  }

  /** Notes an event that runs at this instant. */
  add(now: number, { kind, ref }: { readonly kind: string; readonly ref: string }): void {
    if (now !== this.#now) this.reset()
    this.#now = now
    this.#events += 1
    if (this.#events > this.#most - LAST) this.#last.push(`${kind} ${ref}`)
  }

  /** Starts again: a change from outside may have ended the loop. */
  reset(): void {
    this.#now = Number.NaN
    this.#events = 0
    this.#last = []
  }

  /** Why time does not go on, naming what happened most often. */
  refusal(): Refusal {
    const counts = new Map<string, number>()
    for (const name of this.#last) counts.set(name, (counts.get(name) ?? 0) + 1)
    const suspects = [...counts].sort((a, b) => b[1] - a[1]).slice(0, 3)
    return new Refusal('conflict', {
      detail: `Time did not pass after ${this.#most} events at ${formatInstant(this.#now)}, where the clock stopped. Most frequent of the last ${this.#last.length}: ${suspects.map(([name, n]) => `${name} (${n} times)`).join(', ')}.`,
      details: { suspects: suspects.map(([name, times]) => ({ name, times })) },
      mitigation: 'Delete the records that keep scheduling themselves, or reset the sandbox.',
    })
  }
}

/** Work outside a sandbox that an advance has to wait for: webhooks are sent, functions of scenarios are called. */
export interface PendingWork {
  /** Nothing is pending; what waits for a later instant does not count. */
  readonly isIdle: boolean
  /** A request is under way, whose receiver may be a client of this sandbox. */
  readonly isRequesting: boolean
  /** Resolves when {@link PendingWork.isIdle} is true. */
  whenIdle(): Promise<void>
}

/** Joins two. Each may cause work for the other, so both have to be idle at once. */
export function joinPendingWork(one: PendingWork | undefined, other: PendingWork): PendingWork {
  if (one === undefined) return other
  const all = [one, other]
  const isIdle = (): boolean => all.every((each) => each.isIdle)
  return {
    get isIdle() {
      return isIdle()
    },
    get isRequesting() {
      return all.some((each) => each.isRequesting)
    },
    whenIdle: async () => {
      while (!isIdle()) for (const each of all) await each.whenIdle()
    },
  }
}
