import { z } from 'zod'
import { counter, objectAs } from '../fields.ts'
import type { Json, JsonObject } from '../json.ts'
import type { SavedLog } from '../log/request-log.ts'
import { IDEMPOTENCY } from '../request/idempotency.ts'
import type { SavedWindow } from '../request/rate-limiter.ts'
import { SCENARIO, type ScenarioRow, scenarioCalls, scenarioRecord } from '../scenarios/row.ts'
import { servedResponses, stubs } from '../scenarios/stub.ts'
import { type ClockRow, clockFields } from '../time/clock.ts'
import { SCHEDULE } from '../time/scheduler.ts'
import { anyRow, places } from './collection.ts'
import type { Change, Row } from './commit.ts'
import { Store } from './store.ts'
import { FAULT_COUNTERS, FAULTS } from './transaction.ts'

/** The version of the document format. A document of another version is refused as a whole. */
export const FORMAT = 2

/** The table with one record each for the clock, counters, settings, origin and scenario of the sandbox. */
export const SANDBOX_TABLE = '$sandbox'
export const CLOCK = 'clock'
export const COUNTERS = 'counters'
export const SETTINGS = 'settings'
export const ORIGIN = 'origin'
/** Events whose handler failed: removed from the schedule, kept with the reason. */
export const FAILED_EVENTS = '$failed'

/** The settings that differ from their defaults. */
export interface SettingsRow extends Row {
  readonly id: 'settings'
  readonly values: JsonObject
}

/** The seed that the sandbox was created with. */
export interface OriginRow extends Row {
  readonly id: 'origin'
  readonly seed: number
}

// The records of a list are checked one by one in `document.ts`, so that each record has its own issues.
const list = () => z.array(z.unknown())

/** All of a state document except settings and collections, whose schemas depend on the service. */
export const documentFacts = () =>
  z.object({
    format: z.literal(FORMAT, { error: `must be ${FORMAT}, the format that this version reads and writes` }),
    /** Number of the last commit that the document contains. */
    revision: counter(),
    sandbox: z.string(),
    seed: z.number().int(),
    clock: clockFields(),
    counters: z.strictObject({
      ids: counter(),
      uuids: counter(),
      events: counter(),
      /** Number of API requests received. Like the rate windows it is not in the journal: a read request causes no write. */
      requests: counter().default(0),
    }),
    schedule: list(),
    failed: list(),
    idempotency: list(),
    faults: list().default([]),
    fault_counters: list().default([]),
    /** The scenario that is active. */
    scenario: scenarioRecord().nullable().default(null),
    scenario_calls: list().default([]),
    stubs: list().default([]),
    /** How many responses of the lists of stubs and endpoints have been given. */
    served: list().optional(),
    /** Former places of records in lists: a cursor that names a deleted record still works. */
    places: list().default([]),
    limits: list(),
  })

const rows = () => z.array(anyRow()).readonly()

/** The whole state of one sandbox, as the JSON file and `GET /__emulator/state` show it. */
export const stateDocument = () =>
  z.strictObject({
    ...documentFacts().shape,
    settings: objectAs<JsonObject>(),
    collections: z.record(z.string(), rows()),
    /** The collections of the user. Absent when there are none. */
    own: z.record(z.string(), rows()).optional(),
    schedule: rows(),
    failed: rows(),
    idempotency: rows(),
    faults: rows(),
    fault_counters: rows(),
    scenario_calls: rows(),
    stubs: rows(),
    served: rows().optional(),
    places: rows(),
    limits: z.array(z.strictObject({ id: z.string(), hits: z.array(z.number()).readonly() })).readonly(),
  })

export type Document = Readonly<z.output<ReturnType<typeof stateDocument>>>

type Facts = Readonly<z.output<ReturnType<typeof documentFacts>>>

/** The last number that each counter has given out. */
export type CountersRow = { readonly id: 'counters' } & Readonly<Omit<Facts['counters'], 'requests'>>

/** The whole state of a sandbox: its tables, and the rate windows. These are separate: the journal does not record them. */
export interface SandboxState {
  readonly store: Store
  readonly limits: readonly SavedWindow[]
  /** The request log; absent in a new sandbox. A log that is read from a document has its count of requests, but no entries. */
  readonly log?: SavedLog
}

/** Core's own tables by their top-level key in the document. */
const CORE_TABLES = {
  schedule: SCHEDULE,
  failed: FAILED_EVENTS,
  idempotency: IDEMPOTENCY,
  faults: FAULTS,
  fault_counters: FAULT_COUNTERS,
  scenario_calls: scenarioCalls.name,
  stubs: stubs.name,
  served: servedResponses.name,
  places: places.name,
} as const

/**
 * Whether a change is about records, settings, fault rules, stubs or the scenario: an older edit of the state would undo it.
 * The clock, counters and the schedule are not content, so a client that polls does not make an edit outdated.
 */
function isContent({ table, id }: Pick<Change, 'table' | 'id'>): boolean {
  if (table === SANDBOX_TABLE) return id !== CLOCK && id !== COUNTERS
  // Requests and the clock write the other tables of core by themselves.
  return !table.startsWith('$') || table === FAULTS || table === stubs.name
}

/** The revision of the last commit that changed content, see {@link isContent}. An edit of an older state is outdated. */
export class ContentRevision {
  #revision: number

  constructor(store: Store) {
    this.#revision = store.revision
    store.onCommit(({ changes, revision }) => {
      if (changes.some(isContent)) this.#revision = revision
    })
  }

  get revision(): number {
    return this.#revision
  }

  /** The next edit of this revision is not outdated: it contains the one that was just applied. */
  accept(revision: number): void {
    this.#revision = revision
  }
}

/** The document of a sandbox at this moment. Records are shared, not copied: they never change. */
export function toDocument(
  store: Store,
  collections: Iterable<string>,
  facts: { sandbox: string; clock: ClockRow; limits: readonly SavedWindow[]; requests: number },
): Document {
  const rows = (table: string): Row[] => [...store.rows(table).values()]
  const declared = new Set(collections)
  const own = store.own(declared)
  const { id: _clock, ...clock } = facts.clock
  const { id: _counters, ...counters } = store.get(SANDBOX_TABLE, COUNTERS) as CountersRow
  return {
    format: FORMAT,
    revision: store.revision,
    sandbox: facts.sandbox,
    seed: (store.get(SANDBOX_TABLE, ORIGIN) as OriginRow).seed,
    settings: (store.get(SANDBOX_TABLE, SETTINGS) as SettingsRow).values,
    clock,
    counters: { ...counters, requests: facts.requests },
    collections: Object.fromEntries([...declared].map((name) => [name, rows(name)])),
    ...(own.length > 0 && { own: Object.fromEntries(own.map((name) => [name, rows(name)])) }),
    schedule: rows(SCHEDULE),
    failed: rows(FAILED_EVENTS),
    idempotency: rows(IDEMPOTENCY),
    faults: rows(FAULTS),
    fault_counters: rows(FAULT_COUNTERS),
    scenario: scenarioOf(store),
    scenario_calls: rows(scenarioCalls.name),
    stubs: rows(stubs.name),
    // Absent when there are none: most sandboxes have no such responses.
    ...(store.rows(servedResponses.name).size > 0 && { served: rows(servedResponses.name) }),
    places: rows(places.name),
    limits: facts.limits,
  }
}

function scenarioOf(store: Store): Document['scenario'] {
  const row = store.get(SANDBOX_TABLE, SCENARIO) as ScenarioRow | undefined
  if (row === undefined) return null
  const { id: _, ...scenario } = row
  return scenario
}

/** The number of records in all collections together. */
export function countRecords(store: Store, declared: ReadonlyMap<string, unknown>): number {
  return [...declared.keys(), ...store.own(declared)].reduce((sum, table) => sum + store.rows(table).size, 0)
}

/** Creates a store with the contents of a document that has been checked. */
export function storeOf(document: Omit<Document, 'limits' | 'sandbox' | 'format'>): Store {
  const { requests: _, ...counters } = document.counters
  const store = new Store()
  store.revision = document.revision
  store.load(SANDBOX_TABLE, [
    { id: CLOCK, ...document.clock } as ClockRow,
    { id: COUNTERS, ...counters } as CountersRow,
    { id: SETTINGS, values: document.settings } as SettingsRow,
    { id: ORIGIN, seed: document.seed } as OriginRow,
    ...(document.scenario === null ? [] : [{ id: SCENARIO, ...document.scenario } as ScenarioRow]),
  ])
  for (const [name, rows] of Object.entries({ ...document.own, ...document.collections }))
    store.load(name, rows)
  for (const [key, table] of Object.entries(CORE_TABLES)) {
    // A document of an earlier version lacks the lists that were added later.
    store.load(table, document[key as keyof typeof CORE_TABLES] ?? [])
  }
  return store
}

/** A record as the API shows it: without the facts under `_emulator`. */
export function shown<T extends object>(record: T): Omit<T, '_emulator'> & { readonly [key: string]: Json } {
  const { _emulator: _, ...rest } = record as T & { _emulator?: unknown }
  return rest as Omit<T, '_emulator'> & { readonly [key: string]: Json }
}
