import type { Faker } from '@faker-js/faker'
import type * as z from 'zod'
import type { Settings } from '../assumptions.ts'
import type { Issue } from '../json.ts'
import type { Chance } from '../random.ts'
import type { Row } from './commit.ts'
import type { TableOf, Transaction } from './store.ts'

/** What a generator of records works with. Everything follows from the seed and the number of the record. */
export interface Maker {
  readonly faker: Faker
  readonly chance: Chance
  /** Number of the record within its collection, from 0. */
  readonly n: number
  /** The virtual instant at which the world starts, in milliseconds. */
  readonly start: number
  newId(): string
  newUuid(): string
  /** A timestamp this long (milliseconds) before the start. */
  ago(ms: number): string
  /** The records that the world already has, in the order in which they were made. */
  all<T extends Row>(collection: Collection<T>): readonly T[]
  /** One of the records that the world already has; refused with a clear message when there is none. */
  any<T extends Row>(collection: Collection<T>, keep?: (record: T) => boolean): T
}

/**
 * A declared collection of records: what one looks like, and what must hold between records. Fixtures, hand edits and the
 * control API write through this declaration, so a record that could not have come from the API cannot get in by a side door.
 */
export interface Collection<T extends Row> extends TableOf<T> {
  /** The record's shape under the settings in force. Made when first needed; throws away nothing (unknown members are refused). */
  readonly schema: (settings: Settings) => z.ZodType<T>
  /** Members whose value is a secret: stored as a digest, never as given. See `secrets.ts`. */
  readonly secrets: readonly string[]
  /** Invents one plausible record, for worlds that are generated. Absent: the collection cannot be generated. */
  readonly generate?: ((make: Maker) => T) | undefined
  /** What must hold between this record and the others of the world. */
  readonly check?: ((record: T, tx: Transaction) => readonly Issue[]) | undefined
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
  let made: { readonly settings: Settings; readonly schema: z.ZodType<T> } | undefined
  const schema = (settings: Settings): z.ZodType<T> => {
    if (made?.settings !== settings) made = { settings, schema: options.schema(settings) }
    return made.schema
  }
  return { secrets: [], ...options, schema }
}
