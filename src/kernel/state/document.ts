import * as z from 'zod'
import { didYouMean, type Ledger, Settings } from '../assumptions.ts'
import { acceptFaults } from '../faults/intake.ts'
import { timestamp } from '../fields.ts'
import { type Issue, isObject, pointer } from '../json.ts'
import type { SavedLog } from '../log/request-log.ts'
import type { Service } from '../operation.ts'
import { callRecord, scenarioRecord } from '../scenario/row.ts'
import { stubRecord } from '../scenario/stub-schema.ts'
import { END_OF_TIME, FASTEST } from '../time/clock.ts'
import { formatInstant } from '../time/instant.ts'
import { zodIssues } from '../zod-issues.ts'
import { acceptRecords, checkWorld, objectAt } from './intake.ts'
import { type Document, FORMAT, storeOf, type WorldState } from './state.ts'

const count = () => z.number().int().min(0)

// Past it the clock could not go on, and what it schedules would have no timestamp.
const clockInstant = () =>
  timestamp().refine((value) => Date.parse(value) <= END_OF_TIME, {
    error: `must be at most ${formatInstant(END_OF_TIME)}, the last instant there is`,
  })

const frame = z.object({
  format: z.literal(FORMAT, { error: `must be ${FORMAT}, the format that this version reads and writes` }),
  revision: count(),
  sandbox: z.string(),
  seed: z.number().int(),
  clock: z.strictObject({
    now: clockInstant(),
    rate: z.number().min(0).max(FASTEST),
    skip_on_poll: z.boolean(),
    wall: timestamp().nullable(),
  }),
  counters: z.strictObject({ ids: count(), uuids: count(), events: count(), requests: count().default(0) }),
  schedule: z.array(
    z.strictObject({
      id: z.string(),
      due_at: timestamp(),
      seq: count(),
      kind: z.string(),
      ref: z.string(),
      urgency: z.enum(['work', 'deadline']),
      says: z.string(),
      caused_by: z.string().default('edit'),
    }),
  ),
  parked: z.array(z.looseObject({ id: z.string() })),
  idempotency: z.array(
    z.strictObject({
      id: z.string(),
      fingerprint: z.string(),
      status: z.number().int().min(200).max(599),
      body: z.unknown(),
      created_at: timestamp(),
      expires_at: timestamp(),
    }),
  ),
  faults: z.array(z.unknown()).default([]),
  fault_counters: z.array(z.unknown()).default([]),
  scenario: scenarioRecord().nullable().default(null),
  scenario_calls: z.array(callRecord()).default([]),
  stubs: z.array(stubRecord()).default([]),
  limits: z.array(z.strictObject({ id: z.string(), hits: z.array(z.number().min(0).max(END_OF_TIME)) })),
})

const OPEN_KEYS = ['settings', 'collections']

/** A checked document as a world, or everything that is wrong with it. Nothing is loaded by half. */
export type Checked =
  | { readonly world: WorldState; readonly sandbox: string }
  | { readonly issues: readonly Issue[] }

/** Checks a whole document: a state file, an edited one, an import. Members that are missing or unknown are named. */
export function checkDocument(raw: unknown, service: Service, ledger: Ledger, strict: boolean): Checked {
  if (!isObject(raw)) return { issues: [{ pointer: '', detail: 'must be a JSON object' }] }
  const parsed = frame.safeParse(raw)
  const issues: Issue[] = parsed.success ? [] : zodIssues(parsed.error, '')
  const known = [...Object.keys(frame.shape), ...OPEN_KEYS]
  for (const key of Object.keys(raw)) {
    if (!known.includes(key)) {
      issues.push({
        pointer: pointer(key),
        detail: `is not part of a state document.${didYouMean(key, known)}`,
      })
    }
  }
  const values = objectAt(raw.settings, '/settings', issues)
  issues.push(...ledger.check(values).map((issue) => ({ ...issue, pointer: `/settings${issue.pointer}` })))
  if (issues.length > 0 || !parsed.success) return { issues }
  const settings = new Settings(values, strict)
  const collections = acceptCollections(raw.collections, service, settings, issues)
  const faults = acceptFaults(parsed.data, service, settings, issues)
  if (issues.length > 0) return { issues }
  const document = { ...parsed.data, ...faults, settings: values, collections } as unknown as Document
  const store = storeOf(document)
  const broken = checkWorld(store, service)
  return broken.length > 0
    ? { issues: broken }
    : { world: { store, limits: document.limits, log: logAt(document) }, sandbox: document.sandbox }
}

// What was asked is in no document, only how often: the next request gets the next number.
function logAt({ counters: { requests } }: Document): SavedLog {
  return { entries: [], dropped: 0, requests }
}

/** Checks records by collection; an unknown collection is told the nearest known name. */
function acceptCollections(raw: unknown, service: Service, settings: Settings, issues: Issue[]) {
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
