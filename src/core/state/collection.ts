import type { Faker } from '@faker-js/faker'
import * as z from 'zod'
import { oncePerSettings, type Settings } from '../assumptions.ts'
import { nonEmptyText, timestamp } from '../fields.ts'
import type { Issue } from '../json.ts'
import type { Chance } from '../random.ts'
import type { Row } from './commit.ts'
import type { Index, Store } from './store.ts'
import type { TableOf, Transaction } from './transaction.ts'

/** What a generator of records works with. Everything follows from the seed and the number of the record. */
export interface RecordMaker {
  readonly faker: Faker
  readonly chance: Chance
  /** Number of the record within its collection, from 0. */
  readonly n: number
  /** The virtual instant at which the sandbox starts, in milliseconds. */
  readonly start: number
  newId(): string
  newUuid(): string
  /** A timestamp this long (milliseconds) before the start. */
  ago(ms: number): string
  /** The records that the sandbox already has, in the order in which they were made. */
  all<T extends Row>(collection: Collection<T>): readonly T[]
  /** One of the records that the sandbox already has; refused with a clear message when there is none. */
  any<T extends Row>(collection: Collection<T>, keep?: (record: T) => boolean): T
}

/** Where a record is in a list with object-id cursors. `list` is unique among all lists of the service. */
export type ListPlace = Omit<CursorPlace, 'id'>

/**
 * A declared collection of records: what one looks like, and what must hold between records. Fixtures, hand edits and the
 * control API write through this declaration, so a record that could not have come from the API cannot get in by another way.
 */
export interface Collection<T extends Row> extends TableOf<T> {
  /** The record's shape under the settings in force. Made when first needed; throws away nothing (unknown fields are refused). */
  readonly schema: (settings: Settings) => z.ZodType<T>
  /** Fields whose value is a secret: stored as a digest, never as given. See `secrets.ts`. */
  readonly secrets: readonly string[]
  /** Invents one plausible record, for sandboxes that are generated. Absent: the collection cannot be generated. */
  readonly generate?: ((make: RecordMaker) => T) | undefined
  /** What must hold between this record and the others of the sandbox. */
  readonly check?: ((record: T, tx: Transaction) => readonly Issue[]) | undefined
  /** The place of the record in a list with object-id cursors; kept when the record leaves the list (T28). */
  readonly place?: ((record: T, tx: Transaction) => ListPlace | undefined) | undefined
}

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
  const schema = oncePerSettings((_, settings) => options.schema(settings))
  return { secrets: [], ...options, schema: (settings) => schema(options, settings) }
}

/** The place of a record that is gone, as a state document has it: a cursor that names it resumes from there (T28). */
export const cursorPlace = z.strictObject({
  id: nonEmptyText(),
  list: z.string(),
  cursor: z.string(),
  created_at: timestamp(),
})

export type CursorPlace = Readonly<z.output<typeof cursorPlace>>

export const places: TableOf<CursorPlace> = { name: '$places', label: 'place in a list' }

export const byList: Index<CursorPlace> = { keyOf: ({ list }) => list }

/**
 * Keeps the places of the records that a transaction takes out of a list, however it does so. To be called before it is
 * committed.
 */
export function keepPlaces(
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
