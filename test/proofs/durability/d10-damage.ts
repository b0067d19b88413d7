import type { Chance } from '../../../src/core/random.ts'

// biome-ignore lint/suspicious/noExplicitAny: documents are broken into every shape.
export type Loose = any

/** The expected result for a damaged document. */
export interface Damaged {
  /** The number of records and fields that were made invalid. */
  readonly broken: number
  /** The records that must be set aside: the invalid ones, and those that refer to them. */
  readonly pointers: readonly string[]
  /** The ids of the notes that must be loaded. */
  readonly valid: readonly string[]
}

/** Changes that make a note invalid. */
const WAYS: readonly [(note: Loose) => unknown, ...((note: Loose) => unknown)[]] = [
  (note) => ({ ...note, text: 7 }),
  ({ text: _, ...note }) => note,
  (note) => ({ ...note, colour: 'red' }),
  (note) => ({ ...note, id: null }),
  (note) => ({ ...note, parent_id: 'nobody' }),
  () => null,
  () => [],
  () => 'a text',
]

type Besides = readonly [pointer: string, damage: (document: Loose) => unknown]

/** Changes that make another part of the document invalid. */
export const BESIDES: readonly [Besides, ...Besides[]] = [
  ['/schedule/1', ({ schedule }) => Object.assign(schedule[1], { due_at: 'soon' })],
  ['/schedule/2', ({ schedule }) => schedule.splice(2, 1, 'no event')],
  ['/settings/unknown_fields', ({ settings }) => Object.assign(settings, { unknown_fields: 'perhaps' })],
  ['/clock/rate', ({ clock }) => Object.assign(clock, { rate: -1 })],
  ['/clock', (document) => Object.assign(document, { clock: null })],
  ['/counters/ids', ({ counters }) => Object.assign(counters, { ids: 'many' })],
  ['/seed', (document) => Object.assign(document, { seed: 'one' })],
  ['/colections', (document) => Object.assign(document, { colections: {} })],
  ['/collections/page', ({ collections }) => Object.assign(collections, { page: [] })],
  ['/limits', (document) => Object.assign(document, { limits: 'none' })],
  ['/revision', (document) => Object.assign(document, { revision: -7 })],
]

/** Makes some notes of a document invalid, duplicates some, and damages another part. */
export function invalidate(document: Loose, chance: Chance): Damaged {
  const { notes } = document.collections
  const gone = new Set<number>()
  const known = new Map<string, number>(notes.map(({ id }: Loose, index: number) => [id, index]))
  const parents = notes.map(({ parent_id }: Loose) => known.get(parent_id))
  const ids = notes.map(({ id }: Loose) => id)
  for (let times = chance.int(0, 4); times > 0; times--) {
    const index = chance.int(0, notes.length - 1)
    if (gone.has(index)) continue
    notes[index] = chance.pick(WAYS)(notes[index])
    gone.add(index)
  }
  let broken = gone.size
  for (let index = 0; index < notes.length; index++) if (gone.has(parents[index])) gone.add(index)
  const pointers = [...gone].map((index) => `/collections/notes/${index}`)
  const valid = ids.filter((_: string, index: number) => !gone.has(index))
  const [first] = valid
  if (first !== undefined && chance.next() < 0.3) {
    pointers.push(`/collections/notes/${notes.length}`)
    notes.push({ id: first, text: 'there is one of this name' })
    broken += 1
  }
  if (chance.next() < 0.5) {
    const [pointer, damage] = chance.pick(BESIDES)
    damage(document)
    pointers.push(pointer)
    broken += 1
  }
  return { broken, pointers, valid }
}
