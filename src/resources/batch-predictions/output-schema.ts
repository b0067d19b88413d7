import { type Issue, isObject, type Json, type JsonObject, pointer } from '../../core/json.ts'
import { validatorOfSchema } from '../../json-schema/ajv.ts'
import { clauseOf, helper } from '../../json-schema/clause.ts'
import { SchemaCompiler } from '../../json-schema/compiler.ts'
import { contradictions } from '../../json-schema/contradictions.ts'
import { DIALECT, dialectIssues, placesAround } from '../../json-schema/dialect.ts'
import { subschemas } from '../../json-schema/keywords.ts'
import { attempt, CannotSatisfy, checked, type RandomSource } from '../../json-schema/maker.ts'
import { perSchema } from '../../json-schema/memo.ts'
import { compilePattern } from '../../json-schema/pattern.ts'
import { UnsupportedPattern } from '../../json-schema/pattern-syntax.ts'

/** The keywords that the service does not support (Limits, Batch predictions), each with the way out. */
const UNSUPPORTED: ReadonlyMap<string, string> = new Map([
  ['$defs', 'write each definition out where it is used'],
  ['$ref', 'write the schema that it refers to out in its place'],
  ['allOf', 'merge the schemas into one'],
  ['anyOf', 'use one schema, for instance with a list of types, an enum or optional properties'],
  ['not', 'say what is allowed instead'],
  ['oneOf', 'use one schema, for instance with a list of types, an enum or optional properties'],
  ['patternProperties', 'list the names under properties, or describe them with propertyNames'],
])

const REFERENCES = ['$dynamicRef', '$recursiveRef']

const MAX_NESTING = 64
const MAX_SCHEMAS = 5_000
const MAX_VALUES = 200_000
const MAX_DEPTH = 200
const MAX_ISSUES = 1_000

/**
 * Everything that keeps a schema from being the `output_schema` of a batch: not valid JSON Schema 2020-12, a
 * root that is not an object, a keyword that the service does not support, or a demand that no output can meet.
 * Every pointer starts with `at`, the JSON Pointer of the schema itself. An empty list means that the schema can
 * be used; unknown formats are no fault, they are annotations.
 */
export function checkOutputSchema(schema: unknown, at: string): Issue[] {
  if (!isObject(schema))
    return [{ pointer: at, detail: 'output_schema has to be a JSON Schema object with "type": "object"' }]
  const size = sizeIssue(schema)
  const issues = size === undefined ? issuesOf(schema) : [size]
  return issues.map((issue) => ({ ...issue, pointer: at + issue.pointer }))
}

/**
 * Where a value departs from a schema that `checkOutputSchema` has accepted, by JSON Pointer into the value. An
 * empty list means that it satisfies the schema.
 */
export function validateOutput(schema: JsonObject, value: unknown): Issue[] {
  const validate = validatorOfSchema(schema)
  if (validate(value)) return []
  return (validate.errors ?? [])
    .slice(0, MAX_ISSUES)
    .map(({ instancePath, keyword, message, params, schemaPath }) => {
      const name: unknown = params.additionalProperty ?? params.unevaluatedProperty ?? params.propertyName
      const member = typeof name === 'string' ? pointer(name) : ''
      const detail = `${message ?? 'is not allowed'} (${keyword} at ${schemaPath.slice(1)} of the output schema)`
      return { pointer: instancePath + member, detail }
    })
}

/** Refused before anything walks it by recursion: a schema that is too deep or too large to do so. */
function sizeIssue(schema: JsonObject): Issue | undefined {
  const pending: { value: Json; depth: number }[] = [{ value: schema, depth: 1 }]
  let values = 0
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { value, depth } = next
    if (typeof value !== 'object' || value === null) continue
    if (depth > MAX_DEPTH)
      return { pointer: '', detail: `output_schema is nested more than ${MAX_DEPTH} levels deep; flatten it` }
    for (const inner of Object.values(value)) pending.push({ value: inner, depth: depth + 1 })
    values += Object.keys(value).length
    if (values > MAX_VALUES)
      return { pointer: '', detail: `output_schema holds more than ${MAX_VALUES} values; make it smaller` }
  }
  return undefined
}

const issuesOf = perSchema((schema): Issue[] => {
  const positions = positionsOf(schema)
  if (!Array.isArray(positions)) return [positions]
  const found = new Map<string, Issue>()
  const add = (issue: Issue): void => {
    if (!found.has(issue.pointer)) found.set(issue.pointer, issue)
  }
  for (const issue of rootIssues(schema)) add(issue)
  for (const { schema: inner, at } of positions) {
    for (const issue of [
      ...keywordIssues(inner, at),
      ...patternIssues(inner, at),
      ...contradictions(inner, at),
    ])
      add(issue)
  }
  const explained = new Set(found.keys())
  for (const issue of dialectIssues(schema)) {
    if (!placesAround(issue.pointer).some((place) => explained.has(place))) add(issue)
  }
  if (found.size > 0) return [...found.values()].slice(0, MAX_ISSUES)
  const generator = attempt(() => outputGenerator(schema))
  return generator instanceof CannotSatisfy ? [generator.issue] : []
})

/** Every schema object in a schema, the root first. Names of properties and plain values are no schemas. */
function positionsOf(root: JsonObject): { schema: JsonObject; at: string }[] | Issue {
  const positions = [{ schema: root, at: '', nesting: 0 }]
  for (const { schema, at, nesting } of positions) {
    if (nesting > MAX_NESTING)
      return {
        pointer: at,
        detail: `schemas are nested more than ${MAX_NESTING} levels deep here; flatten them`,
      }
    for (const inner of subschemas(schema, at)) {
      if (isObject(inner.schema)) positions.push({ schema: inner.schema, at: inner.at, nesting: nesting + 1 })
    }
    if (positions.length > MAX_SCHEMAS)
      return { pointer: '', detail: `output_schema holds more than ${MAX_SCHEMAS} schemas; make it smaller` }
  }
  return positions
}

function rootIssues(schema: JsonObject): Issue[] {
  const issues: Issue[] = []
  const { $schema, type } = schema
  if (type !== 'object')
    issues.push({
      pointer: '/type',
      detail: 'type has to be exactly "object" at the root of an output schema',
    })
  if ($schema !== undefined && $schema !== DIALECT && $schema !== `${DIALECT}#`)
    issues.push({
      pointer: '/$schema',
      detail: `$schema has to be ${DIALECT}, the only supported version of JSON Schema, or left out`,
    })
  return issues
}

function keywordIssues(schema: JsonObject, at: string): Issue[] {
  const issues: Issue[] = []
  for (const [keyword, wayOut] of UNSUPPORTED) {
    if (Object.hasOwn(schema, keyword))
      issues.push({
        pointer: at + pointer(keyword),
        detail: `${keyword} is not supported in an output schema; ${wayOut}`,
      })
  }
  for (const keyword of REFERENCES) {
    if (Object.hasOwn(schema, keyword))
      issues.push({
        pointer: at + pointer(keyword),
        detail: `${keyword} is a reference, which an output schema cannot hold; write the schema out in its place`,
      })
  }
  return issues
}

function patternIssues({ pattern }: JsonObject, at: string): Issue[] {
  if (typeof pattern !== 'string') return []
  try {
    compilePattern(pattern)
    return []
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    const detail =
      error instanceof UnsupportedPattern
        ? `pattern ${why}`
        : `pattern has to be a regular expression of ECMAScript: ${why}`
    return [{ pointer: `${at}/pattern`, detail }]
  }
}

export { CannotSatisfy, type RandomSource } from '../../json-schema/maker.ts'

/** Makes one output. The same chance gives the same output; it never fails and always satisfies the schema. */
export type OutputGenerator = (chance: RandomSource) => JsonObject

/**
 * Compiles a schema that `checkOutputSchema` has accepted into a generator of outputs (Limits, Batch
 * predictions). Optional properties are always there unless a bound such as `maxProperties` or another schema
 * rules them out. Throws `CannotSatisfy` where no output can be found; one is made at once to be sure.
 *
 * @example
 * const generate = outputGenerator({ type: 'object', properties: { total: { type: 'integer', minimum: 1 } } })
 * generate(chance) // { total: 417 }
 */
export const outputGenerator: (schema: JsonObject) => OutputGenerator = perSchema((schema) => {
  const root = clauseOf(schema, '')
  const compiler = new SchemaCompiler(schema)
  const otherwise = new CannotSatisfy(
    '',
    'type',
    'no output was found that satisfies the whole schema; loosen the keywords that work against each other',
  )
  const whole = helper({ type: 'object' }, '')
  const maker = checked(compiler.compile([whole, root], 0), validatorOfSchema(schema), otherwise)
  return (chance) => {
    const output = maker.make(chance)
    return isObject(output) ? output : {}
  }
})
