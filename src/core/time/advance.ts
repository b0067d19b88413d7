import { refuse } from '../errors.ts'
import type { AnyMilestone } from '../operation.ts'
import type { Sandbox } from '../sandboxes/sandbox.ts'
import { END_OF_TIME } from './clock.ts'
import { formatInstant } from './instant.ts'
import { nextEventOf, type RunResult, runEvents } from './run-events.ts'
import { type AdvanceResult, EventTally, MAX_EVENTS } from './scheduler.ts'
import { joinPendingWork, type PendingWork, Turn } from './turn.ts'

/** How far time is to pass. */
export type AdvanceTarget =
  /** To an instant, named when it is this target's turn; it may refuse. */
  | { readonly to: (now: number) => number }
  /** Over a number of events, whenever they are due. */
  | { readonly steps: number }
  /** To what a resource knows of its records. */
  | { readonly until: Goal }

export interface Goal {
  readonly milestone: AnyMilestone
  /** What the milestone's schema has read. */
  readonly goal: unknown
}

/** What ends an advance before its target is reached. */
export interface AdvanceLimits {
  /** Events after which it stops. Absent: it goes on to its target. */
  readonly maxEvents?: number
  /** Aborted when the client no longer waits for the advance. */
  readonly signal?: AbortSignal
}

/**
 * Lets time pass and waits at each instant until its webhooks are delivered, so that a receiver that reads the sandbox sees
 * it as it was when the webhook was due. Gives the thread back after each turn. The clock's new instant is durable when this
 * resolves. Everything that happens during the advance, also on behalf of other requests, is in the result. An advance that
 * begins during another waits for its end.
 */
export async function advance(
  sandbox: Sandbox,
  target: AdvanceTarget,
  limits: AdvanceLimits = {},
): Promise<AdvanceResult> {
  while (sandbox.running === 'advance') await waitForOther(sandbox, limits.signal)
  sandbox.running = 'advance'
  let end = (): void => {}
  sandbox.advanceEnd = new Promise((resolve) => {
    end = resolve
  })
  const passage = new Advance(sandbox, joinPendingWork(sandbox.pendingWork, sandbox.preparations), limits)
  try {
    // A clock that stands still has nothing to catch up with: what an earlier step has left due is part of this passage.
    if (sandbox.clock.rate > 0) await passage.catchUp()
    passage.begin()
    if ('steps' in target) await passage.steps(target.steps)
    else if ('until' in target) await passage.until(target.until)
    else await passage.to(target.to(sandbox.clock.now))
    sandbox.setClock()
    return passage.result()
  } catch (error) {
    passage.keep()
    throw error
  } finally {
    passage.end()
    sandbox.running = undefined
    end()
  }
}

// Refused while a webhook is under way: the other advance waits for its receiver, and that may be the client that asks
// for this one.
async function waitForOther(sandbox: Sandbox, signal: AbortSignal | undefined): Promise<void> {
  if (sandbox.pendingWork?.isRequesting) sandbox.refuseDuringAdvance()
  await orAborted(sandbox.advanceEnd, signal)
  if (sandbox.closedReason !== undefined) throw sandbox.closedReason
  if (signal?.aborted) refuseAborted(sandbox)
}

// A receiver may take long; the client that advanced the clock can stop waiting.
async function orAborted(work: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  if (signal === undefined) return work
  let stop = (): void => {}
  const aborted = new Promise<void>((resolve) => {
    stop = resolve
    signal.addEventListener('abort', stop, { once: true })
    if (signal.aborted) resolve()
  })
  await Promise.race([work, aborted]).finally(() => signal.removeEventListener('abort', stop))
}

function refuseAborted({ clock }: Sandbox): never {
  return refuse('conflict', {
    detail: `The advance was ended before it came to its target. The clock is at ${formatInstant(clock.now)}.`,
    mitigation: 'Advance again to go on from there.',
  })
}

class Advance {
  readonly #sandbox: Sandbox
  readonly #pendingWork: PendingWork
  readonly #maxEvents: number
  readonly #signal: AbortSignal | undefined
  readonly #replacements: number
  readonly #turn: Turn
  readonly #tally = new EventTally()
  /** Where the clock stood when notes were first taken. */
  #from: number | undefined
  #ran = 0
  #isStopped = false
  #stopListening = (): void => {}

  constructor(
    sandbox: Sandbox,
    work: PendingWork,
    { maxEvents = Number.POSITIVE_INFINITY, signal }: AdvanceLimits,
  ) {
    this.#sandbox = sandbox
    this.#pendingWork = work
    this.#maxEvents = maxEvents
    this.#signal = signal
    this.#replacements = sandbox.replacements
    this.#turn = new Turn(sandbox.options.turn, () => sandbox.clock.elapsed)
  }

  /** Runs what is due by now. Its end is fixed when it begins: a clock that cannot keep up would have none. */
  async catchUp(): Promise<void> {
    const sandbox = this.#sandbox
    sandbox.followHost()
    const due = sandbox.clock.due()
    for (let total = 0; ; ) {
      const { ran, reached, waits } = runEvents(sandbox, due, () => this.#turn.count())
      if (reached) return
      if (waits) await sandbox.preparations.whenIdle()
      else if (ran === 0) throw sandbox.instantLimit.refusal()
      total += ran
      if (total > MAX_EVENTS) this.#refuseBehind()
      await this.#giveBack()
    }
  }

  /** Takes notes from now on. */
  begin(): void {
    this.#from = this.#sandbox.clock.now
    this.#stopListening = this.#sandbox.onEvent((event) => this.#tally.add(event))
  }

  /** Lets the clock run on from where it stands, although the target was not reached. What it had to catch up with stays due. */
  keep(): void {
    const sandbox = this.#sandbox
    const isOurs = sandbox.closedReason === undefined && sandbox.replacements === this.#replacements
    if (isOurs && this.#from !== undefined && sandbox.clock.now !== this.#from) sandbox.setClock()
  }

  /** Stops taking notes. */
  end(): void {
    this.#stopListening()
  }

  result(): AdvanceResult {
    return this.#tally.result({
      from: formatInstant(this.#from ?? this.#sandbox.clock.now),
      to: formatInstant(this.#sandbox.clock.now),
      ...(this.#isStopped && { stopped: 'limit' }),
    })
  }

  async to(instant: number): Promise<void> {
    for (;;) {
      await this.#deliver()
      if (this.#isFull(instant)) return
      const { reached } = this.#run(instant, () => !this.#pendingWork.isIdle)
      if (reached && this.#pendingWork.isIdle) return
    }
  }

  async steps(count: number): Promise<void> {
    for (let ran = 0; ran < count; ran++) {
      await this.#deliver()
      const next = this.#sandbox.scheduler.peek()
      if (next === undefined || Date.parse(next.due_at) > END_OF_TIME) return
      if (this.#isFull(END_OF_TIME)) return
      if (this.#run(Date.parse(next.due_at), () => true).waits) ran--
    }
    await this.#deliver()
  }

  async until({ milestone, goal }: Goal): Promise<void> {
    const sandbox = this.#sandbox
    const ref = milestone.ref(goal)
    for (;;) {
      await this.#deliver()
      const reached = milestone.reachedAt(sandbox.scope('until'), goal)
      if (reached !== undefined && reached <= sandbox.clock.now) return
      const next = nextEventOf(sandbox, ref)
      const instant = Math.min(reached ?? Number.POSITIVE_INFINITY, dueOf(next?.due_at))
      if (instant > END_OF_TIME) this.#unreachable(ref)
      await this.to(instant)
      if (this.#isStopped) return
    }
  }

  #run(instant: number, pause: () => boolean): Pick<RunResult, 'reached' | 'waits'> {
    const { ran, reached, waits } = runEvents(this.#sandbox, instant, () => {
      this.#ran += 1
      return this.#turn.count() || this.#ran >= this.#maxEvents || pause()
    })
    if (!reached && ran === 0 && !waits) throw this.#sandbox.instantLimit.refusal()
    return { reached, waits }
  }

  // Stopped only where more is due: the last event that may run can also be the last there is.
  #isFull(instant: number): boolean {
    if (this.#ran < this.#maxEvents) return false
    this.#isStopped = dueOf(this.#sandbox.scheduler.peek()?.due_at) <= instant
    return this.#isStopped
  }

  // Everything that the passage waits for, it waits for here.
  async #deliver(): Promise<void> {
    if (!this.#pendingWork.isIdle) await orAborted(this.#pendingWork.whenIdle(), this.#signal)
    if (this.#turn.isOver) await this.#giveBack()
    else this.#refuseToGoOn()
  }

  async #giveBack(): Promise<void> {
    await this.#turn.next()
    this.#refuseToGoOn()
  }

  #refuseToGoOn(): void {
    if (this.#sandbox.closedReason !== undefined) throw this.#sandbox.closedReason
    if (this.#signal?.aborted) refuseAborted(this.#sandbox)
    if (this.#sandbox.replacements === this.#replacements) return
    refuse('conflict', {
      detail: 'The sandbox was reset, restored or replaced while time was passing.',
      mitigation: 'Advance again: the clock is that of the new sandbox.',
    })
  }

  #refuseBehind(): never {
    const { clock, lag } = this.#sandbox
    return refuse('conflict', {
      detail: `The running clock cannot keep up: it is at ${formatInstant(clock.now)}, ${Math.round(lag / 1000)} s late, and ${MAX_EVENTS} events were not enough to catch up.`,
      mitigation:
        'PATCH /__emulator/clock {"rate": 0} stops it where it is, {"rate": 1} slows it down. Then advance again.',
    })
  }

  #unreachable(ref: string): never {
    return refuse('conflict', {
      detail: `Time alone does not bring that about: nothing is scheduled for ${ref}. The clock is at ${formatInstant(this.#sandbox.clock.now)}.`,
      mitigation: `Look at what holds it: GET /__emulator/state/${ref} and GET /__emulator/clock/horizon.`,
    })
  }
}

function dueOf(due: string | undefined): number {
  return due === undefined ? Number.POSITIVE_INFINITY : Date.parse(due)
}
