import { type Issue, type JsonObject, keysOf } from '../core/json.ts'
import { metaSchemaErrors } from './ajv.ts'
import { ONE_SCHEMA, SCHEMA_LISTS, SCHEMA_MAPS } from './keywords.ts'

/** The one dialect that is understood. */
export const DIALECT = 'https://json-schema.org/draft/2020-12/schema'

const SCHEMA = 'has to be a schema: an object of keywords, true or false'
const NUMBER = 'has to be a number'
const COUNT = 'has to be a whole number, 0 or more'
const TEXT = 'has to be a string'
const FLAG = 'has to be true or false'
const NAMES = 'has to be a list of distinct property names'

const EXPECTED: ReadonlyMap<string, string> = new Map([
  ...ONE_SCHEMA.map((keyword): [string, string] => [keyword, SCHEMA]),
  ...['maximum', 'minimum', 'exclusiveMaximum', 'exclusiveMinimum'].map((keyword): [string, string] => [
    keyword,
    NUMBER,
  ]),
  ...['maxContains', 'maxItems', 'maxLength', 'maxProperties'].map((keyword): [string, string] => [
    keyword,
    COUNT,
  ]),
  ...['minContains', 'minItems', 'minLength', 'minProperties'].map((keyword): [string, string] => [
    keyword,
    COUNT,
  ]),
  ...['$comment', 'contentEncoding', 'contentMediaType', 'description'].map((keyword): [string, string] => [
    keyword,
    TEXT,
  ]),
  ...['format', 'pattern', 'title'].map((keyword): [string, string] => [keyword, TEXT]),
  ...['deprecated', 'readOnly', 'uniqueItems', 'writeOnly'].map((keyword): [string, string] => [
    keyword,
    FLAG,
  ]),
  ['$anchor', 'has to be a plain name; it can be left out, since nothing refers to it'],
  ['$id', 'has to be a URI without a fragment; it can be left out, since nothing refers to it'],
  ['dependentRequired', 'has to map each name to a list of distinct property names'],
  ['dependentSchemas', 'has to map each name to a schema'],
  ['enum', 'has to be a list of values'],
  ['examples', 'has to be a list of values'],
  ['items', `${SCHEMA}; schemas for single places go into prefixItems`],
  ['multipleOf', 'has to be a number greater than 0'],
  ['prefixItems', 'has to be a list of at least one schema'],
  ['properties', 'has to map each name to a schema'],
  ['required', NAMES],
  [
    'type',
    'has to be one of "array", "boolean", "integer", "null", "number", "object" and "string", or a list of distinct ones',
  ],
])

/** Where a schema is not valid JSON Schema Draft 2020-12, and what belongs there: the innermost places only. */
export function dialectIssues(schema: JsonObject): Issue[] {
  const places = new Map(
    metaSchemaErrors(schema).map(({ instancePath, message }) => [instancePath, message ?? 'is not valid']),
  )
  const outer = new Set([...places.keys()].flatMap(placesAround))
  return [...places].flatMap(([place, message]) => (outer.has(place) ? [] : [describe(place, message)]))
}

/** The JSON Pointers of everything that a place lies in, outermost first. */
export function placesAround(place: string): string[] {
  const parts = place.split('/')
  return parts.slice(0, -1).map((_, index) => parts.slice(0, index + 1).join('/'))
}

function describe(place: string, message: string): Issue {
  const keyword = keywordAt(place)
  const expected = keyword === undefined ? SCHEMA : EXPECTED.get(keyword)
  const subject = keyword ?? 'this'
  return { pointer: place, detail: `${subject} ${expected ?? `${message} in JSON Schema Draft 2020-12`}` }
}

/** The keyword whose value a pointer leads to or into; `undefined` where it leads to a schema in a list or map. */
function keywordAt(place: string): string | undefined {
  let keyword: string | undefined
  for (const segment of keysOf(place)) {
    if (keyword === undefined || isOneOf(ONE_SCHEMA, keyword)) keyword = segment
    else if (isOneOf(SCHEMA_LISTS, keyword) || isOneOf(SCHEMA_MAPS, keyword)) keyword = undefined
  }
  return keyword
}

function isOneOf(keywords: readonly string[], keyword: string): boolean {
  return keywords.includes(keyword)
}
