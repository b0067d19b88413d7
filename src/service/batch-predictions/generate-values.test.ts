import { expect, test } from 'vitest'
import { required, values } from '../../../test/support/output-schemas.ts'
import { outputsOf } from '../../json-schema/outputs.ts'

const FORMATS =
  'binary byte date date-time duration email hostname ipv4 ipv6 iso-date-time iso-time json-pointer json-pointer-uri-fragment password regex relative-json-pointer time uri uri-reference uri-template url uuid'
const LENGTHS = '0-3 4-9 10-12 16-20 21-30 36-40 100-110 200-300 310-318'

const textOf = (lengths: string) => {
  const [minLength = 0, maxLength = 0] = lengths.split('-').map(Number)
  return { type: 'string', minLength, maxLength }
}

test.for(FORMATS.split(' '))('texts of the format %s are valid', { tags: ['R100'] }, (format) => {
  expect(new Set(values({ type: 'string', format }, 50)).size).toBeGreaterThan(5)
  const bounded = LENGTHS.split(' ').map((lengths) => ({ ...textOf(lengths), format }))
  const possible = bounded.filter((schema) => outputsOf(required(schema)).unsatisfiable === undefined)
  expect(possible).not.toEqual([])
  for (const schema of possible) values(schema, 3)
})

const PATTERNS = String.raw`
  ^[A-Z]{2}-\d{4}$ \d{3} ^(?=.*\d)(?=.*[a-z])(?=.*[A-Z]).{8,}$ ^(a+)+$ ^[\w.+-]+@[\w-]+\.[\w.]+$
  ^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-([0-9A-Za-z-]+))?$ ^\p{Lu}\p{Ll}+$
  ^https?://[^\s/$.?#].[^\s]*$ ^#(?:[0-9a-f]{3}){1,2}$ foo|^bar$ ^(?!foo)[a-z]{3,5}$ ^$ \bcat\b
  ^[^\x00-\x7F]+$ ^[а-я]{3}$ ^\u{1F600}{2}$ ^(?<year>\d{4})-(?<month>0[1-9]|1[0-2])$
  ^(?:(?:a|b)*c){2,4}$ ^a{3,}?b{0}[\]\-]$`
const WITHOUT_BLANKS = PATTERNS.trim().split(/\s+/)

test.for<[string, object]>([
  ...['', '^(?=.*[!@#$%])[^ ]{10,}$', ...WITHOUT_BLANKS].map((pattern) => [pattern, {}] as [string, object]),
  ['^[a-z]+$', { minLength: 30, maxLength: 31 }],
  ['\\d{3}', { minLength: 300, maxLength: 300 }],
  ['^[a-z]+-[0-9]+$', { minLength: 10_000 }],
  ['^https://', { format: 'uri' }],
  ['\\.pdf$', { format: 'uri' }],
  ['@acme\\.test$', { format: 'email' }],
])('texts match %s, with %j', { tags: ['R100'] }, ([pattern, keywords]) => {
  values({ type: 'string', pattern, ...keywords })
})

const EXACT = '0-0 1-1 0-2 5-5 17-18 0-200 10000-10001'

test.for(EXACT.split(' '))('texts have %s characters', { tags: ['R100'] }, (lengths) => {
  for (const value of values(textOf(lengths))) expect(value).not.toMatch(/ $/)
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
  { type: 'integer', minimum: 1, maximum: 3 },
  { type: 'integer', exclusiveMinimum: 0.5, exclusiveMaximum: 1.5 },
  { type: 'integer', minimum: 9e15 },
  { type: 'integer', multipleOf: 2.5 },
  { type: 'integer', multipleOf: 7, maximum: -7 },
  { type: 'integer', multipleOf: 7, minimum: 9e15 },
  { type: 'integer', minimum: -0.5, maximum: 0.5 },
])('numbers satisfy %j', { tags: ['R100'] }, (bounds) => {
  values({ type: 'number', ...bounds })
})

test('numbers without bounds are from 0 to 1,000', { tags: ['R100'] }, () => {
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
  { items: { type: 'integer', maximum: 99 }, contains: { minimum: 90 }, minContains: 2, maxContains: 3 },
  { contains: { type: 'string' }, minContains: 2, maxContains: 2, minItems: 5 },
  { items: { type: 'string' }, contains: { type: 'string' }, maxContains: 2 },
  { contains: { type: 'null' }, minContains: 0, maxContains: 0, minItems: 3 },
  { contains: { const: 7 }, uniqueItems: true, minItems: 3 },
  { contains: { type: 'integer' }, minContains: 1_000 },
  { prefixItems: [true, { type: 'null' }], unevaluatedItems: { type: 'integer' }, minItems: 4 },
  { prefixItems: [{ type: 'string' }], unevaluatedItems: false, minItems: 1 },
])('arrays satisfy %j', { tags: ['R100'] }, (keywords) => {
  values({ type: 'array', ...keywords }, 5)
})
