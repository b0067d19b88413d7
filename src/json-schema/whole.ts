import { createRequire } from 'node:module'
import type { Ajv2020, ErrorObject } from 'ajv/dist/2020.js'
import { type Issue, isObject, type Json, type JsonObject, pointer } from '../core/json.ts'
import { withMatchTime } from '../core/regex.ts'
import { newAjv } from './ajv.ts'
import { compilePattern } from './pattern.ts'
import { ONE_SCHEMA, VERSION } from './schema.ts'

/** JSON values in one schema, the levels of its nesting, and milliseconds for all patterns in one check. */
const MAX_VALUES = 10_000
const MAX_LEVELS = 100
const MAX_MATCH_MS = 1_000

const SCHEMA_LISTS = ['allOf', 'anyOf', 'oneOf', 'prefixItems']
const SCHEMA_MAPS = ['$defs', 'definitions', 'dependentSchemas', 'patternProperties', 'properties']

/**
 * Compiles any schema of draft 2020-12, also with the keywords that an `output_schema` may not have. Returns a function that
 * lists the problems of a value; it throws `RegexTimeout`, and `RangeError` for a value that is nested too deep. Throws an
 * error for a schema that is invalid, too large, endless or that refers to something outside of it.
 */
export function compileWhole(schema: JsonObject): (value: Json) => Issue[] {
  const [problem] = schemaProblems(schema)
  if (problem !== undefined) throw new Error(`${problem.pointer} ${problem.detail}`.trimStart())
  // `nullable` and `$async` are no keywords of JSON Schema, but ajv obeys them.
  const plain = mapSchemas(schema, ({ nullable: _, $async: __, ...keywords }) => keywords)
  const validate = compiled(plain)
  const check = (value: Json): Issue[] => withMatchTime(MAX_MATCH_MS, () => issuesOf(validate, value))
  try {
    for (const sample of [null, true, 0, '', [], {}]) check(sample)
  } catch (error) {
    if (error instanceof RangeError) throw new Error('a $ref leads back to itself without an end')
    throw error
  }
  return check
}

/** Why a value is not a JSON Schema that can be used, with pointers into it. */
function schemaProblems(schema: JsonObject): Issue[] {
  const outOfBounds = boundsProblem(schema, MAX_VALUES)
  if (outOfBounds !== undefined) return [outOfBounds]
  const { $schema = VERSION } = schema
  if (String($schema).replace(/#$/, '') !== VERSION)
    return [{ pointer: '/$schema', detail: `must be ${VERSION}, the only supported version, or left out` }]
  const ajv = metaSchema()
  ajv.validate(VERSION, schema)
  return (ajv.errors ?? []).map(issueOf)
}

let metaAjv: Ajv2020 | undefined

function metaSchema(): Ajv2020 {
  if (metaAjv !== undefined) return metaAjv
  const { Ajv2020: Ajv } = createRequire(import.meta.url)(
    'ajv/dist/2020.js',
  ) as typeof import('ajv/dist/2020.js')
  metaAjv = new Ajv({ strict: false, logger: false })
  // The meta-schema has this format at exactly the places of patterns.
  return metaAjv.addFormat('regex', (source) => typeof compilePattern(source) !== 'string')
}

// Ajv finds the root only when it is added. The code of a schema that is referred to often would be repeated at each place.
const REFERRING = { addUsedSchema: true, inlineRefs: false }

function compiled(schema: Json) {
  try {
    return newAjv(REFERRING).compile<Json>(schema as JsonObject)
  } catch (error) {
    const { missingRef, message } = error as Error & { readonly missingRef?: string }
    if (missingRef === undefined) throw new Error(`cannot be compiled: ${message}`)
    throw new Error(
      `$ref "${missingRef}" has no target in the schema; a $ref may point inside the same schema only`,
    )
  }
}

function issuesOf(validate: ReturnType<typeof compiled>, value: Json): Issue[] {
  if (validate(value)) return []
  // An `if` is no requirement of its own: the errors of its `then` or `else` are listed too.
  return (validate.errors ?? []).filter(({ keyword }) => keyword !== 'if').map(issueOf)
}

function issueOf({
  instancePath,
  keyword,
  params,
  propertyName,
  data,
  message = 'is not allowed',
}: ErrorObject): Issue {
  const { missingProperty, additionalProperty, unevaluatedProperty } = params
  const unknown: unknown = additionalProperty ?? unevaluatedProperty
  const name: unknown = missingProperty ?? unknown ?? propertyName ?? params.propertyName
  const detail = () => {
    if (missingProperty !== undefined) return 'is required'
    if (unknown !== undefined) return 'is not a known field'
    if (keyword === 'false schema') return 'is not allowed'
    if (params.format === 'regex')
      return `must be a pattern that can be used: ${compilePattern(String(data ?? propertyName))}`
    return message
  }
  return { pointer: instancePath + (typeof name === 'string' ? pointer(name) : ''), detail: detail() }
}

/** A copy of a schema in which it, and each schema inside it, is replaced by the result of a function. */
export function mapSchemas(schema: Json, change: (schema: JsonObject) => JsonObject): Json {
  if (!isObject(schema)) return schema
  const inner = (each: Json) => mapSchemas(each, change)
  const fields = Object.entries(change(schema)).map(([keyword, value]) => {
    if (keyword === 'not' || ONE_SCHEMA.includes(keyword)) return [keyword, inner(value)]
    if (SCHEMA_LISTS.includes(keyword) && Array.isArray(value)) return [keyword, value.map(inner)]
    if (!SCHEMA_MAPS.includes(keyword) || !isObject(value)) return [keyword, value]
    return [keyword, Object.fromEntries(Object.entries(value).map(([name, each]) => [name, inner(each)]))]
  })
  return Object.fromEntries(fields)
}

/** The first reason why a value is not plain JSON of at most `most` values and 100 levels; undefined for one that is. */
export function boundsProblem(root: unknown, most: number): Issue | undefined {
  const pending: { readonly value: unknown; readonly path: readonly string[] }[] = [{ value: root, path: [] }]
  let count = 0
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { value, path } = next
    count += 1
    const problem =
      count > most ? `has more than ${most} values` : path.length > MAX_LEVELS ? TOO_DEEP : kindProblem(value)
    if (problem !== undefined) return { pointer: pointer(...path.slice(0, 3)), detail: problem }
    if (typeof value === 'object' && value !== null)
      for (const [key, member] of Object.entries(value)) pending.push({ value: member, path: [...path, key] })
  }
  return undefined
}

const TOO_DEEP = `is nested more than ${MAX_LEVELS} levels deep, or contains itself`

function kindProblem(value: unknown): string | undefined {
  if (value === null || typeof value === 'string' || typeof value === 'boolean' || Array.isArray(value))
    return undefined
  if (typeof value === 'number')
    return Number.isFinite(value) ? undefined : `is ${value}, which JSON cannot represent`
  if (typeof value !== 'object') return `is of the type ${typeof value}, which JSON cannot represent`
  const parent: unknown = Object.getPrototypeOf(value)
  const isPlain = parent === null || Object.getPrototypeOf(parent) === null
  return isPlain ? undefined : 'is an object of a class, which JSON cannot represent'
}
