import type { Exchange } from '../../request/exchange.ts'
import type { Sandbox } from '../../sandboxes/sandbox.ts'
import { END_OF_TIME } from '../../time/clock.ts'
import { parseDuration } from '../../time/instant.ts'
import { advanceTo } from '../../time/run-events.ts'
import { allOf } from '../actions.ts'
import type { Decision } from '../decision.ts'

/** Lets time pass as fired rules say: what is due by then happens first. Time never goes back. */
export function passTime(sandbox: Sandbox, exchange: Exchange, decision: Decision): void {
  for (const { advance, jump, freeze } of allOf(decision.actions, 'clock')) {
    const { now } = sandbox.clock
    const target = Math.max(now + durationOf(advance), jump === undefined ? now : Date.parse(jump))
    if (target > now) {
      const { events, failed } = advanceTo(
        sandbox,
        Math.min(END_OF_TIME, target),
        'The clock action of a fault',
      )
      exchange.caughtUp += events.length + failed.length
    }
    if (freeze === true && sandbox.clock.rate !== 0) sandbox.setClock({ rate: 0 })
  }
}

/** The Date header of an answer that is made now, shifted as fired rules say. Years have four digits in it. */
export function dateOf(now: number, decision: Decision): string {
  const shift = allOf(decision.actions, 'clock').reduce((sum, { offset }) => sum + offsetOf(offset), 0)
  return new Date(Math.min(END_OF_TIME, Math.max(0, now + shift))).toUTCString()
}

function offsetOf(offset = '0s'): number {
  const isBack = offset.startsWith('-')
  const length = durationOf(offset.replace(/^[-+]/, ''))
  return isBack ? -length : length
}

function durationOf(text: string | undefined): number {
  return (text === undefined ? undefined : parseDuration(text)) ?? 0
}
