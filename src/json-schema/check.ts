import { type Issue, isObject, type Json, type JsonObject, pointer } from '../core/json.ts'
import { patternProblem } from './pattern.ts'
import { type Clause, isSchema, ONE_SCHEMA, subschemas, TYPE_NAMES, VERSION } from './schema.ts'

/** The keywords that the service does not support (Limits, Batch predictions), each with the fix. */
export const UNSUPPORTED: ReadonlyMap<string, string> = new Map([
  ['$defs', 'write each definition out where it is used'],
  ['$ref', 'write the schema that it refers to out in its place'],
  ['allOf', 'merge the schemas into one'],
  ['anyOf', 'use one schema, for instance with a list of types, an enum or optional properties'],
  ['not', 'describe the allowed values instead'],
  ['oneOf', 'use one schema, for instance with a list of types, an enum or optional properties'],
  ['patternProperties', 'list the names under properties, or describe them with propertyNames'],
])

/** Levels of nested containers, including the outermost one. */
const MAX_LEVELS = 512
const MAX_ISSUES = 1_000
const MAX_INTEGER = Number.MAX_SAFE_INTEGER

/** A text for the valid values of a keyword, and a function that returns the path of the first invalid value, or undefined. */
type Rule = readonly [expected: string, wrong: (value: Json) => readonly PropertyKey[] | undefined]
type Test = (value: Json) => boolean

function when(fits: Test): Rule[1] {
  return (value) => (fits(value) ? undefined : [])
}

/** Of a list or an object that fits as such, the first member that does not fit. */
function eachOf(fits: Test, isWhole: Test): Rule[1] {
  return (value) => {
    if (!isWhole(value)) return []
    const members = Object(value)
    const wrong = Object.keys(members).find((key) => !fits(members[key]))
    return wrong === undefined ? undefined : [wrong]
  }
}

const isText: Test = (value) => typeof value === 'string'
const isFlag: Test = (value) => typeof value === 'boolean'
const isNumber: Test = (value) => typeof value === 'number'
const isType: Test = (value) => TYPE_NAMES.includes(value)
const isDistinct: Test = (value) => Array.isArray(value) && new Set(value).size === value.length
const isNames: Test = (value) => Array.isArray(value) && isDistinct(value) && value.every(isText)
const isFilled: Test = (value) => Array.isArray(value) && value.length > 0
function isMatch(expression: RegExp): Test {
  return (value) => typeof value === 'string' && expression.test(value)
}

const wrongType: Rule[1] = (value) =>
  Array.isArray(value)
    ? eachOf(isType, (types) => isFilled(types) && isDistinct(types))(value)
    : when(isType)(value)

const SCHEMA = 'has to be a schema: an object of keywords, true or false'

/** The meta-schema of 2020-12 as a table, so that a large schema is checked in one fast pass. A test compares the two. Later rows replace earlier ones. */
const TABLE: readonly (readonly [keywords: string, ...rule: Rule])[] = [
  [
    '$anchor $dynamicAnchor $recursiveAnchor',
    'has to be a plain name',
    when(isMatch(/^[A-Za-z_][-A-Za-z0-9._]*$/)),
  ],
  [
    'maxContains maxItems maxLength maxProperties minContains minItems minLength minProperties',
    'has to be a whole number, 0 or more',
    when((value) => Number.isInteger(value) && Number(value) >= 0),
  ],
  ['deprecated readOnly uniqueItems writeOnly', 'has to be true or false', when(isFlag)],
  ['enum examples', 'has to be a list of values', when(Array.isArray)],
  ['exclusiveMaximum exclusiveMinimum maximum minimum', 'has to be a number', when(isNumber)],
  [ONE_SCHEMA.join(' '), SCHEMA, when(isSchema)],
  ['items', `${SCHEMA}; put schemas of single positions into prefixItems`, when(isSchema)],
  ['definitions dependentSchemas properties', 'has to map each name to a schema', eachOf(isSchema, isObject)],
  ['$comment $dynamicRef $recursiveRef contentEncoding contentMediaType', 'has to be a string', when(isText)],
  ['description format pattern title', 'has to be a string', when(isText)],
  ['$id', 'has to be a URI without a fragment', when(isMatch(/^[^#]*#?$/))],
  ['$vocabulary', 'has to map each URI to true or false', eachOf(isFlag, isObject)],
  [
    'dependencies',
    'has to map each name to a schema or a list of distinct property names',
    eachOf((value) => isSchema(value) || isNames(value), isObject),
  ],
  [
    'dependentRequired',
    'has to map each name to a list of distinct property names',
    eachOf(isNames, isObject),
  ],
  ['multipleOf', 'has to be a number greater than 0', when((value) => isNumber(value) && Number(value) > 0)],
  ['prefixItems', 'has to be a list of at least one schema', eachOf(isSchema, isFilled)],
  ['required', 'has to be a list of distinct property names', when(isNames)],
  ['type', 'has to be the name of a type or a list of distinct type names', wrongType],
]

const RULES: ReadonlyMap<string, Rule> = new Map(
  TABLE.flatMap(([keywords, ...rule]) => keywords.split(' ').map((each) => [each, rule] as const)),
)

/**
 * All reasons why a schema is not a valid `output_schema` (Limits, Batch predictions): it is not valid JSON Schema 2020-12,
 * its root is not an object, or a schema in it has a keyword that the service does not support. Pointers start with `at`.
 * It does not check whether a value exists that satisfies the schema.
 */
export function schemaIssues(schema: unknown, at: string): Issue[] {
  const whole = (detail: string): Issue[] => [{ pointer: at, detail: `output_schema ${detail}` }]
  if (!isObject(schema)) return whole('has to be a JSON Schema object with "type": "object"')
  if (isTooDeep(schema)) return whole(`is nested more than ${MAX_LEVELS} levels deep; flatten it`)
  const issues = [...rootIssues(schema, at), ...inexactNumbers(schema, at)]
  const { type: _, ...others } = schema
  const pending: Clause[] = [{ schema: others, at }]
  for (let next = pending.pop(); next !== undefined && issues.length < MAX_ISSUES; next = pending.pop()) {
    for (const issue of keywordIssues(next)) issues.push(issue)
    for (const inner of subschemas(next.schema, next.at).reverse()) pending.push(inner)
  }
  return issues.slice(0, MAX_ISSUES)
}

/** Whether a JSON value nests its lists and objects in more levels. */
export function isTooDeep(value: object, levels = MAX_LEVELS): boolean {
  let level: object[] = [value]
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > levels) return true
    level = level.flatMap((each) =>
      Object.values(each).filter((value) => typeof value === 'object' && value !== null),
    )
  }
  return false
}

const ROOT: readonly (readonly [keyword: string, values: readonly unknown[], expected: string])[] = [
  ['type', ['object'], 'has to be exactly "object" at the root of an output schema'],
  [
    '$schema',
    [VERSION, `${VERSION}#`, undefined],
    `has to be ${VERSION}, the only supported version of JSON Schema, or left out`,
  ],
]

function rootIssues(schema: JsonObject, at: string): Issue[] {
  const wrong = ROOT.filter(([keyword, values]) => !values.includes(schema[keyword]))
  return wrong.map(([keyword, , why]) => ({ pointer: `${at}/${keyword}`, detail: `${keyword} ${why}` }))
}

/** Numbers that JSON readers do not agree on, since a double keeps only integers up to 2^53 - 1 apart. */
function* inexactNumbers(value: Json, at: string): Generator<Issue> {
  if (typeof value === 'number') {
    const isInexact = Number.isInteger(value) && !Number.isSafeInteger(value) && !String(value).includes('e')
    if (isInexact || !Number.isFinite(value))
      yield {
        pointer: at,
        detail: `is a number that readers of JSON round: integers must be from ${-MAX_INTEGER} to ${MAX_INTEGER}, other numbers less than 1.8e308; use a string for longer ones`,
      }
  } else if (typeof value === 'object' && value !== null)
    for (const [key, inner] of Object.entries(value)) yield* inexactNumbers(inner, at + pointer(key))
}

function* keywordIssues({ schema, at }: Clause): Generator<Issue> {
  for (const [keyword, value] of Object.entries(schema)) {
    const issue = (detail: string, ...place: readonly PropertyKey[]): Issue => ({
      pointer: at + pointer(keyword, ...place),
      detail: `${keyword} ${detail}`,
    })
    const fix = UNSUPPORTED.get(keyword)
    if (fix !== undefined) yield issue(`is not supported in an output schema; ${fix}`)
    const [expected = '', wrong] = RULES.get(keyword) ?? []
    const place = wrong?.(value)
    const problem = place === undefined && keyword === 'pattern' ? patternProblem(String(value)) : undefined
    if (place !== undefined) yield issue(expected, ...place)
    else if (problem !== undefined) yield issue(problem)
  }
}
