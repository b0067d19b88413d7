// biome-ignore-all lint/suspicious/noThenProperty: `then` is a keyword of JSON Schema here, and nothing awaits it
import { expect, test } from 'vitest'
import type { JsonObject } from '../../core/json.ts'
import { checkOutputSchema, outputsOf, validateOutput } from './output-schema.ts'

const check = (schema: unknown) => checkOutputSchema(schema, '/output_schema')
const places = (schema: unknown) => check(schema).map(({ pointer }) => pointer)
const object = (properties: object, more: object = {}) =>
  ({ type: 'object', properties, ...more }) as JsonObject

const KEYWORDS: [string, unknown][] = [
  ['$defs', { a: { type: 'string' } }],
  ['$ref', '#/properties/a'],
  ['allOf', [{ type: 'object' }]],
  ['anyOf', [{ type: 'object' }]],
  ['not', { type: 'null' }],
  ['oneOf', [{ type: 'object' }]],
  ['patternProperties', { '^a': { type: 'string' } }],
]

const POSITIONS: [place: string, (s: object) => object][] = [
  ['', (s) => ({ type: 'object', ...s })],
  ['/properties/a', (s) => object({ a: s })],
  ['/properties/a/properties/b', (s) => object({ a: object({ b: s }) })],
  ['/properties/a/items', (s) => object({ a: { items: s } })],
  ['/properties/a/prefixItems/1', (s) => object({ a: { prefixItems: [true, s] } })],
  ['/properties/a/contains', (s) => object({ a: { contains: s } })],
  ['/properties/a/unevaluatedItems', (s) => object({ a: { unevaluatedItems: s } })],
  ['/properties/a/contentSchema', (s) => object({ a: { contentSchema: s } })],
  ['/properties/a/dependencies/b', (s) => object({ a: { dependencies: { b: s } } })],
  ['/additionalProperties', (s) => object({}, { additionalProperties: s })],
  ['/unevaluatedProperties', (s) => object({}, { unevaluatedProperties: s })],
  ['/propertyNames', (s) => object({}, { propertyNames: s })],
  ['/dependentSchemas/a~1b', (s) => object({}, { dependentSchemas: { 'a/b': s } })],
  ['/definitions/a~1b', (s) => object({}, { definitions: { 'a/b': s } })],
  ['/if', (s) => object({}, { if: s, else: true })],
  ['/then', (s) => object({}, { if: true, then: s })],
  ['/else', (s) => object({}, { if: true, else: s })],
]

test.for(POSITIONS)('each unsupported keyword is refused at "%s"', { tags: ['R274'] }, ([place, wrap]) => {
  const detail = expect.stringMatching(/not supported.*; \w/)
  for (const [keyword, value] of KEYWORDS)
    expect(check(wrap({ [keyword]: value }))).toEqual([
      { pointer: `/output_schema${place}/${keyword}`, detail },
    ])
})

test.for(KEYWORDS)('%s may be a property, or a field of a value', { tags: ['R274'] }, ([keyword, value]) => {
  expect(check(object({ [keyword]: { type: 'string' } }, { required: [keyword] }))).toEqual([])
  const schema = object({
    a: { enum: [{ [keyword]: value }, keyword] },
    b: { const: { [keyword]: value } },
    c: { default: { [keyword]: value }, examples: [{ [keyword]: value }] },
    d: { type: 'object', dependentRequired: { [keyword]: [keyword] } },
  })
  expect(check(schema)).toEqual([])
})

test.for([
  ['an array', { type: 'array' }],
  ['absent', { properties: {} }],
  ['a list', { type: ['object'] }],
  ['true', { type: true }],
  ['misspelt', { type: 'objekt' }],
  ['null', { type: null }],
])('a root type that is %s is refused once, at type', { tags: ['R200', 'R274'] }, ([, schema]) => {
  const detail = 'type has to be exactly "object" at the root of an output schema'
  expect(check(schema)).toEqual([{ pointer: '/output_schema/type', detail }])
})

test.for([true, false, null, [[]], 'object', 1, undefined])(
  '%j is no schema',
  { tags: ['R200'] },
  (schema) => {
    const detail = expect.stringContaining('"type": "object"')
    expect(check(schema)).toEqual([{ pointer: '/output_schema', detail }])
  },
)

test.for([
  ['type', 'objekt'],
  ['minimum', '1'],
  ['required', ['a', 'a']],
  ['dependentRequired', { a: 'b' }],
])('%s: %j is not valid JSON Schema 2020-12', { tags: ['R200'] }, ([keyword, value]) => {
  const pointer = expect.stringMatching(new RegExp(`^/output_schema/properties/a/${keyword}(/|$)`))
  const detail = expect.stringMatching(new RegExp(`^${keyword} has to `))
  expect(check(object({ a: { [String(keyword)]: value } }))).toEqual([{ pointer, detail }])
})

test('the error of a list of schemas in items names prefixItems', { tags: ['R200'] }, () => {
  expect(check(object({ a: { items: [true] } }))[0]?.detail).toContain('prefixItems')
})

test.for<[properties: object, at: string]>([
  [{ 'a/b': 1 }, 'a~1b'],
  [{ a: { prefixItems: [true, 'x'] } }, 'a/prefixItems/1'],
  [{ a: { type: ['string', 'strin'] } }, 'a/type/1'],
])('an invalid schema is reported with its own pointer: %j', { tags: ['R200'] }, ([properties, at]) => {
  expect(places(object(properties))).toEqual([`/output_schema/properties/${at}`])
})

test('all issues are reported at once', { tags: ['R200'] }, () => {
  const properties = { a: { $ref: '#' }, b: { minimum: 'x' }, c: { pattern: '(' }, d: { minLength: -1 } }
  const more = { type: 'array', anyOf: [], $schema: 'http://json-schema.org/draft-07/schema#' }
  const inside = ['a/$ref', 'b/minimum', 'c/pattern', 'd/minLength'].map((place) => `properties/${place}`)
  expect(places(object(properties, more)).toSorted()).toEqual(
    ['$schema', 'anyOf', ...inside, 'type'].map((place) => `/output_schema/${place}`),
  )
})

test('a schema may name its version of JSON Schema if it is 2020-12', { tags: ['R200'] }, () => {
  const of = (draft: string) => ({ $schema: `https://json-schema.org/draft/${draft}/schema`, type: 'object' })
  expect([places(of('2020-12')), places(of('2019-09'))]).toEqual([[], ['/output_schema/$schema']])
})

test.for<[string, object]>([
  ['/minimum', { type: 'integer', minimum: 2, maximum: 1 }],
  ['/exclusiveMinimum', { type: 'number', exclusiveMinimum: 1, maximum: 1 }],
  ['/minimum', { type: 'number', minimum: 1, exclusiveMaximum: 1 }],
  ['/exclusiveMinimum', { type: 'integer', exclusiveMinimum: 1, exclusiveMaximum: 2 }],
  ['/multipleOf', { type: 'number', multipleOf: 10, minimum: 11, maximum: 19 }],
  ['/minLength', { type: 'string', minLength: 2, maxLength: 1 }],
  ['/minItems', { type: 'array', minItems: 2, maxItems: 1 }],
  ['/maxContains', { type: 'array', contains: true, minContains: 3, maxContains: 2 }],
  ['/maxContains', { type: 'array', contains: true, maxContains: 0 }],
  ['/minItems', { type: 'array', prefixItems: [true], items: false, minItems: 2 }],
  ['/uniqueItems', { type: 'array', items: { type: 'boolean' }, minItems: 3, uniqueItems: true }],
  ['/contains', { type: 'array', items: { type: 'string' }, contains: { type: 'number' } }],
  ['/maxProperties', { type: 'object', minProperties: 2, maxProperties: 1 }],
  ['/minProperties', { type: 'object', minProperties: 1, additionalProperties: false }],
  ['/required', { type: 'object', properties: { b: false }, required: ['b'] }],
  ['/required', { type: 'object', required: ['b'], additionalProperties: false }],
  ['/maxProperties', { type: 'object', required: ['b', 'c'], maxProperties: 1 }],
  ['/required', { type: 'object', required: ['b'], propertyNames: { minLength: 2 } }],
  ['/enum', { enum: [] }],
  ['/enum', { type: 'string', enum: [1, null] }],
  ['/enum', { enum: ['a', 'b'], minLength: 2 }],
  ['/const', { type: 'integer', const: 1.5 }],
  ['/pattern', { type: 'string', pattern: '^a{5}$', maxLength: 4 }],
  ['/format', { type: 'string', format: 'date', maxLength: 9 }],
  ['/pattern', { type: 'string', format: 'date', pattern: '^[a-z]+$' }],
])('what no output can satisfy has the reason at %s: %j', { tags: ['R200'] }, ([at, schema]) => {
  const whole = object({ a: schema }, { required: ['a'] })
  expect(check(whole)).toEqual([])
  const detail = expect.stringMatching(/^\w+ .*\w{3}/)
  expect(outputsOf(whole).unsatisfiable).toEqual({ pointer: `/properties/a${at}`, detail })
})

test.for([
  { type: ['string', 'null'], minLength: 2, maxLength: 1 },
  { type: ['string', 'null'], enum: ['a', 1] },
  { type: 'array', items: false },
  { type: 'array', minContains: 3, maxItems: 1 },
  { type: 'string', format: 'no-such-format' },
  { type: 'object', properties: { b: false } },
])('a schema that an output can satisfy has no reason: %j', { tags: ['R200'] }, (schema) => {
  const whole = object({ a: schema }, { required: ['a'] })
  expect([check(whole), outputsOf(whole).unsatisfiable]).toEqual([[], undefined])
})

test.for<[string, object]>([
  ['minItems', { type: 'array', minItems: 1e9 }],
  ['minLength', { type: 'string', minLength: 1e9 }],
  ['minProperties', { type: 'object', minProperties: 1e9 }],
  ['pattern', { type: 'string', pattern: '^(ab){5000000}$' }],
  ['minItems', { type: 'array', items: { type: 'string', minLength: 10_000 }, minItems: 1_000 }],
])('an output that would be too large is not generated: %s %j', { tags: ['R200'] }, ([, schema]) => {
  const whole = object({ a: schema }, { required: ['a'] })
  expect(check(whole)).toEqual([])
  const { pointer, detail } = outputsOf(whole).unsatisfiable ?? {}
  expect(pointer).toMatch(/^\/properties\/a/)
  expect(detail).toMatch(/more than \d+/)
})

test('a schema may have at most 512 levels', { tags: ['R200'] }, () => {
  const deep = (levels: number, wrap: (inner: unknown) => unknown): unknown => {
    let schema: unknown = true
    for (let level = 0; level < levels; level++) schema = wrap(schema)
    return schema
  }
  const nested = (levels: number) => deep(levels, (inner) => object({ a: inner }))
  expect(check(nested(256))).toEqual([])
  for (const schema of [
    nested(257),
    nested(50_000),
    object({ a: { const: deep(50_000, (inner) => [inner]) } }),
  ])
    expect(check(schema)[0]?.detail).toContain('512 levels')
})

test('identifiers and extensions of other tools are ignored', { tags: ['R200'] }, () => {
  const extra = { $id: 'https://example.com/one', $async: true }
  const schema = (title: string) =>
    object({ a: { type: 'string', nullable: true, $anchor: 'x' } }, { ...extra, title })
  expect([check(schema('a')), check(schema('b')), check(schema('a'))]).toEqual([[], [], []])
  expect(validateOutput(schema('a'), { a: null })).toHaveLength(1)
})

test('all issues of an output are reported at once, with pointers', { tags: ['R100'] }, () => {
  const schema = object(
    { 'a/b': { type: 'integer', minimum: 3 }, list: { items: { type: 'string', format: 'date' } } },
    { required: ['c'], additionalProperties: false },
  )
  const found = validateOutput(schema, { 'a/b': 1, list: ['2024-02-30', 1], x: 1 })
  expect(new Set(found.map(({ pointer }) => pointer))).toEqual(
    new Set(['', '/a~1b', '/list/0', '/list/1', '/x']),
  )
  expect(validateOutput(schema, 'text')).toEqual([{ pointer: '', detail: expect.stringContaining('object') }])
  expect(validateOutput(object({ a: true }), { a: 1, b: 2 })).toEqual([])
})

test('the issues of many properties are all reported, with an unknown property', { tags: ['R100'] }, () => {
  const names = Array.from({ length: 90 }, (_, n) => [`p${n}`, { type: 'integer' }])
  const schema = object({ inner: object(Object.fromEntries(names), { additionalProperties: false }) })
  expect(validateOutput(schema, { inner: { p0: 1, p89: 2 } })).toEqual([])
  const found = validateOutput(schema, { inner: { p3: 'x', p88: 1.5, q: 1 } })
  expect(found.map(({ pointer, detail }) => `${pointer} ${detail}`).sort()).toEqual([
    expect.stringMatching(/^\/inner\/p3 .*\/properties\/inner\/properties\/p3\/type/),
    expect.stringMatching(/^\/inner\/p88 .*\/properties\/inner\/properties\/p88\/type/),
    expect.stringMatching(/^\/inner\/q .*\/properties\/inner\/additionalProperties/),
  ])
})

test('names of inherited properties are ordinary names in schemas and outputs', { tags: ['R100'] }, () => {
  const schema = JSON.parse(`{
    "type": "object", "additionalProperties": false, "required": ["toString", "__proto__"],
    "properties": {"__proto__": {"type": "string"}, "toString": {"const": {"toString": 1}}, "constructor": {"type": "null"}},
    "dependentRequired": {"__proto__": ["constructor"]}
  }`)
  expect(check(schema)).toEqual([])
  const problems = (output: string) => validateOutput(schema, JSON.parse(output)).length
  expect(problems('{"__proto__": "x", "toString": {"toString": 1}, "constructor": null}')).toBe(0)
  expect(problems('{"__proto__": 1, "toString": {"toString": 2}, "constructor": null}')).toBe(2)
  expect(problems('{"__proto__": "x", "toString": {"toString": 1}}')).toBeGreaterThan(0)
  expect(problems('{}')).toBe(2)
})

test('any number of items are compared by value', { tags: ['R100'] }, () => {
  const schema = object({ a: { type: 'array', uniqueItems: true } })
  const equal = [JSON.parse('{"x": 1, "y": 2}'), JSON.parse('{"y": 2, "x": 1}')]
  expect(validateOutput(schema, { a: equal })).toHaveLength(1)
  expect(validateOutput(schema, { a: [1, '1', [1], { 1: 1 }, null, 'null'] })).toEqual([])
  expect(validateOutput(schema, { a: Array.from({ length: 100_000 }, (_, n) => ({ n })) })).toEqual([])
})

test.for<[text: string, place: string]>([
  ['{"maximum": 9007199254740993}', '/maximum'],
  ['{"minimum": -1e400}', '/minimum'],
  ['{"enum": [1, {"a": 12345678901234567890}]}', '/enum/1/a'],
])('%s has a number that a double does not keep', { tags: ['R200'] }, ([text, place]) => {
  const detail = expect.stringContaining('integers must be from -9007199254740991 to 9007199254740991')
  const found = check(object({ a: JSON.parse(text) }))
  expect(found).toEqual([{ pointer: `/output_schema/properties/a${place}`, detail }])
})

test('numbers that doubles keep are accepted in a schema', { tags: ['R200'] }, () => {
  const bounds = { minimum: -Number.MAX_SAFE_INTEGER, maximum: 3.4028234663852886e38, multipleOf: 5e-324 }
  expect(check(object({ a: bounds }))).toEqual([])
})
