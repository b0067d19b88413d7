import { Settings } from '../assumptions.ts'
import { Refusal } from '../errors.ts'
import { IssueList } from '../issue-list.ts'
import { type Issue, isObject, type JsonObject, pointer } from '../json.ts'
import { loaded } from '../load.ts'
import { Chance, type Faker, loadFaker, objectId, uuid } from '../random.ts'
import { HandlerScope } from '../request/exchange.ts'
import { acceptStubs, writeStubs } from '../scenarios/stub.ts'
import { armRecord, type Service } from '../service.ts'
import { clockRow, END_OF_TIME, type HostTime } from '../time/clock.ts'
import { formatInstant, parseDuration } from '../time/instant.ts'
import { nextTurn } from '../time/real.ts'
import { SCHEDULE } from '../time/scheduler.ts'
import { Turn } from '../time/turn.ts'
import type { AnyCollection, Collection, RecordMaker } from './collection.ts'
import type { Row } from './commit.ts'
import { countPast } from './counters.ts'
import {
  acceptOwn,
  acceptRecord,
  acceptRecords,
  addUnknownCollections,
  checkSandboxOptions,
  isAccepted,
} from './intake.ts'
import { COUNTERS, ORIGIN, SANDBOX_TABLE, type SandboxState, SETTINGS } from './state.ts'
import { Store } from './store.ts'

/** A fixtures document after its `extends` has been resolved: records, and how many more to generate. */
export interface Fixtures {
  readonly collections: Readonly<Record<string, unknown>>
  readonly generate: Readonly<Record<string, unknown>>
  /** Responses of endpoints without a contract; all of them are checked before any is written. */
  readonly stubs?: unknown
  /** Records of collections of the user. */
  readonly own?: unknown
  /** What the document gives for one seed, so that a start with it checks nothing and needs no faker. */
  readonly ready?: (() => ReadyRecords) | undefined
}

/** The records of a fixtures document, checked and generated for one seed. Their times are relative to the start. */
export interface ReadyRecords {
  readonly seed: number
  /** The numbers of ids and UUIDs that were used. */
  readonly counters: { readonly ids: number; readonly uuids: number }
  /** What checking the records of the document gives under the default settings. */
  readonly given: Readonly<Record<string, readonly Row[]>>
  readonly generated: Readonly<Record<string, readonly Row[]>>
}

/** The conditions under which a sandbox starts. */
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

/** A starting state, or all issues of its fixtures. */
export type Built = BuiltState | { readonly issues: readonly Issue[] }

export interface BuiltState {
  readonly state: SandboxState
  /** Whether the same fixtures give the same records at any other start instant. */
  readonly isTimeless: boolean
}

/** The maximum number of records of one collection that a fixtures document generates. */
export const MAX_GENERATED = 1_000_000

/**
 * Builds the state that a sandbox starts from. Timestamps may be written relative to the start (`"-30d"`). Generated
 * records come after the given ones and may refer to them. The same seed, fixtures and start give the same state.
 */
export async function buildStartingState(fixtures: Fixtures, start: Start, service: Service): Promise<Built> {
  const issues = checkNames(fixtures, service)
  const stubs = acceptStubs(fixtures.stubs ?? [], service, issues)
  issues.addAll(service.assumptions.check(start.settings), '/settings')
  if (issues.length > 0) return { issues }
  const settings = new Settings(start.settings, start.strict)
  const shipped = fixtures.ready?.()
  const ready = shipped?.seed === start.seed ? shipped : undefined
  const checked = Object.keys(start.settings).length === 0 ? ready?.given : undefined
  const given = new Map<string, readonly Row[]>()
  let isPlaced = false
  for (const [name, collection] of service.collections) {
    const records = checked === undefined ? (fixtures.collections[name] ?? []) : []
    const accepted = await acceptInTurns(collection, records, start, settings, issues)
    const made = [...(checked?.[name] ?? []), ...(ready?.generated[name] ?? [])]
    given.set(name, [...accepted.rows, ...made.map((row) => placeInTime(row, start.now))])
    isPlaced ||= accepted.isPlaced
  }
  const { own, moved } = acceptOwn(placeInTime(fixtures.own, start.now), service, settings, issues)
  for (const [name, rows] of Object.entries(moved)) given.set(name, [...(given.get(name) ?? []), ...rows])
  const store = new Store()
  for (const [name, rows] of Object.entries(own)) store.load(name, rows.filter(isAccepted))
  const counters = { ids: 0, uuids: 0, ...ready?.counters }
  const wanted = ready === undefined && Object.values(fixtures.generate).some((count) => Number(count) > 0)
  const ids: ReadonlySet<unknown> = wanted ? idsOf(fixtures) : new Set()
  const faker = wanted ? await loaded(loadFaker(start.seed)) : undefined
  const all = <T extends Row>({ name }: Collection<T>) => {
    const read = () => [...store.rows(name).values()] as readonly Row[] as readonly T[]
    return store.derived(`all ${name}`, [name], read)
  }
  for (const [name, collection] of service.collections) {
    const rows = given.get(name) ?? []
    store.load(name, rows)
    const count = Number(fixtures.generate[name] ?? 0)
    if (faker === undefined || count === 0 || issues.length > 0) continue
    const context = { faker, start, all, given: ids, counters, settings }
    store.load(name, [...rows, ...(await generate(collection, count, context, issues))])
  }
  if (issues.length === 0 && checked === undefined) issues.addAll(checkSandboxOptions(store, service))
  if (issues.length > 0) return { issues }
  store.load(SANDBOX_TABLE, [
    clockRow(start, start.host),
    { id: COUNTERS, ...counters, events: 0 } as Row,
    { id: SETTINGS, values: start.settings } as Row,
    { id: ORIGIN, seed: start.seed } as Row,
  ])
  // Many sandboxes share a starting state, so it has no name.
  const around = { seed: start.seed, name: '', settings }
  const scope = new HandlerScope(store.begin(), start.now, around, 'fixtures')
  writeStubs(scope.tx, stubs)
  armAll(store, service, scope, issues)
  if (issues.length > 0) return { issues }
  const isTimeless = !wanted && ready === undefined && !isPlaced && store.rows(SCHEDULE).size === 0
  return { state: { store, limits: [] }, isTimeless }
}

/** The number of records that are checked before other work gets a turn: about ten milliseconds. */
const AT_ONCE = 2_000

async function acceptInTurns(
  collection: AnyCollection,
  given: unknown,
  { now }: Start,
  settings: Settings,
  issues: IssueList,
): Promise<{ readonly rows: readonly Row[]; readonly isPlaced: boolean }> {
  const at = pointer('collections', collection.name)
  if (!Array.isArray(given))
    return {
      rows: acceptRecords(collection, given, settings, at, issues).filter(isAccepted),
      isPlaced: false,
    }
  const [rows, seen]: [Row[], Set<string>] = [[], new Set()]
  let isPlaced = false
  for (let from = 0; from < given.length; from += AT_ONCE) {
    if (from > 0) await nextTurn()
    if (issues.isFull) {
      issues.leaveOut({ unchecked: given.length - from })
      break
    }
    const some: readonly unknown[] = given.slice(from, from + AT_ONCE)
    const placed = some.map((each) => placeInTime(each, now))
    isPlaced ||= placed.some((each, n) => each !== some[n])
    const part = acceptRecords(collection, placed, settings, at, issues, { from, seen })
    for (const row of part) if (isAccepted(row)) rows.push(row)
  }
  return { rows, isPlaced }
}

const START_EARLIER =
  'Start at an earlier instant (the option clock, --clock), or with other fixtures (the option fixtures, --fixtures).'

// The events that the records need are part of the starting state. Its history begins after them, at revision 0.
function armAll(store: Store, service: Service, scope: HandlerScope, issues: IssueList): void {
  for (const name of service.collections.keys()) {
    for (const [n, record] of [...store.rows(name).values()].entries()) {
      try {
        armRecord(service, scope, name, record)
      } catch (error) {
        if (!(error instanceof Refusal)) throw error
        issues.push({ pointer: pointer('collections', name, n), detail: `${error.message} ${START_EARLIER}` })
      }
    }
  }
  countPast(scope.tx, scope.seed)
  store.commit(scope.tx, scope.at)
  store.revision = 0
}

function idsOf({ collections }: Fixtures): ReadonlySet<unknown> {
  const lists = Object.values(collections).filter((rows): rows is readonly unknown[] => Array.isArray(rows))
  return new Set(lists.flatMap((rows) => rows.map((row) => (isObject(row) ? row.id : undefined))))
}

/** The issues of the names in a fixtures document, and of its numbers of records to generate. */
export function checkNames({ collections, generate }: Fixtures, service: Service): IssueList {
  const issues = new IssueList()
  addUnknownCollections(issues, Object.keys(collections), service)
  addUnknownCollections(issues, Object.keys(generate), service, '/generate')
  for (const [name, count] of Object.entries(generate)) {
    const at = pointer('generate', name)
    const collection = service.collections.get(name)
    if (!Number.isSafeInteger(count) || Number(count) < 0 || Number(count) > MAX_GENERATED)
      issues.push({ pointer: at, detail: `must be an integer from 0 to ${MAX_GENERATED}` })
    else if (collection !== undefined && collection.generate === undefined) {
      const detail = `Records of ${name} cannot be generated; write them under /collections/${name}.`
      issues.push({ pointer: at, detail })
    }
  }
  return issues
}

interface GeneratorContext {
  readonly faker: Faker
  readonly start: Start
  readonly all: RecordMaker['all']
  /** Ids of the records that are not generated. */
  readonly given: ReadonlySet<unknown>
  readonly counters: { ids: number; uuids: number }
  readonly settings: Settings
}

async function generate(collection: AnyCollection, count: number, shop: GeneratorContext, issues: IssueList) {
  const rows: Row[] = []
  const turn = new Turn()
  for (let n = 0; n < count; n++) {
    if (turn.isOver) await turn.next()
    const made = collection.generate?.(maker(collection.name, n, shop))
    const row = acceptRecord(collection, made, shop.settings, pointer('generate', collection.name, n), issues)
    if (row === undefined) break
    rows.push(row)
  }
  return rows
}

function maker(
  name: string,
  n: number,
  { faker, start, all, given, counters }: GeneratorContext,
): RecordMaker {
  const chance = new Chance(start.seed, 'generate', name, n)
  const next = (counter: 'ids' | 'uuids', idOf: (seed: number, n: number) => string): string => {
    for (;;) {
      const id = idOf(start.seed, ++counters[counter])
      if (!given.has(id)) return id
    }
  }
  return {
    faker,
    chance,
    n,
    start: start.now,
    newId: () => next('ids', objectId),
    newUuid: () => next('uuids', uuid),
    ago: (ms) => formatInstant(start.now - ms),
    all,
    any: <T extends Row>(collection: Collection<T>, keep: (record: T) => boolean = () => true): T => {
      const record = draw(all(collection), keep, chance)
      if (record !== undefined) return record
      throw new Error(
        `To generate ${name}, the sandbox needs at least one ${collection.label}: add one to the fixtures.`,
      )
    },
  }
}

const TRIES = 20

/** A random record that `keep` accepts. When most records fit, a few tries find one; only then are all of them filtered. */
function draw<T>(records: readonly T[], keep: (record: T) => boolean, chance: Chance): T | undefined {
  for (let n = 0; n < TRIES; n++) {
    const record = records[chance.int(0, records.length - 1)]
    if (record === undefined || keep(record)) return record
  }
  const kept = records.filter(keep)
  return kept[chance.int(0, kept.length - 1)]
}

/** Replaces relative timestamps (`"-30d"`, `"+1h"`) in fields that end in `_at`. Returns the same value when it has none. */
function placeInTime<T>(value: T, now: number): T {
  if (typeof value !== 'object' || value === null) return value
  let placed: Record<string, unknown> | undefined
  for (const key in value) {
    const member: unknown = value[key]
    const next = key.endsWith('_at') ? relative(member, now) : placeInTime(member, now)
    if (next === member) continue
    placed ??= (Array.isArray(value) ? [...value] : { ...value }) as Record<string, unknown>
    placed[key] = next
  }
  return (placed ?? value) as T
}

function relative(value: unknown, now: number): unknown {
  if (typeof value !== 'string' || !/^[+-]/.test(value)) return value
  const ms = parseDuration(value.slice(1))
  // The schema refuses a text that stays as it is.
  if (ms === undefined || ms > END_OF_TIME) return value
  return formatInstant(value.startsWith('-') ? now - ms : now + ms)
}
