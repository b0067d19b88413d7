import { isObject, type Json, type JsonObject } from '../../kernel/json.ts'
import { objectsOf } from './print.ts'

/** What happened while time passed, in lines: from where to where, each event in order, and those that failed. */
export function receiptLines({ from, to, events, parked }: JsonObject): string[] {
  const failed = objectsOf(parked).map((event) => `${eventLine(event)}: failed, ${event.error}`)
  return [
    `${from} to ${to}`,
    ...objectsOf(events).map(eventLine),
    ...(failed.length === 0 ? [] : ['Parked, because their handlers failed:', ...failed]),
  ]
}

/** What the clock says of the next event. */
export function nextEvent(next: Json): string {
  return isObject(next) ? eventLine(next).trim() : 'nothing is due'
}

function eventLine({ at, kind, ref, says, from, to, webhook }: JsonObject): string {
  const move = from === undefined ? '' : ` (${from} to ${to})`
  return `  ${at}  ${says ?? `${kind} ${ref}`}${move}${isObject(webhook) ? attempt(webhook) : ''}`
}

function attempt({ status, ms }: JsonObject): string {
  return ` [${typeof status === 'number' ? `HTTP ${status}` : 'no answer'}, ${ms} ms]`
}
