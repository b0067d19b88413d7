import { ask } from './api.ts'
import type { JsonSchema } from './json-completion.ts'

/** Maximum characters of a document in the editor. A longer one can only be read, or sent unchanged. */
export const MAX_EDITED = 256_000

/** The facts that a form needs about one field of a record. */
export interface FieldSchema {
  readonly kind: 'text' | 'number' | 'boolean' | 'choice' | 'json'
  /** The values of a choice. */
  readonly choices: readonly (string | null)[]
  readonly isRequired: boolean
  readonly isNullable: boolean
  /** The value in a record that omits the field; undefined for none. */
  readonly default: unknown
}

/** The JSON Schema of the records of a collection. */
export async function recordSchema(collection: string): Promise<JsonSchema> {
  const { schema } = await ask('GET /collections/{collection}', { params: { collection } })
  return schema as JsonSchema
}

/** The JSON Schema of the body that a call of the control interface accepts. */
export async function bodySchema(method: 'post' | 'patch', path: string): Promise<JsonSchema | undefined> {
  const { paths } = (await ask('GET /openapi.json', { query: {} })) as unknown as OpenApi
  return paths[path]?.[method]?.requestBody?.content['application/json'].schema
}

interface OpenApi {
  readonly paths: Readonly<
    Record<
      string,
      Readonly<
        Record<
          string,
          { readonly requestBody?: { readonly content: Record<'application/json', { schema: JsonSchema }> } }
        >
      >
    >
  >
}

/** The JSON Schema of a fixtures document: lists of records by collection. */
export async function fixturesSchema(): Promise<JsonSchema> {
  const { data } = await ask('GET /collections')
  const lists = data.map(
    async ({ name }) => [name, { type: 'array', items: await recordSchema(name) }] as const,
  )
  const properties = Object.fromEntries(await Promise.all(lists))
  return { type: 'object', properties: { collections: { type: 'object', properties } } }
}

/** The fields that the records of a collection can have, by name. */
export function fieldsOf({ properties = {}, required = [] }: JsonSchema): ReadonlyMap<string, FieldSchema> {
  // A computed field has the schema `not`, which no value satisfies.
  const given = Object.entries(properties).filter(([, shape]) => shape.not === undefined)
  return new Map(given.map(([name, shape]) => [name, fieldOf(shape, required.includes(name))]))
}

function fieldOf(shape: JsonSchema, isRequired: boolean): FieldSchema {
  const variants = shape.anyOf ?? shape.oneOf ?? [shape]
  const isNullable = variants.some(({ type }) => [type].flat().includes('null'))
  const others = variants.filter(({ type }) => type !== 'null')
  const choices = others.flatMap((each) => each.enum ?? (each.const === undefined ? [] : [each.const]))
  const isChoice =
    choices.length > 0 &&
    others.every((each) => each.enum ?? each.const) &&
    choices.every((each) => typeof each === 'string')
  const types = new Set(others.flatMap(({ type = 'any' }) => type).filter((type) => type !== 'null'))
  const [type = 'any'] = types.size === 1 ? types : []
  return {
    kind: isChoice ? 'choice' : (KINDS[type] ?? 'json'),
    choices: isChoice ? [...(choices as string[]), ...(isNullable ? [null] : [])] : [],
    isRequired,
    isNullable,
    default: shape.default,
  }
}

const KINDS: Readonly<Record<string, FieldSchema['kind']>> = {
  string: 'text',
  integer: 'number',
  number: 'number',
  boolean: 'boolean',
}

/** The first value of a field that is added to a record. */
export function initialValue({ kind, choices, isNullable, default: own }: FieldSchema): unknown {
  if (own !== undefined) return own
  if (isNullable) return null
  if (kind === 'choice') return choices[0]
  return { text: '', number: 0, boolean: false, json: {} }[kind]
}
