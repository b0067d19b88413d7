import { type Issue, isObject, type Json, type JsonObject, pointer } from '../core/json.ts'
import { patternProblem } from './pattern.ts'
import { isSchema, subschemas, TYPE_NAMES, VERSION } from './schema.ts'

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

const when =
  (fits: (value: Json) => boolean) =>
  (value: Json): readonly [] | undefined =>
    fits(value) ? undefined : []

const eachOf =
  (fits: (value: Json) => boolean) =>
  (map: Json): readonly PropertyKey[] | undefined => {
    if (!isObject(map)) return []
    const name = Object.keys(map).find((key) => !fits(map[key] ?? null))
    return name === undefined ? undefined : [name]
  }

const isText = (value: Json): boolean => typeof value === 'string'
const isNames = (value: Json): boolean =>
  Array.isArray(value) && value.every(isText) && new Set(value).size === value.length
const isMatch = (expression: RegExp) => (value: Json) => typeof value === 'string' && expression.test(value)

const SCHEMA: Rule = ['has to be a schema: an object of keywords, true or false', when(isSchema)]
const NUMBER: Rule = ['has to be a number', when((value) => typeof value === 'number')]
const COUNT: Rule = [
  'has to be a whole number, 0 or more',
  when((value) => Number.isInteger(value) && Number(value) >= 0),
]
const TEXT: Rule = ['has to be a string', when(isText)]
const FLAG: Rule = ['has to be true or false', when((value) => typeof value === 'boolean')]
const LIST: Rule = ['has to be a list of values', when(Array.isArray)]
const SCHEMA_MAP: Rule = ['has to map each name to a schema', eachOf(isSchema)]
const ANCHOR: Rule = ['has to be a plain name', when(isMatch(/^[A-Za-z_][-A-Za-z0-9._]*$/))]

const listOf =
  (fits: (value: Json) => boolean) =>
  (value: Json): readonly PropertyKey[] | undefined => {
    if (!Array.isArray(value) || value.length === 0) return []
    const index = value.findIndex((each) => !fits(each))
    return index === -1 ? undefined : [index]
  }

const isType = (value: Json): boolean => TYPE_NAMES.includes(value)

function wrongType(value: Json): readonly PropertyKey[] | undefined {
  if (!Array.isArray(value)) return isType(value) ? undefined : []
  return new Set(value).size < value.length ? [] : listOf(isType)(value)
}

const all = (rule: Rule, keywords: string): [string, Rule][] =>
  keywords.split(' ').map((each) => [each, rule])

/** The meta-schema of 2020-12 as a table, so that a large schema is checked in one fast pass. A test compares the two. */
const RULES: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  ...all(ANCHOR, '$anchor $dynamicAnchor $recursiveAnchor'),
  ...all(COUNT, 'maxContains maxItems maxLength maxProperties minContains minItems minLength minProperties'),
  ...all(FLAG, 'deprecated readOnly uniqueItems writeOnly'),
  ...all(LIST, 'enum examples'),
  ...all(NUMBER, 'exclusiveMaximum exclusiveMinimum maximum minimum'),
  ...all(SCHEMA, 'additionalProperties contains contentSchema else if propertyNames then'),
  ...all(SCHEMA, 'unevaluatedItems unevaluatedProperties'),
  ...all(SCHEMA_MAP, 'definitions dependentSchemas properties'),
  ...all(
    TEXT,
    '$comment $dynamicRef $recursiveRef contentEncoding contentMediaType description format pattern title',
  ),
  ['$id', ['has to be a URI without a fragment', when(isMatch(/^[^#]*#?$/))]],
  ['$vocabulary', ['has to map each URI to true or false', eachOf((value) => typeof value === 'boolean')]],
  [
    'dependencies',
    [
      'has to map each name to a schema or a list of distinct property names',
      eachOf((value) => isSchema(value) || isNames(value)),
    ],
  ],
  ['dependentRequired', ['has to map each name to a list of distinct property names', eachOf(isNames)]],
  ['items', [`${SCHEMA[0]}; put schemas of single positions into prefixItems`, SCHEMA[1]]],
  [
    'multipleOf',
    ['has to be a number greater than 0', when((value) => typeof value === 'number' && value > 0)],
  ],
  ['prefixItems', ['has to be a list of at least one schema', listOf(isSchema)]],
  ['required', ['has to be a list of distinct property names', when(isNames)]],
  ['type', ['has to be the name of a type or a list of distinct type names', wrongType]],
])

/**
 * All reasons why a schema is not a valid `output_schema` (Limits, Batch predictions): it is not valid JSON Schema 2020-12,
 * its root is not an object, or a schema in it has a keyword that the service does not support. Pointers start with `at`.
 * It does not check whether a value exists that satisfies the schema.
 */
export function schemaIssues(schema: unknown, at: string): Issue[] {
  if (!isObject(schema))
    return [{ pointer: at, detail: 'output_schema has to be a JSON Schema object with "type": "object"' }]
  if (isTooDeep(schema))
    return [
      { pointer: at, detail: `output_schema is nested more than ${MAX_LEVELS} levels deep; flatten it` },
    ]
  const issues = [...rootIssues(schema, at), ...inexactNumbers(schema, at)]
  const pending = [{ schema, at }]
  for (let next = pending.pop(); next !== undefined && issues.length < MAX_ISSUES; next = pending.pop()) {
    const isRoot = next.at === at
    for (const issue of keywordIssues(next.schema, next.at))
      if (!isRoot || !issue.pointer.startsWith(`${at}/type`)) issues.push(issue)
    const inner = subschemas(next.schema, next.at).reverse()
    for (const each of inner) if (isObject(each.schema)) pending.push({ schema: each.schema, at: each.at })
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

function rootIssues({ $schema, type }: JsonObject, at: string): Issue[] {
  const issues: Issue[] = []
  if (type !== 'object')
    issues.push({
      pointer: `${at}/type`,
      detail: 'type has to be exactly "object" at the root of an output schema',
    })
  if ($schema !== undefined && $schema !== VERSION && $schema !== `${VERSION}#`)
    issues.push({
      pointer: `${at}/$schema`,
      detail: `$schema has to be ${VERSION}, the only supported version of JSON Schema, or left out`,
    })
  return issues
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

function* keywordIssues(schema: JsonObject, at: string): Generator<Issue> {
  for (const [keyword, value] of Object.entries(schema)) {
    const fix = UNSUPPORTED.get(keyword)
    if (fix !== undefined)
      yield {
        pointer: at + pointer(keyword),
        detail: `${keyword} is not supported in an output schema; ${fix}`,
      }
    const [expected, wrong] = RULES.get(keyword) ?? []
    const place = wrong?.(value)
    if (place !== undefined)
      yield { pointer: at + pointer(keyword, ...place), detail: `${keyword} ${expected}` }
    else if (keyword === 'pattern') {
      const problem = patternProblem(String(value))
      if (problem !== undefined)
        yield {
          pointer: `${at}/pattern`,
          detail: `pattern ${problem}`,
        }
    }
  }
}
