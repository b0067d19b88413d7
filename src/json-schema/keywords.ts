import { isObject, type Json, type JsonObject, pointer } from '../core/json.ts'

/** A JSON Schema: an object of keywords, `true` (anything) or `false` (nothing). */
export type Schema = boolean | JsonObject

export const TYPES = ['object', 'array', 'string', 'number', 'boolean', 'null'] as const
export type TypeName = (typeof TYPES)[number]

/** Keywords whose value is one schema, a list of schemas, or a map from caller-chosen names to schemas. */
export const ONE_SCHEMA = [
  'additionalProperties',
  'contains',
  'contentSchema',
  'else',
  'if',
  'items',
  'propertyNames',
  'then',
  'unevaluatedItems',
  'unevaluatedProperties',
] as const
export const SCHEMA_LISTS = ['prefixItems'] as const
export const SCHEMA_MAPS = ['dependentSchemas', 'properties'] as const

/** Keywords that restrict a value and hold no schema. */
export const ASSERTIONS = [
  'const',
  'dependentRequired',
  'enum',
  'exclusiveMaximum',
  'exclusiveMinimum',
  'format',
  'maxContains',
  'maxItems',
  'maxLength',
  'maxProperties',
  'maximum',
  'minContains',
  'minItems',
  'minLength',
  'minProperties',
  'minimum',
  'multipleOf',
  'pattern',
  'required',
  'type',
  'uniqueItems',
] as const

/** The schemas directly inside a schema, each with its JSON Pointer. Malformed ones are passed over. */
export function* subschemas(schema: JsonObject, at: string): Generator<{ schema: Schema; at: string }> {
  for (const keyword of ONE_SCHEMA) yield* asSchema(schema[keyword], at + pointer(keyword))
  for (const keyword of SCHEMA_LISTS) {
    const list = schema[keyword]
    if (!Array.isArray(list)) continue
    for (const [index, inner] of list.entries()) yield* asSchema(inner, at + pointer(keyword, index))
  }
  for (const keyword of SCHEMA_MAPS) {
    const map = schema[keyword]
    if (!isObject(map)) continue
    for (const [name, inner] of Object.entries(map)) yield* asSchema(inner, at + pointer(keyword, name))
  }
}

function* asSchema(value: Json | undefined, at: string): Generator<{ schema: Schema; at: string }> {
  if (typeof value === 'boolean' || isObject(value)) yield { schema: value, at }
}

/** The JSON type of a value, in JSON Schema's words; `integer` counts as `number`. */
function typeOf(value: Json): TypeName {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  return typeof value as TypeName
}

/** True where the value is of one of the types; no `type` at all allows every one. */
export function hasType(value: Json, type: Json | undefined): boolean {
  if (type === undefined) return true
  const types = Array.isArray(type) ? type : [type]
  return types.includes(typeOf(value)) || (types.includes('integer') && Number.isInteger(value))
}

/** The caller's key of an object, never an inherited one such as `constructor`. */
export function own(object: Json | undefined, key: string): Json | undefined {
  return isObject(object) && Object.hasOwn(object, key) ? object[key] : undefined
}

/** Sets any key, `__proto__` included, as an ordinary member. */
export function setMember(object: Record<string, Json>, key: string, value: Json): void {
  if (key !== '__proto__') object[key] = value
  else Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true })
}

/** One text per JSON value: equal values, whatever the order of their keys, have equal texts. */
export function canonical(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (!isObject(value)) return JSON.stringify(value)
  const members = Object.keys(value).sort()
  return `{${members.map((key) => `${JSON.stringify(key)}:${canonical(own(value, key) ?? null)}`).join(',')}}`
}
