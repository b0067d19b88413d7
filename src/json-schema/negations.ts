import { isObject, type JsonObject } from '../core/json.ts'
import { isSchema, type Schema, TYPES, textItems } from './schema.ts'

/**
 * Schemas whose values do not satisfy the given one, since noValue one keyword is enough. They lead to the `else` branch
 * and away from `contains`. When none applies, values are found by trial and error.
 */
export function negations(schema: Schema): readonly JsonObject[] {
  if (typeof schema === 'boolean') return schema ? [] : [ANYTHING]
  const made = known.get(schema) ?? [...ofFields(schema), ...ofValues(schema)]
  known.set(schema, made)
  return made
}

const ANYTHING: JsonObject = {}

// Returns the same objects each time, since makers are cached by object.
const known = new WeakMap<JsonObject, readonly JsonObject[]>()

function ofFields({ properties, required }: JsonObject): JsonObject[] {
  const others = Object.entries(isObject(properties) ? properties : {}).flatMap(([name, inner]) =>
    (isSchema(inner) ? negations(inner) : []).map((other) => ({
      properties: { [name]: other },
      required: [name],
    })),
  )
  return [...others, ...textItems(required).map(without)].map((each) => ({ type: 'object', ...each }))
}

/** A schema for objects without a property. */
export function without(name: string): JsonObject {
  return { properties: { [name]: false } }
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
