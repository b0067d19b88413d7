import fc from 'fast-check'
import { expect, test } from 'vitest'
import { forAll } from '../../../../test/support/for-all.ts'
import { type BodyPosition, offsetOf } from './stage.ts'

const THREE = 'ab\ncde\nf\n'

test.for<[place: BodyPosition, body: string, offset: number]>([
  [{ bytes: 4 }, THREE, 4],
  [{ bytes: 99 }, THREE, 9],
  [{ fraction: 0.5 }, THREE, 4],
  [{ fraction: 1 }, THREE, 9],
  [{ line: 0 }, THREE, 0],
  [{ line: 1 }, THREE, 3],
  [{ line: 2, plus_bytes: 1 }, THREE, 8],
  [{ line: 3 }, THREE, 9],
  [{ line: 4 }, THREE, 9],
  [{ line: 1 }, 'ab\r\ncd', 4],
  [{ line: 1 }, 'ab\rcd\r', 3],
  [{ line: 1 }, 'no end', 6],
  [{ plus_bytes: 2 }, THREE, 2],
  [{ bytes: 4, plus_bytes: -9 }, THREE, 0],
  [{ fraction: 0.5 }, '', 0],
])('the place %j of %j is at %i', ([place, body, offset]) => {
  expect(offsetOf(place, Buffer.from(body))).toBe(offset)
})

test('a place is counted in bytes, not in characters', () => {
  expect(offsetOf({ fraction: 0.5 }, Buffer.from('€€'))).toBe(3)
})

test('every place is within the body', () => {
  const number = fc.option(fc.double({ min: 0, max: 1e9, noNaN: true }).map(Math.floor), { nil: undefined })
  const place = fc.record({ bytes: number, line: number, plus_bytes: number })
  forAll(place, fc.uint8Array(), (place, bytes) => {
    const offset = offsetOf(place, Buffer.from(bytes))
    return Number.isInteger(offset) && offset >= 0 && offset <= bytes.length
  })
})
