import * as z from 'zod'
import { didYouMean } from './did-you-mean.ts'
import { isObject, type Json, keysOf } from './json.ts'
import { zodIssues } from './zod-issues.ts'

/** Entries of one map that a user writes. */
const MAX_ENTRIES = 100

/** Names that one message can list. */
const MAX_NAMES = 20

/** An object whose unknown fields are refused with the nearest known name, or with those that there are. */
export function strictObject<S extends z.ZodRawShape>(shape: S): z.ZodObject<S, z.core.$strict> {
  const known = Object.keys(shape)
  const unknown = z.custom<never>(() => false, {
    error: ({ path }) => `is not a known field.${wayOut(String(path?.at(-1) ?? ''), known)}`,
  })
  const strict = z.object(shape).catchall(unknown).meta({ additionalProperties: false })
  // Nothing is what it catches; as a type, that would be fields of every name.
  return strict as unknown as z.ZodObject<S, z.core.$strict>
}

/** The hint for an unknown name. */
function wayOut(name: string, known: readonly string[], elsewhere = listOf(known)): string {
  return didYouMean(name, known) || elsewhere
}

function listOf(known: readonly string[]): string {
  return known.length > MAX_NAMES ? '' : ` There are ${known.join(', ')}.`
}

/** As {@link strictObject}, with at least one field: an empty one would say nothing. */
export function someOf<S extends z.ZodRawShape>(shape: S) {
  return strictObject(shape).refine((value) => membersOf(value).length > 0, {
    error: `must have at least one of ${Object.keys(shape).join(', ')}`,
  })
}

/** The names of the fields that have a value. */
export function membersOf(value: object): string[] {
  return Object.entries(value).flatMap(([name, member]) => (member === undefined ? [] : [name]))
}

/** An object from names that a user chooses. zod's record would drop a key named `__proto__`, and a criterion with it. */
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
      for (const [key, member] of Object.entries(map)) {
        const problem = problemOf(key)
        if (problem !== undefined) context.addIssue({ code: 'custom', path: [key], message: problem })
        addIssues(context, value, member, [key])
      }
    })
    .meta({ type: 'object' })
}

/** One form of a value that may have several. */
export interface Form {
  readonly fits: (value: unknown) => boolean
  readonly schema: z.ZodType
}

/**
 * A value that may have several forms. The first form that fits by its type is checked, so that an issue is reported
 * at its own place: a union of zod's would say no more than that nothing fits.
 */
export function either<T>(wanted: string, ...forms: readonly Form[]): z.ZodType<T, T> {
  let told: unknown[] | undefined
  const schema = z.custom<T>((value) => value !== undefined, { error: 'is required', abort: true })
  return schema
    .superRefine((value, context) => {
      const form = forms.find(({ fits }) => fits(value))
      if (form === undefined) context.addIssue({ code: 'custom', message: wanted })
      else addIssues(context, form.schema, value)
    })
    .meta({
      // Made when the schema is described, and read several times then.
      get anyOf() {
        told ??= forms.map((form) => plainSchema(form.schema))
        return told
      },
    })
}

/** The forms of {@link either} that differ by the type of the value alone. */
export const form = {
  text: (schema: z.ZodType): Form => ({ fits: (value) => typeof value === 'string', schema }),
  list: (schema: z.ZodType): Form => ({ fits: Array.isArray, schema }),
  object: (schema: z.ZodType): Form => ({ fits: isObject, schema }),
}

/**
 * One of some names; the message for another one has the nearest, or all of them.
 * @param elsewhere the sentence that says where they are listed, a blank in front
 */
export function nameAmong<T extends string>(
  known: readonly T[],
  noun: string,
  elsewhere?: string,
): z.ZodType<T, T> {
  const isKnown = (name: string) => (known as readonly string[]).includes(name)
  return z
    .string()
    .refine(isKnown, { error: ({ input }) => `is no ${noun}.${wayOut(String(input), known, elsewhere)}` })
    .meta(known.length === 0 ? {} : { enum: [...known] }) as z.ZodType<string> as z.ZodType<T, T>
}

/** Any JSON value. What comes from a script need not be one. */
export function json(): z.ZodType<Json, Json> {
  return z.custom<Json>(isJson, { error: 'must be a JSON value' }).meta({})
}

function isJson(value: unknown): boolean {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return true
  if (typeof value === 'number') return Number.isFinite(value)
  if (typeof value !== 'object') return false
  return Object.values(value).every(isJson)
}

/** Adds to a schema what has to hold between its parts, once each of them is right. */
export function together<S extends z.ZodType>(schema: S, check: (value: z.output<S>) => readonly Clash[]): S {
  return schema.superRefine((value, context) => {
    if (context.issues.length > 0) return
    for (const { path, message } of check(value as z.output<S>))
      context.addIssue({ code: 'custom', path: [...path], message })
  })
}

/** What does not hold between the parts of a value, and where. */
export interface Clash {
  readonly path: readonly PropertyKey[]
  readonly message: string
}

function addIssues(
  context: z.RefinementCtx,
  schema: z.ZodType,
  value: unknown,
  path: readonly string[] = [],
): void {
  const { error } = schema.safeParse(value)
  for (const { pointer, detail } of error === undefined ? [] : zodIssues(error, ''))
    context.addIssue({ code: 'custom', path: [...path, ...keysOf(pointer)], message: detail })
}

function plainSchema(schema: z.ZodType) {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })
  return rest
}
