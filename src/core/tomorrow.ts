import { z } from 'zod'
import { setting } from './assumptions.ts'
import { problemDetails, standardError } from './error-body.ts'
import type { ShapeOf } from './fields.ts'
import { isObject, type Json } from './json.ts'
import { once } from './once.ts'
import { hash } from './random.ts'
import type { HeaderList } from './request/headers.ts'
import { either, form, strictObject } from './strict-input.ts'

/** The changes that a contract allows a later version of the service. */
export const TOMORROW_KINDS = ['field', 'enum', 'id', 'header', 'order', 'event'] as const
export type TomorrowKind = (typeof TOMORROW_KINDS)[number]

/** The name of a new field, and the beginning of new values and types of events. */
const NEW = 'next_generation'

export const isKind = (name: string): boolean => (TOMORROW_KINDS as readonly string[]).includes(name)

/** Names of kinds and operations. Default: all of them, without exception. */
export function tomorrowChoice() {
  const name = z.string().refine((text) => isKind(text) || text.includes('.'), {
    error: `must be one of ${TOMORROW_KINDS.join(', ')}, or the name of an operation such as pages.create`,
  })
  return strictObject({ only: z.array(name).optional(), except: z.array(name).optional() })
}

export type TomorrowChoice = boolean | ShapeOf<typeof tomorrowChoice>

export const tomorrow = setting<TomorrowChoice>({
  key: 'tomorrow',
  item: 'U073',
  description: `Changes responses and webhooks as a later version of the service may: true, or {"only": [...], "except": [...]} with kinds (${TOMORROW_KINDS.join(', ')}) and names of operations.`,
  schema: () => {
    const yesOrNo = { fits: (value: unknown) => typeof value === 'boolean', schema: z.boolean() }
    return either<TomorrowChoice>(
      'must be true, false, or {"only": [...], "except": [...]}',
      yesOrNo,
      form.object(tomorrowChoice()),
    )
  },
  default: false,
})

/** The schemas of texts to which a later version may add values that a client does not know. */
export const extensible = z.registry()

const errorBody = (code: z.ZodType) =>
  z.looseObject({ ...problemDetails.shape, ...standardError.shape, error: code, type: code })

/** The bodies of errors: with a code that the contract shows, and with any other one. */
export const errorBodies = once(() => ({
  shown: errorBody(z.string()),
  other: errorBody(z.string().register(extensible)),
}))

/** The type of the webhook that follows one of a known type. */
export const nextType = (type: string): string => type.replace(/[^.]*$/, NEW)

/** The changes in the responses and webhooks of one request or event. */
export type Tomorrow = NonNullable<ReturnType<typeof tomorrowOf>>

/** The chosen changes, each from seed, record and field alone; undefined for none. @param operation empty for an event */
export function tomorrowOf(choice: TomorrowChoice, seed: () => number, operation = '') {
  const { only = [], except = [] } = typeof choice === 'object' ? choice : {}
  const isOther = !only.every(isKind) && !only.includes(operation)
  if (choice === false || isOther || except.includes(operation)) return undefined
  const kinds = (only.some(isKind) ? only : TOMORROW_KINDS).filter((kind) => !except.includes(kind))
  const made = new Set<string>()
  /** Whether changes of a kind are made. From then on it counts as made. */
  const makes = (kind: TomorrowKind): boolean => kinds.includes(kind) && made.add(kind).size > 0
  const draw = (id: string, name: string) => 1 + (hash(seed(), id, name) % 9)

  /** @param id of the record that a value belongs to. @param name of its field */
  const changed = (value: unknown, schema: z.ZodType | undefined, id: string, name: string): unknown => {
    if (typeof value === 'string' && schema && extensible.has(schema))
      return makes('enum') ? value.replace(/[^/]*$/, `${NEW}_${draw(id, name)}`) : value
    if (Array.isArray(value) && schema instanceof z.ZodArray)
      return value.map((each) => changed(each, schema.element as z.ZodType, id, name))
    // Schemas that may be absent or null, and those with a default.
    if (!Array.isArray(value) && schema && 'unwrap' in schema)
      return changed(value, (schema as z.ZodOptional<z.ZodType>).unwrap(), id, name)
    // An object without declared fields is the client's own.
    if (!isObject(value) || !(schema instanceof z.ZodObject) || Object.keys(schema.shape).length === 0)
      return value
    // A record is the same in a list, alone and in a webhook.
    const [own, place] = typeof value.id === 'string' ? [value.id, ''] : [id, name]
    const fields = Object.keys(value).map((key) => [key, changed(value[key], schema.shape[key], own, key)])
    const isTaken = Object.hasOwn(schema.shape, NEW) || Object.hasOwn(value, NEW)
    if (!isTaken && makes('field')) fields.push([NEW, { version: draw(own, place) }])
    return Object.fromEntries(fields)
  }

  const body = <T extends object>(given: T, schema?: z.ZodType): T => {
    const result = changed(given, schema, '', '')
    return (makes('order') ? reversed(result as Json) : result) as T
  }
  return {
    makes,
    body,
    /** The kinds of changes that were made; undefined for none. */
    made: () => (made.size === 0 ? undefined : TOMORROW_KINDS.filter((kind) => made.has(kind))),
    /** A reply, before it is stored. */
    reply<R extends { body?: object; lines?: Iterable<string> }>(reply: R, schema?: z.ZodType): R {
      if (reply.body !== undefined) return { ...reply, body: body(reply.body, schema), text: undefined }
      if (reply.lines === undefined || !(schema instanceof z.ZodObject)) return reply
      // Noted now: a stream is read after its request was logged.
      for (const kind of ['field', 'order'] as const) makes(kind)
      return { ...reply, lines: changedLines(reply.lines, (line) => body(line, schema)) }
    },
    headers(list: HeaderList): HeaderList {
      const all: HeaderList = makes('header') ? [...list, ['X-Next', '1']] : list
      return makes('order') ? all.toReversed() : all
    },
  }
}

function* changedLines(lines: Iterable<string>, change: (line: object) => object): Generator<string, void> {
  for (const line of lines) yield line && `${JSON.stringify(change(JSON.parse(line)))}\n`
}

/** A value with the fields of all its objects in reverse order. Lists keep theirs. */
function reversed(value: Json): Json {
  if (Array.isArray(value)) return value.map(reversed)
  if (!isObject(value)) return value
  const fields = Object.entries(value).map(([name, each]) => [name, reversed(each)])
  return Object.fromEntries(fields.reverse())
}
