import * as z from 'zod'
import { END_OF_TIME, FASTEST } from '../../../kernel/clock.ts'
import { parseDuration } from '../../../kernel/duration.ts'
import { refuse, refuseInvalid } from '../../../kernel/errors.ts'
import { duration, intBetween, timestamp } from '../../../kernel/fields.ts'
import { formatInstant } from '../../../kernel/instant.ts'
import type { Sandbox } from '../../../kernel/sandbox.ts'
import type { ScheduledEvent } from '../../../kernel/scheduler.ts'
import { MOST_EVENTS, type Receipt } from '../../../kernel/settle.ts'
import { type AnyRoute, route } from '../route.ts'

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

const step = () =>
  z
    .strictObject({
      by: duration().optional(),
      to: timestamp().optional(),
      steps: intBetween(1, MOST_EVENTS).optional(),
    })
    .refine((given) => Object.keys(given).length === 1, {
      error: 'must have exactly one of by (a duration), to (an instant) and steps (a number of events)',
    })

/** The virtual clock of the world. */
export const clockRoutes: readonly AnyRoute[] = [
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
    body: change,
    handle: ({ sandbox, body: { now, ...passing } }) => {
      if (now !== undefined) advance(sandbox, Date.parse(now), '/now')
      if (Object.keys(passing).length > 0) sandbox.setClock(passing)
      return { body: clockOf(sandbox) }
    },
  }),
  route({
    name: 'clock.advance',
    method: 'POST',
    path: '/clock/advance',
    summary: 'Let time pass, and every event that falls due happen',
    answers: 'A receipt: everything that happened, in order.',
    body: step,
    handle: ({ sandbox, body: { by, to, steps } }) => {
      if (steps !== undefined) return { body: sandbox.advanceSteps(steps) }
      if (to !== undefined) return { body: advance(sandbox, Date.parse(to), '/to') }
      // The schema leaves `by` as the only one, and it has read the duration before.
      return { body: advance(sandbox, sandbox.clock.now + (parseDuration(by ?? '') ?? 0), '/by') }
    },
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
]

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

function advance(sandbox: Sandbox, instant: number, at: string): Receipt {
  if (instant > END_OF_TIME) {
    refuseInvalid([
      { pointer: at, detail: `leads past the last instant there is, ${formatInstant(END_OF_TIME)}` },
    ])
  }
  if (instant < sandbox.clock.now) {
    refuse('conflict', {
      detail: `The clock stands at ${formatInstant(sandbox.clock.now)} and cannot go back to ${formatInstant(instant)}.`,
      mitigation:
        'POST /__emulator/reset with {"clock": "<instant>"} starts the world again at any instant; PUT /__emulator/state loads one that was saved.',
    })
  }
  return sandbox.advanceTo(instant)
}
