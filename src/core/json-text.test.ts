import fc from 'fast-check'
import { expect, test } from 'vitest'
import { forAll } from '../../test/support/for-all.ts'
import { keysOf, pointer, valueAt } from './json.ts'
import { lineAndColumn, locationsIn, spliced, syntaxIssue } from './json-text.ts'

test.each([
  ['{"a": 1,}', 1, 9, 'expected a property name in double quotes, found "}"'],
  ['[1, 2,\n]', 2, 1, 'expected a value, found "]"'],
  ['{"a": }', 1, 7, 'expected a value, found "}"'],
  ['{"a" 1}', 1, 6, 'expected ":", found "1"'],
  ["{'a': 1}", 1, 2, 'unexpected "\'"; strings and property names need double quotes'],
  ['{"a": 1\n "b": 2}', 2, 2, 'expected "," or the closing bracket, found "\\""'],
  ['{"a": "x\ny"}', 1, 7, 'this string has no closing quote'],
  ['{"a": "x\ty"}', 1, 7, 'this string has a control character, which must be escaped'],
  ['{"a": "\\q"}', 1, 7, 'this string has an escape that JSON does not have'],
  ['"\\u12g4"', 1, 1, 'this string has a \\u escape without four hexadecimal digits'],
  ['{"a": [1, 2', 1, 12, 'expected "," or "]", but the text ends'],
  ['{"a": 1', 1, 8, 'expected "," or "}", but the text ends'],
  ['{"a": "x', 1, 7, 'the text ends in this string'],
  ['', 1, 1, 'expected a value, but the text ends'],
  ['{} x', 1, 4, 'unexpected "x"; strings and property names need double quotes'],
  ['[]\r\n[]', 2, 1, 'expected the end of the text, found "["'],
  ['{"a": 01}', 1, 8, 'expected "," or the closing bracket, found "1"'],
  ['1.e3', 1, 1, 'this number has no digits where they are needed'],
  ['-', 1, 1, 'unexpected "-"; strings and property names need double quotes'],
  ['[1] // end', 1, 5, 'JSON has no comments'],
])('a syntax error in %j is reported with line, column and cause', (text, line, column, detail) => {
  const issue = syntaxIssue(text)
  expect(issue?.detail).toBe(detail)
  expect(lineAndColumn(text, issue?.offset ?? -1)).toEqual({ line, column })
})

test.each([
  ['[1,\u00a02]', 'U+00A0', 3],
  ['\u200b[1]', 'U+200B', 0],
  ['[1 \u{e0001}]', 'U+E0001', 3],
])('an invisible character in %j is named %s', (text, name, offset) => {
  const detail = `unexpected the invisible character ${name}; strings and property names need double quotes`
  expect(syntaxIssue(text)).toEqual({ offset, detail })
})

test('a text has a syntax issue exactly when JSON.parse rejects it', () => {
  const broken = fc.property(
    fc.json(),
    fc.nat(),
    fc.constantFrom('', ...'"\\,}]0.e\n -é'),
    (json, at, put) => {
      const cut = at % (json.length + 1)
      const text = json.slice(0, cut) + put + json.slice(cut + 1)
      expect(syntaxIssue(text) === undefined).toBe(parses(text))
    },
  )
  fc.assert(broken, { numRuns: 2_000 })
})

test('a pointer leads to the line of its value, or of the nearest value around it', () => {
  const document = { a: [{ 'x/y': 'br[]ace"{' }, { '~': 2, __proto__: 3 }], '': { b: null } }
  const text = JSON.stringify(document, null, 2)
  const locationIn = locationsIn(text)
  const at = (pointer: string) => {
    const { line, column } = locationIn(pointer)
    const found = text.split('\n')[line - 1] ?? ''
    return [line, found.slice(column - 1).replace(/,$/, '')]
  }
  expect(at('/a/0/x~1y')).toEqual([4, '"br[]ace\\"{"'])
  expect(at('/a/1/~0')).toEqual([7, '2'])
  expect(at('//b')).toEqual([11, 'null'])
  expect(at('/a/7/name')).toEqual([2, '['])
  expect(at('/a/01')).toEqual([2, '['])
  expect(at('/a/1/name')).toEqual([6, '{'])
  expect(at('')).toEqual([1, '{'])
})

test('if a key occurs twice, the last one counts, as for JSON.parse', () => {
  expect(locationsIn('{\n  "twice": 1,\n  "twice": 2\n}')('/twice').line).toBe(3)
})

test('every leaf of a document with one value per line is found on its line', () =>
  forAll(fc.jsonValue({ maxDepth: 4 }), (value) => {
    const text = JSON.stringify(value, null, 1)
    const lines = text.split('\n')
    const locationIn = locationsIn(text)
    for (const [at, leaf] of leaves(JSON.parse(text), [])) {
      expect(lines[locationIn(at).line - 1] ?? '').toContain(JSON.stringify(leaf))
    }
  }))

function* leaves(value: unknown, path: readonly PropertyKey[]): Generator<[string, unknown]> {
  if (typeof value !== 'object' || value === null) yield [pointer(...path), value]
  else for (const [key, member] of Object.entries(value)) yield* leaves(member, [...path, key])
}

function parses(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

test.for([
  ['lists', `{"a": ${'['.repeat(20_000)}${']'.repeat(20_000)}}`, 1_005],
  ['objects', `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`, 5_000],
] as const)('a text of 20,000 levels is an issue where it is too deep: %s', ([, text, offset]) => {
  expect(syntaxIssue(text)).toEqual({ offset, detail: 'the text nests more than 1000 levels deep' })
})

test('a text of 200,000 levels that are not closed is an issue without a place', () => {
  const detail = 'the text is nested too deeply to locate the error'
  expect(syntaxIssue('['.repeat(200_000))).toEqual({ offset: 0, detail })
})

test('brackets in strings are no levels, and 1,000 levels can be used', () => {
  expect(syntaxIssue(JSON.stringify({ a: '[{"'.repeat(2_000), b: '\\' }))).toBeUndefined()
  expect(syntaxIssue(`${'['.repeat(1_000)}${']'.repeat(1_000)}`)).toBeUndefined()
})

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
