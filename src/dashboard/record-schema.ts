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

/** The fields that the records of a collection can have, by name. */
export function fieldsOf({ properties = {}, required = [] }: JsonSchema): ReadonlyMap<string, FieldSchema> {
  // A computed field has the schema `not`, which no value satisfies.
  const given = Object.entries(properties).filter(([, shape]) => shape.not === undefined)
  return new Map(given.map(([name, shape]) => [name, fieldOf(shape, required.includes(name))]))
}

/** The facts that a form needs about one field of a record. */
export type FieldSchema = ReturnType<typeof fieldOf>

export function fieldOf(shape: JsonSchema, isRequired: boolean) {
  const variants = shape.anyOf ?? shape.oneOf ?? [shape]
  const isNullable = variants.some(({ type }) => [type].flat().includes('null'))
  const others = variants.filter(({ type }) => type !== 'null')
  const named = others.flatMap((each) => each.enum ?? [each.const])
  const isChoice = named.length > 0 && named.every((each) => typeof each === 'string')
  const types = new Set(others.flatMap(({ type = 'any' }) => type).filter((type) => type !== 'null'))
  const [type = 'any'] = types.size === 1 ? types : []
  const values = isChoice ? named : type === 'boolean' && isNullable ? [true, false] : []
  const kind = KINDS[type] ?? 'json'
  return {
    kind: values.length > 0 ? 'choice' : kind,
    /** The values of a choice. */
    choices: values.length > 0 && isNullable ? [...values, null] : values,
    isRequired,
    isNullable,
    /** The value in a record that omits the field; undefined for none. */
    default: shape.default,
  } as const
}

const KINDS: Readonly<Record<string, 'text' | 'number' | 'boolean'>> = {
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
