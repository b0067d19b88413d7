import { isObject, type Json, type JsonObject } from '../core/json.ts'
import { isSchema, type Schema, setField, TYPES } from './schema.ts'

/**
 * Schemas whose values do not satisfy the given one, since failing one keyword is enough. They lead to the `else` branch
 * and away from `contains`. When none applies, values are found by trial and error.
 */
export function negations(schema: Schema): readonly JsonObject[] {
  if (typeof schema === 'boolean') return schema ? [] : [ANYTHING]
  const made = known.get(schema) ?? [
    ...ofFields(schema),
    ...ofValues(schema),
    ...ofBounds(schema),
    ...ofItems(schema),
  ]
  known.set(schema, made)
  return made
}

const ANYTHING: JsonObject = {}

// Returns the same objects each time, since makers are cached by object.
const known = new WeakMap<JsonObject, readonly JsonObject[]>()

function ofFields(schema: JsonObject): JsonObject[] {
  const found: JsonObject[] = []
  for (const [name, inner] of Object.entries(isObject(schema.properties) ? schema.properties : {})) {
    if (!isSchema(inner)) continue
    for (const other of negations(inner))
      found.push({ type: 'object', properties: single(name, other), required: [name] })
  }
  for (const name of Array.isArray(schema.required) ? schema.required : [])
    if (typeof name === 'string') found.push({ type: 'object', properties: single(name, false) })
  return found
}

function single(name: string, value: Json): JsonObject {
  const fields: Record<string, Json> = {}
  setField(fields, name, value)
  return fields
}

function ofValues(schema: JsonObject): JsonObject[] {
  const found: JsonObject[] = []
  if (schema.const !== undefined) found.push({ not: { const: schema.const } })
  if (Array.isArray(schema.enum)) found.push({ not: { enum: schema.enum } })
  if (schema.type !== undefined) {
    const types = [schema.type].flat()
    const others = TYPES.filter(
      (type) => !types.includes(type) && !(type === 'number' && types.includes('integer')),
    )
    if (others.length > 0) found.push({ type: others })
  }
  return found
}

/** For each bound of a type: the opposite keyword, and the number to add for a value that breaks the bound. */
const OPPOSITES: readonly (readonly [keyword: string, type: string, opposite: string, by: number])[] = [
  ['minimum', 'number', 'exclusiveMaximum', 0],
  ['maximum', 'number', 'exclusiveMinimum', 0],
  ['exclusiveMinimum', 'number', 'maximum', 0],
  ['exclusiveMaximum', 'number', 'minimum', 0],
  ['minLength', 'string', 'maxLength', -1],
  ['maxLength', 'string', 'minLength', 1],
  ['minItems', 'array', 'maxItems', -1],
  ['maxItems', 'array', 'minItems', 1],
  ['minProperties', 'object', 'maxProperties', -1],
  ['maxProperties', 'object', 'minProperties', 1],
]

function ofBounds(schema: JsonObject): JsonObject[] {
  return OPPOSITES.flatMap(([keyword, type, opposite, by]) => {
    const limit = schema[keyword]
    return typeof limit === 'number' && (type === 'number' || limit + by >= 0)
      ? [{ type, [opposite]: limit + by }]
      : []
  })
}

function ofItems({ contains, items, minContains }: JsonObject): JsonObject[] {
  const found = isSchema(items)
    ? negations(items).map((other) => ({ type: 'array', minItems: 1, prefixItems: [other] }))
    : []
  const count = typeof minContains === 'number' ? minContains : 1
  if (contains === undefined || count === 0) return found
  return [...found, { type: 'array', contains, minContains: 0, maxContains: count - 1 }]
}
