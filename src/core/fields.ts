import { z } from 'zod'
import { type Immutable, type Issue, isObject } from './json.ts'
import { LAST_NUMBER } from './random.ts'
import { parseDuration, parseInstant } from './time/instant.ts'

/** The functions to build schemas of inputs, so that the settings about inputs apply to all of them. */
export interface FieldKit {
  /** An object whose unknown fields are dropped or refused, depending on the setting `unknown_fields`. */
  readonly object: <T extends z.ZodRawShape>(shape: T) => z.ZodObject<T>
}

/** The kit for one choice of `unknown_fields`. */
export function fieldKit(unknown: 'ignore' | 'reject'): FieldKit {
  return { object: (shape) => (unknown === 'reject' ? z.strictObject(shape) : z.object(shape)) }
}

/** The output type of a schema, to be exported next to the schema. */
export type ShapeOf<Schema extends (...args: never[]) => z.ZodType> = Immutable<z.output<ReturnType<Schema>>>

/** The input type of a schema, to be exported next to the schema. */
export type InputOf<Schema extends (...args: never[]) => z.ZodType> = Immutable<z.input<ReturnType<Schema>>>

// Here schemas get their metadata with register(), since meta() copies the whole schema first.

/** A string of at most `max` characters, counted in Unicode code points as JSON Schema's maxLength counts (T02). */
export function text(max: number, min = 0): z.ZodType<string, string> {
  const bounds = min === 0 ? `at most ${max}` : `${min} to ${max}`
  return z
    .string()
    .refine((value) => within(value, min, max), {
      error: `must have ${bounds} characters (Unicode code points)`,
    })
    .register(z.globalRegistry, { maxLength: max, ...(min === 0 ? {} : { minLength: min }) })
}

/** The number of Unicode code points. */
export function codePoints(value: string): number {
  let count = 0
  for (const _ of value) count += 1
  return count
}

// A string has at most as many code points as UTF-16 units and at least half as many: most strings need no counting.
function within(value: string, min: number, max: number): boolean {
  if (value.length <= max && value.length >= min * 2) return true
  if (value.length > max * 2) return false
  const count = codePoints(value)
  return count >= min && count <= max
}

/** A string with at least one character. */
export function nonEmptyText(): z.ZodType<string, string> {
  return z.string().min(1, { error: 'must not be empty' })
}

/** An integer between two bounds, both included. */
export function intBetween(min: number, max: number): z.ZodType<number, number> {
  return z
    .number()
    .refine((value) => Number.isSafeInteger(value) && value >= min && value <= max, {
      error: `must be an integer from ${min} to ${max}`,
    })
    .register(z.globalRegistry, { type: 'integer', minimum: min, maximum: max })
}

/** The value of a counter, from 0 to `LAST_NUMBER`. After that, numbers would no longer be unique. */
export function counter(): z.ZodType<number, number> {
  return intBetween(0, LAST_NUMBER)
}

/**
 * A query parameter that is an integer between two bounds, written in plain decimal digits: `1e1`, `0x10`, ` 5` and a
 * repeated parameter are refused.
 */
export function queryInt(min: number, max: number): z.ZodType<number, string> {
  return z
    .string({ error: 'must be given once' })
    .refine((value) => /^(0|[1-9][0-9]{0,15})$/.test(value) && Number(value) >= min && Number(value) <= max, {
      error: `must be an integer from ${min} to ${max}, in decimal digits`,
    })
    .transform(Number)
    .register(z.globalRegistry, { type: 'integer', minimum: min, maximum: max })
}

/** A query parameter that is a string, given at most once. */
export function queryText(): z.ZodType<string, string> {
  return z.string({ error: 'must be given once' })
}

/** Whether a text is a {@link timestamp}. */
export function isTimestamp(value: string): boolean {
  return /(?:[Zz]|[+-]\d{2}:\d{2})$/.test(value) && parseInstant(value) !== undefined
}

/** A stored or sent timestamp: ISO 8601 with an explicit zone. */
export function timestamp(): z.ZodType<string, string> {
  return z
    .string()
    .refine(isTimestamp, {
      error: 'must be an ISO 8601 date-time with a zone, such as 2025-01-31T09:30:00.000Z',
    })
    .register(z.globalRegistry, { format: 'date-time' })
}

/** A duration such as `250ms`, `90s`, `24h`, `29d` or `PT24H`, kept as written. */
export function duration(): z.ZodType<string, string> {
  return z.string().refine((value) => parseDuration(value) !== undefined, {
    error: 'must be a duration such as 250ms, 90s, 10m, 24h, 29d or PT24H',
  })
}

/** A {@link duration} of at most `max`, which is written in the same form. */
export function durationUpTo(max: string): z.ZodType<string> {
  const bound = parseDuration(max) ?? 0
  return duration().refine((value) => (parseDuration(value) ?? 0) <= bound, {
    error: `must be at most ${max}`,
  })
}

// Client generators take an object schema without this keyword for an object that is always empty.
const ANY_OBJECT = { type: 'object', additionalProperties: true } as const

/** A JSON object of a type that is checked elsewhere, which is returned unchanged. zod's record would drop a key `__proto__`. */
export function objectAs<T extends object>(): z.ZodType<T, T> {
  return z.custom<T>(isObject, { error: 'must be an object' }).register(z.globalRegistry, ANY_OBJECT)
}

/** A JSON object with any keys. */
export const anyObject = () => objectAs<Record<string, unknown>>()

/** The key under which a JSON file names its JSON Schema, for editors. It has no effect. */
export const schemaKey = () => z.string({ error: 'must be the path or URL of a JSON Schema' }).optional()

/** The schema of a missing body, or of no parameters: an empty object. One for all, since zod compiles each at its first use. */
export const nothing = z.strictObject({}).prefault({})

/** The schema of a list in the control interface. */
export const listOf = <Item extends z.ZodType>(item: Item) =>
  z.strictObject({ object: z.literal('list'), data: z.array(item) })

/** A list in the form of {@link listOf}. */
export function list<T>(data: readonly T[]): { readonly object: 'list'; readonly data: readonly T[] } {
  return { object: 'list', data }
}

/** The schema of one problem of an input. */
export const issue = (): z.ZodType<Issue> =>
  z.strictObject({ pointer: z.string(), detail: z.string(), custom_id: z.string().exactOptional() })

/** A string of a type that is checked elsewhere. */
export function textAs<T extends string>(): z.ZodType<T, T> {
  return z.string() as z.ZodType<string> as z.ZodType<T, T>
}
