import { z } from 'zod'
import { type ShapeOf, timestamp } from '../fields.ts'
import { type Json, type JsonObject, pointer, valueAt } from '../json.ts'
import type { LogEntry } from '../log/request-log.ts'
import { withoutSecrets } from '../redaction.ts'
import { STEPS, type Step } from '../request/steps.ts'
import { type Change, type Commit, diff, type Row } from '../state/commit.ts'
import { maskedRow } from '../state/masked.ts'
import { json } from '../strict-input.ts'
import { SCHEDULE, type ScheduledEvent } from '../time/scheduler.ts'
import { type Delivery, deliveries } from '../webhooks/records.ts'
import { counted } from '../words.ts'

/** One operation of a JSON Patch (RFC 6902). */
const jsonPatchOperation = () =>
  z.union([
    z.strictObject({ op: z.enum(['add', 'replace']), path: z.string(), value: json() }),
    z.strictObject({ op: z.literal('remove'), path: z.string() }),
  ])

export type JsonPatchOperation = ShapeOf<typeof jsonPatchOperation>

/** The change of one record by a request. */
const recordChange = () =>
  z.strictObject({
    /** `poll`: noted before the response; `handle`: by the handler; `faultsBefore`, `faultsAfter`, `authenticate`: by a fault. */
    step: z.enum(STEPS),
    /** `collection/id`. */
    ref: z.string(),
    action: z.enum(['created', 'changed', 'deleted']),
    /** RFC 6902, from the record before to the one after. Secrets in it are digests, as the sandbox stores them. */
    patch: z.array(jsonPatchOperation()),
  })

type RecordChange = ShapeOf<typeof recordChange>

/** A future event that a request scheduled or unscheduled. */
const eventChange = () =>
  z.strictObject({
    kind: z.string(),
    ref: z.string(),
    at: timestamp(),
    /** The instant that it had before, when it was moved. */
    instead_of: timestamp().exactOptional(),
    description: z.string(),
  })

/** A webhook that a request caused. */
const deliveryChange = () =>
  z.strictObject({
    id: z.string(),
    type: z.string(),
    url: z.string(),
    about: z.string(),
    /** Ids of the fault rules that fired on it; absent for none. */
    faults: z.array(z.string()).exactOptional(),
  })

/** All effects of a request. */
export const requestEffects = () =>
  z.strictObject({
    changes: z.array(recordChange()),
    scheduled: z.array(eventChange()),
    unscheduled: z.array(eventChange()),
    deliveries: z.array(deliveryChange()),
  })

export type RequestEffects = ShapeOf<typeof requestEffects>

/** The effects of a request, from its commits. Internal tables of core are left out. */
export function effectsOf(entry: LogEntry): RequestEffects {
  const all = commitsOf(entry).flatMap(({ step, commit }) =>
    (commit?.changes ?? []).map((change) => ({ step, change })),
  )
  const changes = all.map(({ change }) => change)
  const events = changes.filter(({ table }) => table === SCHEDULE)
  return {
    changes: all
      .filter(({ change }) => !change.table.startsWith('$') && !isNewDelivery(change))
      .map(changeOf),
    scheduled: events.filter(({ after }) => after !== undefined).map(eventOf),
    unscheduled: events.filter(({ after }) => after === undefined).map(eventOf),
    deliveries: changes.filter(isNewDelivery).map(({ after }) => delivery(after as Delivery)),
  }
}

// In the order in which they were committed.
function commitsOf(entry: LogEntry): { step: Step; commit: Commit | undefined }[] {
  const { poll, commit, faults, decided } = entry
  const moved = faults?.moved ?? []
  return [
    ...moved.filter(({ step }) => step === 'faultsBefore'),
    { step: 'poll', commit: poll?.commit },
    // A fault that removes the key of a request acts before the handler.
    { step: decided === 'authenticate' ? 'authenticate' : 'handle', commit },
    ...moved.filter(({ step }) => step === 'faultsAfter'),
  ]
}

// A delivery contains a whole copy of its object, so that it is named and not shown.
function isNewDelivery({ table, before }: Change): boolean {
  return table === deliveries.name && before === undefined
}

function changeOf({ step, change }: { readonly step: Step; readonly change: Change }): RecordChange {
  const { table, id, before, after } = change
  const action = before === undefined ? 'created' : after === undefined ? 'deleted' : 'changed'
  const [from, to] = [before, after].map((row) => row && maskedRow(table, row))
  const patch = jsonPatch(from, to).map((each) => {
    if (each.op === 'remove') return each
    const name = each.path.slice(each.path.lastIndexOf('/') + 1)
    return { ...each, value: withoutSecrets({ [name]: each.value })[name] as Json }
  })
  return { step, ref: `${table}/${id}`, action, patch }
}

function eventOf({ before, after }: Change): ShapeOf<typeof eventChange> {
  const { kind, ref, due_at, description } = (after ?? before) as ScheduledEvent
  const moved = before && after && { instead_of: (before as ScheduledEvent).due_at }
  return { kind, ref, at: due_at, ...moved, description }
}

function delivery({ id, type, url, ref, faults }: Delivery): ShapeOf<typeof deliveryChange> {
  return { id, type, url, about: ref, ...(faults !== null && { faults: faults.rules }) }
}

/** The effects in half a sentence: "it created pages/1 and scheduled 2 events". */
export function inShort({ changes, scheduled, unscheduled, deliveries }: RequestEffects): string {
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

/**
 * The difference between two records as an RFC 6902 patch. A new record is added whole, a deleted one is
 * removed whole: the empty path is the whole document. Arrays are replaced whole.
 */
export function jsonPatch(before: Row | undefined, after: Row | undefined): JsonPatchOperation[] {
  if (after === undefined) return before === undefined ? [] : [{ op: 'remove', path: '' }]
  const target = after as unknown as JsonObject
  if (before === undefined) return [{ op: 'add', path: '', value: target }]
  const source = before as unknown as JsonObject
  return diff(source, target).map(([keys, ...value]) => {
    const path = pointer(...keys)
    if (value.length === 0) return { op: 'remove', path }
    return { op: valueAt(source, keys) === undefined ? 'add' : 'replace', path, value: value[0] as Json }
  })
}
