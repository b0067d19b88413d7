import { ask } from './api.ts'

/** What a form needs to know of one field of a record. */
export interface FieldSchema {
  readonly kind: 'text' | 'number' | 'boolean' | 'choice' | 'json'
  /** The values of a choice. */
  readonly choices: readonly (string | null)[]
  readonly isRequired: boolean
  readonly isNullable: boolean
  /** What a record gets that leaves it out; undefined for nothing. */
  readonly default: unknown
}

interface JsonSchema {
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

/** The fields that the records of a collection can have, by name. */
export async function fieldsOf(collection: string): Promise<ReadonlyMap<string, FieldSchema>> {
  const { schema } = await ask('GET /collections/{collection}', { params: { collection } })
  const { properties = {}, required = [] } = schema as JsonSchema
  // A field that nothing satisfies is computed.
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

/** A value for a field that a record does not have yet. */
export function initialValue({ kind, choices, isNullable, default: own }: FieldSchema): unknown {
  if (own !== undefined) return own
  if (isNullable) return null
  if (kind === 'choice') return choices[0]
  return { text: '', number: 0, boolean: false, json: {} }[kind]
}
