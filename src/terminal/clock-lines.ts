import { summaryOfEvents, type Topic } from '../control-client/advance-summary.ts'
import type { OwnCalls } from '../control-client/ask.ts'
import type { AdvanceResult, FutureEvent, RanEvent } from '../core/time/scheduler.ts'
import type { SandboxEvent } from '../index.ts'

/** `frozen`, or the rate. */
export function speedOf({ rate, lag_ms }: OwnCalls['GET /clock']['output']): string {
  const lag = lag_ms > 0 ? `, ${Math.round(lag_ms / 1000)} s behind` : ''
  return `${rate === 0 ? 'frozen' : `rate ${rate}`}${lag}`
}

/** @param more the end of the line of the last group: how all events are listed */
export function advanceLines(
  { from, to, events, failed, omitted = {}, stopped }: AdvanceResult,
  { all, only }: { readonly all: boolean; readonly only: Topic | undefined },
  more = '; --all lists them',
): string[] {
  const { listed, groups } =
    all || only !== undefined ? { listed: events, groups: [] } : summaryOfEvents(events)
  const name = namesOf([...listed, ...failed])
  const failures = failed.map((event) => `${eventLine(event)}${name(event)}: failed, ${event.error}`)
  const omissions = Object.entries(omitted).map(([kind, count]) => `  ${count} of ${kind}`)
  return [
    `${from} to ${to}`,
    ...(only !== undefined && events.length + failures.length === 0
      ? [`  No listed event is about a ${only}.`]
      : []),
    ...listed.map((event) => eventLine(event) + name(event)),
    ...groups.map(({ from, to, text }, n) => {
      const until = to === from ? '' : ` until ${to}`
      return `  ${from}  ${text}${until}${n === groups.length - 1 ? more : ''}`
    }),
    ...(failures.length === 0 ? [] : ['Failed:', ...failures]),
    ...(omissions.length === 0 ? [] : ['Further events, which are not listed:', ...omissions]),
    ...(stopped === 'limit'
      ? [`Stopped at the limit of events, at ${to}: run the command again to continue.`]
      : []),
  ]
}

/** The end of the line of an event: its record, if events of other records of the collection could be taken for it. */
function namesOf(events: readonly RanEvent[]): (event: RanEvent) => string {
  const refs = [...new Set(events.map(({ ref }) => ref))]
  return ({ ref, description }) => {
    const [collection = '', id = ''] = ref.split('/')
    const isAlone = refs.filter((each) => each.startsWith(`${collection}/`)).length === 1
    return isAlone || description.includes(id) ? '' : ` [${ref}]`
  }
}

/** The next event, on one line. */
export function nextEvent(next: FutureEvent | null): string {
  return next === null ? 'nothing is due' : eventLine(next).trim()
}

type Shown = Pick<RanEvent, 'at' | 'description' | 'from' | 'to' | 'webhook'>

/** An event on one line. */
export function eventLine({ at, description, from, to, webhook }: Shown): string {
  const move = from === undefined ? '' : ` (${from} to ${to})`
  const line = `  ${at}  ${description}${move}`
  if (webhook === undefined) return line
  const { status, ms } = webhook
  const response = status === null ? 'no response' : `HTTP ${status}`
  return `${line} [${response}${ms === undefined ? '' : `, ${ms} ms`}]`
}

/** An event of the stream on one line. Events about the stream itself (`hello`, `dropped`, `end`) have no line. */
export function happened({ type, data }: SandboxEvent): string[] {
  switch (type) {
    case 'request':
      return [
        `${data.at}  ${data.status === 0 ? 'cut' : data.status}  ${data.method} ${data.path}  ${data.id}`,
      ]
    case 'event':
    case 'delivery':
      return [eventLine(data).trim()]
    case 'transition':
      return [`${data.at}  ${data.ref} ${data.from ?? 'new'} to ${data.to ?? 'removed'}`]
    case 'clock':
      return [`${data.now}  clock ${data.rate === 0 ? 'frozen' : `rate ${data.rate}`}`]
    case 'schedule':
      return [`${data.at}  next: ${nextEvent(data.next)}`]
    case 'scenario':
      return [`${data.at}  scenario ${data.active ?? 'stopped'}`]
    case 'sandbox':
      return [`${data.now}  state replaced, revision ${data.revision}`]
    default:
      return []
  }
}
