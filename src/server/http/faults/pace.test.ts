import fc from 'fast-check'
import { expect, test } from 'vitest'
import { seen } from '../../../../test/support/faulted-server.ts'
import { forAll } from '../../../../test/support/for-all.ts'
import { pace as pacePrimitive } from './pace.ts'
import { gapAfter, piecesOf } from './pieces.ts'
import type { AskedPace } from './wire-primitive.ts'

/** Milliseconds after which written bytes have arrived, on any system. */
const GAP = 200

const pace = (pace: AskedPace) => ({ actions: [{ pace }] })

function bodyPieces(pieces: readonly Buffer[]): string[] {
  const texts = pieces.map((piece) => piece.toString('latin1'))
  return [texts[0]?.split('\r\n\r\n')[1] ?? '', ...texts.slice(1)].filter((text) => text !== '')
}

test.for<[what: string, pace: AskedPace, text: string, pieces: readonly string[]]>([
  ['offsets split the body', { chunks: [2, 5] }, '{"ok":true}', ['{"', 'ok"', ':true}']],
  ['characters are split', { chunks: 'inside-multibyte' }, 'aé€b', ['a\xc3', '\xa9\xe2', '\x82\xacb']],
  ['line ends are split', { chunks: 'between-cr-lf' }, 'a\r\nb\r\n', ['a\r', '\nb\r', '\n']],
])('%s into pieces that arrive separately', async ([, asked, text, expected]) => {
  const { pieces, sent } = await seen({ ...pace({ ...asked, gap_ms: GAP }), text })
  expect(bodyPieces(pieces)).toEqual(expected)
  expect(sent).toMatchObject([{ stage: 'end', end: 'whole' }])
})

test('a body in chunks has one chunk for each piece', async () => {
  const actions = [{ frame: { mode: 'chunked' } as const }, { pace: { bytes: 4, gap_ms: GAP } }]
  const { pieces } = await seen({ actions })
  expect(bodyPieces(pieces)).toEqual(['4\r\n{"ok\r\n', '4\r\n":tr\r\n', '3\r\nue}\r\n0\r\n\r\n'])
})

test('the rest of a large body after max_ms is one piece', async () => {
  const slow = pace({ bytes: 1, gap_ms: 5, max_ms: 30 })
  const { body, sent } = await seen({ ...slow, text: 'x'.repeat(5_000_000) })
  expect(body.length).toBe(5_000_000)
  expect(sent).toMatchObject([{ stage: 'end', end: 'whole' }])
})

test('the head waits for before_head_ms, and informational responses do not', async () => {
  const actions = [{ head: { interim: [{ status: 102 }] } }, { pace: { before_head_ms: 60_000 } }]
  const { text } = await seen({ actions }, { isEnough: (_, text) => text !== '' })
  expect(text).toBe('HTTP/1.1 102 Processing\r\n\r\n')
  expect((await seen(pace({ before_head_ms: 30 }))).body).toBe('{"ok":true}')
})

test('the pieces together are the body, and none is empty', () => {
  const anyPace = fc.oneof(
    fc.record({ chunks: fc.array(fc.integer({ min: 0, max: 300 })) }),
    fc.record({ chunks: fc.constantFrom('inside-multibyte' as const, 'between-cr-lf' as const) }),
    fc.record({ bytes: fc.integer({ min: 1, max: 300 }) }),
    fc.record({ kbps: fc.double({ min: 0.001, max: 1e6, noNaN: true }) }),
  )
  forAll(fc.uint8Array({ maxLength: 300 }), anyPace, (bytes, pace) => {
    const pieces = [...piecesOf(Buffer.from(bytes), pace)]
    expect(Buffer.concat(pieces)).toEqual(Buffer.from(bytes))
    expect(pieces.every(({ length }) => length > 0)).toBe(true)
  })
})

test('gaps keep the rate, and no gap is shorter than 5 ms', () => {
  const pieces = [...piecesOf(Buffer.alloc(10_000), { kbps: 80 })]
  expect(pieces.reduce((ms, piece) => ms + gapAfter(piece, { kbps: 80 }), 0)).toBeCloseTo(1_000)
  expect(gapAfter(Buffer.alloc(1), { kbps: 1_000_000 })).toBe(5)
  expect(gapAfter(Buffer.alloc(1), {})).toBe(5)
  expect(gapAfter(Buffer.alloc(100), { kbps: 1, gap_ms: 5 })).toBe(800)
})

test.for([
  [0, 300],
  [0.5, 550],
  [0.9999, 800],
] as const)('jitter_ms adds to the wait before the head: a draw of %d leads to %i ms', ([draw, ms]) => {
  expect(pacePrimitive.draw?.({ before_head_ms: 300, jitter_ms: 500 }, draw)).toEqual({ before_head_ms: ms })
  expect(pacePrimitive.draw?.({ before_head_ms: 300 }, draw)).toEqual({ before_head_ms: 300 })
})
