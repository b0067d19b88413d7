import { refuse } from '../errors.ts'
import type { AnyMilestone } from '../operation.ts'
import type { Sandbox } from '../sandboxes/sandbox.ts'
import { END_OF_TIME } from './clock.ts'
import { EventTally, MAX_EVENTS } from './event-tally.ts'
import { formatInstant } from './instant.ts'
import { followHost, lagOf, nextEventOf, runEvents, setClock } from './run-events.ts'
import type { AdvanceResult } from './scheduler.ts'
import { Turn } from './turn.ts'

/** The target of an advance. */
export type AdvanceTarget =
  /** To an instant, computed from the clock when the advance begins. The function may refuse. */
  | { readonly to: (now: number) => number }
  /** Over a number of events, whenever they are due. */
  | { readonly steps: number }
  /** Until a record reaches a milestone of its resource. */
  | { readonly until: Goal }

export interface Goal {
  readonly milestone: AnyMilestone
  /** The goal as the milestone's schema has parsed it. */
  readonly goal: unknown
}

/** Limits that end an advance before its target. */
export interface AdvanceLimits {
  /** Number of events after which it stops. Absent: no limit. */
  readonly maxEvents?: number
  /** The instant at which an advance until a goal stops. Absent: no limit. */
  readonly maxTo?: number
  /** Aborted when the client no longer waits for the advance. */
  readonly signal?: AbortSignal
  /** Called when it begins to move the clock to its target. */
  readonly onBegin?: () => void
}

/**
 * Advances the clock. At each instant it waits until the webhooks are delivered, so that a receiver sees the sandbox as it was
 * when the webhook was due. After each turn it yields to the event loop. The clock's new instant is durable when this
 * resolves. The result includes events that run for other requests during the advance. An advance that begins during another
 * waits for its end; it is refused with `conflict` while a webhook is in flight.
 */
export async function advance(sandbox: Sandbox, target: AdvanceTarget, limits: AdvanceLimits = {}) {
  while (sandbox.advances.running === 'advance') await waitForOther(sandbox, limits.signal)
  const end = sandbox.advances.begin('advance')
  const passage = new Advance(sandbox, limits)
  try {
    // A stopped clock has nothing to catch up with: events that an earlier step left due are part of this advance.
    if (sandbox.clock.rate > 0) await passage.catchUp()
    // A refused target is not an advance, so that the last one stays the latest.
    const instant = 'to' in target ? target.to(sandbox.clock.now) : undefined
    limits.onBegin?.()
    passage.begin()
    if ('steps' in target) await passage.steps(target.steps)
    else if ('until' in target) await passage.until(target.until)
    else if (instant !== undefined) await passage.to(instant)
    setClock(sandbox)
    return passage.result()
  } catch (error) {
    passage.keep()
    throw error
  } finally {
    passage.end()
    end()
  }
}

// Refused while a webhook is in flight: the other advance waits for its receiver, which may be the client that requests
// this one.
async function waitForOther(sandbox: Sandbox, signal: AbortSignal | undefined): Promise<void> {
  if (sandbox.deliveries.isRequesting) sandbox.advances.refuseOther()
  await orAborted(sandbox.advances.ended, signal)
  const { closedReason } = sandbox.listeners
  if (closedReason !== undefined) throw closedReason
  if (signal?.aborted) refuseAborted(sandbox)
}

// A receiver may be slow; the client that advances the clock can stop waiting.
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
    detail: `The advance was ended before it reached its target. The clock is at ${formatInstant(clock.now)}.`,
    mitigation: 'Advance again to continue from there.',
  })
}

const BETWEEN_TURNS =
  'Requests were served during a long advance, between its events: a replay serves them before or after it.'

const NO_LIMITS = { maxEvents: Number.POSITIVE_INFINITY, maxTo: Number.POSITIVE_INFINITY }

class Advance {
  readonly #sandbox: Sandbox
  readonly #limits: AdvanceLimits & typeof NO_LIMITS
  readonly #replacements: number
  readonly #turn: Turn
  readonly #tally = new EventTally()
  /** The clock's instant when the collection of events began. */
  #from: number | undefined
  #ran = 0
  #isStopped = false
  #stopListening = (): void => {}

  constructor(sandbox: Sandbox, limits: AdvanceLimits) {
    this.#sandbox = sandbox
    this.#limits = { ...NO_LIMITS, ...limits }
    this.#replacements = sandbox.listeners.replacements
    this.#turn = new Turn(() => sandbox.clock.elapsed)
  }

  /** Runs the events that are due now. The end is fixed at the start: a clock that cannot keep up would never reach it. */
  async catchUp(): Promise<void> {
    const sandbox = this.#sandbox
    followHost(sandbox)
    const due = sandbox.clock.due()
    for (let total = 0; ; ) {
      const { ran, reached } = runEvents(sandbox, due, () => this.#turn.isOver)
      sandbox.recording.read()
      if (reached) return
      if (ran === 0) throw sandbox.advances.instantLimit.refusal()
      total += ran
      if (total > MAX_EVENTS)
        refuse('conflict', {
          detail: `The running clock cannot keep up: it is at ${formatInstant(sandbox.clock.now)}, ${Math.round(lagOf(sandbox) / 1000)} s late, and ${MAX_EVENTS} events were not enough to catch up.`,
          mitigation:
            '"workspace-emulator clock rate 0" stops it where it is, "workspace-emulator clock rate 1" slows it down. Then advance again.',
        })
      await this.#giveBack()
    }
  }

  /** Starts to collect events for the result. */
  begin(): void {
    this.#from = this.#sandbox.clock.now
    this.#stopListening = this.#sandbox.listeners.onEvent((event) => this.#tally.add(event))
    this.#sandbox.advances.show(() => ({ running: true, result: this.result() }))
  }

  /** Lets the clock run on from the instant reached by a failed advance. Events that it had to catch up with stay due. */
  keep(): void {
    const sandbox = this.#sandbox
    const isOurs =
      sandbox.listeners.closedReason === undefined && sandbox.listeners.replacements === this.#replacements
    if (isOurs && this.#from !== undefined && sandbox.clock.now !== this.#from) setClock(sandbox)
  }

  /** Stops collecting events. The result stays that of the last advance, unless the state was replaced. */
  end(): void {
    this.#stopListening()
    if (this.#from === undefined || this.#sandbox.listeners.replacements !== this.#replacements) return
    const ended = { running: false, result: this.result() }
    this.#sandbox.advances.show(() => ended)
  }

  result(): AdvanceResult {
    const { faults } = this.#sandbox
    const held = faults.isEmpty ? [] : faults.gates.held()
    return this.#tally.result({
      from: formatInstant(this.#from ?? this.#sandbox.clock.now),
      to: formatInstant(this.#sandbox.clock.now),
      ...(this.#isStopped && { stopped: 'limit' }),
      ...(held.length > 0 && { held }),
    })
  }

  async to(instant: number): Promise<void> {
    for (;;) {
      if (this.#mustWait()) await this.#deliver()
      if (this.#isFull(instant)) return
      const reached = this.#run(instant, () => !this.#isIdle)
      if (reached && this.#isIdle) return
    }
  }

  async steps(count: number): Promise<void> {
    for (let ran = 0; ran < count; ran++) {
      if (this.#mustWait()) await this.#deliver()
      const next = this.#sandbox.scheduler.peek()
      if (next === undefined || Date.parse(next.due_at) > END_OF_TIME) return
      if (this.#isFull(END_OF_TIME)) return
      this.#run(Date.parse(next.due_at), () => true)
    }
    if (this.#mustWait()) await this.#deliver()
  }

  async until({ milestone, goal }: Goal): Promise<void> {
    const sandbox = this.#sandbox
    const ref = milestone.ref(goal)
    let limit = Number.POSITIVE_INFINITY
    for (;;) {
      if (this.#mustWait()) await this.#deliver()
      const reached = milestone.reachedAt(sandbox.scope('until'), goal)
      if (reached !== undefined && reached <= sandbox.clock.now) return
      this.#isStopped = sandbox.clock.now >= limit
      if (this.#isStopped) return
      const next = nextEventOf(sandbox, ref)
      const instant = Math.min(reached ?? Number.POSITIVE_INFINITY, dueOf(next?.due_at), this.#limits.maxTo)
      if (instant > END_OF_TIME)
        refuse('conflict', {
          detail: `The target cannot be reached by time alone: no event is scheduled for ${ref}. The clock is at ${formatInstant(sandbox.clock.now)}.`,
          mitigation: `Check why it does not progress: "workspace-emulator state get ${ref.replace('/', ' ')}" and "workspace-emulator events".`,
        })
      await this.to(instant)
      if (this.#isStopped) return
      // Only now: at its start the clock may be there already, and events due then belong to this advance.
      if (instant === this.#limits.maxTo) limit = instant
    }
  }

  #run(instant: number, pause: () => boolean): boolean {
    const { ran, reached } = runEvents(this.#sandbox, instant, () => {
      this.#ran += 1
      return this.#turn.isOver || this.#ran >= this.#limits.maxEvents || pause()
    })
    if (!reached && ran === 0) throw this.#sandbox.advances.instantLimit.refusal()
    return reached
  }

  // Stopped only if more events are due: the last event that may run can also be the last one due.
  #isFull(instant: number): boolean {
    if (this.#ran < this.#limits.maxEvents) return false
    this.#isStopped = dueOf(this.#sandbox.scheduler.peek()?.due_at) <= instant
    return this.#isStopped
  }

  get #isIdle(): boolean {
    return this.#sandbox.deliveries.isIdle
  }

  // Without a wait, nothing else acts on the sandbox between its beginning and its events: a recording has them in this order.
  #mustWait(): boolean {
    if (!this.#isIdle || this.#turn.isOver) return true
    this.#refuseToGoOn()
    return false
  }

  // From `begin` to its target, an advance waits for webhooks only here.
  async #deliver(): Promise<void> {
    const { deliveries } = this.#sandbox
    if (!deliveries.isIdle) await orAborted(deliveries.whenIdle(), this.#limits.signal)
    if (this.#turn.isOver) await this.#giveBack()
    else this.#refuseToGoOn()
  }

  async #giveBack(): Promise<void> {
    const { recording } = this.#sandbox
    const before = recording.count
    await this.#turn.next()
    if (recording.count !== before) recording.cannotRepeat(BETWEEN_TURNS)
    this.#refuseToGoOn()
  }

  #refuseToGoOn(): void {
    const { closedReason } = this.#sandbox.listeners
    if (closedReason !== undefined) throw closedReason
    if (this.#limits.signal?.aborted) refuseAborted(this.#sandbox)
    if (this.#sandbox.listeners.replacements === this.#replacements) return
    refuse('conflict', {
      detail: 'The sandbox was reset, restored or replaced during the advance.',
      mitigation: 'Advance again: the clock is that of the new sandbox.',
    })
  }
}

function dueOf(due: string | undefined): number {
  return due === undefined ? Number.POSITIVE_INFINITY : Date.parse(due)
}
