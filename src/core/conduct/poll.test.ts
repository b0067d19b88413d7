import { expect, test } from 'vitest'
import { judging, type Step } from '../../../test/support/observed-log.ts'

const { codesOn } = judging('poll.endless', 'poll.finished', 'poll.too-fast')

const path = '/v1/batch-predictions/b'
const poll: Step = { operation: 'batch-predictions.retrieve', path, params: { batch_prediction_id: 'b' } }

/** Polls with these statuses, one every `gap` milliseconds. */
const polls = (statuses: string[], gap = 5_000): Step[] =>
  statuses.map((status, n) => ({ ...poll, response: { id: 'b', status }, at: n * gap }))

const times = (count: number, status: string): string[] => Array.from({ length: count }, () => status)

const odd = times(6, 'archived')

test.for<[what: string, steps: Step[], expected: string[]]>([
  ['ten polls with a status that no record has', polls(times(10, 'archived')), ['warning poll.endless']],
  ['nine polls with it', polls(times(9, 'archived')), []],
  ['an unknown status for a moment', polls([...odd, 'in_progress', ...odd]), []],
  ['five polls after the end', polls(['in_progress', ...times(6, 'completed')]), ['note poll.finished']],
  ['a look at the finished record, and one more', polls(['in_progress', ...times(3, 'completed')]), []],
  ['ten polls in a second', polls(times(10, 'in_progress'), 100), ['note poll.too-fast']],
  ['ten polls, five seconds apart', polls(times(10, 'in_progress')), []],
  ['fast polls of a moving record', polls([...times(5, 'validating'), ...times(5, 'in_progress')], 100), []],
  ['a dashboard of two records', [...polls(['completed']), ...polls(['in_progress'])], []],
])('%s', ([, steps, expected]) => {
  expect(codesOn(steps)).toEqual(expected)
})

test('a client that polls a frozen sandbox at a human pace is not too fast', () => {
  const frozen = polls(times(10, 'in_progress')).map((step, n) => ({ ...step, at: 0, real: n * 5_000 }))
  expect(codesOn(frozen)).toEqual([])
})
