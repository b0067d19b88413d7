import { z } from 'zod'
import { Settings } from '../assumptions.ts'
import { didYouMean } from '../did-you-mean.ts'
import { counter, schemaKey, timestamp } from '../fields.ts'
import { IssueList } from '../issue-list.ts'
import { type Issue, isObject, type Json, type JsonObject, pointer, valueAt } from '../json.ts'
import { idempotencyRecord } from '../request/idempotency.ts'
import { scenarioCall } from '../scenarios/row.ts'
import { acceptSteps } from '../scenarios/step-actions.ts'
import { stub } from '../scenarios/stub.ts'
import { STEP } from '../scenarios/timeline.ts'
import type { Service } from '../service.ts'
import { END_OF_TIME, START_OF_TIME } from '../time/clock.ts'
import { eventId, failedEvent, type ScheduledEvent, scheduledEvent } from '../time/scheduler.ts'
import { parsed, UNCOMPILED, zodIssues } from '../zod-issues.ts'
import { cursorPosition } from './collection.ts'
import type { Row } from './commit.ts'
import {
  type AcceptedRecords,
  acceptOwn,
  acceptRecords,
  acceptRows,
  addUnknownCollections,
  checkSandboxOptions,
  isAccepted,
  objectAt,
} from './intake.ts'
import { type Document, documentFacts, type SandboxState, storeOf } from './state.ts'
import { Store } from './store.ts'

const OPEN_KEYS = ['settings', 'collections', 'own']

/** Fields of a state file about the file itself; they are not loaded. */
export const fileFields = () => ({ $schema: schemaKey(), wakes_at: timestamp().nullable().optional() })

/** The state of a valid document, or all issues of an invalid one. A document is never loaded in part. */
export type CheckedDocument =
  | { readonly state: SandboxState; readonly sandbox: string }
  | { readonly issues: readonly Issue[] }

/**
 * Checks a whole document. A start, an edit of the file, PUT /state and the import of a snapshot
 * call it, so all of them accept the same documents. Returns all issues at once.
 * A record that is invalid only because it refers to an invalid record is not reported.
 */
export function checkDocument(raw: unknown, service: Service, strict: boolean): CheckedDocument {
  if (!isObject(raw)) return { issues: [{ pointer: '', detail: 'must be a JSON object' }] }
  const schema = documentFacts()
  const { data: facts, error } = parsed(schema, raw, UNCOMPILED)
  const issues = error === undefined ? new IssueList() : zodIssues(error, '')
  const known = [...Object.keys(schema.shape), ...OPEN_KEYS, ...Object.keys(fileFields())]
  issues.addUnknown(Object.keys(raw), known, (key) => ({
    pointer: pointer(key),
    detail: `is not part of a state document.${didYouMean(key, known)}`,
  }))
  const values = objectAt(raw.settings, '/settings', issues)
  const wrong = service.assumptions.check(values)
  issues.addAll(wrong, '/settings')
  const lists = acceptLists(raw, service, issues)
  // The schemas of records depend on the settings, so nothing else can be checked.
  if (wrong.length > 0) return { issues }
  const settings = new Settings(values, strict)
  const { own, moved } = acceptOwn(raw.own, service, settings, issues)
  const collections = acceptCollections(raw.collections, service, settings, issues)
  const [faults, fault_counters] = [listAt(raw, 'faults'), listAt(raw, 'fault_counters')]
  const rules = service.rules.accept({ faults, fault_counters }, service, settings, issues)
  // Steps are not checked again when they run, so invalid ones are refused here.
  const active = facts?.scenario
  const scenario = active && {
    ...active,
    timeline: acceptSteps(active.timeline, service, settings, issues, '/scenario'),
  }
  // Records that were not checked would be missing for the rules between records.
  if (issues.isFull) return { issues }
  if (facts === undefined || issues.length > 0) {
    const unusable = unusableIds(raw.collections as JsonObject, collections)
    const valid = new Store()
    for (const [name, rows] of Object.entries(collections)) valid.load(name, rows.filter(isAccepted))
    const broken = checkSandboxOptions(valid, service, collections)
    issues.addAll(broken.filter((each) => !isConsequence(each, raw, unusable)))
    return { issues }
  }
  // New events get higher numbers than the existing ones. Counters of ids need no such step: they skip existing ids.
  const { counters: given } = facts
  const events = lists.schedule.reduce((most, event) => Math.max(most, event?.seq ?? 0), given.events)
  const counters = { ...given, events }
  const document = {
    ...facts,
    ...(scenario && { scenario }),
    ...lists,
    ...rules,
    counters,
    settings: values,
    collections: joined(collections, moved),
    own,
  }
  const store = storeOf(document as unknown as Document)
  issues.addAll(checkSandboxOptions(store, service))
  if (issues.length > 0) return { issues }
  // A document contains the number of requests, but not the requests: the next request gets the next number.
  const log = { entries: [], dropped: 0, requests: counters.requests }
  return { state: { store, limits: lists.limits.filter(isAccepted), log }, sandbox: facts.sandbox }
}

/** Checks the records of each collection. The issue of an unknown collection suggests the most similar name. */
function acceptCollections(
  raw: unknown,
  service: Service,
  settings: Settings,
  issues: IssueList,
): AcceptedRecords {
  const given = objectAt(raw, '/collections', issues)
  addUnknownCollections(issues, Object.keys(given), service)
  return Object.fromEntries(
    [...service.collections].map(([name, collection]) => {
      const rows = Object.hasOwn(given, name) ? given[name] : []
      return [name, acceptRecords(collection, rows, settings, pointer('collections', name), issues)]
    }),
  )
}

function joined(collections: AcceptedRecords, moved: Readonly<Record<string, readonly Row[]>>) {
  const joinedRows = Object.entries(moved).map(([name, rows]) => {
    const present = new Set(collections[name]?.map((row) => row?.id))
    return [name, [...(collections[name] ?? []), ...rows.filter(({ id }) => !present.has(id))]] as const
  })
  return { ...collections, ...Object.fromEntries(joinedRows) }
}

/** Ids of the invalid records of a document. */
function unusableIds(raw: unknown, collections: AcceptedRecords): ReadonlySet<string> {
  const given = isObject(raw) ? raw : {}
  const ids = Object.entries(collections).flatMap(([name, rows]) =>
    rows.flatMap((row, index) => {
      const record = row === undefined ? (given[name] as readonly unknown[])[index] : undefined
      return isObject(record) && typeof record.id === 'string' ? [record.id] : []
    }),
  )
  return new Set(ids)
}

/** The schema of a record in each of core's own lists; `service.rules` checks the lists about faults. */
export const listedRecords = () =>
  ({
    schedule: scheduledEvent(),
    failed: failedEvent(),
    idempotency: idempotencyRecord(),
    scenario_calls: scenarioCall(),
    stubs: stub(),
    served: z.strictObject({ id: z.string().min(1), count: counter() }),
    places: cursorPosition(),
    limits: z.strictObject({ id: z.string(), hits: z.array(z.number().min(START_OF_TIME).max(END_OF_TIME)) }),
  }) satisfies Readonly<Record<string, z.ZodType<Row>>>

type Listed = ReturnType<typeof listedRecords>

type CheckedLists = { readonly [Key in keyof Listed]: (z.output<Listed[Key]> | undefined)[] }

/** Checks core's own lists of a document. An invalid record becomes `undefined` and adds an issue. */
function acceptLists(raw: JsonObject, service: Service, issues: IssueList): CheckedLists {
  const lists = Object.entries(listedRecords()).map(([key, schema]) => {
    return [key, acceptRows<Row>(schema, listAt(raw, key), pointer(key), issues)]
  })
  const accepted: CheckedLists = Object.fromEntries(lists)
  issues.addAll(checkSchedule(accepted.schedule, service))
  return accepted
}

/** The list under a key; an empty one when the value is missing or not an array. */
function listAt(raw: JsonObject, key: string): readonly unknown[] {
  const list = valueAt(raw, [key])
  return Array.isArray(list) ? list : []
}

// An event of an unknown kind would fail when it is due. An event with a wrong id would never be replaced.
function checkSchedule(schedule: readonly (ScheduledEvent | undefined)[], service: Service): Issue[] {
  const kinds = [...service.events.keys(), STEP]
  return schedule.flatMap((event, index) => {
    if (event === undefined) return []
    const { id, kind, ref } = event
    const at = pointer('schedule', index)
    if (!kinds.includes(kind)) {
      const detail = `there is no event of the kind "${kind}".${didYouMean(kind, kinds)} Remove the event, or use one of ${kinds.join(', ')}.`
      return [{ pointer: `${at}/kind`, detail }]
    }
    const expected = eventId(kind, ref)
    return id === expected ? [] : [{ pointer: `${at}/id`, detail: `must be "${expected}": its kind and ref` }]
  })
}

/** Whether an issue is about a reference to an invalid record of the document: then only that record has to be corrected. */
function isConsequence(issue: Issue, document: Json, unusable: ReadonlySet<string>): boolean {
  const named = valueAt(document, issue.pointer)
  return typeof named === 'string' && unusable.has(named)
}
