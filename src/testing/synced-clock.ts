import { EventTally } from '../core/time/event-tally.ts'
import { formatInstant, parseDuration } from '../core/time/instant.ts'
import { real } from '../core/time/real.ts'
import type { AdvanceResult } from '../core/time/scheduler.ts'
import type { AdvanceOptions, ClockTarget, SandboxClient } from '../index.ts'
import type { ClientActivity } from './client-activity.ts'

/** Two clocks that advance together. */
export interface SyncedClock extends Disposable {
  /** Gives both their own clocks again. Further calls have no effect. */
  restore(): void
}

/** The fake timers of a client. */
export interface FakeTimers {
  /** The instant that `Date` shows, and when each timer is due. The names are for errors. */
  show(): Promise<{ now: number; timers: readonly { readonly due: number; readonly name: string }[] }>
  /** Moves by whole milliseconds, and runs the timers that are then due. */
  run(ms: number): Promise<unknown>
  /** Lets the code of the client go on. @returns whether it waits for the system, for example for a file */
  turn(): Promise<boolean>
  /** Turns without any activity after which the client is quiet. */
  readonly turns: number
}

/** Real milliseconds after which an unanswered request is an error. */
const PATIENCE = 5_000

/** Steps after which an advance to a goal asks the sandbox whether time alone can reach it. */
const MAX_STEPS = 5_000

/** Advances the clock of a sandbox and the timers of a client together, one event or one timer at a time. */
export function pairClocks(sandbox: SandboxClient, timers: FakeTimers, activity: ClientActivity) {
  const ownAdvance = sandbox.clock.advance
  let isRunning = false
  sandbox.clock.advance = advance
  return { advance, restore }

  /** Gives the sandbox its own clock again. */
  function restore(): void {
    sandbox.clock.advance = ownAdvance
  }

  /** Advances both to a target, and until both are quiet there. */
  async function advance(target: string | ClockTarget, options: AdvanceOptions = {}): Promise<AdvanceResult> {
    const goal = typeof target === 'string' ? { by: target } : target
    if ('max_events' in goal || 'max_to' in goal) throw new TypeError(NO_LIMITS)
    if (isRunning) throw new Error(BUSY)
    isRunning = true
    try {
      return await run(goal, options)
    } finally {
      isRunning = false
    }
  }

  async function run(target: ClockTarget, options: AdvanceOptions): Promise<AdvanceResult> {
    const { now: from } = await sandbox.clock.show()
    const { now } = await timers.show()
    const start = Math.max(now, Date.parse(from))
    const tally = new EventTally()
    await settle(now)
    // Each may have moved alone since the last advance.
    if (now > Date.parse(from)) tally.addAll(await ownAdvance({ to: formatInstant(now) }, options))
    await follow(start)
    const ms = 'by' in target ? parseDuration(target.by) : undefined
    let goal = ms === undefined ? target : { to: formatInstant(start + ms) }
    let left = 'steps' in goal ? goal.steps : 1
    for (let steps = 1; ; steps += 1) {
      options.signal?.throwIfAborted()
      const result = await step(goal, options, steps > MAX_STEPS)
      const ran = result.events.length + result.failed.length
      tally.addAll(result)
      if (ran > 0) await settle(Date.parse(result.to))
      const isQuiet = !(await follow(Date.parse(result.to)))
      if (result.stopped !== undefined) continue
      left -= ran > 0 ? 1 : left
      if ('to' in goal && isQuiet) return tally.result({ from, to: result.to })
      // The goal is reached. What is due at its instant still runs.
      if (!('steps' in goal) || left <= 0) goal = { to: result.to }
    }
  }

  // At most up to the next instant at which anything happens. `stopped` when the goal is not reached.
  async function step(goal: ClockTarget, options: AdvanceOptions, isLate: boolean): Promise<AdvanceResult> {
    const { next: event, now } = await sandbox.clock.show()
    const timer = await nextTimer()
    const eventDue = event === null ? Number.POSITIVE_INFINITY : Date.parse(event.at)
    const goalDue = 'to' in goal ? Date.parse(goal.to) : Number.POSITIVE_INFINITY
    const instant = Math.max(Date.parse(now), Math.min(timer.due, eventDue, goalDue))
    // The receiver of a webhook sees the instant of its event. Timers that are due then run after it.
    const before = Math.min(instant, timer.due - 1)
    if (before > timer.now && Number.isFinite(before)) await timers.run(before - timer.now)
    if ('steps' in goal && (event === null || instant === eventDue)) return ownAdvance({ steps: 1 }, options)
    const isWrong = 'by' in goal || ('until' in goal && isLate)
    if (isWrong || !Number.isFinite(instant) || instant >= goalDue) return ownAdvance(goal, options)
    const to = formatInstant(instant)
    if ('until' in goal) return ownAdvance({ ...goal, max_to: to }, options)
    return { ...(await ownAdvance({ to }, options)), stopped: 'limit' }
  }

  // Runs the timers of the client up to an instant, one after the other. @returns whether there were any
  async function follow(instant: number): Promise<boolean> {
    for (let ran = false; ; ran = true) {
      const { now, due, name } = await nextTimer()
      if (due > instant) {
        if (instant > now) await timers.run(instant - now)
        return ran
      }
      activity.add(name)
      await timers.run(due - now)
      await settle(due)
    }
  }

  async function nextTimer() {
    const { now, timers: all } = await timers.show()
    const none = { due: Number.POSITIVE_INFINITY, name: '' }
    const { due, name } = all.reduce((first, each) => (each.due < first.due ? each : first), none)
    return { now, due: Math.ceil(due), name }
  }

  // Waits until the requests of the client are answered and its code has gone on.
  async function settle(instant: number): Promise<void> {
    for (let quiet = 0, seen = '', since = real.elapsed(); ; ) {
      activity.refuseEndless(instant)
      const isWaiting = await timers.turn()
      const { state, open } = activity
      if (state !== seen) [quiet, seen, since] = [0, state, real.elapsed()]
      else quiet = isWaiting ? 0 : quiet + 1
      const isLate = real.elapsed() - since > PATIENCE
      if (quiet < timers.turns && !isLate) continue
      // A request that a fault holds open has no answer, and the client goes on without one.
      if (open.length === 0 || open.length <= (await sandbox.clock.show()).held) return
      if (isLate) throw new Error(unanswered(open))
      quiet = 0
    }
  }
}

/** The instant of a sandbox. Refuses one whose clock runs. */
export async function stoppedAt({ clock, name }: SandboxClient): Promise<number> {
  const { now, rate } = await clock.show()
  if (rate === 0) return Date.parse(now)
  throw new Error(
    `syncClock() needs a clock that stands still, and the clock of the sandbox "${name}" runs at the rate ${rate}. Stop it first: await sandbox.clock.set({ rate: 0 }).`,
  )
}

const BUSY = 'The synced clocks are already advancing. Await that advance before the next one.'

const NO_LIMITS = 'An advance of synced clocks has no max_events and no max_to. Give a target that is nearer.'

function unanswered(open: readonly string[]): string {
  return `The synced clocks stopped: ${open.join(' and ')} got no whole response in ${PATIENCE / 1000} s of real time. Read or cancel the body of each response. Delays of a fault (pace) are real time: for a client that gives up, hold the response instead, with {"cut": {"at": "before-head", "how": "pause"}}.`
}
