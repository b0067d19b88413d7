import * as z from 'zod'
import { refuse, refuseInvalid } from '../../../core/errors.ts'
import {
  duration,
  type InputOf,
  intBetween,
  list,
  listOf,
  type ShapeOf,
  timestamp,
} from '../../../core/fields.ts'
import type { AnyMilestone } from '../../../core/operation.ts'
import type { Sandbox } from '../../../core/sandboxes/sandbox.ts'
import type { Service } from '../../../core/service.ts'
import type { AdvanceTarget } from '../../../core/time/advance.ts'
import { advance } from '../../../core/time/advance.ts'
import { END_OF_TIME, FASTEST } from '../../../core/time/clock.ts'
import { frozenNote } from '../../../core/time/frozen.ts'
import { formatInstant, parseDuration } from '../../../core/time/instant.ts'
import { runDueEvents } from '../../../core/time/run-events.ts'
import {
  advanceResult,
  type FutureEvent,
  futureEvent,
  MAX_EVENTS,
  MAX_EVENTS_AT_ONE_INSTANT,
  type ScheduledEvent,
} from '../../../core/time/scheduler.ts'
import { route } from '../route.ts'

/** The clock of a sandbox. */
const clockView = () =>
  z.strictObject({
    /** Virtual instant, ISO 8601. */
    now: timestamp(),
    /** Virtual seconds per real second; 0 stands still. */
    rate: z.number(),
    /** Whether a poll of an unfinished batch first advances to its next work event. */
    skip_on_poll: z.boolean(),
    /** Virtual milliseconds that `now` is behind, because more is due than has run; 0 when the clock keeps up. */
    lag_ms: z.number(),
    next: futureEvent().nullable(),
    /** Why nothing progresses, and the way out; null while time passes, or no work is pending. */
    frozen: z.string().nullable(),
  })

export type ClockView = ShapeOf<typeof clockView>

/** How time passes. */
export const passing = () => ({
  /** Virtual seconds per real second; 0 stands still. */
  rate: z
    .number()
    .refine((value) => value >= 0 && value <= FASTEST, {
      error: `must be 0 (stands still) to ${FASTEST} virtual seconds per real second`,
    })
    .meta({ minimum: 0, maximum: FASTEST })
    .optional(),
  /** Whether a poll of an unfinished batch first advances to its next work event. */
  skip_on_poll: z.boolean().optional(),
})

const clockChange = () =>
  z.strictObject({
    /** ISO 8601 with a zone; never before the present instant. */
    now: timestamp().optional(),
    ...passing(),
  })

export type ClockChange = InputOf<typeof clockChange>

const givenTarget = (milestones: readonly AnyMilestone[]) => {
  const goals = milestones.map((each) => each.schema())
  return z
    .strictObject({
      by: duration().optional(),
      to: timestamp().optional(),
      steps: intBetween(1, MAX_EVENTS_AT_ONE_INSTANT).optional(),
      ...(goals.length > 0 && { until: (goals.length === 1 ? goals[0] : z.union(goals))?.optional() }),
      max_events: intBetween(1, MAX_EVENTS_AT_ONE_INSTANT).optional().meta({ default: MAX_EVENTS }),
    })
    .refine(({ max_events: _, ...target }) => Object.keys(target).length === 1, {
      error:
        'must have exactly one of by (a duration), to (an instant), steps (a number of events) and until (a goal)',
    })
}

/** The virtual clock of the sandbox. */
export const clockRoutes = ({ milestones }: Service) =>
  [
    route({
      name: 'clock.show',
      method: 'GET',
      path: '/clock',
      summary: 'Show the virtual clock and the next event',
      returns:
        'The instant, the rate, by how many virtual milliseconds the clock is behind because more is due than has run, and what happens next.',
      output: clockView,
      handle: ({ sandbox }) => ({ body: clockOf(sandbox) }),
    }),
    route({
      name: 'clock.change',
      method: 'PATCH',
      path: '/clock',
      summary: 'Change how time passes, or move the clock forward',
      returns: 'The clock afterwards.',
      settles: true,
      input: () => ({ body: clockChange() }),
      output: clockView,
      handle: async ({ host, sandbox, gone, body: { now, ...passing } }) => {
        if (now === undefined) runDueEvents(sandbox)
        else await moveTo(sandbox, now, AbortSignal.any([gone, host.closing]))
        if (Object.keys(passing).length > 0) sandbox.setClock(passing)
        return { body: clockOf(sandbox) }
      },
    }),
    route({
      name: 'clock.advance',
      method: 'POST',
      path: '/clock/advance',
      summary: 'Let time pass, every event that falls due happen and its webhooks be delivered',
      returns:
        'A result: what happened, in order, the first 1,000 events one by one and the others by kind in omitted. With stopped: "limit", max_events have run and time has come no further than to.',
      settles: true,
      input: () => ({ body: givenTarget(milestones) }),
      output: advanceResult,
      handle: async ({ host, sandbox, gone, body: { max_events: maxEvents = MAX_EVENTS, ...target } }) => {
        const limits = { maxEvents, signal: AbortSignal.any([gone, host.closing]) }
        return { body: await advance(sandbox, targetOf(target, milestones), limits) }
      },
    }),
    route({
      name: 'clock.horizon',
      method: 'GET',
      path: '/clock/horizon',
      summary: 'List every future event',
      returns: 'The events in the order in which they will happen.',
      output: () => listOf(futureEvent()),
      handle: ({ sandbox }) => ({
        body: list(sandbox.scheduler.horizon().map(eventOf)),
      }),
    }),
  ] as const

// What this answers has no place for half of the way.
async function moveTo(sandbox: Sandbox, now: string, signal: AbortSignal): Promise<void> {
  const limits = { maxEvents: MAX_EVENTS, signal }
  const { stopped, to } = await advance(sandbox, toInstant(Date.parse(now), '/now'), limits)
  if (stopped === undefined) return
  refuse('conflict', {
    detail: `More than ${MAX_EVENTS} events are due up to ${now}. The clock is at ${to}.`,
    mitigation: `POST /__emulator/clock/advance {"to": "${now}"} goes on; repeat it as long as it answers stopped: "limit".`,
  })
}

function clockOf(sandbox: Sandbox): ClockView {
  const next = sandbox.scheduler.peek()
  return {
    now: formatInstant(sandbox.clock.now),
    rate: sandbox.clock.rate,
    skip_on_poll: sandbox.skipsOnPoll,
    lag_ms: sandbox.lag,
    next: next === undefined ? null : eventOf(next),
    frozen: frozenNote(sandbox),
  }
}

function eventOf({ due_at, kind, ref, urgency, description }: ScheduledEvent): FutureEvent {
  return { at: due_at, kind, ref, urgency, description }
}

type GivenTarget = Omit<z.output<ReturnType<typeof givenTarget>>, 'max_events'>

// The schema leaves one member, and has read it before.
function targetOf({ by, to, steps, until }: GivenTarget, milestones: readonly AnyMilestone[]): AdvanceTarget {
  if (steps !== undefined) return { steps }
  if (to !== undefined) return toInstant(Date.parse(to), '/to')
  if (by !== undefined) return { to: (now) => reachable(now, now + (parseDuration(by) ?? 0), '/by') }
  const milestone = milestones.find(({ name }) => Object.hasOwn(until as object, name)) as AnyMilestone
  return { until: { milestone, goal: until } }
}

function toInstant(instant: number, at: string): AdvanceTarget {
  return { to: (now) => reachable(now, instant, at) }
}

function reachable(now: number, instant: number, at: string): number {
  if (instant > END_OF_TIME) {
    refuseInvalid([
      { pointer: at, detail: `leads past the last instant there is, ${formatInstant(END_OF_TIME)}` },
    ])
  }
  if (instant < now) {
    refuse('conflict', {
      detail: `The clock stands at ${formatInstant(now)} and cannot go back to ${formatInstant(instant)}.`,
      mitigation:
        'POST /__emulator/reset with {"clock": "<instant>"} starts the sandbox again at any instant; restoring a snapshot goes back to when it was saved.',
    })
  }
  return instant
}
