// biome-ignore-all lint/suspicious/noThenProperty: `then` is a keyword of JSON Schema here, and nothing awaits it

import { expect, test } from 'vitest'
import { wildSchema } from '../../test/fuzz/random-schemas.ts'
import { judge } from '../../test/support/judge.ts'
import {
  list,
  NOW,
  object,
  outputOf,
  required,
  seeded,
  text,
  values,
} from '../../test/support/output-schemas.ts'
import type { Json, JsonObject } from '../core/json.ts'
import { Chance } from '../core/random.ts'
import { schemaIssues } from './check.ts'
import { Outputs, outputsOf } from './outputs.ts'

const TEXT = { type: 'string' }
const DATE = { type: 'string', format: 'date' }
const string = (keywords: JsonObject) => required({ type: 'string', ...keywords })
const pattern = (source: string, more: JsonObject = {}) => string({ pattern: source, ...more })
const array = (keywords: JsonObject) => required({ type: 'array', ...keywords })

const properties = (count: number, of: (n: number) => Json) =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`p${n}`, of(n)]))
const names = (count: number) => Object.keys(properties(count, () => true))

const fields = (count: number, of: Json) => ({
  ...object(properties(count, () => of)),
  required: names(count),
})

const nested = (levels: number, width: number): JsonObject =>
  levels === 0 ? TEXT : fields(width, nested(levels - 1, width))

const conditions = (levels: number): JsonObject =>
  levels === 0
    ? {}
    : {
        if: { properties: { [`k${levels}`]: { const: 'x' } }, required: [`k${levels}`] },
        then: { required: [`b${levels}`], ...conditions(levels - 1) },
        else: { required: [`c${levels}`], ...conditions(levels - 1) },
      }

const AHEAD = '^(?=.*(?=.*(?=.*(?=.*z))))'
const NEVER = { ...TEXT, minLength: 3, maxLength: 2 }
const BOTH = { required: ['a', 'b'] }
const NODE = { name: TEXT, children: { type: 'array', items: { $dynamicRef: '#node' } } }
const P0_NEEDS = { dependentRequired: { p0: names(10_000) } }
const PROTO_NEEDS =
  '{"type":"object","required":["__proto__"],"dependentRequired":{"__proto__":["a"]},"dependencies":{"a":["b"]}}'

/** Inputs that once took seconds or longer, never ended, or were refused although they are valid; each with the right outcome. */
const EXAMPLES: readonly (readonly [what: string, schema: JsonObject, becomes: 'made' | RegExp])[] = [
  ['look-behinds', array({ items: { ...TEXT, pattern: '(?<=x)y', maxLength: 3 }, minItems: 7 }), 'made'],
  ['40 optional characters', pattern(`^${'a?'.repeat(40)}b$`, { enum: ['a'.repeat(40)] }), /^enum /],
  ['counted repeats', pattern(`^${'a{0,16}'.repeat(8)}b$`, { enum: ['a'.repeat(128)] }), /^enum /],
  ['nested look-aheads over a long text', pattern(AHEAD, { minLength: 300, maxLength: 300 }), 'made'],
  ['conditions nested six deep', { type: 'object', ...conditions(6) }, 'made'],
  ['nested look-aheads that fail', pattern(AHEAD, { enum: ['a'.repeat(300)] }), /took more than 50 ms /],
  ['four levels of five required properties', nested(4, 5), 'made'],
  ['250 levels of one required property', nested(250, 1), 'made'],
  ['15,000 integers', array({ items: { type: 'integer' }, minItems: 15_000, uniqueItems: true }), 'made'],
  ['look-behind', pattern('(?<=a)b'), 'made'],
  ['a negative look-behind', pattern('^(?<!x)abc(?<=c)$'), 'made'],
  ['a reference back', pattern('^(a|b)\\1$'), 'made'],
  ['a reference back by name', pattern('^(?<q>["\'])[a-z]+\\k<q>$'), 'made'],
  ['a group that repeats a thousand times', pattern('^(a|b|c){1000}$'), 'made'],
  ['an optional property that contradicts itself', object({ a: NEVER, b: { type: 'integer' } }), 'made'],
  ['an email address as long as one can be', string({ format: 'email', minLength: 318 }), 'made'],
  ['an email address that is longer', string({ format: 'email', minLength: 319 }), /^format /],
  ['a required property that contradicts itself', required(NEVER), /^minLength /],
  ['properties that exclude each other', { ...object({}, BOTH), maxProperties: 1 }, /^maxProperties /],
  ['a text of a million characters', string({ minLength: 1_000_000 }), 'made'],
  ['a schema that refers to itself', { ...object(NODE), $dynamicAnchor: 'node', required: ['name'] }, 'made'],
  ['a reference to nowhere', required({ $dynamicRef: '#nowhere' }), /^\$dynamicRef refers to no schema/],
  ['a thousand properties', { ...fields(1_000, TEXT), required: [], additionalProperties: false }, 'made'],
  ['a thousand different enums', object(properties(1_000, (n) => ({ enum: [n, 'other'] }))), 'made'],
  ['10,000 properties that one property requires', { ...required(true, 'p0'), ...P0_NEEDS }, 'made'],
  ['a property named __proto__ that requires another one', JSON.parse(PROTO_NEEDS), 'made'],
  ['4,000 groups', pattern('('.repeat(4_000) + ')'.repeat(4_000)), /^pattern nests .* more than 200 /],
  ['six levels of six required properties', nested(6, 6), /it is too large/],
  ['100,000 required names', object({}, { required: names(100_000) }), /^required names more than 20000/],
  ['a long pattern', pattern(`^(${'ab|'.repeat(3_000)}c)*$`, { minLength: 9_000 }), /more than 20000 values/],
]

test.for(EXAMPLES)('an output or a reason: %s', { tags: ['R100', 'R200', 'U079'] }, ([, schema, becomes]) => {
  expect(schemaIssues(schema, '')).toEqual([])
  const outputs = new Outputs(schema)
  const reason = outputs.unsatisfiable
  const value = outputOf(outputs, seeded(1))
  if (becomes === 'made') {
    expect(reason).toBeUndefined()
    expect(outputs.issues(value ?? null)).toEqual([])
  } else {
    expect(reason?.detail).toMatch(becomes)
    expect(value).toBeUndefined()
  }
})

test.for<[what: string, count: number, schema: JsonObject]>([
  ['400 rows of 20 scalar fields', 400, list(400, fields(20, { type: ['string', 'number', 'boolean'] }))],
  ['10,000 integers', 10_000, list(10_000, { type: 'integer' })],
  ['5,000 objects of one field', 5_000, list(5_000, fields(1, { type: 'string' }))],
  ['19,000 integers', 19_000, list(19_000, { type: 'integer' })],
  ['2,000 rows of an enum and a date', 2_000, list(2_000, object({ kind: { enum: ['a', 'b'] }, day: DATE }))],
])('a large plain schema has outputs: %s', { tags: ['R100'] }, ([, count, schema]) => {
  const outputs = new Outputs(schema)
  expect(outputs.unsatisfiable).toBeUndefined()
  const valid = judge(schema)
  const [one, other] = [1, 2].map((seed) => outputOf(outputs, new Chance(seed)))
  for (const value of [one, other]) {
    expect(value?.a).toHaveLength(count)
    expect(valid(value ?? null)).toBe(true)
  }
  expect(one).not.toEqual(other)
})

test.each([
  ['a property that may be missing', { $dynamicRef: '#nowhere' }, '/properties/a/$dynamicRef'],
  ['another document', { items: { $dynamicRef: 'other.json#x' } }, '/properties/a/items/$dynamicRef'],
])('a reference without a target is named, in %s', (_, a, pointer) => {
  const outputs = new Outputs(object({ a }))
  const detail = expect.stringMatching(/^\$dynamicRef refers to no schema of this document/)
  expect(outputs.unsatisfiable).toMatchObject({ pointer, detail })
  const unchecked = expect.stringMatching(/cannot be checked .*\$dynamicRef refers to no schema/)
  expect(outputs.issues({ a: 1 })).toEqual([{ pointer: '', detail: unchecked }])
})

test('a pattern that takes too long for a given output is an issue, not a wait', { tags: ['R100'] }, () => {
  const issues = new Outputs(pattern('^(a|a)*\\1b$')).issues({ a: 'a'.repeat(60) })
  const detail = expect.stringContaining('the pattern took more than 50 ms for one text')
  expect(issues).toEqual([{ pointer: '', detail }])
})

test('the value of an item does not depend on earlier items', { tags: ['R100'] }, () => {
  // Conditions in lists: the first item that needs much of the work does it, and its results are kept.
  for (let n = 0; n < 30; n++) {
    const schema = array({ minItems: 3, items: wildSchema(new Chance(5, n)) })
    const [forward, backward] = [new Outputs(schema), new Outputs(schema)]
    if (forward.unsatisfiable !== undefined) continue
    const items = [0, 1, 2, 3, 4, 5]
    const make = (outputs: Outputs) => (item: number) => outputOf(outputs, new Chance(7, item))
    const made = items.map(make(forward))
    expect(items.toReversed().map(make(backward)).toReversed(), text(schema)).toEqual(made)
    expect(items.map(make(forward))).toEqual(made)
  }
})

test('the text of an item depends on the day, not on other items', { tags: ['R100'] }, () => {
  const line = object({ description: { type: 'string' }, amount: { type: 'number' } })
  const schema = object({
    ...{ invoice_number: TEXT, vendor_name: TEXT, total: { type: 'number' } },
    ...{ due_date: DATE, lines: { type: 'array', items: line }, buyer: line },
    code: { type: 'string', pattern: '^[A-Z]{2}-[0-9]{6}$' },
    kind: { enum: ['a"b', 'é', { c: [1] }, null] },
    hard: { type: 'array', items: { type: 'integer' }, contains: { enum: [777_777] }, maxItems: 2 },
  })
  const valid = judge(schema)
  const [forward, backward] = [new Outputs(schema), new Outputs(schema)]
  const items = Array.from({ length: 200 }, (_, n) => n)
  const textOf = (outputs: Outputs, now: number) => (item: number) => outputs.text(new Chance(7, item), now)
  const made = items.map(textOf(forward, NOW))
  const tomorrow = items.map(textOf(forward, NOW + 86_400_000))
  expect(tomorrow).not.toEqual(made)
  expect(items.toReversed().map(textOf(backward, NOW)).toReversed()).toEqual(made)
  expect(items.map(textOf(forward, NOW))).toEqual(made)
  for (const each of [...made, ...tomorrow]) {
    const value = JSON.parse(each ?? '') as JsonObject
    expect(valid(value), each).toBe(true)
    expect(JSON.stringify(value)).toBe(each)
  }
  const different = (name: string) => new Set(made.map((each) => JSON.parse(each ?? '')[name])).size
  expect(different('invoice_number')).toBeGreaterThan(195)
  expect(different('code')).toBeGreaterThan(195)
})

test('an item for which no separate value is found gets the kept value', { tags: ['R100'] }, () => {
  // One of a million numbers is right; a random one almost never is.
  const number = { type: 'integer', minimum: 0, maximum: 1e6 }
  const schema = array({ prefixItems: [number], contains: { enum: [777_777] }, maxItems: 1 })
  const valid = judge(schema)
  for (let seed = 0; seed < 20; seed++)
    expect(valid(outputOf(outputsOf(schema), seeded(seed)) ?? null)).toBe(true)
})

const cents = { type: 'number', multipleOf: 0.01, minimum: 5, maximum: 6 }

test.for<[name: string, schema: JsonObject, fits: (value: unknown) => boolean]>([
  ['vendor_name', TEXT, (value) => /^\p{Lu}/u.test(String(value))],
  ['iban', TEXT, (value) => /^[A-Z]{2}\d{2}/.test(String(value))],
  ['currency', TEXT, (value) => /^[A-Z]{3}$/.test(String(value))],
  ['email', TEXT, (value) => /@example\.(com|net|org)$/.test(String(value))],
  ['invoice_date', DATE, (value) => Date.parse(String(value)) <= NOW],
  ['dueDate', TEXT, (value) => Date.parse(String(value)) > NOW],
  ['total', { type: 'number' }, (value) => Number(value) >= 50],
  ['quantity', { type: 'integer' }, (value) => Number(value) <= 40],
  ['unit_price', cents, (value) => Number(value) >= 5 && Number(value) <= 6],
])('a value fits the name of its property: %s', { tags: ['R100'] }, ([name, schema, fits]) => {
  const outputs = outputsOf(required(schema, name))
  const made = Array.from({ length: 30 }, (_, seed) => outputOf(outputs, new Chance(seed))?.[name])
  expect(made.filter((value) => !fits(value))).toEqual([])
})

// 18.9 / 0.1 is not whole, and 18.900000000000002 is no multiple of 0.1 in decimal digits.
test('multiples with decimals are those that every validator accepts', { tags: ['R100'] }, () => {
  const schema = required({ exclusiveMinimum: 18, exclusiveMaximum: 19, multipleOf: 0.1 })
  const valid = judge(schema)
  const outputs = outputsOf(schema)
  for (let seed = 0; seed < 100; seed++) {
    const made = outputOf(outputs, new Chance(seed))
    expect(valid(made ?? null), JSON.stringify(made)).toBe(true)
  }
})

test.for([
  { contains: false },
  { contains: true, maxContains: 0 },
  { minimum: 5, maximum: 1 },
  { minLength: 3, maxLength: 1 },
  { required: ['a'], properties: { a: false } },
])('a property %o without type has values of the types that its keywords do not apply to', (schema) => {
  expect(values(schema as Json).length).toBe(20)
})
