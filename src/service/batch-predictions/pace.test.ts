import { expect, test } from 'vitest'
import { type Beat, beatOf, finishedAfter, inFlight, timeUntil } from './pace.ts'

test.for<[string, Parameters<typeof beatOf>[0], Beat, number]>([
  ['immediate', 'immediate', { by: 'whole', span: 0 }, 0],
  ['hold', 'hold', { by: 'nothing' }, 0],
  ['a duration', '90s', { by: 'whole', span: 90_000 }, 1],
  ['an ISO duration', 'PT1M', { by: 'whole', span: 60_000 }, 1],
  ['polls', { polls: 3 }, { by: 'polls', span: 3 }, 0],
  ['so long per item', { per_item: '1s' }, { by: 'item', ms: 1_000, width: 1 }, 1],
  ['several at a time', { per_item: '1s', concurrency: 4 }, { by: 'item', ms: 1_000, width: 4 }, 4],
  ['no time per item', { per_item: '0s', concurrency: 4 }, { by: 'whole', span: 0 }, 0],
])('the pace "%s" is parsed, and has its number of items in flight', ([, pace, beat, width]) => {
  expect(beatOf(pace)).toEqual(beat)
  expect(inFlight(beat)).toBe(width)
})

test('items at a pace of polls finish in equal steps, and not by time', () => {
  const beat = beatOf({ polls: 4 })
  expect([0, 1, 2, 3, 4, 5].map((polls) => finishedAfter(beat, 10, 1e9, polls))).toEqual([0, 2, 5, 7, 10, 10])
  expect([timeUntil(beat, 10, 0), timeUntil(beat, 10, 1)]).toEqual([0, undefined])
})
