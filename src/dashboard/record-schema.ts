import { ask } from './api.ts'

/** Maximum characters of a document in the editor. A longer one can only be read, or sent unchanged. */
export const MAX_EDITED = 256_000

/** The part of JSON Schema that forms use. */
export interface JsonSchema {
  readonly type?: string | readonly string[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly not?: unknown
  readonly default?: unknown
  readonly anyOf?: readonly JsonSchema[]
  readonly oneOf?: readonly JsonSchema[]
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: readonly string[]
}

/** The facts that a form needs about one field of a record. */
export interface FieldSchema {
  readonly kind: 'text' | 'number' | 'boolean' | 'choice' | 'json'
  /** The values of a choice. */
  readonly choices: readonly (string | boolean | null)[]
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

/** The fields that the records of a collection can have, by name. */
export function fieldsOf({ properties = {}, required = [] }: JsonSchema): ReadonlyMap<string, FieldSchema> {
  // A computed field has the schema `not`, which no value satisfies.
  const given = Object.entries(properties).filter(([, shape]) => shape.not === undefined)
  return new Map(given.map(([name, shape]) => [name, fieldOf(shape, required.includes(name))]))
}

/** The facts that a form needs about a value with a schema. */
export function fieldOf(shape: JsonSchema, isRequired: boolean): FieldSchema {
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
  const values = isChoice ? choices : type === 'boolean' && isNullable ? [true, false] : []
  return {
    kind: values.length > 0 ? 'choice' : (KINDS[type] ?? 'json'),
    choices: values.length > 0 ? [...(values as string[]), ...(isNullable ? [null] : [])] : [],
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
