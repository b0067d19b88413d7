import { z } from 'zod'
import { didYouMean } from './did-you-mean.ts'
import { isObject, type Json } from './json.ts'
import { truncated } from './words.ts'
import { parsed, reportIn, zodIssues } from './zod-issues.ts'

/** The maximum number of entries of one map that a user writes. */
const MAX_ENTRIES = 100

/** The maximum number of names that one message lists. */
const MAX_NAMES = 20

/** An object that refuses unknown fields. The message suggests the most similar known name, or lists all known names. */
export function strictObject<S extends z.ZodRawShape>(shape: S): z.ZodObject<S, z.core.$strict> {
  const known = Object.keys(shape).filter((name) => name !== '$schema')
  const unknown = z.custom<never>(() => false, {
    error: ({ path }) =>
      `is not a known field.${didYouMean(String(path?.at(-1) ?? ''), known) || listOf('Known fields:', known)}`,
  })
  const strict = z.object(shape).catchall(unknown).register(z.globalRegistry, { additionalProperties: false })
  // The catchall accepts no value, but its type would have fields of every name.
  return strict as unknown as z.ZodObject<S, z.core.$strict>
}

function listOf(intro: string, known: readonly string[]): string {
  return known.length > MAX_NAMES ? '' : ` ${intro} ${known.join(', ')}.`
}

/** As {@link strictObject}, but at least one field must have a value. */
export function someOf<S extends z.ZodRawShape>(shape: S) {
  return strictObject(shape).refine((value) => membersOf(value).length > 0, {
    error: `must have at least one of ${Object.keys(shape).join(', ')}`,
  })
}

/** The names of the fields that have a value. */
export function membersOf(value: object): string[] {
  return Object.entries(value).flatMap(([name, member]) => (member === undefined ? [] : [name]))
}

/** An object of at most 100 fields whose names a user chooses. zod's record would drop a field named `__proto__`. */
export function mapOf<T>(
  value: z.ZodType<T>,
  problemOf: (key: string) => string | undefined = () => undefined,
): z.ZodType<Readonly<Record<string, T>>, Readonly<Record<string, T>>> {
  return z
    .custom<Readonly<Record<string, T>>>(isObject, { error: 'must be an object' })
    .refine((map) => Object.keys(map).length <= MAX_ENTRIES, {
      error: `must have at most ${MAX_ENTRIES} entries`,
      abort: true,
    })
    .superRefine((map, context) => {
      context.value = Object.fromEntries(
        Object.entries(map).map(([key, member]) => {
          const problem = problemOf(key)
          if (problem !== undefined) context.addIssue({ code: 'custom', path: [key], message: problem })
          return [key, checked(context, value, member, [key])]
        }),
      )
    })
    .register(z.globalRegistry, { type: 'object' })
}

/** One form of a value that may have several. */
export interface Form {
  readonly fits: (value: unknown) => boolean
  readonly schema: z.ZodType
}

/**
 * A value that may have several forms. It is checked against the first form that fits its type, so that an issue is reported
 * at its exact place: a union of zod would only report that no form fits. The result is the value as that form returns it.
 */
export function either<T>(wanted: string, ...forms: readonly Form[]): z.ZodType<T, T> {
  let described: unknown[] | undefined
  const schema = z.custom<T>((value) => value !== undefined, { error: 'is required', abort: true })
  return schema
    .superRefine((value, context) => {
      const form = forms.find(({ fits }) => fits(value))
      if (form === undefined) context.addIssue({ code: 'custom', message: wanted })
      else context.value = checked(context, form.schema, value) as T
    })
    .register(z.globalRegistry, {
      // Created when the schema is described, because it is then read several times.
      get anyOf() {
        described ??= forms.map(({ schema }) => {
          const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })
          return rest
        })
        return described
      },
    })
}

/** The forms of {@link either} that differ only by the type of the value. */
export const form = {
  text: (schema: z.ZodType): Form => ({ fits: (value) => typeof value === 'string', schema }),
  list: (schema: z.ZodType): Form => ({ fits: Array.isArray, schema }),
  object: (schema: z.ZodType): Form => ({ fits: isObject, schema }),
}

/**
 * One of the known names. The message for another name suggests the most similar one, or lists all known names.
 * @param elsewhere a sentence that names the place of the list, with a space in front; default: the list
 */
export function nameAmong<T extends string>(
  known: readonly T[],
  noun: string,
  elsewhere = listOf('Use one of', known),
): z.ZodType<T, T> {
  const isKnown = (name: string) => (known as readonly string[]).includes(name)
  return z
    .string()
    .refine(isKnown, {
      error: ({ input }) =>
        `"${truncated(String(input))}" is no ${noun}.${didYouMean(String(input), known) || elsewhere}`,
    })
    .register(
      z.globalRegistry,
      known.length === 0 ? {} : { enum: [...known] },
    ) as z.ZodType<string> as z.ZodType<T, T>
}

/** A schema that is created when a first value is checked against it. One schema has the parts of all that a user may write. */
export function lazily<T>(make: () => z.ZodType<T>): z.ZodType<T> {
  // zod would create it at once to read whether its value may be absent. Of this form it reads that from the function.
  return z.preprocess((value) => value, z.lazy(make))
}

/** Any JSON value. A value from a script may be something else, which is refused. */
export function json(): z.ZodType<Json, Json> {
  return z.custom<Json>(isJson, { error: 'must be a JSON value' }).meta({})
}

function isJson(value: unknown): boolean {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return true
  if (typeof value === 'number') return Number.isFinite(value)
  if (typeof value !== 'object') return false
  return Object.values(value).every(isJson)
}

/** Adds rules between the parts of a value to its schema. They are checked only when all parts are valid. */
export function together<S extends z.ZodType>(schema: S, check: (value: z.output<S>) => readonly Clash[]): S {
  return schema.superRefine((value, context) => {
    if (context.issues.length > 0) return
    for (const { path, message } of check(value as z.output<S>))
      context.addIssue({ code: 'custom', path: [...path], message })
  })
}

/** A broken rule between the parts of a value, and its place. */
export interface Clash {
  readonly path: readonly PropertyKey[]
  readonly message: string
}

/** The value as its schema returns it, with defaults. Reports its issues; an invalid value is returned unchanged. */
function checked<T>(
  context: z.RefinementCtx,
  schema: z.ZodType<T>,
  value: unknown,
  path: readonly string[] = [],
): T {
  const { data, error } = parsed(schema, value)
  if (error !== undefined) reportIn(context, zodIssues(error, ''), path)
  return error === undefined ? (data as T) : (value as T)
}
