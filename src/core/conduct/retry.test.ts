import { expect, test } from 'vitest'
import { judging, START, type Step } from '../../../test/support/observed-log.ts'

const VERDICTS = ['amplified', 'missing', 'no-growth', 'no-jitter', 'over-budget']
const { codesOn, reportOn } = judging('herd.lockstep', ...VERDICTS.map((name) => `retry.${name}`))

const list: Step = { operation: 'agents.list' }
const busy: Step = { ...list, status: 503 }
const create: Step = { body: { name: 'a' } }

const at = (step: Step, ...instants: number[]): Step[] =>
  instants.map((real) => ({ ...step, real, at: real }))

const inSeconds = (n: number) => new Date(START + n * 1_000).toUTCString()

const only = (code: string, ...given: Parameters<typeof codesOn>) =>
  codesOn(...given).filter((each) => each.endsWith(code))

test.for<[what: string, steps: Step[], retries: number | undefined, expected: string[]]>([
  ['a read that was refused with 503', [busy], undefined, ['note retry.missing']],
  ['the same when retries are declared', [busy], 2, ['error retry.missing']],
  ['a call with fewer retries than declared', at(busy, 0, 2_000), 2, ['error retry.missing']],
  ['a 429 with Retry-After: 0', [{ ...list, status: 429, retryAfter: '0' }], 1, ['error retry.missing']],
  ['a read that was cut', [{ ...list, status: 0 }], 1, ['error retry.missing']],
  ['a call that was repeated', at(busy, 0, 1_000), undefined, []],
  ['all declared retries', at(busy, 0, 1_000, 3_000), 2, []],
  ['retries that are declared to be off', [busy], 0, []],
  ['a 503 with a near date', [{ ...busy, retryAfter: inSeconds(2) }], undefined, ['note retry.missing']],
  ['a 503 with a date that is too late', [{ ...busy, retryAfter: inSeconds(3_600) }], 2, []],
  ['a wait that is too long for the caller', [{ ...list, status: 429, retryAfter: '31536000' }], 2, []],
  ['a create without a key whose connection was cut', [{ ...create, status: 0 }], 2, []],
  ['a read that the client has left itself', [{ ...list, end: 'left' }], 2, []],
  ['a refusal that cannot change', [{ ...list, status: 400 }], 2, []],
])('retry.missing: %s', ([, steps, retries, expected]) => {
  expect(only('retry.missing', steps, { retries })).toEqual(expected)
})

test('calls that end alike are one finding', () => {
  const { data } = reportOn([busy, { ...busy, caller: 'b' }])
  expect(data.map(({ evidence, requests }) => [evidence.calls, requests.length])).toEqual([[2, 2]])
})

test.for<[what: string, steps: Step[], retries: number | undefined, expected: string[]]>([
  ['a retry although retries are off', at({ ...list, status: 0 }, 0, 1_000), 0, ['error retry.over-budget']],
  ['two retries, one declared', at(busy, 0, 1_000, 3_000), 1, ['error retry.over-budget']],
  ['as many retries as declared', at(busy, 0, 1_000, 3_000), 2, []],
  ['nothing is declared', at(busy, 0, 1_000, 3_000), undefined, []],
  ['a poll that goes on at its pace', [...at(list, 0), ...at(busy, 5_000, 10_000, 15_000)], 1, []],
  ['two requests after a success', at(list, 0, 1_000), 0, []],
])('retry.over-budget: %s', ([, steps, retries, expected]) => {
  expect(only('retry.over-budget', steps, { retries })).toEqual(expected)
})

const series = (count: number, gap: number) => Array.from({ length: count }, (_, n) => n * gap)

test.for<[what: string, steps: Step[], expected: string[]]>([
  ['36 attempts of one call', at({ ...list, status: 429 }, ...series(36, 200)), ['warning retry.amplified']],
  ['ten attempts', at({ ...list, status: 429 }, ...series(10, 200)), []],
  ['a dashboard that polls every five seconds during a failure', at(busy, ...series(36, 5_000)), []],
  ['different creates', series(36, 10).map((real) => ({ status: 503, real, body: { name: `${real}` } })), []],
  ['a loop that fills a limit', [...at(list, 0), ...at({ ...list, status: 429 }, ...series(36, 1))], []],
])('retry.amplified: %s', ([, steps, expected]) => {
  expect(only('retry.amplified', steps)).toEqual(expected)
})

test.for<[what: string, steps: Step[], expected: string[]]>([
  ['equal waits', at(busy, 0, 1_000, 2_000, 3_000), ['note retry.no-growth']],
  ['doubled waits', at(busy, 0, 1_000, 3_000, 7_000), []],
  ['waits that the server has chosen', at({ ...busy, retryAfter: '1' }, 0, 1_001, 2_002, 3_003), []],
])('retry.no-growth: %s', ([, steps, expected]) => {
  expect(only('retry.no-growth', steps)).toEqual(expected)
})

test.for<[what: string, waits: number[], expected: string[]]>([
  ['three calls with the same first wait', [1_000, 1_001, 1_002], ['note retry.no-jitter']],
  ['three calls with different first waits', [1_000, 1_310, 1_120], []],
  ['two calls', [1_000, 1_001], []],
])('retry.no-jitter: %s', ([, waits, expected]) => {
  const steps = waits.flatMap((wait, n) => at({ ...busy, caller: `${n}` }, n * 10_000, n * 10_000 + wait))
  expect(only('retry.no-jitter', steps)).toEqual(expected)
})

test.for<[what: string, spread: number, wait: number, expected: string[]]>([
  ['five clients that come back together', 1, 2_000, ['note herd.lockstep']],
  ['five clients with jitter', 50, 2_000, []],
  ['five requests that did not wait', 1, 20, []],
])('herd.lockstep: %s', ([, spread, wait, expected]) => {
  const clients = ['a', 'b', 'c', 'd', 'e']
  const steps = [
    ...clients.map((caller, n) => ({ ...list, caller, status: 429, retryAfter: '2', real: n, at: n })),
    ...clients.map((caller, n) => ({ ...list, caller, real: wait + n * spread, at: wait + n * spread })),
  ]
  expect(only('herd.lockstep', steps)).toEqual(expected)
})
