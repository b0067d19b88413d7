import type { RanEvent } from '../core/time/scheduler.ts'
import { counted } from '../core/words.ts'

/** The topics by which the events of an advance can be selected, and the kinds of events of each. */
const KINDS = {
  batch: /^batch\./,
  webhook: /^webhook\./,
  automation: /^(?:automation|agent-run)\./,
} as const

export type Topic = keyof typeof KINDS

export const TOPICS = Object.keys(KINDS) as readonly Topic[]

/** Whether events of a kind belong to a topic. */
export function isAbout(topic: Topic, kind: string): boolean {
  return KINDS[topic].test(kind)
}

/** Repeated events in one line. */
export interface EventGroup {
  /** Virtual instants of the first and the last event. */
  readonly from: string
  readonly to: string
  readonly count: number
  readonly text: string
}

/** The events of an advance for a reader. */
interface EventSummary {
  /** Listed one by one: events of batches and webhooks first, in their order. */
  readonly listed: readonly RanEvent[]
  readonly groups: readonly EventGroup[]
}

/** Maximum number of events that are listed one by one; of automations, which run without a request of the reader, fewer. */
const [MAX_SINGLE, MAX_OF_AUTOMATIONS] = [20, 4]

/** Groups repetitions, and puts the events of the reader's own batches first. */
export function summaryOfEvents(events: readonly RanEvent[]): EventSummary {
  const runs = events.filter(({ kind }) => isAbout('automation', kind))
  const own = groupedByKind(events.filter(({ kind }) => !isAbout('automation', kind)))
  if (runs.length <= MAX_OF_AUTOMATIONS) return { ...own, listed: [...own.listed, ...runs] }
  return { ...own, groups: [...own.groups, groupOf(runs, runsText(runs))] }
}

function groupedByKind(events: readonly RanEvent[]): EventSummary {
  if (events.length <= MAX_SINGLE) return { listed: events, groups: [] }
  const byText = new Map<string, RanEvent[]>()
  for (const event of events) {
    const { kind, from, to } = event
    const text = from === undefined ? kind : `${kind} (${from} to ${to})`
    const same = byText.get(text)
    if (same === undefined) byText.set(text, [event])
    else same.push(event)
  }
  const parts = [...byText]
  return {
    listed: parts.flatMap(([, same]) => (same.length === 1 ? same : [])),
    groups: parts.flatMap(([text, same]) =>
      same.length === 1 ? [] : [groupOf(same, `${same.length} of ${text}`)],
    ),
  }
}

function groupOf(events: readonly RanEvent[], text: string): EventGroup {
  return { from: events[0]?.at ?? '', to: events.at(-1)?.at ?? '', count: events.length, text }
}

const FIRE = 'automation.fire'

// A run is two events, of which an advance may have only the second one.
function runsText(events: readonly RanEvent[]): string {
  const fired = events.filter(({ kind }) => kind === FIRE).map(({ ref }) => ref)
  const executed = events.filter(({ kind }) => kind !== FIRE)
  const caused = executed
    .map(({ caused_by }) => caused_by)
    .filter((cause) => cause.startsWith(`${FIRE}:`))
    .map((cause) => cause.slice(FIRE.length + 1))
  const others = executed.length - caused.length
  const runs = Math.max(fired.length, caused.length)
  const automations = new Set([...fired, ...caused]).size
  return [
    ...(runs === 0 ? [] : [`${counted(runs, 'run')} of ${counted(automations, 'automation')}`]),
    ...(others === 0 ? [] : [`${counted(others, 'run')} of event triggers`]),
  ].join(', ')
}
