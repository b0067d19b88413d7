import { crc32 } from 'node:zlib'
import { z } from 'zod'
import { type ShapeOf, timestamp } from '../fields.ts'
import type { Row } from '../state/commit.ts'
import { type Document, stateDocument } from '../state/state.ts'
import { formatInstant } from '../time/instant.ts'

/** The starting data that a recorded state differs from. A replay builds them again. */
export const recordedStart = () =>
  z.strictObject({
    /** The name of shipped fixtures. */
    fixtures: z.string(),
    seed: z.int(),
    /** The instant of the start. */
    at: timestamp(),
    /** Checksum of the records: another version of the emulator may have others. */
    crc32: z.int(),
    /** The ids of records that the state lacks, or has at another place, by collection. */
    removed: z.record(z.string(), z.array(z.string())),
  })

export type RecordedStart = ShapeOf<typeof recordedStart>

/** What differs from the starting data, or a whole state. */
export const recordedState = () =>
  stateDocument().partial().required({ sandbox: true, seed: true, clock: true, collections: true })

export type RecordedState = Readonly<ShapeOf<typeof recordedState>>

/** The state of a new sandbox with these fixtures and no settings; undefined if its service has other collections. */
export type BuildStart = (
  origin: Pick<RecordedStart, 'fixtures' | 'seed' | 'at'>,
) => Promise<Document | undefined>

// The clock has moved, and an option of the emulator arms a rule of faults in every new sandbox.
const ALWAYS_KEPT: ReadonlySet<string> = new Set(['sandbox', 'seed', 'clock', 'faults', 'fault_counters'])

/** A state as its difference to the start from fixtures. Without `start`, it is the whole state: that is shorter. */
export async function differenceToStart(
  state: Document,
  { fixtures, build }: { readonly fixtures: string; readonly build: BuildStart },
): Promise<{ readonly state: RecordedState; readonly start?: RecordedStart }> {
  const { seed } = state
  // At an instant that cannot be the right one, every time that is relative to the start differs by the same.
  const later = Date.parse(state.clock.now) + 1
  const moved = await build({ fixtures, seed, at: formatInstant(later) })
  if (moved === undefined) return { state }
  const at = formatInstant(later + usualDistance(moved.collections, state.collections))
  const base = (await build({ fixtures, seed, at })) ?? moved
  const removed: Record<string, string[]> = {}
  const collections: Record<string, readonly Row[]> = {}
  for (const [name, rows] of Object.entries(state.collections)) {
    const before = new Map(base.collections[name]?.map((row) => [row.id, JSON.stringify(row)]))
    const ids = new Set(rows.map(({ id }) => id))
    const gone = [...before.keys()].filter((id) => !ids.has(id))
    const changed = rows.filter((row) => before.get(row.id) !== JSON.stringify(row))
    const again = mergedRows(base.collections[name], gone, changed)
    const isInOrder = again.every(({ id }, n) => id === rows[n]?.id)
    const [without, put] = isInOrder ? [gone, changed] : [[...before.keys()], rows]
    if (without.length > 0) removed[name] = without
    if (put.length > 0) collections[name] = put
  }
  const facts = Object.entries(state).filter(
    ([key, value]) =>
      ALWAYS_KEPT.has(key) || JSON.stringify(value) !== JSON.stringify(base[key as keyof Document]),
  )
  const difference = {
    start: { fixtures, seed, at, crc32: checksum(base), removed },
    state: { ...(Object.fromEntries(facts) as RecordedState), collections },
  }
  return JSON.stringify(difference).length < JSON.stringify(state).length ? difference : { state }
}

/** The whole state. Undefined when this version has other starting data. */
export function wholeState(
  base: Document | undefined,
  start: RecordedStart,
  state: RecordedState,
): Document | undefined {
  if (base === undefined || checksum(base) !== start.crc32) return undefined
  const collections = Object.entries(base.collections).map(
    ([name, rows]) => [name, mergedRows(rows, start.removed[name], state.collections[name])] as const,
  )
  return { ...base, ...state, collections: Object.fromEntries(collections) } as Document
}

function mergedRows(before: readonly Row[] = [], removed: readonly string[] = [], put: readonly Row[] = []) {
  const gone = new Set(removed)
  const rows = new Map(before.flatMap((row) => (gone.has(row.id) ? [] : [[row.id, row]])))
  for (const row of put) rows.set(row.id, row)
  return [...rows.values()]
}

function checksum({ collections, schedule }: Document): number {
  return crc32(JSON.stringify([collections, schedule]))
}

type Rows = Document['collections']

/** The milliseconds by which most times of records differ, of those that differ. */
function usualDistance(from: Rows, to: Rows): number {
  const counts = new Map<number, number>()
  for (const [name, rows] of Object.entries(from)) {
    const others = new Map<string, object>(to[name]?.map((row) => [row.id, row]))
    for (const row of rows)
      for (const [key, value] of Object.entries(row)) {
        const distance = key.endsWith('_at') ? timeOf(Object(others.get(row.id))[key]) - timeOf(value) : 0
        if (distance) counts.set(distance, (counts.get(distance) ?? 0) + 1)
      }
  }
  return [...counts].toSorted((a, b) => b[1] - a[1])[0]?.[0] ?? 0
}

function timeOf(value: unknown): number {
  return typeof value === 'string' ? Date.parse(value) : Number.NaN
}
