import { expect, test } from 'vitest'
import { aConnection, judging, type Step } from '../../../test/support/observed-log.ts'

const { codesOn } = judging('connection.leaked', 'stream.abandoned', 'timeout.body')

const list: Step = { operation: 'agents.list' }
const only = (code: string, ...given: Parameters<typeof codesOn>) =>
  codesOn(...given).filter((each) => each.endsWith(code))

/** Three attempts, each on a connection of its own, which is closed `after` so many milliseconds. */
const attempts = ({ opened, after }: { opened?: number; after?: number } = {}): Step[] =>
  [0, 1_000, 3_000].map((real, n) => {
    const closed = after === undefined ? undefined : real + after
    const connection = aConnection({ opened: opened ?? real, closed })
    return { ...list, status: n === 2 ? 200 : 503, real, at: real, requestsBefore: 0, connection }
  })

test.for<[what: string, steps: Step[], expected: string[]]>([
  ['each attempt leaves a connection open', attempts(), ['warning connection.leaked']],
  ['connections that the client closes', attempts({ after: 10 }), []],
  ['connections that were open before: the client has a pool', attempts({ opened: 0 }), []],
  ['one connection for all attempts', [0, 1_000, 3_000].map((real) => ({ ...list, status: 503, real })), []],
  ['one connection that is left', attempts().slice(1), []],
])('connection.leaked: %s', ([, steps, expected]) => {
  expect(only('connection.leaked', steps)).toEqual(expected)
})

const held: Step = { ...list, end: 'held', took: 60_000 }

test.for<[what: string, step: Step, expected: string[]]>([
  ['a body that the client waited a minute for', held, ['warning timeout.body']],
  ['a body that it left after a minute', { ...held, connection: aConnection({ closedBy: 'client' }) }, []],
  ['a body that it still waits for', { ...held, took: null, real: -60_000 }, ['warning timeout.body']],
  ['a body that stopped for two seconds', { ...held, took: 2_000 }, []],
  ['a response without a byte', { ...held, status: 0 }, []],
  ['a slow response', { ...list, took: 60_000 }, []],
])('timeout.body: %s', ([, step, expected]) => {
  expect(only('timeout.body', [step])).toEqual(expected)
})

const results: Step = { operation: 'batch-predictions.results', path: '/v1/batch-predictions/b/results' }

test('timeout.body: a body that the client still waits for is judged by the virtual clock, too', () => {
  const open: Step = { ...held, took: null, real: 1e12 }
  expect(only('timeout.body', [open], {}, { now: 60_000 })).toEqual(['warning timeout.body'])
  expect(only('timeout.body', [open], {}, { now: 5_000 })).toEqual([])
})

test.for<[what: string, steps: Step[], expected: string[]]>([
  ['a stream that the client left', [{ ...results, end: 'left' }], ['note stream.abandoned']],
  ['a stream that it read again', [{ ...results, end: 'left' }, results], []],
  ['a stream that a fault stopped', [{ ...results, end: 'left', fault: 'ndjson-stall' }], []],
  ['a list that it left', [{ ...list, end: 'left' }], []],
])('stream.abandoned: %s', ([, steps, expected]) => {
  expect(only('stream.abandoned', steps)).toEqual(expected)
})
