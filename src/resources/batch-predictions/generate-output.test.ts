// biome-ignore-all lint/suspicious/noThenProperty: `then` is a keyword of JSON Schema here, and nothing awaits it
import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Json, JsonObject } from '../../kernel/json.ts'
import { CannotSatisfy, type Chance, outputGenerator } from './generate-output.ts'
import { checkOutputSchema, validateOutput } from './output-schema.ts'

/** A second opinion: the stock validator on the schema as the client sent it. */
function judge(schema: JsonObject): (value: Json) => boolean {
  const ajv = new Ajv2020({ strict: false, logger: false, allErrors: true, ownProperties: true })
  formats.default(ajv)
  return ajv.compile<Json>(schema)
}

function seeded(seed: number): Chance {
  let state = seed
  const next = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
  return { next, int: (min, max) => min + Math.floor(next() * (max - min + 1)) }
}

const object = (properties: object, more: object = {}) =>
  ({ type: 'object', properties, ...more }) as JsonObject
const text = (...values: unknown[]) => JSON.stringify(values)

function outputs(schema: JsonObject, count = 20): JsonObject[] {
  const generate = outputGenerator(schema)
  const chance = seeded(1)
  return Array.from({ length: count }, () => generate(chance))
}

/** Makes outputs of `{v: schema}`, has each one judged, and returns the values of v. */
function values(schema: Json, count = 20): Json[] {
  const whole = object({ v: schema }, { required: ['v'] })
  expect(checkOutputSchema(whole, '')).toEqual([])
  const valid = judge(whole)
  const made = outputs(whole, count)
  for (const output of made) expect(valid(output), text(whole, output)).toBe(true)
  return made.map(({ v }) => v ?? null)
}

// --- Schemas of every kind, without any care for whether they make sense together ---

const names = fc.constantFrom('a', 'b', 'kind', 'total', 'constructor', '$ref', 'not', '1', 'a/b~c', '')
const count = fc.nat(4)
const number = fc.oneof(fc.integer({ min: -20, max: 20 }), fc.constantFrom(0.5, 0.1, -2.5, 1e3, 1e20))
const scalar = fc.constantFrom<Json>('x', 'yy', 1, 2.5, true, false, null, -3, [], [1, 2])
const format = fc.constantFrom(
  ...[
    'date-time',
    'date',
    'time',
    'duration',
    'email',
    'hostname',
    'ipv4',
    'ipv6',
    'uri',
    'uri-reference',
    'uuid',
  ],
  ...[
    'regex',
    'json-pointer',
    'relative-json-pointer',
    'uri-template',
    'byte',
    'url',
    'iso-time',
    'unheard-of',
  ],
)
const pattern = fc.constantFrom(
  ...[
    '^[a-z]+$',
    '\\d{2,3}',
    '^A-',
    'z$',
    '^(foo|bar)+$',
    '^https?://',
    '@x\\.com$',
    '^(?=.*\\d).{4,}$',
    '^\\p{Lu}',
  ],
)

function some(keywords: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<JsonObject> {
  return fc.record(keywords, { requiredKeys: [] }) as fc.Arbitrary<JsonObject>
}

const map = <T>(of: fc.Arbitrary<T>) =>
  fc
    .uniqueArray(fc.tuple(names, of), { selector: ([name]) => name, maxLength: 3 })
    .map((list) => Object.fromEntries(list))

const type = (...types: string[]) => fc.constantFrom<Json>(types[0] ?? 'null', types[0] ?? 'null', types)

const { wild } = fc.letrec<{ wild: JsonObject; inner: Json }>((tie) => ({
  inner: fc.oneof(
    { maxDepth: 3, depthIdentifier: 'wild', withCrossShrink: true },
    fc.constantFrom<Json>(
      true,
      false,
      {},
      { type: 'string' },
      { type: 'integer' },
      { const: 'x' },
      { type: 'null' },
    ),
    tie('wild'),
    tie('wild'),
  ),
  wild: fc.oneof(
    { maxDepth: 3, depthIdentifier: 'wild' },
    some({
      type: type('string', 'null'),
      minLength: count,
      maxLength: fc.integer({ min: 2, max: 40 }),
      format,
      pattern,
    }),
    some({ type: type('string', 'null'), format, pattern }),
    some({
      type: type('number', 'integer'),
      minimum: number,
      maximum: number,
      exclusiveMinimum: number,
      exclusiveMaximum: number,
      multipleOf: fc.constantFrom(0.01, 0.1, 2, 3, 0.5, 7, 1e-3),
    }),
    some({ enum: fc.array(scalar, { minLength: 1, maxLength: 4 }), type: type('string', 'number', 'null') }),
    some({
      type: type('array', 'string'),
      items: tie('inner'),
      prefixItems: fc.array(tie('inner'), { minLength: 1, maxLength: 2 }),
      minItems: count,
      maxItems: count,
      uniqueItems: fc.boolean(),
      contains: tie('inner'),
      minContains: count,
      maxContains: count,
      unevaluatedItems: tie('inner'),
    }),
    some({
      type: type('object', 'null'),
      properties: map(tie('inner')),
      required: fc.uniqueArray(names, { maxLength: 2 }),
      additionalProperties: tie('inner'),
      minProperties: count,
      maxProperties: count,
      propertyNames: tie('inner'),
      dependentRequired: map(fc.uniqueArray(names, { maxLength: 2 })),
      dependentSchemas: map(tie('inner')),
      if: tie('inner'),
      then: tie('inner'),
      else: tie('inner'),
      unevaluatedProperties: tie('inner'),
    }),
  ),
}))

// --- Schemas that make sense, as clients write them ---

const between = (least: string, most: string, max: number) =>
  fc.tuple(fc.nat(max), fc.nat(max)).map(([a, b]) => ({ [least]: Math.min(a, b), [most]: Math.max(a, b) }))

const { sound } = fc.letrec<{ sound: JsonObject }>((tie) => ({
  sound: fc.oneof(
    { maxDepth: 4, depthIdentifier: 'sound' },
    between('minLength', 'maxLength', 60).map((bounds) => ({ type: 'string', ...bounds })),
    format.map((name) => ({ type: ['string', 'null'], format: name })),
    pattern.map((source) => ({ type: 'string', pattern: source })),
    between('minimum', 'maximum', 1_000).map((bounds) => ({ type: 'integer', ...bounds })),
    fc
      .constantFrom(0.01, 0.5, 7)
      .map((multipleOf) => ({ type: 'number', multipleOf, minimum: -10, maximum: 10 })),
    fc
      .uniqueArray(fc.jsonValue({ maxDepth: 0 }), { minLength: 1, maxLength: 5 })
      .map((list) => ({ enum: list as Json[] })),
    fc.constantFrom({ type: 'boolean' }, { type: 'null' }, {}, { description: 'Anything' }),
    fc
      .tuple(tie('sound'), between('minItems', 'maxItems', 5))
      .map(([items, bounds]) => ({ type: 'array', items, ...bounds })),
    fc.array(tie('sound'), { minLength: 1, maxLength: 3 }).map((list) => ({
      type: 'array',
      prefixItems: list,
      items: false,
      minItems: list.length,
    })),
    fc.tuple(map(tie('sound')), fc.boolean()).map(([properties, closed]) => ({
      type: 'object',
      properties,
      required: Object.keys(properties).slice(0, 2),
      ...(closed ? { additionalProperties: false } : {}),
    })),
  ),
}))

test('R100 every generated output validates against its schema', () => {
  let accepted = 0
  const property = fc.property(wild, fc.nat(), (schema, seed) => {
    const whole = object({ v: schema }, { required: ['v'] })
    if (checkOutputSchema(whole, '').length > 0) return
    accepted++
    const valid = judge(whole)
    const generate = outputGenerator(whole)
    const chance = seeded(seed)
    for (let made = 0; made < 5; made++) {
      const output = generate(chance)
      expect(valid(output), text(whole, output)).toBe(true)
      expect(validateOutput(whole, output)).toEqual([])
    }
  })
  fc.assert(property, { numRuns: 200 })
  expect(accepted).toBeGreaterThan(60)
})

test('R100 a schema that makes sense is accepted, and every output validates', () => {
  const property = fc.property(sound, fc.nat(), (schema, seed) => {
    const whole = object({ v: schema }, { additionalProperties: false })
    expect(checkOutputSchema(whole, '')).toEqual([])
    const valid = judge(whole)
    const chance = seeded(seed)
    for (let made = 0; made < 3; made++) {
      const output = outputGenerator(whole)(chance)
      expect(Object.keys(output)).toEqual(['v'])
      expect(valid(output), text(whole, output)).toBe(true)
    }
  })
  fc.assert(property, { numRuns: 150 })
})

test('R100 the same chance gives the same outputs', () => {
  const property = fc.property(sound, fc.nat(), (schema, seed) => {
    const make = (copy: JsonObject) => {
      const generate = outputGenerator(object({ v: copy }))
      const chance = seeded(seed)
      return [generate(chance), generate(chance)]
    }
    expect(make(structuredClone(schema))).toEqual(make(schema))
  })
  fc.assert(property, { numRuns: 100 })
})

test('R100 different chances give different outputs', () => {
  const made = outputs(object({ name: { type: 'string' }, total: { type: 'number' } }), 100)
  expect(new Set(made.map((output) => text(output))).size).toBeGreaterThan(95)
})

test.for([0, 0.5, 1 - 2 ** -32])('R100 a chance that always says %d does no harm', (constant) => {
  const stuck: Chance = {
    next: () => constant,
    int: (min, max) => min + Math.floor(constant * (max - min + 1)),
  }
  const schema = object({
    list: { type: 'array', items: { type: 'string', maxLength: 4 }, minItems: 5, uniqueItems: true },
    code: { type: 'string', pattern: '^(?=.*\\d)(?=.*[A-Z])[A-Z\\d]{8}$' },
    price: { type: 'number', multipleOf: 0.01 },
    seen: { type: 'array', contains: { const: 'x' }, maxContains: 1, minItems: 3 },
  })
  expect(validateOutput(schema, outputGenerator(schema)(stuck))).toEqual([])
})

test('R100 optional properties are there, in the order of the schema', () => {
  const schema = object(
    {
      vendor: { type: 'string' },
      lines: { type: 'array', items: object({ sum: { type: 'number' } }) },
      total: {},
    },
    { required: ['total'] },
  )
  for (const output of outputs(schema)) {
    expect(Object.keys(output)).toEqual(['vendor', 'lines', 'total'])
    for (const line of output.lines as JsonObject[]) expect(Object.keys(line)).toEqual(['sum'])
  }
})

test('R100 optional properties give way to maxProperties and to schemas that forbid them', () => {
  const bounded = object({ a: true, b: true, c: true, d: true }, { required: ['d'], maxProperties: 2 })
  expect(outputs(bounded).map((output) => Object.keys(output))[0]).toEqual(['a', 'd'])
  expect(outputs(object({ a: false, b: true }))[0]).toEqual({ b: expect.any(String) })
  expect(
    Object.keys(outputs(object({ ab: true, b: true }, { propertyNames: { minLength: 2 } }))[0] ?? {}),
  ).toEqual(['ab'])
})

test('R100 a property that depends on another one comes along or neither does', () => {
  const both = object({ card: { type: 'string' } }, { dependentRequired: { card: ['address'] } })
  expect(Object.keys(outputs(both)[0] ?? {})).toEqual(['card', 'address'])
  expect(outputs({ ...both, maxProperties: 1 })[0]).toEqual({})
})

test('R100 a dependent schema is met, or its property left out', () => {
  const met = object(
    { card: true },
    { dependentSchemas: { card: { properties: { zip: { pattern: '^\\d{5}$' } } } } },
  )
  for (const output of outputs(met))
    expect(output).toEqual({ card: expect.any(String), zip: expect.stringMatching(/^\d{5}$/) })
  const never = object(
    { card: true, b: true },
    { dependentSchemas: { card: { required: ['x'], properties: { x: false } } } },
  )
  for (const output of outputs(never)) expect(Object.keys(output)).toEqual(['b'])
})

test('R100 both sides of a condition turn up', () => {
  const schema = object(
    { kind: { enum: ['person', 'company', 'other'] }, tax_id: { type: 'string' }, born: { format: 'date' } },
    {
      required: ['kind'],
      if: { properties: { kind: { const: 'company' } } },
      then: { required: ['tax_id'], properties: { born: false } },
      else: { properties: { tax_id: false } },
    },
  )
  const valid = judge(schema)
  const made = outputs(schema, 50)
  for (const output of made) expect(valid(output), text(output)).toBe(true)
  expect(made.filter(({ kind }) => kind === 'company').length).toBeGreaterThan(10)
  expect(new Set(made.map((output) => Object.keys(output).join()))).toEqual(
    new Set(['kind,tax_id', 'kind,born']),
  )
})

test('R100 a condition on a number is met and missed on purpose', () => {
  const schema = { type: 'integer', if: { minimum: 1e6 }, then: { multipleOf: 1_000 }, else: { maximum: 5 } }
  const made = values(schema, 50)
  expect(made.some((value) => Number(value) >= 1e6)).toBe(true)
  expect(made.some((value) => Number(value) <= 5)).toBe(true)
})

test('R100 properties that no schema has looked at follow unevaluatedProperties', () => {
  const schema = object(
    { a: { type: 'integer' } },
    {
      if: { properties: { a: { minimum: 10 } } },
      then: { properties: { b: { type: 'string' } }, required: ['b'] },
      unevaluatedProperties: false,
    },
  )
  const valid = judge(schema)
  for (const output of outputs(schema)) expect(valid(output), text(output)).toBe(true)
})

test('R100 members are invented where minProperties or an open map asks for them', () => {
  const [three] = outputs({ type: 'object', minProperties: 3 }, 1)
  expect(Object.keys(three ?? {})).toHaveLength(3)
  const [open] = outputs({ type: 'object', additionalProperties: { type: 'integer' } }, 1)
  expect(Object.values(open ?? {})).toEqual([expect.any(Number), expect.any(Number)])
  const named = { type: 'object', minProperties: 500, propertyNames: { pattern: '^k_[0-9]+$' } }
  const [many] = outputs(named, 1)
  expect(validateOutput(named, many)).toEqual([])
})

const FORMATS =
  'binary byte date date-time duration email hostname ipv4 ipv6 iso-date-time iso-time json-pointer json-pointer-uri-fragment password regex relative-json-pointer time uri uri-reference uri-template url uuid'
test.for(FORMATS.split(' '))('R100 texts of the format %s are valid', (name) => {
  expect(new Set(values({ type: 'string', format: name }, 50)).size).toBeGreaterThan(5)
})

test.for(FORMATS.split(' '))('R100 texts of the format %s keep to any length that they can have', (name) => {
  let possible = 0
  for (const [minLength, maxLength] of [
    [0, 3],
    [4, 9],
    [10, 12],
    [16, 20],
    [21, 30],
    [36, 40],
    [100, 110],
    [200, 300],
  ]) {
    const schema = { type: 'string', format: name, minLength: minLength ?? 0, maxLength: maxLength ?? 0 }
    if (checkOutputSchema(object({ v: schema }, { required: ['v'] }), '').length > 0) continue
    values(schema, 3)
    possible++
  }
  expect(possible).toBeGreaterThan(0)
})

test.for([
  '^[A-Z]{2}-\\d{4}$',
  '\\d{3}',
  '^(?=.*\\d)(?=.*[a-z])(?=.*[A-Z]).{8,}$',
  '^(?=.*[!@#$%])[^ ]{10,}$',
  '^(a+)+$',
  '^[\\w.+-]+@[\\w-]+\\.[\\w.]+$',
  '^(0|[1-9]\\d*)\\.(0|[1-9]\\d*)\\.(0|[1-9]\\d*)(?:-([0-9A-Za-z-]+))?$',
  '^\\p{Lu}\\p{Ll}+$',
  '^https?://[^\\s/$.?#].[^\\s]*$',
  '^#(?:[0-9a-f]{3}){1,2}$',
  'foo|^bar$',
  '^(?!foo)[a-z]{3,5}$',
  '',
  '^$',
  '\\bcat\\b',
  '^[^\\x00-\\x7F]+$',
  '^[а-я]{3}$',
  '^\\u{1F600}{2}$',
  '^(?<year>\\d{4})-(?<month>0[1-9]|1[0-2])$',
  '^(?:(?:a|b)*c){2,4}$',
  '^a{3,}?b{0}[\\]\\-]$',
])('R100 texts match the pattern %s', (source) => {
  values({ type: 'string', pattern: source })
})

test.for<[string, object]>([
  ['lengths', { pattern: '^[a-z]+$', minLength: 30, maxLength: 31 }],
  ['lengths of an open pattern', { pattern: '\\d{3}', minLength: 300, maxLength: 300 }],
  ['a great length', { pattern: '^[a-z]+-[0-9]+$', minLength: 10_000 }],
  ['a format', { format: 'uri', pattern: '^https://' }],
  ['the end of a format', { format: 'uri', pattern: '\\.pdf$' }],
  ['another format', { format: 'email', pattern: '@acme\\.test$' }],
])('R100 a pattern goes together with %s', ([, keywords]) => {
  values({ type: 'string', ...keywords }, 5)
})

test.for<[number, number]>([
  [0, 0],
  [1, 1],
  [0, 2],
  [5, 5],
  [17, 18],
  [0, 200],
  [10_000, 10_001],
])('R100 texts have %d to %d characters', ([minLength, maxLength]) => {
  for (const value of values({ type: 'string', minLength, maxLength })) expect(value).not.toMatch(/ $/)
})

test.for<object>([
  { minimum: -90, maximum: 90 },
  { minimum: 0, maximum: 1 },
  { exclusiveMinimum: 0, exclusiveMaximum: 0.001 },
  { minimum: 5, maximum: 5 },
  { minimum: 1e300 },
  { maximum: -1e300 },
  { exclusiveMinimum: -Number.MAX_VALUE, exclusiveMaximum: Number.MAX_VALUE },
  { multipleOf: 0.01, minimum: 0.01 },
  { multipleOf: 0.1, minimum: 100, maximum: 100.5 },
  { multipleOf: 1e-7 },
  { multipleOf: 12345.678 },
  { format: 'int32', minimum: 2 ** 31 - 2 },
])('R100 numbers keep to %j', (bounds) => {
  values({ type: 'number', ...bounds })
})

test.for<object>([
  { minimum: 1, maximum: 3 },
  { exclusiveMinimum: 0.5, exclusiveMaximum: 1.5 },
  { minimum: 1e17 },
  { multipleOf: 2.5 },
  { multipleOf: 7, maximum: -7 },
  { minimum: -0.5, maximum: 0.5 },
])('R100 whole numbers keep to %j', (bounds) => {
  for (const value of values({ type: 'integer', ...bounds })) expect(Number.isInteger(value)).toBe(true)
})

test('R100 plain numbers are of an ordinary size', () => {
  for (const value of [...values({ type: 'number' }), ...values({ type: 'integer' })]) {
    expect(Number(value)).toBeGreaterThanOrEqual(0)
    expect(Number(value)).toBeLessThanOrEqual(1_000)
  }
})

test.for<object>([
  { items: { type: 'string' }, minItems: 4, maxItems: 4 },
  { prefixItems: [{ type: 'string' }, { const: null }], items: false, minItems: 2 },
  { prefixItems: [{ const: 1 }], items: { type: 'boolean' }, minItems: 4 },
  { items: { type: 'boolean' }, uniqueItems: true },
  { items: { enum: ['a', 'b', 'c', { d: 1 }] }, uniqueItems: true, minItems: 4 },
  { items: { type: 'integer', minimum: 1, maximum: 1_000 }, uniqueItems: true, minItems: 1_000 },
  { items: { type: 'string', maxLength: 1 }, uniqueItems: true, minItems: 100 },
  { items: { type: 'string', pattern: '@x\\.com$' }, uniqueItems: true, minItems: 50 },
  { items: { type: 'object', properties: { id: { type: 'integer' } } }, uniqueItems: true, minItems: 100 },
  {
    items: { type: 'integer', minimum: 0, maximum: 99 },
    contains: { minimum: 90 },
    minContains: 2,
    maxContains: 3,
    minItems: 8,
  },
  { contains: { type: 'string' }, minContains: 2, maxContains: 2, minItems: 5 },
  {
    prefixItems: [{ type: 'string' }],
    items: { type: 'number' },
    contains: { type: 'string' },
    maxContains: 1,
  },
  { items: { type: 'string' }, contains: { type: 'string' }, maxContains: 2 },
  { contains: { type: 'null' }, minContains: 0, maxContains: 0, minItems: 3 },
  { contains: { const: 7 }, uniqueItems: true, minItems: 3 },
  { contains: { type: 'integer' }, minContains: 1_000 },
  { prefixItems: [true, { type: 'null' }], unevaluatedItems: { type: 'integer' }, minItems: 4 },
  { prefixItems: [{ type: 'string' }], unevaluatedItems: false, minItems: 1 },
])('R100 arrays keep to %j', (keywords) => {
  values({ type: 'array', ...keywords }, 5)
})

test('R100 a list without bounds is short, and shorter inside of others', () => {
  const nested = (depth: number): JsonObject =>
    depth === 0 ? { type: 'integer' } : { type: 'array', items: nested(depth - 1) }
  for (const list of values(nested(1))) expect([2, 3]).toContain((list as Json[]).length)
  for (const list of values(nested(10))) expect(text(list).length).toBeLessThan(300)
})

test('R100 great lists and texts are made', () => {
  const list = { type: 'array', items: { type: 'string' }, minItems: 1_000, uniqueItems: true }
  const [output] = outputs(object({ list, long: { type: 'string', minLength: 10_000 } }), 1)
  expect(output).toEqual({
    list: expect.objectContaining({ length: 1_000 }),
    long: expect.stringMatching(/^.{10000}/),
  })
})

test('R100 a list of types gives each, null only now and then', () => {
  const types = values({ type: ['string', 'integer', 'null'] }, 300).map((value) =>
    value === null ? 'null' : typeof value,
  )
  expect(new Set(types)).toEqual(new Set(['string', 'number', 'null']))
  expect(types.filter((type) => type === 'null').length).toBeLessThan(100)
})

test('R100 an untyped schema means the type that its keywords speak about', () => {
  expect(values({ minimum: 3 })[0]).toEqual(expect.any(Number))
  expect(values({ properties: { a: true } })[0]).toEqual({ a: expect.any(String) })
  expect(values({ items: { type: 'null' } })[0]).toContain(null)
  expect(values({ description: 'free text' })[0]).toEqual(expect.any(String))
})

test('R100 names of inherited members can be properties', () => {
  const schema: JsonObject =
    JSON.parse(`{"type": "object", "additionalProperties": false, "required": ["__proto__"],
    "properties": {"__proto__": {"type": "integer"}, "constructor": {"const": 1}, "toString": {"enum": [{"toString": 2}]}}}`)
  const [output] = outputs(schema, 1)
  expect(Object.keys(output ?? {})).toEqual(['__proto__', 'constructor', 'toString'])
  expect(Object.getPrototypeOf(output)).toBe(Object.prototype)
  expect(validateOutput(schema, JSON.parse(JSON.stringify(output)))).toEqual([])
})

test('R100 a schema that nothing satisfies is refused when it is compiled, with the place and the keyword', () => {
  const schema = object({ a: { type: 'string', pattern: '^a{5}$', maxLength: 4 } })
  const failed = (() => {
    try {
      return outputGenerator(schema)
    } catch (error) {
      return error
    }
  })()
  expect(failed).toBeInstanceOf(CannotSatisfy)
  expect(failed).toMatchObject({ pointer: '/properties/a/pattern', keyword: 'pattern' })
})

test('R100 the five thousand outputs of a full batch take well under a second', () => {
  const schema = object({
    title: { type: 'string' },
    issued_on: { type: 'string', format: 'date' },
    currency: { type: 'string', pattern: '^[A-Z]{3}$' },
    total: { type: 'number', multipleOf: 0.01, minimum: 0 },
    paid: { type: 'boolean' },
  })
  outputs(schema, 500)
  const started = performance.now()
  outputs(schema, 5_000)
  expect(performance.now() - started).toBeLessThan(1_000)
})
