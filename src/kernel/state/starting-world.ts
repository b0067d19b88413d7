import type { Faker } from '@faker-js/faker'
import { didYouMean, type Ledger, Settings } from '../assumptions.ts'
import { type Issue, isObject, type Json, type JsonObject, pointer } from '../json.ts'
import { armRecord, type Service } from '../operation.ts'
import { Chance, loadFaker, objectId, uuid } from '../random.ts'
import { HandlerScope } from '../request/exchange.ts'
import { writeStubs } from '../scenario/stub.ts'
import { acceptStubs } from '../scenario/stub-schema.ts'
import { clockRow, type HostTime } from '../time/clock.ts'
import { parseDuration } from '../time/duration.ts'
import { formatInstant } from '../time/instant.ts'
import type { AnyCollection, Collection, Maker } from './collection.ts'
import type { Row } from './commit.ts'
import { acceptRecord, acceptRecords, checkWorld } from './intake.ts'
import { COUNTERS, ORIGIN, SETTINGS, WORLD, type WorldState } from './state.ts'
import { Store } from './store.ts'

/** A fixtures document after its `extends` has been followed: records, and how many more to invent. */
export interface Fixtures {
  readonly collections: Readonly<Record<string, unknown>>
  readonly generate: Readonly<Record<string, unknown>>
  /** Answers of endpoints without a contract; all of them are checked before any is written. */
  readonly stubs?: unknown
}

/** Under what a world starts. */
export interface Start {
  readonly seed: number
  /** Virtual milliseconds since the Unix epoch. */
  readonly now: number
  readonly rate: number
  readonly skip_on_poll: boolean
  readonly settings: JsonObject
  readonly strict: boolean
  readonly host: HostTime
}

/** A starting world, or everything that is wrong with its fixtures. */
export type Built = { readonly world: WorldState } | { readonly issues: readonly Issue[] }

const MOST_GENERATED = 1_000_000

/**
 * Builds the world that a sandbox starts from. Timestamps may be written relative to the start (`"-30d"`). Generated
 * records follow the given ones and may refer to them. The same seed, fixtures and start give the same world.
 */
export async function buildWorld(
  fixtures: Fixtures,
  start: Start,
  service: Service,
  ledger: Ledger,
): Promise<Built> {
  const issues = checkNames(fixtures, service)
  const stubs = acceptStubs(fixtures.stubs ?? [], service, issues)
  issues.push(
    ...ledger.check(start.settings).map((issue) => ({ ...issue, pointer: `/settings${issue.pointer}` })),
  )
  if (issues.length > 0) return { issues }
  const settings = new Settings(start.settings, start.strict)
  const store = new Store()
  const counters = { ids: 0, uuids: 0 }
  const wanted = Object.values(fixtures.generate).some((count) => Number(count) > 0)
  const faker = wanted ? await loadFaker() : undefined
  faker?.seed(start.seed)
  const all = lists(store)
  for (const [name, collection] of service.collections) {
    const at = pointer('collections', name)
    const given = placeInTime(fixtures.collections[name] ?? [], start.now) as Json
    const rows = acceptRecords(collection, given, settings, at, issues)
    store.load(name, rows)
    const count = Number(fixtures.generate[name] ?? 0)
    if (faker === undefined || count === 0 || issues.length > 0) continue
    store.load(name, [
      ...rows,
      ...generate(collection, count, { faker, start, all, counters, settings }, issues),
    ])
  }
  if (issues.length === 0) issues.push(...checkWorld(store, service))
  if (issues.length > 0) return { issues }
  store.load(WORLD, [
    clockRow(start, start.host),
    { id: COUNTERS, ...counters, events: 0 } as Row,
    { id: SETTINGS, values: start.settings } as Row,
    { id: ORIGIN, seed: start.seed } as Row,
  ])
  // Many sandboxes share a starting world, so it has no name.
  const around = { seed: start.seed, name: '', settings }
  const scope = new HandlerScope(store.begin(), start.now, around, 'fixtures')
  writeStubs(scope.tx, stubs)
  armAll(store, service, scope)
  return { world: { store, limits: [] } }
}

// What the records call for is part of the starting world: its history begins after it.
function armAll(store: Store, service: Service, scope: HandlerScope): void {
  for (const name of service.collections.keys()) {
    for (const record of store.rows(name).values()) armRecord(service, scope, name, record)
  }
  store.commit(scope.tx, scope.at)
  store.startAt(0)
}

function checkNames({ collections, generate }: Fixtures, service: Service): Issue[] {
  const known = [...service.collections.keys()]
  const unknown = (at: string, names: readonly string[]): Issue[] =>
    names
      .filter((name) => !service.collections.has(name))
      .map((name) => ({
        pointer: at + pointer(name),
        detail: `There is no such collection.${didYouMean(name, known)}`,
      }))
  const counts = Object.entries(generate).flatMap(([name, count]): Issue[] => {
    const at = pointer('generate', name)
    if (!Number.isSafeInteger(count) || Number(count) < 0 || Number(count) > MOST_GENERATED) {
      return [{ pointer: at, detail: `must be an integer from 0 to ${MOST_GENERATED}` }]
    }
    const collection = service.collections.get(name)
    return collection !== undefined && collection.generate === undefined
      ? [
          {
            pointer: at,
            detail: `Records of ${name} cannot be generated; write them under /collections/${name}.`,
          },
        ]
      : []
  })
  return [
    ...unknown('/collections', Object.keys(collections)),
    ...unknown('/generate', Object.keys(generate)),
    ...counts,
  ]
}

interface Workshop {
  readonly faker: Faker
  readonly start: Start
  readonly all: Maker['all']
  readonly counters: { ids: number; uuids: number }
  readonly settings: Settings
}

function generate(collection: AnyCollection, count: number, shop: Workshop, issues: Issue[]): Row[] {
  const rows: Row[] = []
  for (let n = 0; n < count; n++) {
    const made = collection.generate?.(maker(collection.name, n, shop))
    const row = acceptRecord(collection, made, shop.settings, pointer('generate', collection.name, n), issues)
    if (row === undefined) break
    rows.push(row)
  }
  return rows
}

function maker(name: string, n: number, { faker, start, all, counters }: Workshop): Maker {
  const chance = new Chance(start.seed, 'generate', name, n)
  return {
    faker,
    chance,
    n,
    start: start.now,
    newId: () => objectId(start.seed, ++counters.ids),
    newUuid: () => uuid(start.seed, ++counters.uuids),
    ago: (ms) => formatInstant(start.now - ms),
    all,
    any: <T extends Row>(collection: Collection<T>, keep: (record: T) => boolean = () => true): T => {
      const record = draw(all(collection), keep, chance)
      if (record !== undefined) return record
      throw new Error(
        `To generate ${name}, the world needs at least one ${collection.label}: give one in the fixtures.`,
      )
    },
  }
}

/** The records of each collection as a list that is made once: a copy for every draw would take quadratic time. */
function lists(store: Store): Maker['all'] {
  const made = new Map<string, { readonly version: number; readonly rows: readonly Row[] }>()
  return <T extends Row>({ name }: Collection<T>): readonly T[] => {
    const version = store.version(name)
    const known = made.get(name)
    if (known?.version === version) return known.rows as readonly T[]
    const rows = [...store.rows(name).values()]
    made.set(name, { version, rows })
    return rows as readonly Row[] as readonly T[]
  }
}

const TRIES = 20

/** A record at random. Where most will do, a few tries find one; only otherwise are all of them looked at. */
function draw<T>(records: readonly T[], keep: (record: T) => boolean, chance: Chance): T | undefined {
  for (let n = 0; n < TRIES; n++) {
    const record = records[chance.int(0, records.length - 1)]
    if (record === undefined || keep(record)) return record
  }
  const kept = records.filter(keep)
  return kept[chance.int(0, kept.length - 1)]
}

/** Replaces relative timestamps (`"-30d"`, `"+1h"`, in members that end in `_at`) by instants. */
function placeInTime(value: unknown, now: number): unknown {
  if (Array.isArray(value)) return value.map((each) => placeInTime(each, now))
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [
      key,
      key.endsWith('_at') ? relative(member, now) : placeInTime(member, now),
    ]),
  )
}

function relative(value: unknown, now: number): unknown {
  if (typeof value !== 'string' || !/^[+-]/.test(value)) return value
  const ms = parseDuration(value.slice(1))
  if (ms === undefined) return value
  return formatInstant(value.startsWith('-') ? now - ms : now + ms)
}
