import { movedBy } from '../faults/acts/moved.ts'
import type { LogEntry } from '../log/request-log.ts'
import { type Delivery, deliveries } from '../outbox/records.ts'
import type { Step } from '../request/steps.ts'
import type { Change, Commit } from '../state/commit.ts'
import { SCHEDULE, type ScheduledEvent } from '../time/scheduler.ts'
import { counted } from '../words.ts'
import { type JsonPatchOperation, jsonPatch } from './json-patch.ts'

/** What a request did to one record. */
export interface RecordChange {
  /** `poll`: noted before the answer was made; `handle`: by the handler; `interfere`, `interfere-after`, `identify`: by a fault. */
  readonly step: Step
  /** `collection/id`. */
  readonly ref: string
  readonly action: 'created' | 'changed' | 'deleted'
  /** RFC 6902, from the record before to the one after. Secrets in it are the digests that the world keeps. */
  readonly patch: readonly JsonPatchOperation[]
}

/** A future event that a request put into the schedule, or took out of it. */
export interface EventChange {
  readonly kind: string
  readonly ref: string
  readonly at: string
  /** The instant that it had before, when it was moved. */
  readonly instead_of?: string
  readonly says: string
}

/** A webhook that is on its way because of a request. */
export interface DeliveryChange {
  readonly id: string
  readonly type: string
  readonly url: string
  readonly about: string
  /** Ids of the fault rules that fired on it; absent for none. */
  readonly faults?: readonly string[]
}

/** All that a request did. */
export interface Effects {
  readonly changes: readonly RecordChange[]
  readonly scheduled: readonly EventChange[]
  readonly unscheduled: readonly EventChange[]
  readonly deliveries: readonly DeliveryChange[]
}

/** What the commits of a request hold, in the words of its reader. Tables of the kernel's own are left out. */
export function effectsOf(entry: LogEntry): Effects {
  const all = commitsOf(entry).flatMap(({ step, commit }) =>
    (commit?.changes ?? []).map((change) => ({ step, change })),
  )
  const changes = all.map(({ change }) => change)
  const events = changes.filter(({ table }) => table === SCHEDULE)
  return {
    changes: all.filter(({ change }) => isRecord(change)).map(recordChange),
    scheduled: events.filter(({ after }) => after !== undefined).map(scheduled),
    unscheduled: events.filter(({ after }) => after === undefined).map(unscheduled),
    deliveries: changes.filter(isNewDelivery).map(({ after }) => delivery(after as Delivery)),
  }
}

interface Stepped {
  readonly step: Step
  readonly commit: Commit | undefined
}

// In the order in which they were made.
function commitsOf({ poll, commit, faults, decided }: LogEntry): Stepped[] {
  const moved = faults === undefined ? [] : movedBy(faults)
  return [
    ...moved.filter(({ step }) => step === 'interfere'),
    { step: 'poll', commit: poll?.commit },
    // A fault that removes the key of a request does so before there is a handler.
    { step: decided === 'identify' ? 'identify' : 'handle', commit },
    ...moved.filter(({ step }) => step === 'interfere-after'),
  ]
}

// A delivery carries a whole copy of what it is about, so that it is named and not shown.
function isNewDelivery({ table, before }: Change): boolean {
  return table === deliveries.name && before === undefined
}

function isRecord(change: Change): boolean {
  return !change.table.startsWith('$') && !isNewDelivery(change)
}

function recordChange({ step, change }: { readonly step: Step; readonly change: Change }): RecordChange {
  const { table, id, before, after } = change
  const action = before === undefined ? 'created' : after === undefined ? 'deleted' : 'changed'
  return { step, ref: `${table}/${id}`, action, patch: jsonPatch(before, after) }
}

function scheduled({ before, after }: Change): EventChange {
  const { kind, ref, due_at, says } = after as ScheduledEvent
  const moved = before === undefined ? {} : { instead_of: (before as ScheduledEvent).due_at }
  return { kind, ref, at: due_at, ...moved, says }
}

function unscheduled({ before }: Change): EventChange {
  const { kind, ref, due_at, says } = before as ScheduledEvent
  return { kind, ref, at: due_at, says }
}

function delivery({ id, type, url, ref, faults }: Delivery): DeliveryChange {
  return { id, type, url, about: ref, ...(faults !== null && { faults: faults.rules }) }
}

/** What happened in half a sentence: "it created pages/1 and scheduled 2 events". */
export function inShort({ changes, scheduled, unscheduled, deliveries }: Effects): string {
  const all = [
    ...actions(changes),
    ...done('scheduled', scheduled.length, 'event'),
    ...done('unscheduled', unscheduled.length, 'event'),
    ...done('enqueued', deliveries.length, 'webhook'),
  ]
  if (all.length === 0) return 'it changed nothing'
  const last = all.pop() as string // there was at least one
  return `it ${all.length === 0 ? last : `${all.join(', ')} and ${last}`}`
}

const NAMED = 3

function actions(changes: readonly RecordChange[]): string[] {
  return (['created', 'changed', 'deleted'] as const).flatMap((action) => {
    const refs = [...new Set(changes.filter((each) => each.action === action).map(({ ref }) => ref))]
    if (refs.length > NAMED) return [`${action} ${refs.length} records`]
    return refs.length === 0 ? [] : [`${action} ${refs.join(', ')}`]
  })
}

function done(verb: string, count: number, noun: string): string[] {
  return count === 0 ? [] : [`${verb} ${counted(count, noun)}`]
}
