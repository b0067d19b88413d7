import fc from 'fast-check'
import { expect, test } from 'vitest'
import { forAll } from '../../../test/support/for-all.ts'
import { cutPage, ordered } from './pagination.ts'

const list = (length: number) => Array.from({ length }, (_, n) => n)

test('a page holds exactly the limit while more exist, and never more', { tags: ['R010'] }, () =>
  forAll(fc.nat(250), fc.integer({ min: 1, max: 100 }), fc.nat(260), (length, limit, after) => {
    const page = cutPage(list(length), { after }, limit, false)
    const left = Math.max(0, length - after - 1)
    expect(page.items).toHaveLength(Math.min(limit, left))
    expect(page.hasMore).toBe(left > limit)
  }),
)

test('walking forward or back visits every record once', { tags: ['R008'] }, () =>
  forAll(fc.nat(250), fc.integer({ min: 1, max: 100 }), (length, limit) => {
    const forward: number[] = []
    let page = cutPage(list(length), undefined, limit, false)
    for (;;) {
      forward.push(...page.items)
      if (!page.hasMore) break
      page = cutPage(list(length), { after: page.start + page.items.length - 1 }, limit, false)
    }
    expect(forward).toEqual(list(length))
    const backward: number[] = []
    for (let before = length; before > 0; ) {
      const back = cutPage(list(length), { before }, limit, true)
      backward.unshift(...back.items)
      expect(back.hasMore).toBe(back.start > 0)
      before = back.start
    }
    expect(backward).toEqual(list(length))
  }),
)

const records = [
  { id: 'b', created_at: '2026-01-01T00:00:00.000Z' },
  { id: 'a', created_at: '2026-01-01T00:00:00.000Z' },
  { id: 'c', created_at: '2026-01-01T01:30:00+02:00' },
]

test('lists are newest first, ties by id, with timestamps of any form', { tags: ['T27'] }, () => {
  expect(ordered(records, 'newest', 1).map(({ id }) => id)).toEqual(['b', 'a', 'c'])
  expect(ordered(records, 'oldest', 1).map(({ id }) => id)).toEqual(['c', 'a', 'b'])
})

test('a shuffled list has every record, in an order that depends only on the seed', () => {
  const many = list(50).map((n) => ({ id: `record-${n}` }))
  const once = ordered(many, 'shuffled', 7).map(({ id }) => id)
  expect(ordered([...many].reverse(), 'shuffled', 7).map(({ id }) => id)).toEqual(once)
  expect(ordered(many, 'shuffled', 8).map(({ id }) => id)).not.toEqual(once)
  expect([...once].sort()).toEqual(many.map(({ id }) => id).sort())
})
