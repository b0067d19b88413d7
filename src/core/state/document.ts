import * as z from 'zod'
import { type AssumptionCatalog, Settings } from '../assumptions.ts'
import { didYouMean } from '../did-you-mean.ts'
import { timestamp } from '../fields.ts'
import { type Issue, isObject, type Json, type JsonObject, keysOf, pointer, valueAt } from '../json.ts'
import type { SavedLog } from '../log/request-log.ts'
import { type ScenarioRow, scenarioCall } from '../scenarios/row.ts'
import { checkStepAction } from '../scenarios/step-actions.ts'
import { stub } from '../scenarios/stub.ts'
import { STEP } from '../scenarios/timeline.ts'
import type { Service } from '../service.ts'
import { END_OF_TIME } from '../time/clock.ts'
import { eventId, failedEvent, type ScheduledEvent, scheduledEvent } from '../time/scheduler.ts'
import { zodIssues } from '../zod-issues.ts'
import { cursorPlace } from './collection.ts'
import type { Row } from './commit.ts'
import {
  type AcceptedRecords,
  acceptRecords,
  acceptRows,
  checkSandboxOptions,
  isAccepted,
  objectAt,
} from './intake.ts'
import { migrate } from './migrate.ts'
import { type CountersRow, type Document, documentFacts, type SandboxState, storeOf } from './state.ts'
import { Store } from './store.ts'

const OPEN_KEYS = ['settings', 'collections']

/** Fields of a state file that say something of the file; nothing of them is loaded. */
const FILE_KEYS = ['wakes_at', 'digest']

/** A checked document as a sandbox, or everything that is wrong with it. Nothing is loaded by half. */
export type CheckedDocument =
  | { readonly state: SandboxState; readonly sandbox: string }
  | { readonly issues: readonly Issue[] }

/**
 * Checks a whole document, also of an earlier format. A start, an edit of the file, PUT /state and the import of a snapshot
 * all come here, so that each takes what the others take. All issues are found at once; `issuesByRecord` tells whose they
 * are. A record that is wrong only because it refers to one that cannot be used is not named as well.
 */
export function checkDocument(
  given: unknown,
  service: Service,
  assumptions: AssumptionCatalog,
  strict: boolean,
): CheckedDocument {
  const raw = migrate(given)
  if (!isObject(raw)) return { issues: [{ pointer: '', detail: 'must be a JSON object' }] }
  const { data: facts, error } = documentFacts.safeParse(raw)
  const issues: Issue[] = error === undefined ? [] : zodIssues(error, '')
  issues.push(...unknownKeys(raw))
  const values = objectAt(raw.settings, '/settings', issues)
  const wrong = assumptions.check(values)
  issues.push(...wrong.map((issue) => ({ ...issue, pointer: `/settings${issue.pointer}` })))
  const lists = acceptLists(raw, service, issues)
  // Nothing else can be judged under settings that are not right.
  if (wrong.length > 0) return { issues }
  const settings = new Settings(values, strict)
  const collections = acceptCollections(raw.collections, service, settings, issues)
  const [faults, fault_counters] = [listAt(raw, 'faults'), listAt(raw, 'fault_counters')]
  const rules = service.rules.accept({ faults, fault_counters }, service, settings, issues)
  if (facts?.scenario) issues.push(...checkTimeline(facts.scenario, service, settings))
  if (facts === undefined || issues.length > 0) {
    const unusable = unusableIds(raw.collections as JsonObject, collections)
    const broken = checkSandboxOptions(holding(collections), service, collections)
    return { issues: [...issues, ...broken.filter((each) => !isConsequence(each, raw, unusable))] }
  }
  const counters = pastEvents(facts.counters, lists.schedule)
  const document = { ...facts, ...lists, ...rules, counters, settings: values, collections }
  return checkedState(document as unknown as Document, service)
}

function checkedState(document: Document, service: Service): CheckedDocument {
  const store = storeOf(document)
  const issues = checkSandboxOptions(store, service)
  return issues.length > 0
    ? { issues }
    : { state: { store, limits: document.limits, log: logAt(document) }, sandbox: document.sandbox }
}

// What was asked is in no document, only how often: the next request gets the next number.
function logAt({ counters: { requests } }: Document): SavedLog {
  return { entries: [], dropped: 0, requests }
}

function unknownKeys(raw: JsonObject): Issue[] {
  const known = [...Object.keys(documentFacts.shape), ...OPEN_KEYS, ...FILE_KEYS]
  return Object.keys(raw)
    .filter((key) => !known.includes(key))
    .map((key) => ({
      pointer: pointer(key),
      detail: `is not part of a state document.${didYouMean(key, known)}`,
    }))
}

/** Checks records by collection; an unknown collection gets the nearest known name. */
function acceptCollections(
  raw: unknown,
  service: Service,
  settings: Settings,
  issues: Issue[],
): AcceptedRecords {
  const given = objectAt(raw, '/collections', issues)
  const known = [...service.collections.keys()]
  for (const name of Object.keys(given)) {
    if (!service.collections.has(name)) {
      issues.push({
        pointer: pointer('collections', name),
        detail: `There is no such collection.${didYouMean(name, known)}`,
      })
    }
  }
  return Object.fromEntries(
    [...service.collections].map(([name, collection]) => {
      const rows = Object.hasOwn(given, name) ? given[name] : []
      return [name, acceptRecords(collection, rows, settings, pointer('collections', name), issues)]
    }),
  )
}

// Steps run without another check, so a wrong one would do harm when it is due.
function checkTimeline(
  { timeline }: Pick<ScenarioRow, 'timeline'>,
  service: Service,
  settings: Settings,
): Issue[] {
  return timeline.flatMap((step, index) =>
    (step.do === 'function' ? [] : step.do).flatMap((action, number) => {
      const at = pointer('scenario', 'timeline', index, 'do', number)
      return checkStepAction(action, service, settings).map((issue) => ({
        ...issue,
        pointer: at + issue.pointer,
      }))
    }),
  )
}

// New events come after the existing ones. Ids need no such care: they skip existing ids.
function pastEvents<T extends Omit<CountersRow, 'id'>>(
  counters: T,
  schedule: readonly ({ readonly seq: number } | undefined)[],
): T {
  const events = schedule.reduce((most, event) => Math.max(most, event?.seq ?? 0), counters.events)
  return { ...counters, events }
}

function holding(collections: AcceptedRecords): Store {
  const store = new Store()
  for (const [name, rows] of Object.entries(collections)) store.load(name, rows.filter(isAccepted))
  return store
}

/** Ids of the records of a document that cannot be used. */
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

/** What one record looks like in each of core's own lists; those about faults have an intake of their own. */
const records = {
  schedule: scheduledEvent,
  failed: failedEvent,
  idempotency: z.strictObject({
    id: z.string(),
    fingerprint: z.string(),
    status: z.number().int().min(200).max(599),
    body: z.unknown(),
    assumed: z.array(z.string()).exactOptional(),
    created_at: timestamp(),
    expires_at: timestamp(),
  }),
  scenario_calls: scenarioCall,
  stubs: stub,
  places: cursorPlace,
  limits: z.strictObject({ id: z.string(), hits: z.array(z.number().min(0).max(END_OF_TIME)) }),
} satisfies Readonly<Record<string, z.ZodType<Row>>>

/** Core's own lists of a document. Where a record cannot be used there is undefined, and an issue. */
export function acceptLists(raw: JsonObject, service: Service, issues: Issue[]) {
  const accept = <T extends Row>(key: string, schema: z.ZodType<T>) =>
    acceptRows(schema, listAt(raw, key), pointer(key), issues)
  const schedule = accept('schedule', records.schedule)
  issues.push(...checkSchedule(schedule, service))
  return {
    schedule,
    failed: accept('failed', records.failed),
    idempotency: accept('idempotency', records.idempotency),
    scenario_calls: accept('scenario_calls', records.scenario_calls),
    stubs: accept('stubs', records.stubs),
    places: accept('places', records.places),
    limits: accept('limits', records.limits),
  }
}

/** The list under a key; an empty one where there is something else. */
export function listAt(raw: JsonObject, key: string): readonly unknown[] {
  const list = Object.hasOwn(raw, key) ? raw[key] : undefined
  return Array.isArray(list) ? list : []
}

// An event that nothing handles would fail when it is due, and one under another id would never be replaced.
function checkSchedule(schedule: readonly (ScheduledEvent | undefined)[], service: Service): Issue[] {
  const kinds = [...service.events.keys(), STEP]
  return schedule.flatMap((event, index) => {
    if (event === undefined) return []
    const { id, kind, ref } = event
    const at = pointer('schedule', index)
    if (!kinds.includes(kind)) {
      const detail = `there is no event of the kind "${kind}".${didYouMean(kind, kinds)} Leave the event out, or take one of ${kinds.join(', ')}.`
      return [{ pointer: `${at}/kind`, detail }]
    }
    const expected = eventId(kind, ref)
    return id === expected ? [] : [{ pointer: `${at}/id`, detail: `must be "${expected}": its kind and ref` }]
  })
}

/** A record of a document that cannot be used, and everything that is wrong with it. */
export interface RecordIssues {
  /** The collection of the record, or the list of core: `pages`, `schedule`. */
  readonly collection: string
  /** Pointer to that list: `/collections/pages`, `/schedule`. */
  readonly list: string
  readonly index: number
  /** Undefined where the record has no id that is a text. */
  readonly id: string | undefined
  readonly issues: readonly Issue[]
}

/** The issues of a document by the record that they are about, in the order of the first of each. */
export function issuesByRecord(
  document: unknown,
  issues: readonly Issue[],
): { readonly records: readonly RecordIssues[]; readonly others: readonly Issue[] } {
  const records = new Map<string, RecordIssues & { readonly issues: Issue[] }>()
  const others: Issue[] = []
  for (const issue of issues) {
    const [, record, list = '', index] =
      /^((\/collections\/[^/]+|\/[^/]+)\/(0|[1-9]\d*))(?:\/|$)/.exec(issue.pointer) ?? []
    const found = record === undefined ? undefined : valueAt(document as Json, record)
    if (record === undefined || found === undefined) {
      others.push(issue)
      continue
    }
    const known = records.get(record)
    if (known !== undefined) {
      known.issues.push(issue)
      continue
    }
    const id = isObject(found) && typeof found.id === 'string' ? found.id : undefined
    const collection = keysOf(list).at(-1) as string
    records.set(record, { collection, list, index: Number(index), id, issues: [issue] })
  }
  return { records: [...records.values()], others }
}

/** Whether an issue is about a reference to a record that is there and cannot be used: what is wrong is that one. */
export function isConsequence(issue: Issue, document: Json, unusable: ReadonlySet<string>): boolean {
  const named = valueAt(document, issue.pointer)
  return typeof named === 'string' && unusable.has(named)
}
