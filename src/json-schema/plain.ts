import { isObject, type Json, type JsonObject } from '../core/json.ts'
import { allSchemas, TYPE_NAMES } from './schema.ts'

/** The most schemas inside one that is examined here. Outputs of larger ones may be too large to be made. */
const MAX_SCHEMAS = 60

/**
 * Whether it is plain that values of a schema can be made: it has types, properties and items, and nothing else restricts them.
 * Most schemas are so, and a batch of one then starts without the validator and the faker, which take long to load.
 */
export function hasPlainValues(schema: JsonObject): boolean {
  return schema.type === 'object' && allSchemas(schema).length <= MAX_SCHEMAS && hasValues(schema)
}

function hasValues(schema: Json): boolean {
  if (!isObject(schema)) return false
  const { type, properties = {}, required = [], items, additionalProperties = true, ...others } = schema
  return (
    TYPE_NAMES.includes(type) &&
    isObject(properties) &&
    Object.entries(properties).every(([name, inner]) => /^[a-z]\w*$/i.test(name) && hasValues(inner)) &&
    Array.isArray(required) &&
    required.every((name) => typeof name === 'string' && Object.hasOwn(properties, name)) &&
    (items === undefined || hasValues(items)) &&
    typeof additionalProperties === 'boolean' &&
    Object.keys(others).every((name) => name === 'title' || name === 'description')
  )
}
