import fc from 'fast-check'
import { expect, test } from 'vitest'
import { pointer } from '../kernel/json.ts'
import { lineOf, offsetOf, placeOf, syntaxIssue } from './json-text.ts'

test.each([
  ['{"a": 1,}', 1, 9, 'comma before "}"'],
  ['[1, 2,\n]', 2, 1, 'comma before "]"'],
  ['{"a": }', 1, 7, 'expected a value, found "}"'],
  ['{"a" 1}', 1, 6, 'expected ":"'],
  ["{'a': 1}", 1, 2, 'name of a member in double quotes'],
  ['{"a": 1\n "b": 2}', 2, 2, 'expected "," or "}"'],
  ['{"a": "x\ny"}', 1, 9, 'no end on its line'],
  ['{"a": "\\q"}', 1, 8, 'not an escape'],
  ['{"a": [1, 2', 1, 12, 'but the text ends'],
  ['{"a": "x', 1, 9, 'ends within a string'],
  ['', 1, 1, 'expected a value, but the text ends'],
  ['{} x', 1, 4, 'more text after the end'],
  ['{"a": 01}', 1, 8, 'expected "," or "}"'],
])('the place where %j stops being JSON is named', (text, line, column, detail) => {
  const issue = syntaxIssue(text)
  expect(issue?.detail).toContain(detail)
  expect(placeOf(text, issue?.offset ?? -1)).toEqual({ line, column })
})

test('a text is refused exactly when the parser refuses it', () => {
  fc.assert(
    fc.property(
      fc.json(),
      fc.nat(),
      fc.constantFrom('', ',', '"', '}', '0', '\\', '\n', ' '),
      (json, at, put) => {
        const cut = at % (json.length + 1)
        const text = json.slice(0, cut) + put + json.slice(cut + 1)
        expect(syntaxIssue(text) === undefined).toBe(parses(text))
      },
    ),
    { numRuns: 500 },
  )
})

test('a text of any depth is walked', () => {
  expect(syntaxIssue('['.repeat(200_000) + ']'.repeat(200_000))).toBeUndefined()
})

test('a pointer leads to the line of its value, or of the nearest value around it', () => {
  const document = { a: [{ 'x/y': 'br[]ace"{' }, { '~': 2, __proto__: 3 }], '': { b: null } }
  const text = JSON.stringify(document, null, 2)
  const at = (pointer: string) => text.slice(offsetOf(text, pointer)).split(/[\n,]/)[0]
  expect(at('/a/0/x~1y')).toBe('"br[]ace\\"{"')
  expect(at('/a/1/~0')).toBe('2')
  expect(at('//b')).toBe('null')
  expect(at('/a/7/name')).toBe('[')
  expect(at('/a/1/name')).toBe('{')
  expect(at('')).toBe('{')
  expect(placeOf(text, offsetOf(text, '/a/1/~0')).line).toBe(7)
})

test('of a member that stands twice it is the last, as for the parser', () => {
  expect(lineOf('{\n  "twice": 1,\n  "twice": 2\n}', '/twice')).toBe(3)
})

test('every leaf of any document is found on its own line when each value has a line of its own', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
      const text = JSON.stringify(value, null, 1)
      const lines = text.split('\n')
      for (const [at, leaf] of leaves(JSON.parse(text), [])) {
        expect(lines[lineOf(text, at) - 1] ?? '').toContain(JSON.stringify(leaf))
      }
    }),
  )
})

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
