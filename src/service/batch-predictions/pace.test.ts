import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Beat, beatOf, changePace, DEFAULT_PACE, finishedAfter, inFlight, timeUntil } from './pace.ts'

const ms = fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 200_000_000 }))

const timed: fc.Arbitrary<Beat> = fc.oneof(
  ms.map((each): Beat => ({ by: 'whole', span: each })),
  fc
    .record({ ms: fc.integer({ min: 1, max: 90_000_000 }), width: fc.integer({ min: 1, max: 5_000 }) })
    .map(({ ms: each, width }): Beat => ({ by: 'item', ms: each, width })),
)

const counted = fc
  .integer({ min: 1, max: 5_000 })
  .chain((count) => fc.record({ count: fc.constant(count), n: fc.integer({ min: 1, max: count }) }))

test('an item is finished exactly at the predicted instant, and not a millisecond earlier', () => {
  fc.assert(
    fc.property(timed, counted, (beat, { count, n }) => {
      const at = timeUntil(beat, count, n) ?? Number.NaN
      expect(finishedAfter(beat, count, at, 0)).toBeGreaterThanOrEqual(n)
      if (at > 0) expect(finishedAfter(beat, count, at - 1, 0)).toBeLessThan(n)
    }),
  )
})

test('the number of finished items never decreases with time, and never exceeds the total', () => {
  fc.assert(
    fc.property(timed, counted, ms, ms, (beat, { count }, one, two) => {
      const [early, late] = [Math.min(one, two), Math.max(one, two)]
      const before = finishedAfter(beat, count, early, 0)
      const after = finishedAfter(beat, count, late, 0)
      expect([before >= 0, before <= after, after <= count]).toEqual([true, true, true])
    }),
  )
})

test.for<[string, Parameters<typeof beatOf>[0], Beat]>([
  ['immediate', 'immediate', { by: 'whole', span: 0 }],
  ['hold', 'hold', { by: 'nothing' }],
  ['a duration', '90s', { by: 'whole', span: 90_000 }],
  ['an ISO duration', 'PT1M', { by: 'whole', span: 60_000 }],
  ['polls', { polls: 3 }, { by: 'polls', span: 3 }],
  ['so long per item', { per_item: '1s' }, { by: 'item', ms: 1_000, width: 1 }],
  [
    'so long per item, several at a time',
    { per_item: '1s', concurrency: 4 },
    { by: 'item', ms: 1_000, width: 4 },
  ],
  ['no time per item', { per_item: '0s', concurrency: 4 }, { by: 'whole', span: 0 }],
])('the pace "%s" is parsed', ([, pace, beat]) => {
  expect(beatOf(pace)).toEqual(beat)
})

test('items at a pace of polls finish in equal steps, and not by time', () => {
  const beat = beatOf({ polls: 4 })
  expect([0, 1, 2, 3, 4, 5].map((polls) => finishedAfter(beat, 10, 1e9, polls))).toEqual([0, 2, 5, 7, 10, 10])
  expect([timeUntil(beat, 10, 0), timeUntil(beat, 10, 1)]).toEqual([0, undefined])
})

test('held items do not finish', () => {
  expect(finishedAfter(beatOf('hold'), 10, 1e12, 99)).toBe(0)
  expect(timeUntil(beatOf('hold'), 10, 1)).toBeUndefined()
})

test('the number of items in flight is the concurrency', () => {
  const paces = [{ per_item: '1s', concurrency: 7 }, '10s', 'immediate', 'hold', { polls: 2 }]
  expect(paces.map((pace) => inFlight(beatOf(pace)))).toEqual([7, 1, 0, 0, 0])
})

test('a change of pace keeps the phases that it does not name', () => {
  expect(changePace(DEFAULT_PACE, { finalizing: 'hold' })).toEqual({ ...DEFAULT_PACE, finalizing: 'hold' })
})
