import TinyQueue from 'tinyqueue'
import type { Commit, Row } from '../state/commit.ts'
import type { Store, Transaction } from '../state/store.ts'
import { formatInstant } from './instant.ts'

/** How many events one settlement runs, unless a world says otherwise. */
export const MOST_EVENTS = 1_000_000

/** The table of future events. */
export const SCHEDULE = '$schedule'

/**
 * A future event, as data: it survives a restart, is listed by the horizon, and its handler is found by `kind`.
 * `work` is progress that a client waits for; a `deadline` is a limit that time runs into (the 24 h window, retention):
 * automatic skipping runs work and never jumps into a deadline.
 */
export interface ScheduledEvent extends Row {
  readonly due_at: string
  /** Breaks ties: events of one instant run in the order in which they were scheduled. */
  readonly seq: number
  readonly kind: string
  /** The record that it is about: `collection/id`. A record has at most one event of a kind ahead of it. */
  readonly ref: string
  readonly urgency: 'work' | 'deadline'
  /** For the person who reads the horizon: what will happen. */
  readonly says: string
  /** What put it into the schedule: the id of a request, the id of an earlier event, or a word for anything else. */
  readonly caused_by: string
}

/** What a handler says when it schedules. */
export type NewEvent = Omit<ScheduledEvent, 'id' | 'seq' | 'due_at' | 'caused_by'> & { readonly due: number }

/** So many entries of cancelled and moved events are no matter. */
const MOST_LEFT_BEHIND = 1_000

interface Entry {
  readonly due: number
  readonly seq: number
  readonly id: string
}

/** Orders the events of one world by instant, then by sequence. The table is the truth; the queue is only its order. */
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
      // A cancelled or moved event leaves its entry behind; it is dropped when it comes up.
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
    // Left behind for far instants, such entries would never come up: resets and restores alone leave one per event.
    if (this.#queue.length > 2 * this.#store.rows(SCHEDULE).size + MOST_LEFT_BEHIND)
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
