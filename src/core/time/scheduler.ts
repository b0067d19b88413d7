import TinyQueue from 'tinyqueue'
import * as z from 'zod'
import { counter, type ShapeOf, timestamp } from '../fields.ts'
import type { Commit } from '../state/commit.ts'
import type { Store } from '../state/store.ts'
import type { Transaction } from '../state/transaction.ts'
import { formatInstant } from './instant.ts'

/** How many events run at one instant, unless a sandbox says otherwise. */
export const MAX_EVENTS_AT_ONE_INSTANT = 1_000_000

/** The table of future events. */
export const SCHEDULE = '$schedule'

/**
 * A future event, as data: it survives a restart, is listed by the horizon, and its handler is found by `kind`.
 * `work` is progress that a client waits for; a `deadline` is a limit that time runs into (the 24 h window, retention):
 * automatic skipping runs work and never jumps into a deadline.
 */
export const scheduledEvent = z.strictObject({
  id: z.string(),
  due_at: timestamp(),
  /** Breaks ties: events of one instant run in the order in which they were scheduled. */
  seq: counter(),
  kind: z.string(),
  /** The record that it is about: `collection/id`. A record has at most one future event of a kind. */
  ref: z.string(),
  urgency: z.enum(['work', 'deadline']),
  /** For the person who reads the horizon: what will happen. */
  description: z.string(),
  /** What scheduled it: the id of a request, the id of an earlier event, or a word for anything else. */
  caused_by: z.string().default('edit'),
  /**
   * Present where a hook of a scenario has led to it. `depth`: how many calls have led to this one. `waited`: virtual
   * milliseconds between them, as they were scheduled.
   */
  hooks: z.strictObject({ depth: counter(), waited: counter() }).optional(),
})

export type ScheduledEvent = z.output<typeof scheduledEvent>

/** A future event as lists show it. */
export const futureEvent = () =>
  z.strictObject({
    /** Virtual instant. */
    at: timestamp(),
    kind: z.string(),
    /** The record that it is about: `collection/id`. */
    ref: z.string(),
    /** Automatic skipping runs `work` and stops before a `deadline`. */
    urgency: z.enum(['work', 'deadline']),
    description: z.string(),
  })

export type FutureEvent = ShapeOf<typeof futureEvent>

/** Hooks that have led to each other. */
export type HookChain = NonNullable<ScheduledEvent['hooks']>

/**
 * An event whose handler failed, as the sandbox keeps it: what it was, and why it failed. Its members stand in the order in
 * which they are written, so that a document is the same bytes after it was read.
 */
export const failedEvent = scheduledEvent
  .partial({ seq: true, urgency: true, description: true })
  .extend({ caused_by: z.string().optional(), error: z.string() })
  .loose()

export type FailedEvent = z.output<typeof failedEvent>

/** What a handler gives to schedule an event. */
export type NewEvent = Omit<ScheduledEvent, 'id' | 'seq' | 'due_at' | 'caused_by' | 'hooks'> & {
  readonly due: number
}

/** How many entries of cancelled and moved events are harmless. */
const MAX_LEFT_BEHIND = 1_000

interface Entry {
  readonly due: number
  readonly seq: number
  readonly id: string
}

/** Orders the events of one sandbox by instant, then by sequence. The table is the truth; the queue is only its order. */
export class Scheduler {
  readonly #store: Store
  #queue: TinyQueue<Entry>

  constructor(store: Store) {
    this.#store = store
    this.#queue = this.#ordered()
    store.onCommit((commit) => this.#hear(commit))
  }

  /** Entries of the queue: one for each event, and some of events that were cancelled or moved. */
  get length(): number {
    return this.#queue.length
  }

  /** The earliest event, undefined when nothing is to come. */
  peek(): ScheduledEvent | undefined {
    for (;;) {
      const first = this.#queue.peek()
      if (first === undefined) return undefined
      const event = this.#store.get(SCHEDULE, first.id) as ScheduledEvent | undefined
      // The entry of a cancelled or moved event stays in the queue; it is dropped when it comes up.
      if (event !== undefined && event.seq === first.seq && Date.parse(event.due_at) === first.due)
        return event
      this.#queue.pop()
    }
  }

  /** Every future event in the order in which it will run. */
  horizon(): ScheduledEvent[] {
    const events = [...this.#store.rows(SCHEDULE).values()] as ScheduledEvent[]
    return events.sort(byDue)
  }

  #hear(commit: Commit): void {
    for (const { table, after } of commit.changes) {
      if (table === SCHEDULE && after !== undefined) this.#queue.push(entry(after as ScheduledEvent))
    }
    // Such entries for far instants would never come up: each reset or restore adds one per event.
    if (this.#queue.length > 2 * this.#store.rows(SCHEDULE).size + MAX_LEFT_BEHIND)
      this.#queue = this.#ordered()
  }

  #ordered(): TinyQueue<Entry> {
    const events = [...this.#store.rows(SCHEDULE).values()] as ScheduledEvent[]
    return new TinyQueue(events.map(entry), (a, b) => a.due - b.due || a.seq - b.seq)
  }
}

/** The order in which events run. */
export function byDue(a: ScheduledEvent, b: ScheduledEvent): number {
  return Date.parse(a.due_at) - Date.parse(b.due_at) || a.seq - b.seq
}

/** The id of the one event of a kind that a record can have ahead of it. */
export function eventId(kind: string, ref: string): string {
  return `${kind}:${ref}`
}

/** Writes an event into the schedule. One of the same kind about the same record is replaced: it has been moved. */
export function schedule(
  tx: Transaction,
  { due, ...event }: NewEvent,
  { seq, caused_by }: { readonly seq: number; readonly caused_by: string },
): ScheduledEvent {
  const scheduled = {
    id: eventId(event.kind, event.ref),
    due_at: formatInstant(due),
    seq,
    ...event,
    caused_by,
  }
  tx.put(SCHEDULE, scheduled)
  return scheduled
}

/** Takes the future events of these kinds about a record out of the schedule. */
export function unschedule(tx: Transaction, ref: string, kinds: readonly string[]): void {
  for (const kind of kinds) {
    const id = eventId(kind, ref)
    if (tx.get(SCHEDULE, id) !== undefined) tx.delete(SCHEDULE, id)
  }
}

function entry(event: ScheduledEvent): Entry {
  return { due: Date.parse(event.due_at), seq: event.seq, id: event.id }
}

/** One attempt to deliver a webhook. */
const deliveryAttempt = () =>
  z.strictObject({
    url: z.string(),
    /** Counted from 1. */
    attempt: z.int(),
    /** The receiver's HTTP status; null when it gave none. */
    status: z.int().nullable(),
    /** Real milliseconds from the beginning of the request to its outcome. */
    ms: z.number(),
  })

export type DeliveryAttempt = ShapeOf<typeof deliveryAttempt>

/** One thing that happened while time passed: an event that ran, or an attempt to deliver a webhook. */
export const ranEvent = () =>
  z.strictObject({
    /** Virtual instant. */
    at: timestamp(),
    kind: z.string(),
    /** The record that it is about: `collection/id`. */
    ref: z.string(),
    description: z.string(),
    /** Status of the record before and after, where it has one that changed. */
    from: z.string().exactOptional(),
    to: z.string().exactOptional(),
    /** What put it into the schedule: the id of a request, the id of an earlier event, or a word for anything else. */
    caused_by: z.string(),
    webhook: deliveryAttempt().exactOptional(),
    /** Why the handler failed. Only its event was rolled back; time went on. */
    error: z.string().exactOptional(),
  })

export type RanEvent = ShapeOf<typeof ranEvent>

/** What happened between two instants, in order. */
export const advanceResult = () =>
  z.strictObject({
    from: timestamp(),
    /** The instant that was reached. */
    to: timestamp(),
    /** Present when `max_events` had run and more were due: time has not come to its target. Advance again to go on. */
    stopped: z.literal('limit').exactOptional(),
    /** The first 1,000. */
    events: z.array(ranEvent()),
    /** Those whose handler failed, the first 1,000. */
    failed: z.array(ranEvent()),
    /** How many more there were of each kind, beyond the first 1,000 of either list; absent when there were none. */
    omitted: z.record(z.string(), z.int()).exactOptional(),
  })

export type AdvanceResult = ShapeOf<typeof advanceResult>

/** Events that one request to advance runs, unless it says otherwise. A running clock may catch up with as many before it. */
export const MAX_EVENTS = 100_000

/** Events that each list of a result holds: what a program can still look at, and a response can carry. */
export const MAX_LISTED = 1_000

/** Collects what happens into the lists of a result, however much it is. */
export class EventTally {
  readonly #events: RanEvent[] = []
  readonly #failed: RanEvent[] = []
  readonly #omitted = new Map<string, number>()

  add(event: RanEvent): void {
    const list = event.error === undefined ? this.#events : this.#failed
    if (list.length < MAX_LISTED) list.push(event)
    else this.#omit(event.kind, 1)
  }

  /** Adds what happened between two later instants. */
  addAll({ events, failed, omitted = {} }: AdvanceResult): void {
    for (const event of [...events, ...failed]) this.add(event)
    for (const [kind, count] of Object.entries(omitted)) this.#omit(kind, count)
  }

  result({ from, to, stopped }: Pick<AdvanceResult, 'from' | 'to' | 'stopped'>): AdvanceResult {
    return {
      from,
      to,
      ...(stopped && { stopped }),
      events: this.#events,
      failed: this.#failed,
      ...(this.#omitted.size > 0 && { omitted: Object.fromEntries(this.#omitted) }),
    }
  }

  #omit(kind: string, count: number): void {
    this.#omitted.set(kind, (this.#omitted.get(kind) ?? 0) + count)
  }
}
