import { Validator } from '@cfworker/json-schema'
import { expect, test } from 'vitest'
import type { Json, JsonObject } from '../core/json.ts'
import { compileWhole } from './whole.ts'

const loop = (keywords: JsonObject): JsonObject => ({ ...keywords, $defs: { a: { $ref: '#' } } })
const nested = (levels: number): JsonObject =>
  JSON.parse(`${'{"items":'.repeat(levels)}true${'}'.repeat(levels)}`)
const ONE_ID_TWICE = { a: { $id: 'x:a' }, b: { $id: 'x:a', type: 'null' } }
const cyclic: Record<string, unknown> = { type: 'object' }
cyclic.properties = { self: cyclic }

const loops = /a \$ref leads back to itself/
const leadsNowhere = /\$ref ".+" has no target inside the schema/
const isNoPattern = /the pattern has to be a regular expression/

test.for<[what: string, schema: unknown, message: RegExp]>([
  ['a $ref to itself', { $ref: '#' }, loops],
  ['a $ref that leads back', loop({ $ref: '#/$defs/a' }), loops],
  ['a $ref in allOf that leads back', loop({ allOf: [{ $ref: '#/$defs/a' }] }), loops],
  ['a $ref for texts alone that leads back', { if: { type: 'string' }, then: { $ref: '#' } }, loops],
  ['a $dynamicRef to itself', { $dynamicAnchor: 'a', $dynamicRef: '#a' }, loops],
  ['a $ref to another document', { $ref: 'other.json' }, leadsNowhere],
  ['a $ref to the network', { $ref: 'http://127.0.0.1:1/' }, leadsNowhere],
  ['a $ref to the meta-schema', { $ref: 'https://json-schema.org/draft/2020-12/schema' }, leadsNowhere],
  ['a $ref without a target', { $ref: '#/$defs/none' }, /"#\/\$defs\/none" has no target inside the schema/],
  ['another version', { $schema: 'http://json-schema.org/draft-07/schema#' }, /^\/\$schema must be https/],
  ['an asynchronous schema', { $async: true }, /\$async is not supported/],
  ['a type that does not exist', { properties: { a: { type: 'text' } } }, /^\/properties\/a\/type must be/],
  ['a keyword of draft-07', { items: [{}] }, /^\/items must be/],
  ['a pattern that is none', { properties: { a: { pattern: '(' } } }, isNoPattern],
  ['a property pattern that is none', { patternProperties: { '(': {} } }, isNoPattern],
  ['a long pattern', { pattern: 'a'.repeat(10_001) }, /the pattern is longer than 10000 characters/],
  ['300 groups', { pattern: '('.repeat(300) + ')'.repeat(300) }, /nests its groups more than 200/],
  ['a function', { type: 'string', parse: () => {} }, /values that JSON cannot represent/],
  ['a date', { const: new Date(0) }, /values that JSON cannot represent/],
  ['NaN', { minimum: Number.NaN }, /values that JSON cannot represent/],
  ['an object that contains itself', cyclic, /circular/],
  ['300,000 characters', { enum: ['a'.repeat(300_000)] }, /has more than 200000 characters/],
  ['20,000 levels', nested(20_000), /nested too deep/],
  ['one $id twice', { $defs: ONE_ID_TWICE }, /more than one schema/],
])('%s is refused when it is loaded', ([, schema, message]) => {
  expect(() => compileWhole(schema as JsonObject)).toThrow(message)
})

test('patterns that take exponential time do not', () => {
  const text = `${'a'.repeat(5_000)}!`
  expect(compileWhole({ pattern: '^(a+)+$' })(text)).toHaveLength(1)
  expect(compileWhole({ patternProperties: { '^(a|a)*$': false } })({ [text]: 1 })).toEqual([])
  // Only the engine of V8 knows lookaheads, and it is stopped.
  const stopped = compileWhole({ pattern: '^(?=(a+)+$)' })
  expect(() => stopped(text)).toThrow(/pattern took more than/)
})

/** A schema with each keyword, and values. The other validator decides which of them fit. */
const VALUES: readonly (readonly [schema: JsonObject, ...values: Json[]])[] = [
  [{ type: ['string', 'null'] }, 'a', null, 1, true, [], {}],
  [{ enum: ['a', { b: [1] }] }, 'a', { b: [1] }, { b: [2] }, 'b'],
  [{ const: { a: 1 } }, { a: 1 }, { a: '1' }],
  [{ minimum: 1, exclusiveMaximum: 3, multipleOf: 0.5 }, 0.5, 1, 1.25, 2.5, 3],
  [{ minLength: 1, maxLength: 2 }, '', 'a', '😀😀', 'abc'],
  [{ pattern: '^\\d+$' }, '12', 'a', 5],
  [{ format: 'email' }, 'a@example.com', 'a'],
  [{ prefixItems: [{ type: 'number' }], items: { type: 'string' } }, [1, 'a'], ['a'], [1, 2], []],
  [{ contains: { const: 1 }, minContains: 1, maxContains: 2 }, [], [1], [1, 1, 1]],
  [{ uniqueItems: true, minItems: 1, maxItems: 2 }, [], [1], [{ a: 1 }, { a: 1 }], [1, 2, 3]],
  [{ properties: { a: { type: 'number' } }, required: ['a'] }, {}, { a: 1 }, { a: 'a' }],
  [{ properties: { a: true }, additionalProperties: false }, { a: 1 }, { b: 1 }],
  [{ patternProperties: { '^x': { type: 'number' } } }, { x1: 1 }, { x1: 'a' }, { b: 'a' }],
  [{ propertyNames: { maxLength: 1 } }, {}, { a: 1 }, { ab: 1 }],
  [{ minProperties: 1, maxProperties: 2 }, {}, { a: 1 }, { a: 1, b: 1, c: 1 }],
  [{ dependentRequired: { a: ['b'] } }, { a: 1 }, { a: 1, b: 1 }],
  [{ dependentSchemas: { c: { required: ['d'] } } }, { c: 1 }, { c: 1, d: 1 }],
  [{ allOf: [{ type: 'number' }, { minimum: 1 }] }, 1, 0, 'a'],
  [{ anyOf: [{ type: 'number' }, { const: 'a' }] }, 1, 'a', 'b'],
  [{ oneOf: [{ multipleOf: 2 }, { multipleOf: 3 }] }, 2, 3, 6, 5],
  [{ not: { type: 'string' } }, 'a', 1],
  [{ if: { type: 'string' }, then: { minLength: 2 }, else: { type: 'number' } }, 'a', 'ab', 1, null],
  [{ allOf: [{ properties: { a: true } }], unevaluatedProperties: false }, { a: 1 }, { b: 1 }],
  [{ prefixItems: [true], unevaluatedItems: false }, [1], [1, 2]],
  [{ $ref: '#/$defs/a%25~1', $defs: { 'a%/': { type: 'string' } } }, 'a', 1],
  [{ $ref: '#here', $defs: { a: { $anchor: 'here', type: 'string' } } }, 'a', 1],
  [{ $id: 'https://example.com/a', $ref: 'b', $defs: { b: { $id: 'b', type: 'string' } } }, 'a', 1],
  [
    { properties: { a: { $ref: '#' } }, required: ['b'] },
    { b: 1, a: { b: 2 } },
    { b: 1, a: {} },
  ],
]

test.for(VALUES)('%j decides as another validator does', ([schema, ...values]) => {
  const check = compileWhole(schema)
  const other = new Validator(schema, '2020-12')
  const decisions = values.map((value) => check(value).length === 0)
  expect(decisions).toEqual(values.map((value) => other.validate(value).valid))
  expect(new Set(decisions).size).toBe(2)
})

test('each wrong field has its pointer and what is wrong', () => {
  const check = compileWhole({
    properties: { 'a/b': { enum: ['x', 'y'] }, c: { const: 1 }, d: false, e: { items: { type: 'string' } } },
    propertyNames: { maxLength: 3 },
    required: ['f'],
    additionalProperties: false,
  })
  expect(check({ 'a/b': 'z', c: 2, d: 1, e: ['', 1], long: 1 })).toEqual([
    { pointer: '/f', detail: 'is required' },
    { pointer: '/long', detail: 'must NOT have more than 3 characters' },
    { pointer: '/long', detail: 'is not a known field' },
    { pointer: '/a~1b', detail: 'must be one of ["x","y"]' },
    { pointer: '/c', detail: 'must be 1' },
    { pointer: '/d', detail: 'is not allowed' },
    { pointer: '/e/1', detail: 'must be string' },
  ])
})

test('a $dynamicRef finds its anchor in the root and in a definition', () => {
  const list = { type: 'array', items: { $dynamicRef: '#node' } }
  const inside = compileWhole({ $dynamicRef: '#node', $defs: { list: { $dynamicAnchor: 'node', ...list } } })
  const root = compileWhole({ $dynamicAnchor: 'node', ...list })
  for (const check of [inside, root]) {
    expect(check([[], [[]]])).toEqual([])
    expect(check([[1]])).toEqual([{ pointer: '/0/0', detail: 'must be array' }])
  }
})

test('the schema of the caller is not changed, and may be frozen', () => {
  const schema = Object.freeze({ $dynamicAnchor: 'a', type: 'string' })
  expect(compileWhole(schema)('a')).toEqual([])
  expect(schema).toEqual({ $dynamicAnchor: 'a', type: 'string' })
})
