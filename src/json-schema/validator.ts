import type { Ajv2020, AnySchema, ErrorObject } from 'ajv/dist/2020.js'
import { isObject, type Json, type JsonObject, valueAt } from '../core/json.ts'
import { type Compiled, newAjv } from './ajv.ts'
import { allSchemas, isChecked, isSchema, ONE_SCHEMA } from './schema.ts'

/** Keywords that restrict a value and hold no schema. */
const ASSERTIONS = (
  'const dependentRequired enum exclusiveMaximum exclusiveMinimum format maxContains maxItems maxLength ' +
  'maxProperties maximum minContains minItems minLength minProperties minimum multipleOf pattern required type ' +
  'uniqueItems'
).split(' ')
/** Keywords with which `$dynamicRef` finds its target. */
const REFERENCES = ['$anchor', '$dynamicAnchor', '$dynamicRef']

/** Ajv needs about 0.2 ms for one schema, and the more, the deeper it is nested. */
const MAX_COMPILED = 2_000
const CHARACTERS_PER_SCHEMA = 1_000

export type SchemaValidator = ReturnType<typeof validatorOf>

/**
 * The validator of one schema. Schemas that are part of it are compiled when a value of theirs is first checked. Throws an error for
 * a schema that is too large to be compiled.
 */
export function validatorOf(root: JsonObject) {
  if (compiledSize(root) > MAX_COMPILED)
    throw new Error(
      'it is too large. It may have about 1,600 schemas inside, fewer if they have conditions or are nested deep',
    )
  const compiled = new Map<JsonObject, Compiled>()
  let ajv: Ajv2020 | undefined
  const compile = (schema: JsonObject): Compiled => {
    ajv ??= newAjv()
    const own = ajv
    const seesEvaluated = allSchemas(schema).some(({ schema: each }) => hasUnevaluated(each))
    // Without the changes ajv accepts and refuses too much. A value must satisfy both, since validators of users may be ajv.
    const validators = (seesEvaluated ? [false, true] : [false]).map((isLimited) =>
      own.compile<Json>(copyOf(schema, schema === root, isLimited)),
    )
    const validate: Compiled = (value) => {
      const refused = validators.find((each) => !each(value))
      validate.errors = refused?.errors ?? null
      return refused === undefined
    }
    compiled.set(schema, validate)
    return validate
  }
  const validatorFor = (schema: JsonObject) => compiled.get(schema) ?? compile(schema)
  return {
    /** Whether a value satisfies the schema, or one that is part of it. */
    accepts: (value: Json, schema = root): boolean => validatorFor(schema)(value),
    /** The errors of a value; pointers of schemas start at the root of the whole schema. */
    errors(value: Json): readonly ErrorObject[] {
      const validate = validatorFor(root)
      return validate(value) ? [] : (validate.errors ?? [])
    },
  }
}

/** The number of schemas that are compiled. The pointer of a schema is part of its code. */
function compiledSize(root: JsonObject): number {
  let total = 0
  for (const { schema, at } of allSchemas(root)) {
    total += 1 + at.length / CHARACTERS_PER_SCHEMA
    if (isCompiledAlone(schema)) {
      const size = allSchemas(schema).length
      total += size + 4
      // The code grows with the square of the names.
      if (hasUnevaluated(schema)) total += size ** 2 / 500
    }
    if (total > MAX_COMPILED) break
  }
  return total
}

/** Whether values of a schema are also checked without the value around them. */
function isCompiledAlone(schema: JsonObject): boolean {
  const isListed = (schema.const ?? schema.enum ?? schema.format) !== undefined
  return (
    isChecked(schema) ||
    schema.propertyNames !== undefined ||
    (isListed && ASSERTIONS.filter((each) => schema[each] !== undefined).length > 2)
  )
}

/**
 * A copy for ajv, with the keywords of 2020-12 only: identifiers and extensions (`$id`, `$async`, `nullable`) would change
 * the validator's state. References have a meaning in the root only.
 */
function copyOf(schema: JsonObject, isRoot: boolean, isLimited: boolean): AnySchema & object {
  const copy: Record<string, Json> = {}
  const inner = (value: Json): Json =>
    isObject(value) ? (copyOf(value, isRoot, isLimited) as JsonObject) : value
  for (const keyword of [...ASSERTIONS, ...(isRoot ? REFERENCES : [])])
    if (schema[keyword] !== undefined) copy[keyword] = schema[keyword]
  for (const keyword of [...ONE_SCHEMA, 'not'])
    if (isSchema(schema[keyword])) copy[keyword] = inner(schema[keyword])
  if (Array.isArray(schema.prefixItems)) copy.prefixItems = schema.prefixItems.map(inner)
  for (const keyword of isRoot ? ['properties', 'definitions'] : ['properties']) {
    const map = schema[keyword]
    if (!isObject(map)) continue
    const names = Object.keys(map).filter((name) => name !== '__proto__')
    copy[keyword] = Object.fromEntries(names.map((name) => [name, inner(map[name] ?? true)]))
  }
  // Ajv skips properties named `__proto__`, but not a pattern that matches only that name.
  const proto = valueAt(schema.properties, ['__proto__'])
  if (proto !== undefined) copy.patternProperties = { '^__proto__$': inner(proto) }
  addDependents(schema, copy, inner)
  if (isLimited) limitEvaluated(copy)
  return copy
}

function hasUnevaluated({ unevaluatedProperties, unevaluatedItems }: JsonObject): boolean {
  return (unevaluatedProperties ?? unevaluatedItems) !== undefined
}

// For ajv, an `if` that fails has evaluated its properties, and `contains` every item. Within `not` nothing is evaluated.
function limitEvaluated(copy: Record<string, Json>): void {
  const { if: condition, then = true, contains, minContains = 1, maxContains, unevaluatedItems } = copy
  const hidden = (inner: Json): Json => ({ not: { not: inner } })
  if (condition !== undefined) {
    copy.if = hidden(condition)
    // A copy of each `if` inside an `if` would double the size at each level.
    const isFlat = isObject(condition) && allSchemas(condition).every(({ schema }) => schema.if === undefined)
    if (isFlat) copy.then = { allOf: [condition, then] }
  }
  if (contains === undefined) return
  delete copy.contains
  const counted = { contains, minContains, ...(maxContains !== undefined && { maxContains }) }
  copy.allOf = [...((copy.allOf as Json[] | undefined) ?? []), hidden(counted)]
  if (unevaluatedItems !== undefined) copy.unevaluatedItems = { anyOf: [contains, unevaluatedItems] }
}

function addDependents(schema: JsonObject, copy: Record<string, Json>, inner: (value: Json) => Json): void {
  const [lists, schemas, conditions]: [[string, Json][], [string, Json][], Json[]] = [[], [], []]
  const isPresent = (name: string) => ({ type: 'object', required: [name] })
  for (const [name, then] of Object.entries(schema.dependencies ?? {}))
    if (Array.isArray(then)) lists.push([name, then])
    // 2020-12 no longer has `dependencies`: what only such a schema evaluates stays unevaluated, as it does within `not`.
    else conditions.push({ not: { ...isPresent(name), not: inner(then) } })
  // Ajv skips this name.
  for (const [name, then] of Object.entries(schema.dependentSchemas ?? {}))
    if (name === '__proto__') conditions.push({ if: isPresent(name), then: inner(then) })
    else schemas.push([name, inner(then)])
  if (lists.length > 0) copy.dependencies = Object.fromEntries(lists)
  if (schemas.length > 0) copy.dependentSchemas = Object.fromEntries(schemas)
  if (conditions.length > 0) copy.allOf = conditions
}
