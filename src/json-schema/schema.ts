import { isObject, type Json, type JsonObject, pointer } from '../core/json.ts'

/** A JSON Schema: an object of keywords, `true` (anything) or `false` (nothing). */
export type Schema = boolean | JsonObject

/** The only version of JSON Schema that is supported. */
export const VERSION = 'https://json-schema.org/draft/2020-12/schema'

export const TYPES = ['object', 'array', 'string', 'number', 'boolean', 'null'] as const
export type TypeName = (typeof TYPES)[number]
/** The names that `type` may have. */
export const TYPE_NAMES: readonly unknown[] = [...TYPES, 'integer']

/** Keywords whose value is one schema. */
export const ONE_SCHEMA: readonly string[] = [
  ...['if', 'then', 'else', 'additionalProperties', 'contains', 'contentSchema', 'items'],
  ...['propertyNames', 'unevaluatedItems', 'unevaluatedProperties'],
]
/** Keywords whose value maps names to schemas. */
const SCHEMA_MAPS: readonly string[] = ['definitions', 'dependencies', 'dependentSchemas', 'properties']

/** A schema that is part of another one, with its JSON Pointer: one of several that the same value has to satisfy. */
export interface Clause {
  readonly schema: JsonObject
  readonly at: string
  /** True for a clause that was added to get one side of a condition, and is not part of the schema. */
  readonly isHelp?: true
}

/** The schemas directly inside a schema that are objects. */
export function subschemas(schema: JsonObject, at: string): Clause[] {
  const found: Clause[] = []
  const add = (inner: Json | undefined, ...keys: PropertyKey[]): void => {
    if (isObject(inner)) found.push({ schema: inner, at: at + pointer(...keys) })
  }
  for (const keyword in schema) {
    const value = schema[keyword]
    if (ONE_SCHEMA.includes(keyword)) add(value, keyword)
    else if (keyword === 'prefixItems' && Array.isArray(value))
      for (const [index, inner] of value.entries()) add(inner, keyword, index)
    else if (SCHEMA_MAPS.includes(keyword) && isObject(value))
      for (const name of Object.keys(value)) add(value[name], keyword, name)
  }
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

/** Every schema that a schema consists of, itself first, those inside it by their level. */
export function allSchemas(schema: JsonObject): Clause[] {
  const all: Clause[] = [{ schema, at: '' }]
  // The loop also visits the schemas that are added to the list during it.
  for (const next of all) for (const inner of subschemas(next.schema, next.at)) all.push(inner)
  return all
}

/** True where the value is of one of the types; no `type` at all allows every one. */
export function hasType(value: Json, type: Json | undefined): boolean {
  const name = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value
  return allowsType(type, name, Number.isInteger(value))
}

/** The texts in a list. */
export function textItems(value: Json | undefined): string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : []
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
  return `{${fields.map((key) => `${JSON.stringify(key)}:${canonical(value[key] ?? null)}`).join(',')}}`
}

/**
 * Whether a number is a multiple of another by their decimal digits: each is the shortest text that parses to its double, which
 * is the text in JSON. The quotient of doubles is no measure: 19.99 / 0.01 is 1998.9999999999998.
 */
export function isMultiple(value: number, multiple: number): boolean {
  if (Number.isSafeInteger(value) && Number.isSafeInteger(multiple)) return value % multiple === 0
  const [a, b] = [digitsOf(value), digitsOf(multiple)]
  if (a === undefined || b === undefined) return false
  const exponent = Math.min(a.exponent, b.exponent)
  const units = (each: typeof a) => each.digits * 10n ** BigInt(each.exponent - exponent)
  return units(a) % units(b) === 0n
}

/** A number as whole digits and their power of ten; undefined for one that JSON cannot have. */
export function digitsOf(value: number): { readonly digits: bigint; readonly exponent: number } | undefined {
  if (!Number.isFinite(value)) return undefined
  const [mantissa = '', power = '0'] = String(value).split('e')
  const [whole = '', fraction = ''] = mantissa.split('.')
  return { digits: BigInt(whole + fraction), exponent: Number(power) - fraction.length }
}

/** The properties whose presence applies a schema, each with its keyword. */
export function dependentSchemas(schema: JsonObject): readonly (readonly [keyword: string, name: string])[] {
  return ['dependentSchemas', 'dependencies'].flatMap((keyword) => {
    const map = schema[keyword]
    if (!isObject(map)) return []
    return Object.keys(map).flatMap((name) => (isSchema(map[name]) ? [[keyword, name] as const] : []))
  })
}

/** Whether a `type` allows a type, or its whole numbers. */
export function allowsType(type: Json | undefined, name: string, isWhole = name === 'number'): boolean {
  return type === undefined || [type].flat().some((each) => each === name || (each === 'integer' && isWhole))
}
