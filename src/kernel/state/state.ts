import { faultCounters, faultRules } from '../faults/rule.ts'
import type { Json, JsonObject } from '../json.ts'
import type { SavedLog } from '../log/request-log.ts'
import { IDEMPOTENCY } from '../request/idempotency.ts'
import type { SavedWindow } from '../request/rate-limiter.ts'
import { SCENARIO, type ScenarioRow, scenarioCalls } from '../scenario/row.ts'
import { stubs } from '../scenario/stub.ts'
import type { ClockRow } from '../time/clock.ts'
import { SCHEDULE } from '../time/scheduler.ts'
import type { Row } from './commit.ts'
import { Store } from './store.ts'

/** The version of the document's shape. A newer one is refused, never half understood. */
export const FORMAT = 1

/** The table of the records that a world has one of. */
export const WORLD = '$world'
export const CLOCK = 'clock'
export const COUNTERS = 'counters'
export const SETTINGS = 'settings'
export const ORIGIN = 'origin'
/** Events whose handler failed: out of the schedule, kept for whoever asks why. */
export const PARKED = '$parked'

/** Numbers given out so far. */
export interface CountersRow extends Row {
  readonly id: 'counters'
  readonly ids: number
  readonly uuids: number
  readonly events: number
}

/** The choices that differ from the ledger's defaults. */
export interface SettingsRow extends Row {
  readonly id: 'settings'
  readonly values: JsonObject
}

/** Where the world comes from. */
export interface OriginRow extends Row {
  readonly id: 'origin'
  readonly seed: number
}

/** The whole state of one world, as the JSON file and `GET /__emulator/state` show it. */
export interface Document {
  readonly format: typeof FORMAT
  /** Number of the last commit that the document contains. */
  readonly revision: number
  readonly sandbox: string
  readonly seed: number
  readonly settings: JsonObject
  readonly clock: {
    readonly now: string
    readonly rate: number
    readonly skip_on_poll: boolean
    readonly wall: string | null
  }
  readonly counters: {
    readonly ids: number
    readonly uuids: number
    readonly events: number
    /** API requests that have arrived; beside the log of changes like the rate windows, so that a read costs no write. */
    readonly requests: number
  }
  readonly collections: { readonly [name: string]: readonly Row[] }
  readonly schedule: readonly Row[]
  readonly parked: readonly Row[]
  readonly idempotency: readonly Row[]
  readonly faults: readonly Row[]
  readonly fault_counters: readonly Row[]
  /** The scenario that is active. */
  readonly scenario: Omit<ScenarioRow, 'id'> | null
  readonly scenario_calls: readonly Row[]
  readonly stubs: readonly Row[]
  readonly limits: readonly SavedWindow[]
}

/** A whole world at rest: its tables, and the rate windows that are kept beside them because no log line records them. */
export interface WorldState {
  readonly store: Store
  readonly limits: readonly SavedWindow[]
  /** The request log; absent in a world that has no past. One that was written to a document comes back without entries. */
  readonly log?: SavedLog
}

/** The kernel's own tables and the top-level key under which each stands in the document. */
export const KERNEL_TABLES = {
  schedule: SCHEDULE,
  parked: PARKED,
  idempotency: IDEMPOTENCY,
  faults: faultRules.name,
  fault_counters: faultCounters.name,
  scenario_calls: scenarioCalls.name,
  stubs: stubs.name,
} as const

/** The document of a world at this moment. Records are shared, not copied: they never change. */
export function toDocument(
  store: Store,
  collections: Iterable<string>,
  facts: { sandbox: string; clock: ClockRow; limits: readonly SavedWindow[]; requests: number },
): Document {
  const { id: _clock, ...clock } = facts.clock
  const { id: _counters, ...counters } = store.get(WORLD, COUNTERS) as CountersRow
  return {
    format: FORMAT,
    revision: store.revision,
    sandbox: facts.sandbox,
    seed: (store.get(WORLD, ORIGIN) as OriginRow).seed,
    settings: (store.get(WORLD, SETTINGS) as SettingsRow).values,
    clock,
    counters: { ...counters, requests: facts.requests },
    collections: Object.fromEntries([...collections].map((name) => [name, [...store.rows(name).values()]])),
    schedule: [...store.rows(SCHEDULE).values()],
    parked: [...store.rows(PARKED).values()],
    idempotency: [...store.rows(IDEMPOTENCY).values()],
    faults: [...store.rows(faultRules.name).values()],
    fault_counters: [...store.rows(faultCounters.name).values()],
    scenario: scenarioOf(store),
    scenario_calls: [...store.rows(scenarioCalls.name).values()],
    stubs: [...store.rows(stubs.name).values()],
    limits: facts.limits,
  }
}

function scenarioOf(store: Store): Document['scenario'] {
  const row = store.get(WORLD, SCENARIO) as ScenarioRow | undefined
  if (row === undefined) return null
  const { id: _, ...scenario } = row
  return scenario
}

/** How many records some collections hold together. */
export function countRecords(store: Store, collections: Iterable<string>): number {
  return [...collections].reduce((sum, table) => sum + store.rows(table).size, 0)
}

/** The tables of a document that has been checked. */
export function storeOf(document: Omit<Document, 'limits' | 'sandbox' | 'format'>): Store {
  const { requests: _, ...counters } = document.counters
  const store = new Store()
  store.startAt(document.revision)
  store.load(WORLD, [
    { id: CLOCK, ...document.clock } as ClockRow,
    { id: COUNTERS, ...counters } as CountersRow,
    { id: SETTINGS, values: document.settings } as SettingsRow,
    { id: ORIGIN, seed: document.seed } as OriginRow,
    ...(document.scenario === null ? [] : [{ id: SCENARIO, ...document.scenario } as ScenarioRow]),
  ])
  for (const [name, rows] of Object.entries(document.collections)) store.load(name, rows)
  for (const [key, table] of Object.entries(KERNEL_TABLES)) {
    store.load(table, document[key as keyof typeof KERNEL_TABLES])
  }
  return store
}

/** A record as the API shows it: without the facts that stand beside it under `_emulator`. */
export function shown<T extends object>(record: T): Omit<T, '_emulator'> & { readonly [key: string]: Json } {
  const { _emulator: _, ...rest } = record as T & { _emulator?: unknown }
  return rest as Omit<T, '_emulator'> & { readonly [key: string]: Json }
}
