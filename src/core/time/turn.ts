import { Refusal } from '../errors.ts'
import { formatInstant } from './instant.ts'
import { nextTurn, real } from './real.ts'

/** Real milliseconds of work after which other requests are served. */
const TURN_MS = 10

/** Divides long work into turns. */
export class Turn {
  readonly #elapsed: () => number
  #end: number

  constructor(elapsed: () => number = real.elapsed) {
    this.#elapsed = elapsed
    this.#end = elapsed() + TURN_MS
  }

  get isOver(): boolean {
    return this.#elapsed() >= this.#end
  }

  /** Yields to the event loop; the next turn begins when this resolves. */
  async next(): Promise<void> {
    await nextTurn()
    this.#end = this.#elapsed() + TURN_MS
  }
}

/** Number of last events that are examined to name the cause of an endless loop. */
const LAST = 1_000

/** Counts the events at one instant. Beyond a limit, an event must be scheduling itself while time does not pass. */
export class InstantLimit {
  readonly #most: number
  #now = Number.NaN
  #events = 0
  #last: string[] = []

  constructor(most: number) {
    this.#most = most
  }

  /** Whether the limit of events at this instant is reached. */
  isFull(now: number): boolean {
    return now === this.#now && this.#events >= this.#most
  }

  /** Counts an event that runs at this instant. */
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

  /** The error when the limit is reached. It names the three most frequent of the last events. */
  refusal(): Refusal {
    const counts = new Map<string, number>()
    for (const name of this.#last) counts.set(name, (counts.get(name) ?? 0) + 1)
    const suspects = [...counts].sort((a, b) => b[1] - a[1]).slice(0, 3)
    return new Refusal('conflict', {
      detail: `The clock stopped at ${formatInstant(this.#now)}: ${this.#most} events ran at this instant, and time did not pass. Most frequent of the last ${this.#last.length}: ${suspects.map(([name, n]) => `${name} (${n} times)`).join(', ')}.`,
      details: { suspects: suspects.map(([name, times]) => ({ name, times })) },
      mitigation: 'Delete the records that keep scheduling themselves, or reset the sandbox.',
    })
  }
}

/** Work outside the event queue that an advance waits for: webhooks in flight, calls of scenario functions. */
export interface PendingWork {
  /** Nothing is pending; work for a later instant does not count. */
  readonly isIdle: boolean
  /** A request is in flight whose receiver may be a client of this sandbox. */
  readonly isRequesting: boolean
  /** Resolves when {@link PendingWork.isIdle} is true. */
  whenIdle(): Promise<void>
}
