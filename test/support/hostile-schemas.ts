// Valid output schemas that were made to cost much: patterns that take exponential time, many names, conditions and levels.

import type { JsonObject } from '../../src/core/json.ts'

type S = Record<string, unknown>
const STRING = { type: 'string' }
const INTEGER = { type: 'integer' }
const any = (more: S): S => ({ type: 'object', ...more })
const obj = (properties: S, more: S = {}): S =>
  any({ properties, required: Object.keys(properties), ...more })
const text = (pattern: string, minLength?: number): S =>
  obj({ text: { ...STRING, pattern, ...(minLength !== undefined && { minLength }) } })
const list = (minItems: number, items: S | undefined, more: S = {}): S =>
  obj({ list: { type: 'array', minItems, items, ...more } })
const names = (n: number, prefix = 'n'): string[] => Array.from({ length: n }, (_, i) => `${prefix}${i}`)
const from = <T>(n: number, of: (i: number) => T): Record<string, T> =>
  Object.fromEntries(names(n).map((k, i) => [k, of(i)]))
const nest = (n: number, of: (inner: S) => S, end: S = STRING): S => {
  let s = end
  for (let i = 0; i < n; i++) s = of(s)
  return s
}
const MANY = names(100_000)
const NODE = { $dynamicRef: '#node' }

export const HOSTILE_SCHEMAS = {
  'backreference after nested repeat': text('^(a+)+\\1b$', 30),
  'backreference to an empty group': text('^(a*)*\\1c$', 40),
  'backreference in a long text': text('^(.*)(.*)(.*)(.*)\\1x$', 2000),
  'two groups equal': text('^(x+x+)+y\\1$', 40),
  'nested lookaheads': text(`^${'(?=(a|b|ab)*'.repeat(12)}${')'.repeat(12)}[ab]{40}c$`, 41),
  'lookaheads chain': text('^(?=.*a.*b.*c.*d.*e.*f.*g)(?=(.*x){10})(?!.*(.+)\\2)[a-z]{60,}$'),
  'lookahead nested 2': text('^(?=(?=(?=(a+)+b)a+b)a+b)a{30,}c$', 31),
  'long lookahead': text('^(?=(a|aa)+$)a*b$', 35),
  lookbehind: text('(?<=(a+)+b)c$', 5000),
  'wide repeat': text('^[a-z]{1000000}$'),
  'wide repeat unicode': text('^\\p{L}{500000}$'),
  'nested counted': text('^((((a{30}){30}){30}){5})$'),
  'empty group repeats': text('^(?:){1000000}$'),
  'alternation wide': text(`^(${names(1500).join('|')})+$`, 8000),
  'pattern long class': text(`^[${'\\p{L}'.repeat(1600)}]{100000}$`),
  'min length 8M': text('^a*$', 7_900_000),
  'astral text': text('^\\u{1F600}*$', 3_000_000),
  'required names': any({ required: MANY }),
  'required names, long lookaheads': any({
    required: MANY,
    additionalProperties: { ...STRING, pattern: '^(?=(?=(?=a+)a+)a+)(a+)+b\\1$' },
  }),
  'required names with a pattern': any({
    required: MANY,
    propertyNames: { pattern: '^(?=(?=(?=n)n)n)(n+)+\\d+\\1?$' },
  }),
  'required names with a length': any({
    required: MANY,
    propertyNames: { minLength: 2, pattern: '^[a-z].*$' },
  }),
  'required names, unevaluated': any({ required: MANY, unevaluatedProperties: INTEGER }),
  'required names, more properties': any({ required: MANY, minProperties: 150_000 }),
  'many required text': any({
    required: names(60_000),
    additionalProperties: { ...STRING, format: 'email' },
  }),
  'dependentRequired chain': any({
    required: ['n0'],
    dependentRequired: from(30_000, (i) => [`n${i + 1}`]),
  }),
  'dependentRequired square': any({ required: ['n0'], dependentRequired: from(800, () => names(800)) }),
  'dependentRequired none': any({
    properties: from(5_000, () => STRING),
    dependentRequired: from(1000, () => names(200)),
  }),
  'required properties': obj(from(4_000, () => STRING)),
  'optional properties': any({
    properties: from(4_000, () => ({ ...INTEGER, minimum: 3, maximum: 4, multipleOf: 2 })),
  }),
  'properties with contains': obj(from(1_900, () => ({ type: 'array', contains: { const: 1 } }))),
  '450 conditions': obj(from(450, () => ({ if: STRING, then: { minLength: 3 }, else: { minimum: 7 } }))),
  'nested conditions': any(
    nest(150, (inner) => ({ if: { required: ['a'] }, then: inner, else: { required: ['b'] } })),
  ),
  'nested conditions both': any(
    nest(10, (inner) => ({ if: { required: ['a'] }, then: inner, else: inner }), { required: ['b'] }),
  ),
  'contradictory conditions': any(
    nest(30, (inner) => ({
      if: { required: ['a'] },
      then: { required: ['b'], ...inner },
      else: { maxProperties: 0 },
      ...{ minProperties: 3, maxProperties: 2 },
    })),
  ),
  'nest arrays 5^8': obj({ list: nest(8, (items) => ({ type: 'array', items, minItems: 5 })) }),
  'array of integers': list(190_000, INTEGER),
  'array unique': list(99_000, INTEGER, { uniqueItems: true }),
  'array unique objects': list(30_000, obj({ a: STRING, b: { type: 'number' } }), { uniqueItems: true }),
  'array contains each': list(50_000, undefined, {
    contains: { ...STRING, pattern: '^(a+)+\\1b$' },
    minContains: 20_000,
  }),
  'array contains numbers': list(50_000, INTEGER, { contains: { multipleOf: 7 }, minContains: 20_000 }),
  'array unevaluated': obj({
    list: { type: 'array', minItems: 100_000, unevaluatedItems: { ...STRING, format: 'date-time' } },
  }),
  'array of uuid': list(90_000, { ...STRING, format: 'uuid' }),
  'array of patterns': list(20_000, { ...STRING, pattern: '^(?=.*\\d)(?=.*[a-z])[a-z0-9]{30}$' }),
  'array of backreferences': list(5_000, { ...STRING, pattern: '^(\\w)\\1{3}(\\d)\\2$' }),
  'array of lookaheads unique': list(
    2_000,
    { ...STRING, pattern: '^(?=.{2})[ab]{8}$' },
    { uniqueItems: true },
  ),
  'enum 100,000': obj({ one: { enum: MANY } }),
  'enum of objects': obj({
    one: any({ minProperties: 3, enum: names(20_000).map((a) => ({ a, b: [a, a] })) }),
  }),
  'enum and enum': obj({
    one: {
      ...{ enum: names(60_000), if: { enum: names(60_000, 'x') } },
      ...{ then: { enum: names(60_000, 'y') }, else: { enum: names(60_000, 'z') } },
    },
  }),
  'const huge': obj({ one: { const: names(150_000) } }),
  recursion: any({
    $dynamicAnchor: 'node',
    properties: { left: NODE, right: NODE, more: { type: 'array', items: NODE, minItems: 3 } },
  }),
  'recursion endless': obj({ left: NODE, right: NODE }, { $dynamicAnchor: 'node' }),
  'recursion list endless': list(2, NODE, { $dynamicAnchor: 'node' }),
  dependentSchemas: any({
    required: names(60),
    dependentSchemas: from(60, (i) => ({ properties: from(60, () => ({ ...STRING, minLength: i })) })),
  }),
  'dependentSchemas nested': any({
    required: ['n0'],
    dependentSchemas: from(900, (i) => ({ required: [`n${i + 1}`] })),
  }),
  'unevaluated with properties': any({ properties: from(1_200, () => STRING), unevaluatedProperties: false }),
  'nested unevaluated': nest(60, (a) =>
    any({ properties: { a, b: STRING }, required: ['a'], unevaluatedProperties: false }),
  ),
  'deep objects': nest(190, (a) => obj({ a })),
  'multipleOf tiny': obj(
    from(2_000, () => ({ type: 'number', multipleOf: 1e-9, minimum: 0.1, maximum: 0.2 })),
  ),
  'multipleOf impossible': obj({ n: { ...INTEGER, multipleOf: 1e308, minimum: 1, maximum: 9 } }),
  'minProperties names': any({
    minProperties: 3_000,
    propertyNames: { pattern: '^(?=.)(\\w)\\1[0-9a-z]{3}$' },
  }),
  'minProperties few names': any({ minProperties: 2_000, propertyNames: { enum: names(1_000) } }),
  'minProperties 190,000': any({ minProperties: 190_000, additionalProperties: INTEGER }),
  'formats together': list(20_000, {
    ...{ ...STRING, format: 'email', pattern: '^[a-z]+@(?=ex)', maxLength: 60 },
  }),
  'hostname pattern': list(20_000, { ...STRING, format: 'idn-hostname', maxLength: 12, minLength: 9 }),
  'long names': any({
    properties: Object.fromEntries(names(19, 'x'.repeat(90_000)).map((n) => [n, STRING])),
  }),
  'long names nested': nest(90, (inner) => obj({ ['y'.repeat(10_000)]: inner })),
  descriptions: obj(from(1_000, () => ({ ...STRING, description: 'date email url address '.repeat(70) }))),
} as unknown as Readonly<Record<string, JsonObject>>
