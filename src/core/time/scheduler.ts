import { z } from 'zod'
import { counter, type ShapeOf, timestamp } from '../fields.ts'
import type { Commit } from '../state/commit.ts'
import type { Store } from '../state/store.ts'
import type { Transaction } from '../state/transaction.ts'
import { TinyQueue } from '../tiny-queue.ts'
import { clockInstant, refuseAfterEnd } from './clock.ts'
import { formatInstant } from './instant.ts'

/** Maximum number of events at one instant, unless the options of a sandbox set another. */
export const MAX_EVENTS_AT_ONE_INSTANT = 1_000_000

/** The kind of a wait of a stream. */
const WAKE = 'stream.part'

/** The table of future events. */
export const SCHEDULE = '$schedule'

/**
 * A future event, as data: it survives a restart, is listed by the horizon, and its handler is found by `kind`.
 * `work` is progress that a client waits for; a `deadline` is a time limit (the 24 h window, retention): automatic skipping
 * runs work and stops before a deadline.
 */
export const scheduledEvent = () =>
  z.strictObject({
    id: z.string(),
    /** Before the first instant of the clock if a record has such times: then it runs at once. */
    due_at: clockInstant(Number.NEGATIVE_INFINITY),
    /** Breaks ties: events of one instant run in the order in which they were scheduled. */
    seq: counter(),
    kind: z.string(),
    /** The record that it is about: `collection/id`. A record has at most one future event of a kind. */
    ref: z.string(),
    urgency: z.enum(['work', 'deadline']),
    /** A sentence for readers of the horizon about the effect of the event. */
    description: z.string(),
    /** Its cause: the id of a request, the id of an earlier event, or a word such as `edit` for anything else. */
    caused_by: z.string().default('edit'),
    /** That of the request that has led to it. */
    traceparent: z.string().optional(),
    /**
     * Present if a hook of a scenario has led to it. `depth`: number of calls that have led to this one. `waited`: virtual
     * milliseconds between them, as scheduled.
     */
    hooks: z.strictObject({ depth: counter(), waited: counter() }).optional(),
  })

export type ScheduledEvent = z.output<ReturnType<typeof scheduledEvent>>

/** A future event as lists show it. */
export const futureEvent = () =>
  z.strictObject({
    /** Virtual instant. */
    at: timestamp(),
    kind: z.string(),
    /** The record that it is about: `collection/id`. */
    ref: z.string(),
    /** Automatic skipping runs `work` and stops before a `deadline`. */
    urgency: scheduledEvent().shape.urgency,
    description: z.string(),
  })

export type FutureEvent = ShapeOf<typeof futureEvent>

/** A chain of hooks, each caused by the one before. */
export type HookChain = NonNullable<ScheduledEvent['hooks']>

/**
 * An event whose handler failed, as the sandbox keeps it, with the error. The fields are in the order in which they are
 * written, so that a document has the same bytes after it is read and written again.
 */
export const failedEvent = () =>
  scheduledEvent()
    .partial({ seq: true, urgency: true, description: true })
    .extend({ caused_by: z.string().optional(), error: z.string() })
    .loose()

export type FailedEvent = z.output<ReturnType<typeof failedEvent>>

/** An event that a handler schedules. `due`: virtual milliseconds since the Unix epoch. */
export interface NewEvent extends Pick<ScheduledEvent, 'kind' | 'ref' | 'urgency' | 'description'> {
  readonly due: number
}

/** Number of entries of cancelled and moved events that the queue may always keep without being built again. */
const MAX_LEFT_BEHIND = 1_000

interface Entry {
  readonly due: number
  readonly seq: number
  readonly id: string
}

/** Orders the events of one sandbox by instant, then by sequence. The table is the source of truth, the queue an index. */
export class Scheduler {
  readonly #store: Store
  #queue: TinyQueue<Entry>
  /** Waits of streams: they are part of no state, and end with the process. */
  readonly #wakes = new Map<string, { readonly event: ScheduledEvent; readonly run: () => void }>()
  #wakeCount = 0
  /** Called when there is another wait. */
  onWake = (): void => {}

  constructor(store: Store) {
    this.#store = store
    this.#queue = this.#ordered()
    store.follow((commit) => this.#update(commit))
  }

  /** Number of entries in the queue: one for each event, and some for events that were cancelled or moved. */
  get length(): number {
    return this.#queue.length
  }

  /** Calls back when the clock reaches an instant. @param request the id of the request that waits @returns cancels it */
  wakeAt(due: number, request: string, run: () => void): () => void {
    this.#wakeCount += 1
    const ref = `requests/${request}`
    const description = `The next part of the response to ${request} is sent.`
    const facts = { kind: WAKE, ref, urgency: 'work', description, caused_by: request } as const
    const event = {
      ...facts,
      id: `${eventId(WAKE, ref)}:${this.#wakeCount}`,
      due_at: formatInstant(due),
      seq: this.#wakeCount,
    }
    this.#wakes.set(event.id, { event, run })
    this.onWake()
    return () => this.#wakes.delete(event.id)
  }

  /** Runs a wait. @returns false for an event that is none */
  runWake({ id }: ScheduledEvent): boolean {
    const wake = this.#wakes.get(id)
    this.#wakes.delete(id)
    wake?.run()
    return wake !== undefined
  }

  /** The earliest event; undefined when none is scheduled. */
  peek(): ScheduledEvent | undefined {
    const stored = this.#peekStored()
    if (this.#wakes.size === 0) return stored
    const waits = [...this.#wakes.values()].map(({ event }) => event)
    return [...waits, ...(stored === undefined ? [] : [stored])].sort(byDue)[0]
  }

  #peekStored(): ScheduledEvent | undefined {
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
    return [...events, ...[...this.#wakes.values()].map(({ event }) => event)].sort(byDue)
  }

  #update(commit: Commit): void {
    for (const { table, after } of commit.changes) {
      if (table === SCHEDULE && after !== undefined) this.#queue.push(entry(after as ScheduledEvent))
    }
    // Entries of cancelled or moved events may never come up, and each reset or restore adds one per event.
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

/** The id of the only future event of a kind that a record can have. */
export function eventId(kind: string, ref: string): string {
  return `${kind}:${ref}`
}

/**
 * Schedules an event. It replaces an event of the same kind about the same record, which is thereby moved. Refuses with
 * `conflict` an event that the clock cannot reach.
 */
export function schedule(
  tx: Transaction,
  { due, ...event }: NewEvent,
  { seq, caused_by, traceparent }: Pick<ScheduledEvent, 'seq' | 'caused_by' | 'traceparent'>,
): ScheduledEvent {
  refuseAfterEnd(due, `The event ${event.kind} of ${event.ref}`)
  const scheduled = {
    id: eventId(event.kind, event.ref),
    due_at: formatInstant(due),
    seq,
    ...event,
    caused_by,
    ...(traceparent !== undefined && { traceparent }),
  }
  tx.put(SCHEDULE, scheduled)
  return scheduled
}

/** Removes the future events of these kinds about a record from the schedule. */
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
    /** The receiver's HTTP status; null without a response. */
    status: z.int().nullable(),
    /** Real milliseconds from the beginning of the request to its outcome; absent with `stable`. */
    ms: z.number().exactOptional(),
  })

export type DeliveryAttempt = ShapeOf<typeof deliveryAttempt>

/** One thing that happened while time passed: an event that ran, or an attempt to deliver a webhook. */
export const ranEvent = () =>
  futureEvent().omit({ urgency: true }).extend({
    /** Status of the record before and after; absent unless it changed. */
    from: z.string().exactOptional(),
    to: z.string().exactOptional(),
    /** Its cause: the id of a request, the id of an earlier event, or a word such as `edit` for anything else. */
    caused_by: z.string(),
    webhook: deliveryAttempt().exactOptional(),
    /** Why the handler failed. Only its event was rolled back; time went on. */
    error: z.string().exactOptional(),
  })

export type RanEvent = ShapeOf<typeof ranEvent>

/** A request or a webhook that waits at a gate. */
export const heldAtGate = () =>
  z.strictObject({
    /** Id of the request, reserved at its arrival, or of the delivery. */
    id: z.string(),
    /** Id of the fault rule. */
    gate: z.string(),
    at: z.enum(['before-handler', 'after-handler', 'webhook']),
    /** `POST /v1/pages`, or the type of the webhook and its receiver. */
    name: z.string(),
    /** Virtual instant of its arrival. */
    since: timestamp(),
  })

export type HeldAtGate = ShapeOf<typeof heldAtGate>

/** The events between two instants, in order. */
export const advanceResult = () =>
  z.strictObject({
    from: timestamp(),
    /** The instant that was reached. */
    to: timestamp(),
    /** Present when `max_events` had run and more were due: the target is not reached. Advance again to go on. */
    stopped: z.literal('limit').exactOptional(),
    /** The first 1,000 that succeeded. */
    events: z.array(ranEvent()),
    /** The first 1,000 events whose handler failed. */
    failed: z.array(ranEvent()),
    /** What waits at gates at its end, for which no advance waits; absent when nothing does. */
    held: z.array(heldAtGate()).exactOptional(),
    /** Number of further events by kind, beyond the first 1,000 of either list; absent when there were none. */
    omitted: z.record(z.string(), z.int()).exactOptional(),
  })

export type AdvanceResult = ShapeOf<typeof advanceResult>

/** The result of an advance without real times, so that equal runs give equal results. */
export function stableResult(result: AdvanceResult): AdvanceResult {
  return { ...result, events: result.events.map(withoutTime), failed: result.failed.map(withoutTime) }
}

function withoutTime(event: RanEvent): RanEvent {
  if (event.webhook === undefined) return event
  const { ms: _, ...webhook } = event.webhook
  return { ...event, webhook }
}
