import { isObject, type Json, type JsonObject, pointer } from '../core/json.ts'

/** A JSON Schema: an object of keywords, `true` (anything) or `false` (nothing). */
export type Schema = boolean | JsonObject

export const TYPES = ['object', 'array', 'string', 'number', 'boolean', 'null'] as const
export type TypeName = (typeof TYPES)[number]

/** Keywords whose value is one schema for the same value, or for a value inside it. */
export const ON_SAME_VALUE = ['if', 'then', 'else'] as const
export const ON_INNER_VALUE = [
  'additionalProperties',
  'contains',
  'items',
  'propertyNames',
  'unevaluatedItems',
  'unevaluatedProperties',
] as const
/** Keywords whose value maps names to schemas. */
export const SCHEMA_MAPS = ['definitions', 'dependencies', 'dependentSchemas', 'properties'] as const

const ONE_SCHEMA: ReadonlySet<string> = new Set([...ON_SAME_VALUE, ...ON_INNER_VALUE, 'contentSchema'])
const MAPS: ReadonlySet<string> = new Set(SCHEMA_MAPS)

/** Calls back for each schema directly inside a schema, with the keys that lead to it. Other values are skipped. */
export function eachInner(
  schema: JsonObject,
  visit: (inner: Schema, keyword: string, key?: string | number) => void,
): void {
  for (const keyword in schema) {
    const value = schema[keyword]
    if (ONE_SCHEMA.has(keyword)) {
      if (isSchema(value)) visit(value, keyword)
    } else if (keyword === 'prefixItems' && Array.isArray(value)) {
      for (const [index, inner] of value.entries()) if (isSchema(inner)) visit(inner, keyword, index)
    } else if (MAPS.has(keyword) && isObject(value)) {
      for (const name of Object.keys(value)) {
        const inner = value[name]
        if (isSchema(inner)) visit(inner, keyword, name)
      }
    }
  }
}

/** The schemas directly inside a schema that are objects, each with its JSON Pointer. */
export function subschemas(schema: JsonObject, at: string): { schema: JsonObject; at: string }[] {
  const found: { schema: JsonObject; at: string }[] = []
  eachInner(schema, (inner, keyword, key) => {
    if (isObject(inner))
      found.push({ schema: inner, at: at + (key === undefined ? pointer(keyword) : pointer(keyword, key)) })
  })
  return found
}

/** Keywords that only the validator checks, on the whole value; a value that fails is made again. */
export const CHECKED = [
  'contains',
  'unevaluatedItems',
  'unevaluatedProperties',
  '$dynamicRef',
  'dependencies',
  'dependentSchemas',
]

export function isConditional({ if: condition, then, else: otherwise }: JsonObject): boolean {
  return condition !== undefined && (then !== undefined || otherwise !== undefined)
}

/** True for a schema whose values are validated as soon as they are made. */
export function isChecked(schema: JsonObject): boolean {
  return isConditional(schema) || CHECKED.some((keyword) => schema[keyword] !== undefined)
}

export function isSchema(value: Json | undefined): value is Schema {
  return typeof value === 'boolean' || isObject(value)
}

/** Every schema that a schema consists of, itself included, in no order. */
export function allSchemas(schema: JsonObject): JsonObject[] {
  const all = [schema]
  // The loop also visits the schemas that are added to the list during it.
  for (const next of all) eachInner(next, (inner) => void (isObject(inner) && all.push(inner)))
  return all
}

/** The JSON type of a value, in JSON Schema's words; `integer` counts as `number`. */
function typeOf(value: Json): TypeName {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : (typeof value as TypeName)
}

/** True where the value is of one of the types; no `type` at all allows every one. */
export function hasType(value: Json, type: Json | undefined): boolean {
  if (type === undefined) return true
  const types = Array.isArray(type) ? type : [type]
  return types.includes(typeOf(value)) || (types.includes('integer') && Number.isInteger(value))
}

/** The value of an own key of an object, never of an inherited one such as `constructor`. */
export function own(object: Json | undefined, key: string): Json | undefined {
  return isObject(object) && Object.hasOwn(object, key) ? object[key] : undefined
}

/** Sets any key, `__proto__` included, as an ordinary field. */
export function setField(object: Record<string, Json>, key: string, value: Json): void {
  if (key !== '__proto__') object[key] = value
  else Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true })
}

/** One text per JSON value: equal values, whatever the order of their keys, have equal texts. */
export function canonical(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (!isObject(value)) return JSON.stringify(value)
  const fields = Object.keys(value).sort()
  return `{${fields.map((key) => `${JSON.stringify(key)}:${canonical(own(value, key) ?? null)}`).join(',')}}`
}

/**
 * Computed as validators do: a quotient of 1e21 or more does not count as whole. Beyond 2^53 every quotient is whole, so both
 * the number and its digits in JSON have to be multiples.
 */
export function isMultiple(value: number, multiple: number): boolean {
  const quotient = value / multiple
  if (!Number.isInteger(quotient) || Math.abs(quotient) >= 1e21) return false
  if (Number.isSafeInteger(quotient) || !Number.isInteger(multiple)) return true
  const digits = String(value)
  return value % multiple === 0 && (digits.includes('e') || BigInt(digits) % BigInt(multiple) === 0n)
}

/** The properties whose presence applies a schema, each with its keyword. */
export function dependentSchemas(schema: JsonObject): readonly (readonly [keyword: string, name: string])[] {
  if (schema.dependentSchemas === undefined && schema.dependencies === undefined) return []
  return ['dependentSchemas', 'dependencies'].flatMap((keyword) => {
    const map = schema[keyword]
    if (!isObject(map)) return []
    return Object.keys(map).flatMap((name) => (isSchema(map[name]) ? [[keyword, name] as const] : []))
  })
}

/** The cost of building a maker for a schema, beyond that for an empty schema. */
export function buildCost({ enum: list, properties, required }: JsonObject): number {
  const names = isObject(properties) ? Object.keys(properties).length : 0
  return names + (Array.isArray(required) ? required.length : 0) + (Array.isArray(list) ? list.length / 5 : 0)
}

function typesIn({ type }: JsonObject): readonly Json[] | undefined {
  return type === undefined || Array.isArray(type) ? type : [type]
}

/** Whether the schema's `type` allows that type. */
export function allowsType(schema: JsonObject, type: TypeName): boolean {
  const types = typesIn(schema)
  return types === undefined || types.includes(type) || (type === 'number' && types.includes('integer'))
}
