import fc from 'fast-check'
import { expect, test } from 'vitest'
import { forAll } from '../../../test/support/for-all.ts'
import type { Json } from '../json.ts'
import { parseKeepingDigits, withExactNumbers } from './exact-numbers.ts'

const big = '9007199254740993'

test('a text without a number that a double changes has no exact form', { tags: ['T10'] }, () => {
  forAll(fc.jsonValue(), fc.constantFrom(undefined, 2), (value, indent) => {
    expect(withExactNumbers(JSON.stringify(value, null, indent))).toBeUndefined()
  })
  expect(withExactNumbers(JSON.stringify({ [big]: `"${big}\\"`, a: `\\${big}` }))).toBeUndefined()
})

/** The value that the exact form should have. */
function tagged(value: Json): Json {
  if (typeof value === 'string') return `s${value}`
  if (Array.isArray(value)) return value.map(tagged)
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [`s${key}`, tagged(each)]))
}

const withoutNumbers = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.string({ unit: fc.constantFrom('"', '\\', '1', 'e', ',', '\u2028', big) }),
    fc.constantFrom(null, true, false),
    fc.array(tie('value')),
    fc.dictionary(fc.string(), tie('value')),
  ),
})).value

test('the exact form keeps strings and keys apart from numbers, at any depth', { tags: ['T10'] }, () =>
  forAll(withoutNumbers, (value) => {
    const exact = withExactNumbers(`[${big},${JSON.stringify(value)}]`)
    expect(JSON.parse(exact ?? '')).toEqual([`n${big}e0`, tagged(value)])
  }),
)

test.for([
  [big, `${big}.000`, '9007199254740993000e-3', '0.0009007199254740993e19'],
  ['1e400', '10E+399', '1.0e0400'],
  ['0.10000000000000000001', '10000000000000000001E-20'],
  ['1e-400', '0.1e-399'],
])('all forms of one number have the same text: %s', { tags: ['T10'] }, (forms) => {
  expect(new Set(forms.map(withExactNumbers)).size).toBe(1)
  expect(withExactNumbers(`-${forms[0]}`)).not.toBe(withExactNumbers(forms[0] ?? ''))
})

test('a power of ten of any length is compared, and a long number takes linear time', () => {
  const far = '9'.repeat(100_000)
  expect(withExactNumbers(`1e${far}`)).not.toBe(withExactNumbers(`1e${far}9`))
  const [zeros, others] = ['0'.repeat(1_000_000), `${'0'.repeat(999_999)}1`]
  expect(withExactNumbers(`1${zeros}1`)).not.toBe(withExactNumbers(`1${others}1`))
})

test.each<[text: string, value: Json]>([
  ['{"n":9007199254740993}', { n: '9007199254740993' }],
  ['[-12345678901234567890, 9007199254740991]', ['-12345678901234567890', 9007199254740991]],
  ['[1e400, -1.5e+999, 1e300, 0.1000000000000000055]', ['1e400', '-1.5e+999', 1e300, 0.1]],
  ['{"9007199254740993":"9007199254740993 \\" 1e400"}', { '9007199254740993': '9007199254740993 " 1e400' }],
])('%s: numbers that no double keeps become strings of their digits', (text, value) => {
  expect(parseKeepingDigits(text)).toEqual(value)
})
