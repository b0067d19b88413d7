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

const [, , HASH] = Buffer.from(toCursor(3), 'base64url').toString().split(':')
const POSITIONS = ['-1', '03', '1.5', '1e3', '9999999999999999', '1 ', '١', '']

test.for([
  ...['', '0', 'djE6', 'v1:3', `${toCursor(3)}=`, ` ${toCursor(3)}`, `${toCursor(3)}!`, '__proto__'],
  ...[`v2:3:${HASH}`, 'v1:3', 'v1:3:', ...POSITIONS.map((position) => `v1:${position}:${HASH}`)].map((text) =>
    Buffer.from(text).toString('base64url'),
  ),
])('"%s" is not a cursor', { tags: ['U022'] }, (text) => {
  expect(fromCursor(text)).toBeUndefined()
})
