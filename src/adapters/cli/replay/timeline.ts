import type { Sandbox } from '../../../core/sandboxes/sandbox.ts'
import type { HostTime } from '../../../core/time/clock.ts'
import { nextTurn } from '../../../core/time/real.ts'
import { runBacklog } from '../../../core/time/run-events.ts'
import type { Later } from '../../realtime.ts'

/** A part of a real millisecond by which the clock is moved until rounding has reached an instant. */
const STEP = 0.01

/** Turns of the event loop after which nothing more happens by itself. */
const QUIET_TURNS = 4

/** The time of a replay: no real time passes, and waits of faults end in the order in which they would end. */
export class ReplayTime {
  #wall: number
  #elapsed = 0
  #now = 0
  #waits: { readonly until: number; readonly call: () => void }[] = []
  readonly host: HostTime = Object.assign(() => Math.floor(this.#wall), { elapsed: () => this.#elapsed })

  constructor(wall: number) {
    this.#wall = wall
  }

  readonly later: Later = (ms, call) => {
    const wait = { until: this.#now + ms, call }
    this.#waits.push(wait)
    return () => {
      this.#waits = this.#waits.filter((each) => each !== wait)
    }
  }

  /** Ends the wait that would end first. @returns false if there is none */
  endWait(): boolean {
    const first = this.#waits.toSorted((a, b) => a.until - b.until)[0]
    if (first === undefined) return false
    this.#waits = this.#waits.filter((each) => each !== first)
    this.#now = first.until
    first.call()
    return true
  }

  /** Moves the host's clock to the time of an input: the clock of the sandbox is due at `at`. */
  moveTo(sandbox: Sandbox, at: number, wall: number): void {
    const { clock } = sandbox
    if (clock.rate === 0) this.#wall = wall
    else if (sandbox.running === undefined) {
      const before = this.#elapsed
      this.#elapsed += clock.realUntil(at) ?? 0
      while (clock.due() < at) this.#elapsed += STEP / clock.rate
      this.#wall += this.#elapsed - before
    }
  }
}

const NEVER = new AbortController().signal

/** Runs the events that are due, and waits for their consequences. */
export async function runDue(sandbox: Sandbox): Promise<void> {
  await runBacklog(sandbox, { signal: NEVER, onBehind: () => {} })
  await whenQuiet(sandbox)
}

/** Resolves when a sandbox does nothing more without an input. */
export async function whenQuiet({ store, log }: Sandbox): Promise<void> {
  for (let quiet = 0, before = ''; quiet < QUIET_TURNS; ) {
    await nextTurn()
    const present = `${store.revision} ${log.requests}`
    quiet = present === before ? quiet + 1 : 0
    before = present
  }
}
