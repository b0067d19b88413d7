// Valid output schemas that were made to cost much: patterns that take exponential time, many names, conditions and levels.

import type { JsonObject } from '../../src/core/json.ts'

type S = Record<string, unknown>
const obj = (properties: S, more: S = {}): S => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  ...more,
})
const text = (pattern: string, more: S = {}): S => obj({ text: { type: 'string', pattern, ...more } })
const names = (n: number, prefix = 'n'): string[] => Array.from({ length: n }, (_, i) => `${prefix}${i}`)
const from = <T>(n: number, of: (i: number) => T): Record<string, T> =>
  Object.fromEntries(names(n).map((k, i) => [k, of(i)]))
const nest = (n: number, of: (inner: S) => S, end: S = { type: 'string' }): S => {
  let s = end
  for (let i = 0; i < n; i++) s = of(s)
  return s
}
export const HOSTILE_SCHEMAS = {
  'backreference after nested repeat': text('^(a+)+\\1b$', { minLength: 30 }),
  'backreference 2': text('^(a*)*\\1c$', { minLength: 40 }),
  'nested lookaheads': text(`^${'(?=(a|b|ab)*'.repeat(12)}${')'.repeat(12)}[ab]{40}c$`, {
    minLength: 41,
  }),
  'lookaheads chain': text('^(?=.*a.*b.*c.*d.*e.*f.*g)(?=(.*x){10})(?!.*(.+)\\2)[a-z]{60,}$'),
  'lookahead nested 2': text('^(?=(?=(?=(a+)+b)a+b)a+b)a{30,}c$', { minLength: 31 }),
  lookbehind: text('(?<=(a+)+b)c$', { minLength: 5000 }),
  'long lookahead': text('^(?=(a|aa)+$)a*b$', { minLength: 35 }),
  'long text backreference': text('^(.*)(.*)(.*)(.*)\\1x$', { minLength: 2000 }),
  'two groups equal': text('^(x+x+)+y\\1$', { minLength: 40 }),
  'wide repeat': text('^[a-z]{1000000}$'),
  'wide repeat unicode': text('^\\p{L}{500000}$'),
  'nested counted': text('^((((a{30}){30}){30}){5})$'),
  'empty group repeats': text('^(?:){1000000}$'),
  'alternation wide': text(`^(${names(1500).join('|')})+$`, { minLength: 8000 }),
  'pattern long class': text(`^[${'\\p{L}'.repeat(1600)}]{100000}$`),
  'min length 8M': text('^a*$', { minLength: 7_900_000 }),
  'astral text': text('^\\u{1F600}*$', { minLength: 3_000_000 }),
  '100,000 required names': { type: 'object', required: names(100_000) },
  '100,000 required names, long lookaheads': {
    type: 'object',
    required: names(100_000),
    additionalProperties: { type: 'string', pattern: '^(?=(?=(?=a+)a+)a+)(a+)+b\\1$' },
  },
  '100,000 required, propertyNames': {
    type: 'object',
    required: names(100_000),
    propertyNames: { pattern: '^(?=(?=(?=n)n)n)(n+)+\\d+\\1?$' },
  },
  '100,000 names propertyNames length': {
    type: 'object',
    required: names(100_000),
    propertyNames: { minLength: 2, pattern: '^[a-z].*$' },
  },
  '100,000 required, unevaluated': {
    type: 'object',
    required: names(100_000),
    unevaluatedProperties: { type: 'integer' },
  },
  '100,000 required, minProperties': { type: 'object', required: names(100_000), minProperties: 150_000 },
  'many required text': {
    type: 'object',
    required: names(60_000),
    additionalProperties: { type: 'string', format: 'email' },
  },
  'dependentRequired chain': {
    type: 'object',
    required: ['n0'],
    dependentRequired: from(30_000, (i) => [`n${i + 1}`]),
  },
  'dependentRequired square': {
    type: 'object',
    required: ['n0'],
    dependentRequired: from(800, () => names(800)),
  },
  'dependentRequired none': {
    type: 'object',
    properties: from(5_000, () => ({ type: 'string' })),
    dependentRequired: from(1000, () => names(200)),
  },
  '4,000 properties': obj(from(4_000, () => ({ type: 'string' }))),
  '4,000 optional': {
    type: 'object',
    properties: from(4_000, () => ({ type: 'integer', minimum: 3, maximum: 4, multipleOf: 2 })),
  },
  '1,900 checked': obj(from(1_900, () => ({ type: 'array', contains: { const: 1 } }))),
  '900 conditions': obj(
    from(450, () => ({ if: { type: 'string' }, then: { minLength: 3 }, else: { minimum: 7 } })),
  ),
  'nested conditions': {
    type: 'object',
    ...nest(150, (inner) => ({ if: { required: ['a'] }, then: inner, else: { required: ['b'] } })),
  },
  'nested conditions both': {
    type: 'object',
    ...nest(10, (inner) => ({ if: { required: ['a'] }, then: inner, else: inner }), { required: ['b'] }),
  },
  'contradictory conditions': {
    type: 'object',
    ...nest(30, (inner) => ({
      if: { required: ['a'] },
      then: { required: ['b'], ...inner },
      else: { maxProperties: 0 },
      minProperties: 3,
      maxProperties: 2,
    })),
  },
  'nest arrays 5^8': obj({ list: nest(8, (items) => ({ type: 'array', items, minItems: 5 })) }),
  'array 190,000': obj({ list: { type: 'array', minItems: 190_000, items: { type: 'integer' } } }),
  'array unique 100,000': obj({
    list: { type: 'array', minItems: 99_000, uniqueItems: true, items: { type: 'integer' } },
  }),
  'array unique objects': obj({
    list: {
      type: 'array',
      minItems: 30_000,
      uniqueItems: true,
      items: obj({ a: { type: 'string' }, b: { type: 'number' } }),
    },
  }),
  'array contains each': obj({
    list: {
      type: 'array',
      minItems: 50_000,
      contains: { type: 'string', pattern: '^(a+)+\\1b$' },
      minContains: 20_000,
    },
  }),
  'array contains numbers': obj({
    list: {
      type: 'array',
      minItems: 50_000,
      contains: { multipleOf: 7 },
      minContains: 20_000,
      items: { type: 'integer' },
    },
  }),
  'array unevaluated': obj({
    list: { type: 'array', minItems: 100_000, unevaluatedItems: { type: 'string', format: 'date-time' } },
  }),
  'array of uuid': obj({
    list: { type: 'array', minItems: 90_000, items: { type: 'string', format: 'uuid' } },
  }),
  'array of patterns': obj({
    list: {
      type: 'array',
      minItems: 20_000,
      items: { type: 'string', pattern: '^(?=.*\\d)(?=.*[a-z])[a-z0-9]{30}$' },
    },
  }),
  'array of backreferences': obj({
    list: { type: 'array', minItems: 5_000, items: { type: 'string', pattern: '^(\\w)\\1{3}(\\d)\\2$' } },
  }),
  'array of lookaheads unique': obj({
    list: {
      type: 'array',
      minItems: 2_000,
      uniqueItems: true,
      items: { type: 'string', pattern: '^(?=.{2})[ab]{8}$' },
    },
  }),
  'enum 100,000': obj({ one: { enum: names(100_000) } }),
  'enum of objects': obj({
    one: { type: 'object', minProperties: 3, enum: names(20_000).map((a) => ({ a, b: [a, a] })) },
  }),
  'enum and enum': obj({
    one: {
      enum: names(60_000),
      if: { enum: names(60_000, 'x') },
      then: { enum: names(60_000, 'y') },
      else: { enum: names(60_000, 'z') },
    },
  }),
  'const huge': obj({ one: { const: names(150_000) } }),
  recursion: {
    type: 'object',
    $dynamicAnchor: 'node',
    properties: {
      left: { $dynamicRef: '#node' },
      right: { $dynamicRef: '#node' },
      more: { type: 'array', items: { $dynamicRef: '#node' }, minItems: 3 },
    },
  },
  'recursion endless': {
    type: 'object',
    $dynamicAnchor: 'node',
    properties: { left: { $dynamicRef: '#node' }, right: { $dynamicRef: '#node' } },
    required: ['left', 'right'],
  },
  'recursion list endless': {
    type: 'object',
    $dynamicAnchor: 'node',
    properties: { more: { type: 'array', items: { $dynamicRef: '#node' }, minItems: 2 } },
    required: ['more'],
  },
  dependentSchemas: {
    type: 'object',
    required: names(60),
    dependentSchemas: from(60, (i) => ({ properties: from(60, () => ({ minLength: i, type: 'string' })) })),
  },
  'dependentSchemas nested': {
    type: 'object',
    required: ['n0'],
    dependentSchemas: from(900, (i) => ({ required: [`n${i + 1}`] })),
  },
  'unevaluated with properties': {
    type: 'object',
    properties: from(1_200, () => ({ type: 'string' })),
    unevaluatedProperties: false,
  },
  'nested unevaluated': nest(
    60,
    (inner) => ({
      type: 'object',
      properties: { a: inner, b: { type: 'string' } },
      required: ['a'],
      unevaluatedProperties: false,
    }),
    { type: 'string' },
  ),
  'deep objects': nest(190, (inner) => obj({ a: inner })),
  'multipleOf tiny': obj(
    from(2_000, () => ({ type: 'number', multipleOf: 1e-9, minimum: 0.1, maximum: 0.2 })),
  ),
  'multipleOf impossible': obj({ n: { type: 'integer', multipleOf: 1e308, minimum: 1, maximum: 9 } }),
  'minProperties names': {
    type: 'object',
    minProperties: 3_000,
    propertyNames: { pattern: '^(?=.)(\\w)\\1[0-9a-z]{3}$' },
  },
  'minProperties few names': { type: 'object', minProperties: 2_000, propertyNames: { enum: names(1_000) } },
  'minProperties 190,000': {
    type: 'object',
    minProperties: 190_000,
    additionalProperties: { type: 'integer' },
  },
  'formats together': obj({
    list: {
      type: 'array',
      minItems: 20_000,
      items: { type: 'string', format: 'email', pattern: '^[a-z]+@(?=ex)', maxLength: 60 },
    },
  }),
  'hostname pattern': obj({
    list: {
      type: 'array',
      minItems: 20_000,
      items: { type: 'string', format: 'idn-hostname', maxLength: 12, minLength: 9 },
    },
  }),
  'long names': {
    type: 'object',
    properties: Object.fromEntries(names(19, 'x'.repeat(90_000)).map((n) => [n, { type: 'string' }])),
  },
  'long names nested': nest(90, (inner) => obj({ ['y'.repeat(10_000)]: inner })),
  descriptions: obj(
    from(1_000, () => ({ type: 'string', description: 'date email url address '.repeat(70) })),
  ),
} as unknown as Readonly<Record<string, JsonObject>>
