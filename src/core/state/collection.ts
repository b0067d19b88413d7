import { z } from 'zod'
import { memoizeBySettings, type Settings } from '../assumptions.ts'
import { nonEmptyText, objectAs, timestamp } from '../fields.ts'
import type { Issue } from '../json.ts'
import { memoize } from '../memoize.ts'
import type { Chance, Faker } from '../random.ts'
import type { Row } from './commit.ts'
import type { Index } from './indexes.ts'
import type { Store } from './store.ts'
import type { TableOf, Transaction } from './transaction.ts'

/** The tools of a generator of records. All random values follow from the seed and the number of the record. */
export interface RecordMaker {
  readonly faker: Faker
  readonly chance: Chance
  /** Number of the record within its collection, from 0. */
  readonly n: number
  /** The virtual instant at which the sandbox starts, in milliseconds. */
  readonly start: number
  newId(): string
  newUuid(): string
  /** The timestamp `ms` milliseconds before the start. */
  ago(ms: number): string
  /** The records that the sandbox already has, in the order in which they were created. */
  all<T extends Row>(collection: Collection<T>): readonly T[]
  /** A random record of those that the sandbox already has and `keep` accepts. Throws an Error when there is none. */
  any<T extends Row>(collection: Collection<T>, keep?: (record: T) => boolean): T
}

/** Where a record is in a list with object-id cursors. `list` is unique among all lists of the service. */
type ListPosition = Omit<CursorPosition, 'id'>

/**
 * The declaration of a collection: the schema of a record, and the rules between records. Fixtures, hand edits and the
 * control API are checked against it, so a sandbox contains only records that the API could have created.
 */
export interface Collection<T extends Row> extends TableOf<T> {
  /** The schema of a record under the settings in force, created at its first use. Unknown fields are refused, not removed. */
  readonly schema: (settings: Settings) => z.ZodType<T>
  /** Fields whose value is a secret: stored as a digest, never as given. See `secrets.ts`. */
  readonly secrets: readonly string[]
  /** Generates one plausible record, without fields that have a default. Absent: no records of the collection are generated. */
  readonly generate?: ((make: RecordMaker) => Draft<T>) | undefined
  /** Checks the rules between this record and the others of the sandbox. */
  readonly check?: ((record: T, tx: Transaction) => readonly Issue[]) | undefined
  /** The place of the record in a list with object-id cursors; kept when the record leaves the list (T28). */
  readonly place?: ((record: T, tx: Transaction) => ListPosition | undefined) | undefined
}

type Draft<T> = T extends readonly unknown[] ? T : T extends object ? { [K in keyof T]?: Draft<T[K]> } : T

// biome-ignore lint/suspicious/noExplicitAny: a list of collections forgets each one's record type; its own schema checks its records.
export type AnyCollection = Collection<any>

type CollectionOptions<T extends Row> = Omit<Collection<T>, 'secrets'> & {
  readonly secrets?: readonly string[]
}

/**
 * Declares a collection.
 * @example
 * const pages = collection({ name: 'pages', label: 'page', schema: () => pageRecord })
 */
export function collection<T extends Row>(options: CollectionOptions<T>): Collection<T> {
  const schema = memoizeBySettings((_, settings) => options.schema(settings))
  return { secrets: [], ...options, schema: (settings) => schema(options, settings) }
}

/** The declared collection with a name, or else that of a user. Throws when a collection cannot have the name. */
export function collectionFor(declared: ReadonlyMap<string, AnyCollection>, name: string): AnyCollection {
  const known = declared.get(name)
  if (known !== undefined) return known
  if (!OWN_NAME.test(name)) throw new Error(`"${name}" cannot be the name of a collection: ${OWN_NAMES}`)
  return ownCollection(name)
}

/** The names of collections of users. */
export const OWN_NAME = /^[A-Za-z][A-Za-z0-9_-]{0,99}$/
const OWN_NAMES = 'it has 1 to 100 letters, digits, hyphens and underscores, and begins with a letter'

const ownCollection = memoize(
  (name): AnyCollection => collection({ name, label: `record of ${name}`, schema: anyRow }),
)

/** Any object with an id, with its fields in their order: zod's object would put the id first. */
export const anyRow = () =>
  objectAs<Row>()
    .refine(({ id }) => typeof id === 'string' && id !== '', {
      path: ['id'],
      error: 'must be a text that is not empty',
    })
    .register(z.globalRegistry, { properties: { id: { type: 'string' } }, required: ['id'] })

/** The former place of a record in a list, as in a state document. A cursor that names the record resumes from there (T28). */
export const cursorPosition = () =>
  z.strictObject({
    id: nonEmptyText(),
    list: z.string(),
    cursor: z.string(),
    created_at: timestamp(),
  })

type CursorPosition = Readonly<z.output<ReturnType<typeof cursorPosition>>>

export const places: TableOf<CursorPosition> = { name: '$places', label: 'place in a list' }

export const byList: Index<CursorPosition> = { keyOf: ({ list }) => list }

/**
 * Saves the places of the records that a transaction removes from a list, by a deletion or by a change. Call it before the
 * commit.
 */
export function keepPositions(
  tx: Transaction,
  store: Store,
  collections: ReadonlyMap<string, AnyCollection>,
): void {
  for (const { table, before, after } of tx.changes()) {
    const placeOf = collections.get(table)?.place
    if (placeOf === undefined || before === undefined) continue
    const left = placeOf(before, store.begin())
    const now = after && placeOf(after, tx)
    if (left === undefined || (now?.list === left.list && now.cursor === left.cursor)) continue
    tx.in(places).put({ id: [left.list, left.cursor].map(encodeURIComponent).join('/'), ...left })
  }
}
