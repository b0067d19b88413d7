import fc from 'fast-check'
import { expect, test } from 'vitest'
import { forAll } from '../../../../test/support/for-all.ts'
import { type LinesFault, withLines } from './lines.ts'

const LETTERS = ['a', 'b', 'c', 'd']

function change(fault: LinesFault, lines = LETTERS): string {
  const body = Buffer.from(lines.map((line) => `${line}\n`).join(''))
  return withLines({ status: 200, headers: [], ndjson: true, body }, fault).body?.toString() ?? ''
}

test.for<[fault: LinesFault, result: string]>([
  [{ order: 'reverse' }, 'd\nc\nb\na\n'],
  [{ order: [2, 0] }, 'c\na\nb\nd\n'],
  [{ keep: [1, 3, 9] }, 'b\nd\n'],
  [{ drop: [0] }, 'b\nc\nd\n'],
  [{ dup: [1] }, 'a\nb\nb\nc\nd\n'],
  [{ insert: [{ at: 0, text: '' }] }, '\na\nb\nc\nd\n'],
  [{ insert: [{ at: 4, text: '€' }] }, 'a\nb\nc\nd\n€\n'],
  [{ insert: [1, 1, 2].map((at, n) => ({ at, text: `${n}` })) }, 'a\n0\n1\nb\n2\nc\nd\n'],
  [{ replace: [{ at: 2, text: '{' }] }, 'a\nb\n{\nd\n'],
  [{ eol: '\r\n' }, 'a\r\nb\r\nc\r\nd\r\n'],
  [{ eol: '\r' }, 'a\rb\rc\rd\r'],
  [{ final_newline: false }, 'a\nb\nc\nd'],
  [{ truncate: { line: 2, plus_bytes: 1 } }, 'a\nb\nc'],
  [{ truncate: { line: 3, plus_bytes: -1 } }, 'a\nb\nc'],
  [{ order: 'reverse', drop: [0], dup: [0], insert: [{ at: 1, text: 'x' }] }, 'c\nx\nc\nb\na\n'],
  [{ keep: [] }, ''],
])('%j changes four lines to %j', ([fault, result]) => {
  expect(change(fault)).toBe(result)
})

test('lines are inserted into a body without lines', () => {
  expect(change({ insert: [{ at: 0, text: 'x' }] }, [])).toBe('x\n')
  expect(change({ order: 'shuffle' }, [])).toBe('')
})

test('a shuffle is always the same, loses no line, and moves every line', () =>
  forAll(fc.integer({ min: 2, max: 200 }), (count) => {
    const lines = Array.from({ length: count }, (_, n) => `line ${n}`)
    const shuffled = change({ order: 'shuffle' }, lines).split('\n').slice(0, -1)
    expect(change({ order: 'shuffle' }, lines).split('\n').slice(0, -1)).toEqual(shuffled)
    expect(shuffled.toSorted()).toEqual(lines.toSorted())
    expect(shuffled.filter((line, at) => line === lines[at])).toEqual([])
  }))

test('lines without a change keep their bytes, and stay a stream', () => {
  const line = fc.uint8Array().filter((bytes) => !bytes.includes(10) && !bytes.includes(13))
  forAll(fc.array(line), (lines) => {
    const body = Buffer.concat(lines.flatMap((each) => [each, Buffer.from('\n')]))
    const draft = { status: 200, headers: [], ndjson: true, body }
    expect(withLines(draft, {})).toEqual(draft)
  })
})
