import fc from 'fast-check'
import { expect, test } from 'vitest'
import { forAll } from '../../../test/support/for-all.ts'
import { fromCursor, toCursor } from './index.ts'

test('each position has a cursor of its own, which decodes to it', { tags: ['R058'] }, () =>
  forAll(fc.nat(1_000_000_000), (position) => {
    expect(fromCursor(toCursor(position))).toEqual({ start: position, end: position + 1 })
    expect(toCursor(position + 1)).not.toBe(toCursor(position))
  }),
)

const CODED = ['v1:-1', 'v1:03', 'v1:1.5', 'v1:1e3', 'v2:1', 'v1:9999999999999999', 'v1:1 ', 'v1:١']

test.for([
  ...['', '0', 'djE6', 'v1:3', `${toCursor(3)}=`, ` ${toCursor(3)}`, `${toCursor(3)}!`, '__proto__'],
  ...CODED.map((text) => Buffer.from(text).toString('base64url')),
])('"%s" is not a cursor', { tags: ['U022'] }, (text) => {
  expect(fromCursor(text)).toBeUndefined()
})

test('only the text that toCursor returns is a cursor', { tags: ['U022'] }, () =>
  forAll(fc.string(), (text) => {
    const spot = fromCursor(text)
    if (spot !== undefined) expect(toCursor(spot.start)).toBe(text)
  }),
)
