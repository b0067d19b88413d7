import fc from 'fast-check'
import { expect, test } from 'vitest'
import { forAll } from '../../test/support/for-all.ts'
import { keysOf, pointer, valueAt } from './json.ts'
import { spliced } from './json-text.ts'

const BIG = '9007199254740993'

test.for<[text: string, pointer: string, result: string]>([
  ['{"a":1,"b":2}', '/b', `{"a":1,"b":${BIG}}`],
  ['{"a": {"b,}": [1, "x]", 3]} }', '/a/b,}/2', `{"a": {"b,}": [1, "x]", ${BIG}]} }`],
  ['{"a":{"deep":[[]]},"b":2}', '/a', `{"a":${BIG},"b":2}`],
  ['[1,2]', '/0', `[${BIG},2]`],
  ['{"n":1.0000000000000000001,"m":0}', '/m', `{"n":1.0000000000000000001,"m":${BIG}}`],
  ['{"a":"\\"}","b":null}', '/b', `{"a":"\\"}","b":${BIG}}`],
  ['{"\\u0062":1}', '/b', `{"\\u0062":${BIG}}`],
  ['{"a":1,"a":2}', '/a', `{"a":1,"a":${BIG}}`],
  ['{}', '/new', `{"new":${BIG}}`],
  ['{"a":1}', '/__proto__', `{"a":1,"__proto__":${BIG}}`],
  ['"whole"', '', BIG],
])('a value is written into %s at %s', ([text, pointer, result]) => {
  expect(spliced(text, pointer, BIG)).toBe(result)
})

test.for([
  ['[1,2]', '/2'],
  ['[1,2]', '/x'],
  ['{"a":1}', '/b/c'],
  ['{"a":1}', '/a/c'],
  ['[]', '/0'],
] as const)('a text without the place stays unchanged: %s has no %s', ([text, pointer]) => {
  expect(spliced(text, pointer, BIG)).toBe(text)
})

test('the text around the number stays unchanged', () => {
  const key = fc.oneof(fc.string(), fc.constantFrom('__proto__', '', 'a/b', '~'))
  forAll(fc.dictionary(key, fc.jsonValue()), key, fc.integer(), (object, name, number) => {
    const text = JSON.stringify(object, undefined, 1)
    const at = pointer(name)
    const result = JSON.parse(spliced(text, at, String(number)))
    expect(valueAt(result, at)).toBe(number)
    const kept = Object.keys(JSON.parse(text)).filter((other) => other !== keysOf(at)[0])
    for (const other of kept) expect(result[other]).toEqual(JSON.parse(text)[other])
  })
})
