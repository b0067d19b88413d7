import fc from 'fast-check'
import { expect, test } from 'vitest'
import { pointer } from '../../kernel/json.ts'
import { lineOfPointer, lineOfSyntaxError } from './json-lines.ts'

const TEXT = `{
  "name": "a \\" b",
  "list": [
    { "x": 1 },
    { "a/b": [true, null,
      -1.5e3] }
  ],
  "": {}, "empty": [], "twice": 1,
  "twice": 2,
  "last": {
  }
}
`

test.for([
  ['the whole', '', 1],
  ['a member', '/name', 2],
  ['an array', '/list', 3],
  ['an item', '/list/1', 5],
  ['a member of an item', '/list/0/x', 4],
  ['an escaped key', '/list/1/a~1b', 5],
  ['a number inside', '/list/1/a~1b/2', 6],
  ['an empty key', '/', 8],
  ['an item past the end: the array', '/empty/0', 8],
  ['a member that stands twice: the last', '/twice', 9],
  ['a member that is missing: the object', '/last/gone', 10],
  ['a path through a number: the number', '/list/0/x/y', 4],
] as const)('the line of %s', ([, at, line]) => {
  expect(lineOfPointer(TEXT, at)).toBe(line)
})

test('every leaf of any document is found on its own line when each value has a line of its own', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
      const text = JSON.stringify(value, null, 1)
      const lines = text.split('\n')
      for (const [at, leaf] of leaves(JSON.parse(text), [])) {
        const line = lines[lineOfPointer(text, at) - 1] ?? ''
        expect(line).toContain(JSON.stringify(leaf))
      }
    }),
  )
})

test('a syntax error is on the line that the parser names, or on the last', () => {
  expect(lineOfSyntaxError('{\n  "a": 1,\n  b\n}', failureOf('{\n  "a": 1,\n  b\n}'))).toBe(3)
  expect(lineOfSyntaxError('{\n  "a": 1\n\n', failureOf('{\n  "a": 1\n\n'))).toBe(2)
})

function failureOf(text: string): SyntaxError {
  try {
    JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return error
  }
  throw new Error('it parses')
}

function* leaves(value: unknown, path: readonly PropertyKey[]): Generator<[string, unknown]> {
  if (typeof value !== 'object' || value === null) yield [pointer(...path), value]
  else for (const [key, member] of Object.entries(value)) yield* leaves(member, [...path, key])
}
