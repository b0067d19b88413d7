import { z } from 'zod'
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
import type { AdvanceLimits, AdvanceTarget } from '../../../core/time/advance.ts'
import { advance } from '../../../core/time/advance.ts'
import { CLOCK_RANGE, clockInstant, END_OF_TIME, FASTEST } from '../../../core/time/clock.ts'
import { MAX_EVENTS } from '../../../core/time/event-tally.ts'
import { frozenNote } from '../../../core/time/frozen.ts'
import { formatInstant, parseDuration } from '../../../core/time/instant.ts'
import { lagOf, runDueEvents, setClock } from '../../../core/time/run-events.ts'
import {
  advanceResult,
  type FutureEvent,
  futureEvent,
  MAX_EVENTS_AT_ONE_INSTANT,
  type ScheduledEvent,
  stableResult,
} from '../../../core/time/scheduler.ts'
import { route, stableOrNot } from '../route.ts'

/** The clock of a sandbox. */
const clockView = () =>
  z.strictObject({
    /** Virtual instant, ISO 8601. */
    now: timestamp(),
    /** Virtual seconds per real second; 0 freezes the clock. */
    rate: z.number(),
    /** Whether a poll of an unfinished batch first advances to its next work event. */
    skip_on_poll: z.boolean(),
    /** Virtual milliseconds that `now` lags, because due events have not run yet; 0 when the clock keeps up. */
    lag_ms: z.number(),
    next: futureEvent().nullable(),
    /** Connections that a fault holds open, until the client leaves or a gate is released. */
    held: z.number(),
    /** Why nothing progresses, and the fix; null while time passes, or while no work is pending. */
    frozen: z.string().nullable(),
  })

export type ClockView = ShapeOf<typeof clockView>

/** The fields that change how time passes. */
export const passing = () => ({
  /** Virtual seconds per real second; 0 freezes the clock. */
  rate: z
    .number()
    .refine((value) => value >= 0 && value <= FASTEST, {
      error: `must be 0 (frozen) to ${FASTEST} virtual seconds per real second`,
    })
    .meta({ minimum: 0, maximum: FASTEST })
    .optional(),
  /** Whether a poll of an unfinished batch first advances to its next work event. */
  skip_on_poll: z.boolean().optional(),
})

const clockChange = () =>
  z.strictObject({
    /** ISO 8601 with a zone; never before the present instant. */
    now: clockInstant().optional(),
    ...passing(),
  })

export type ClockChange = InputOf<typeof clockChange>

const givenTarget = (milestones: readonly AnyMilestone[]) => {
  const goals = milestones.map((each) => each.schema())
  return z
    .strictObject({
      by: duration().optional(),
      to: clockInstant().optional(),
      steps: intBetween(1, MAX_EVENTS_AT_ONE_INSTANT).optional(),
      ...(goals.length > 0 && { until: (goals.length === 1 ? goals[0] : z.union(goals))?.optional() }),
      max_events: intBetween(1, MAX_EVENTS_AT_ONE_INSTANT).optional().meta({ default: MAX_EVENTS }),
      max_to: clockInstant().optional(),
    })
    .refine(({ max_events: _, max_to: __, ...target }) => Object.keys(target).length === 1, {
      error:
        'must have exactly one of by (a duration), to (an instant), steps (a number of events) and until (a goal)',
    })
    .refine(({ max_to, until }) => max_to === undefined || until !== undefined, {
      error: 'may have max_to only with until: the other targets say themselves where they end',
    })
}

const latestAdvance = () => z.strictObject({ running: z.boolean(), result: advanceResult().nullable() })

export type LatestAdvance = ShapeOf<typeof latestAdvance>

/** The virtual clock of the sandbox. */
export const clockRoutes = ({ milestones }: Service) =>
  [
    route('GET /clock', {
      name: 'clock.show',
      summary: 'Show the virtual clock and the next event',
      returns:
        'The instant, the rate, the virtual milliseconds that the clock lags because due events have not run yet, and the next event.',
      output: clockView,
      handle: ({ sandbox }) => ({ body: clockOf(sandbox) }),
    }),
    route('PATCH /clock', {
      name: 'clock.change',
      summary: 'Change how time passes, or move the clock forward',
      returns: 'The changed clock.',
      runsDueEvents: true,
      input: () => ({ body: clockChange() }),
      output: clockView,
      handle: async ({ host, sandbox, gone, onBegin, body: { now, ...passing } }) => {
        if (now === undefined) {
          runDueEvents(sandbox)
          onBegin?.()
        } else
          await moveTo(sandbox, now, {
            signal: AbortSignal.any([gone, host.closing]),
            ...(onBegin && { onBegin }),
          })
        if (Object.keys(passing).length > 0) setClock(sandbox, passing)
        return { body: clockOf(sandbox) }
      },
    }),
    route('POST /clock/advance', {
      name: 'clock.advance',
      summary: 'Advance the clock: every due event runs, and its webhooks are delivered',
      returns:
        'The events that ran, in order: the first 1,000 one by one, the number of the others by kind in omitted. With ?stable=true they have no real times. With stopped: "limit", max_events have run or max_to is reached before the goal, and the clock is at the instant in to.',
      runsDueEvents: true,
      input: () => ({
        body: givenTarget(milestones),
        query: stableOrNot(),
      }),
      output: advanceResult,
      handle: async ({ host, sandbox, gone, onBegin, query, body }) => {
        const { max_events: maxEvents = MAX_EVENTS, max_to, ...target } = body
        const signal = AbortSignal.any([gone, host.closing])
        const limits = {
          maxEvents,
          ...(max_to !== undefined && { maxTo: Date.parse(max_to) }),
          signal,
          ...(onBegin && { onBegin }),
        }
        const result = await advance(sandbox, targetOf(target, milestones), limits)
        return { body: query.stable ? stableResult(result) : result }
      },
    }),
    route('GET /clock/advance', {
      name: 'clock.latest-advance',
      summary: 'Show the running advance, or the last one, whoever has requested it',
      returns:
        'With running: true, the events up to now; otherwise the result of the last advance. result is null before the first advance, and after a reset, a restore or a restart.',
      output: latestAdvance,
      handle: ({ sandbox }) => ({ body: sandbox.advances.latest }),
    }),
    route('GET /clock/horizon', {
      name: 'clock.horizon',
      summary: 'List every future event',
      returns: 'The events in the order in which they will happen.',
      output: () => listOf(futureEvent()),
      handle: ({ sandbox }) => ({
        body: list(sandbox.scheduler.horizon().map(eventOf)),
      }),
    }),
  ] as const

// The response has no field for a target that was only partly reached, so the limit is a conflict here.
async function moveTo(sandbox: Sandbox, now: string, bounds: AdvanceLimits): Promise<void> {
  const limits = { maxEvents: MAX_EVENTS, ...bounds }
  const { stopped, to } = await advance(sandbox, toInstant(Date.parse(now), '/now'), limits)
  if (stopped === undefined) return
  refuse('conflict', {
    detail: `More than ${MAX_EVENTS} events are due up to ${now}. The clock is at ${to}.`,
    mitigation: `Continue with "workspace-emulator clock advance --to ${now}".`,
  })
}

function clockOf(sandbox: Sandbox): ClockView {
  const next = sandbox.scheduler.peek()
  return {
    now: formatInstant(sandbox.clock.now),
    rate: sandbox.clock.rate,
    skip_on_poll: sandbox.clock.skipsOnPoll,
    lag_ms: lagOf(sandbox),
    next: next === undefined ? null : eventOf(next),
    held: sandbox.faults.held + sandbox.faults.gates.size,
    frozen: frozenNote(sandbox),
  }
}

export function eventOf({ due_at, kind, ref, urgency, description }: ScheduledEvent): FutureEvent {
  return { at: due_at, kind, ref, urgency, description }
}

type GivenTarget = Omit<z.output<ReturnType<typeof givenTarget>>, 'max_events' | 'max_to'>

// The schema has checked that exactly one field is set, and that its value is valid.
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
    const detail = `is after the last instant that the clock supports: ${CLOCK_RANGE}`
    refuseInvalid([{ pointer: at, detail }])
  }
  if (instant < now) {
    refuse('conflict', {
      detail: `The clock is at ${formatInstant(now)} and cannot go back to ${formatInstant(instant)}.`,
      mitigation:
        'A reset with {"clock": "INSTANT"} starts the sandbox again at any instant ("workspace-emulator call POST /reset JSON"); a restored snapshot has the instant at which it was saved.',
    })
  }
  return instant
}
