import { type Issue, isObject, type Json, type JsonObject, pointer } from '../core/json.ts'
import { hasType, own } from './keywords.ts'
import { MAX_WEIGHT } from './maker.ts'
import { MAX_MEMBERS } from './objects.ts'
import { MAX_GENERATED_ITEMS } from './places.ts'

/** What one schema, looked at alone, asks for and cannot get. Schemas inside it are not looked into. */
export function contradictions(schema: JsonObject, at: string): Issue[] {
  return [
    ...ofValues(schema, at),
    ...ofPairs(schema, at),
    ...ofNumbers(schema, at),
    ...ofRequired(schema, at),
    ...tooLarge(schema, at),
  ]
}

function ofValues(schema: JsonObject, at: string): Issue[] {
  const issues: Issue[] = []
  const { type, const: value, enum: values } = schema
  const typed = typeof type === 'string' || Array.isArray(type)
  if (value !== undefined && typed && !hasType(value, type))
    issues.push(
      issue(at, 'const', `is not of the type that the schema asks for, ${said(type)}; change one of the two`),
    )
  if (!Array.isArray(values)) return issues
  if (values.length === 0)
    issues.push(issue(at, 'enum', 'lists no value, so none is allowed; add one or leave enum out'))
  else if (typed && !values.some((entry) => hasType(entry, type)))
    issues.push(
      issue(
        at,
        'enum',
        `lists no value of the type that the schema asks for, ${said(type)}; change one of the two`,
      ),
    )
  return issues
}

const PAIRS = [
  { type: 'string', lower: 'minLength', upper: 'maxLength' },
  { type: 'array', lower: 'minItems', upper: 'maxItems' },
  { type: 'array', lower: 'minContains', upper: 'maxContains', only: 'contains' },
  { type: 'array', lower: 'minContains', upper: 'maxItems', only: 'contains' },
  { type: 'object', lower: 'minProperties', upper: 'maxProperties' },
] as const

function ofPairs(schema: JsonObject, at: string): Issue[] {
  return PAIRS.flatMap((pair) => {
    if (!isOnly(schema, [pair.type]) || ('only' in pair && schema[pair.only] === undefined)) return []
    const lower = schema[pair.lower] ?? ('only' in pair ? 1 : undefined)
    if (!isAbove(lower, schema[pair.upper])) return []
    return [schema[pair.lower] === undefined ? implied(at, pair.upper) : crossed(at, pair.lower, pair.upper)]
  })
}

function ofNumbers(schema: JsonObject, at: string): Issue[] {
  if (!isOnly(schema, ['number', 'integer'])) return []
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum } = schema
  const issues: Issue[] = []
  if (isAbove(minimum, maximum)) issues.push(crossed(at, 'minimum', 'maximum'))
  if (isAtLeast(exclusiveMinimum, maximum)) issues.push(crossed(at, 'exclusiveMinimum', 'maximum'))
  if (isAtLeast(minimum, exclusiveMaximum)) issues.push(crossed(at, 'minimum', 'exclusiveMaximum'))
  if (isAtLeast(exclusiveMinimum, exclusiveMaximum))
    issues.push(crossed(at, 'exclusiveMinimum', 'exclusiveMaximum'))
  return issues
}

function ofRequired(schema: JsonObject, at: string): Issue[] {
  const { required, maxProperties, properties, additionalProperties } = schema
  if (!Array.isArray(required) || !isOnly(schema, ['object'])) return []
  const issues: Issue[] = []
  if (isAbove(required.length, maxProperties))
    issues.push(
      issue(at, 'required', 'names more properties than maxProperties allows; raise it or require fewer'),
    )
  for (const [index, name] of required.entries()) {
    if (typeof name !== 'string') continue
    const declared = own(properties, name)
    if (declared === false)
      issues.push(
        issue(
          at,
          'required',
          `names "${name}", whose schema is false; give it another or do not require it`,
          index,
        ),
      )
    if (declared === undefined && additionalProperties === false)
      issues.push(
        issue(
          at,
          'required',
          `names "${name}", which properties does not list and additionalProperties forbids; list it`,
          index,
        ),
      )
  }
  return issues
}

const LIMITS = [
  ['minLength', MAX_WEIGHT],
  ['minItems', MAX_GENERATED_ITEMS],
  ['minContains', MAX_GENERATED_ITEMS],
  ['minProperties', MAX_MEMBERS],
] as const

function tooLarge(schema: JsonObject, at: string): Issue[] {
  return LIMITS.flatMap(([keyword, most]) =>
    isAbove(schema[keyword], most)
      ? [issue(at, keyword, `asks for outputs that are too large to make; ${keyword} can be ${most} at most`)]
      : [],
  )
}

function isOnly(schema: JsonObject, types: readonly string[]): boolean {
  const { type } = schema
  const named = Array.isArray(type) ? type : [type]
  return named.length > 0 && named.every((name) => typeof name === 'string' && types.includes(name))
}

function isAbove(lower: Json | undefined, upper: Json | undefined): boolean {
  return typeof lower === 'number' && typeof upper === 'number' && lower > upper
}

function isAtLeast(lower: Json | undefined, upper: Json | undefined): boolean {
  return typeof lower === 'number' && typeof upper === 'number' && lower >= upper
}

function crossed(at: string, lower: string, upper: string): Issue {
  return issue(at, lower, `leaves no value below ${upper}; lower ${lower} or raise ${upper}`)
}

function implied(at: string, upper: string): Issue {
  return issue(
    at,
    upper,
    'leaves no room for the one item that contains asks for; raise it or set minContains to 0',
  )
}

function said(type: Json): string {
  return isObject(type) ? 'an object' : JSON.stringify(type)
}

function issue(at: string, keyword: string, why: string, index?: number): Issue {
  const place = index === undefined ? pointer(keyword) : pointer(keyword, index)
  return { pointer: at + place, detail: `${keyword} ${why}` }
}
