import { isObject, type Json, type JsonObject } from '../core/json.ts'
import { type Schema, setMember, TYPES } from './keywords.ts'

/**
 * Schemas each of which rules the given one out, most telling first: what fails one keyword fails the whole.
 * They steer towards the `else` branch; where none applies, trial and error is left.
 */
export function negations(schema: Schema): JsonObject[] {
  if (schema === true) return []
  if (schema === false) return [{}]
  return [...ofMembers(schema), ...ofValues(schema), ...ofBounds(schema), { not: schema }]
}

function ofMembers(schema: JsonObject): JsonObject[] {
  const found: JsonObject[] = []
  for (const [name, member] of Object.entries(isObject(schema.properties) ? schema.properties : {})) {
    if (typeof member !== 'boolean' && !isObject(member)) continue
    for (const other of negations(member)) {
      found.push({ type: 'object', properties: single(name, other), required: [name] })
    }
  }
  for (const name of Array.isArray(schema.required) ? schema.required : []) {
    if (typeof name === 'string') found.push({ type: 'object', properties: single(name, false) })
  }
  return found
}

function single(name: string, value: Json): JsonObject {
  const members: Record<string, Json> = {}
  setMember(members, name, value)
  return members
}

function ofValues(schema: JsonObject): JsonObject[] {
  const found: JsonObject[] = []
  if (schema.const !== undefined) found.push({ not: { const: schema.const } })
  if (Array.isArray(schema.enum)) found.push({ not: { enum: schema.enum } })
  if (schema.type !== undefined) {
    const types = Array.isArray(schema.type) ? schema.type : [schema.type]
    const others = TYPES.filter(
      (type) => !types.includes(type) && !(type === 'number' && types.includes('integer')),
    )
    if (others.length > 0) found.push({ type: others })
  }
  return found
}

type Opposite = (limit: number) => JsonObject | undefined

const above = (limit: number): number | undefined => (limit > 0 ? limit - 1 : undefined)

const OPPOSITES: { readonly [keyword: string]: Opposite } = {
  minimum: (limit) => ({ type: 'number', exclusiveMaximum: limit }),
  maximum: (limit) => ({ type: 'number', exclusiveMinimum: limit }),
  exclusiveMinimum: (limit) => ({ type: 'number', maximum: limit }),
  exclusiveMaximum: (limit) => ({ type: 'number', minimum: limit }),
  minLength: (limit) => atMost('string', 'maxLength', above(limit)),
  maxLength: (limit) => ({ type: 'string', minLength: limit + 1 }),
  minItems: (limit) => atMost('array', 'maxItems', above(limit)),
  maxItems: (limit) => ({ type: 'array', minItems: limit + 1 }),
  minProperties: (limit) => atMost('object', 'maxProperties', above(limit)),
  maxProperties: (limit) => ({ type: 'object', minProperties: limit + 1 }),
}

function atMost(type: string, keyword: string, limit: number | undefined): JsonObject | undefined {
  return limit === undefined ? undefined : { type, [keyword]: limit }
}

function ofBounds(schema: JsonObject): JsonObject[] {
  const found = Object.entries(OPPOSITES).flatMap(([keyword, opposite]) => {
    const limit = schema[keyword]
    const other = typeof limit === 'number' ? opposite(limit) : undefined
    return other === undefined ? [] : [other]
  })
  return [...found, ...ofItems(schema)]
}

function ofItems(schema: JsonObject): JsonObject[] {
  const { contains, items } = schema
  const found: JsonObject[] = []
  if (typeof items === 'boolean' || isObject(items)) {
    for (const other of negations(items)) found.push({ type: 'array', minItems: 1, prefixItems: [other] })
  }
  const least = typeof schema.minContains === 'number' ? schema.minContains : 1
  if (contains !== undefined && least > 0)
    found.push({ type: 'array', contains, minContains: 0, maxContains: least - 1 })
  return found
}
