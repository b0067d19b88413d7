import * as z from 'zod'
import { refuse, refuseInvalid } from '../../../kernel/errors.ts'
import { duration, intBetween, timestamp } from '../../../kernel/fields.ts'
import type { AnyMilestone, Service } from '../../../kernel/operation.ts'
import type { Target } from '../../../kernel/time/advance.ts'
import { END_OF_TIME, FASTEST } from '../../../kernel/time/clock.ts'
import { parseDuration } from '../../../kernel/time/duration.ts'
import { formatInstant } from '../../../kernel/time/instant.ts'
import { MOST_EVENTS, type ScheduledEvent } from '../../../kernel/time/scheduler.ts'
import type { Sandbox } from '../../../kernel/worlds/sandbox.ts'
import { route } from '../route.ts'

const change = () =>
  z.strictObject({
    now: timestamp().optional(),
    rate: z
      .number()
      .refine((value) => value >= 0 && value <= FASTEST, {
        error: `must be 0 (stands still) to ${FASTEST} virtual seconds per real second`,
      })
      .meta({ minimum: 0, maximum: FASTEST })
      .optional(),
    skip_on_poll: z.boolean().optional(),
  })

const givenTarget = (milestones: readonly AnyMilestone[]) => {
  const goals = milestones.map((each) => each.schema())
  return z
    .strictObject({
      by: duration().optional(),
      to: timestamp().optional(),
      steps: intBetween(1, MOST_EVENTS).optional(),
      ...(goals.length > 0 && { until: (goals.length === 1 ? goals[0] : z.union(goals))?.optional() }),
    })
    .refine((given) => Object.keys(given).length === 1, {
      error:
        'must have exactly one of by (a duration), to (an instant), steps (a number of events) and until (a goal)',
    })
}

/** The virtual clock of the world. */
export const clockRoutes = ({ milestones }: Service) =>
  [
    route({
      name: 'clock.show',
      method: 'GET',
      path: '/clock',
      summary: 'Show the virtual clock and the next event',
      answers: 'The instant, the rate, and what happens next.',
      handle: ({ sandbox }) => ({ body: clockOf(sandbox) }),
    }),
    route({
      name: 'clock.change',
      method: 'PATCH',
      path: '/clock',
      summary: 'Change how time passes, or move the clock forward',
      answers: 'The clock afterwards.',
      settles: true,
      body: change,
      handle: async ({ sandbox, body: { now, ...passing } }) => {
        if (now === undefined) sandbox.catchUp()
        else await sandbox.advance(toInstant(Date.parse(now), '/now'))
        if (Object.keys(passing).length > 0) sandbox.setClock(passing)
        return { body: clockOf(sandbox) }
      },
    }),
    route({
      name: 'clock.advance',
      method: 'POST',
      path: '/clock/advance',
      summary: 'Let time pass, every event that falls due happen and its webhooks be delivered',
      answers: 'A receipt: everything that happened, in order.',
      settles: true,
      body: () => givenTarget(milestones),
      handle: async ({ sandbox, body }) => ({ body: await sandbox.advance(targetOf(body, milestones)) }),
    }),
    route({
      name: 'clock.horizon',
      method: 'GET',
      path: '/clock/horizon',
      summary: 'List every future event',
      answers: 'The events in the order in which they will happen.',
      handle: ({ sandbox }) => ({
        body: { object: 'list', data: sandbox.scheduler.horizon().map(eventOf) },
      }),
    }),
  ] as const

function clockOf(sandbox: Sandbox) {
  const next = sandbox.scheduler.peek()
  return {
    now: formatInstant(sandbox.clock.now),
    rate: sandbox.clock.rate,
    skip_on_poll: sandbox.skipsOnPoll,
    next: next === undefined ? null : eventOf(next),
  }
}

function eventOf({ due_at, kind, ref, urgency, says }: ScheduledEvent) {
  return { at: due_at, kind, ref, urgency, says }
}

interface GivenTarget {
  readonly by?: string | undefined
  readonly to?: string | undefined
  readonly steps?: number | undefined
  readonly until?: unknown
}

// The schema leaves one member, and has read it before.
function targetOf({ by, to, steps, until }: GivenTarget, milestones: readonly AnyMilestone[]): Target {
  if (steps !== undefined) return { steps }
  if (to !== undefined) return toInstant(Date.parse(to), '/to')
  if (by !== undefined) return { to: (now) => reachable(now, now + (parseDuration(by) ?? 0), '/by') }
  const milestone = milestones.find(({ name }) => Object.hasOwn(until as object, name)) as AnyMilestone
  return { until: { milestone, goal: until } }
}

function toInstant(instant: number, at: string): Target {
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
        'POST /__emulator/reset with {"clock": "<instant>"} starts the world again at any instant; restoring a snapshot goes back to when it was saved.',
    })
  }
  return instant
}
