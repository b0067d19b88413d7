import { z } from 'zod'
import { duration } from '../fields.ts'
import type { Content } from '../request/exchange.ts'
import type { HeaderList } from '../request/headers.ts'
import { someOf } from '../strict-input.ts'
import { clockInstant, refuseAfterEnd } from '../time/clock.ts'
import { parseDuration } from '../time/instant.ts'
import { advanceTo, setClock } from '../time/run-events.ts'
import type { ParametersOf } from './primitive.ts'
import { skewedBody, skewedHeaders, within } from './skew.ts'
import type { Fault, StatePrimitive } from './state-primitive.ts'

/** Moves or stops the clock before the handler runs, or shifts the times of the response. */
export type ClockFault = ParametersOf<typeof schema>

function schema() {
  const offset = z.string().refine((text) => parseDuration(text.replace(/^[-+]/, '')) !== undefined, {
    error: 'must be a duration with or without a sign, such as -5m or 2h',
  })
  return someOf({
    /** Shifts only the Date header of this response: `-5m`, `2h`. The sandbox's clock does not change. */
    offset: offset.optional(),
    /** Shifts every time in this response: Date, X-RateLimit-Reset, a Retry-After date and the timestamps of its body. */
    skew: offset.optional(),
    /** Stops the clock of the sandbox: its rate becomes 0. */
    freeze: z.boolean().optional(),
    /** Virtual duration by which the clock advances before the handler runs; due events run first. */
    advance: duration().optional(),
    /** Virtual instant to which the clock advances in the same way; an instant in the past changes nothing. */
    jump: clockInstant().optional(),
  })
}

export const clock: StatePrimitive<'clock', typeof schema> = {
  name: 'clock',
  kind: 'state',
  description: 'time that passes, stops, or is reported wrongly',
  schema,
  example: { parameters: { advance: '1h' } },
  step: () => 'faultsBefore',
  effect: { passTime, date, shown, headers },
}

// Due events run before the handler. The clock never goes back.
function passTime({ sandbox, exchange, given }: Fault<ClockFault>): void {
  for (const { parameters } of given) {
    const { advance, jump, freeze } = parameters
    const { now } = sandbox.clock
    const target = Math.max(now + durationOf(advance), jump === undefined ? now : Date.parse(jump))
    if (target > now) {
      refuseAfterEnd(target, 'The instant to which a fault advances the clock')
      const { events, failed } = advanceTo(sandbox, target, 'The clock action of a fault')
      exchange.caughtUp += events.length + failed.length
    }
    if (freeze === true && sandbox.clock.rate !== 0) setClock(sandbox, { rate: 0 })
  }
}

function date({ given }: Fault<ClockFault>, now: number): number {
  return within(now + shiftOf(given, 'offset') + shiftOf(given, 'skew'))
}

// Errors and result lines contain no timestamps.
function shown({ exchange, given }: Fault<ClockFault>, content: Content): Content {
  const shift = shiftOf(given, 'skew')
  const { reply, refusal, call, settings } = exchange
  if (shift === 0 || refusal !== undefined || content.text === undefined || reply?.body === undefined)
    return content
  const body = skewedBody(call.operation.output?.(settings), reply.body, shift)
  return { ...content, text: JSON.stringify(body) }
}

function headers({ given }: Fault<ClockFault>, list: HeaderList): HeaderList {
  const shift = shiftOf(given, 'skew')
  return shift === 0 ? list : skewedHeaders(list, shift)
}

function shiftOf(given: Fault<ClockFault>['given'], by: 'offset' | 'skew'): number {
  return given.reduce((sum, { parameters }) => sum + offsetOf(parameters[by]), 0)
}

function offsetOf(offset = '0s'): number {
  const isBack = offset.startsWith('-')
  const length = durationOf(offset.replace(/^[-+]/, ''))
  return isBack ? -length : length
}

function durationOf(text: string | undefined): number {
  return (text === undefined ? undefined : parseDuration(text)) ?? 0
}
