import { expect, test } from 'vitest'
import { judging, START, type Step } from '../../../test/support/observed-log.ts'
import { Settings } from '../assumptions.ts'

const { codesOn, reportOn } = judging('wait.date-ignored', 'wait.none', 'wait.too-short', 'wait.uncapped')

/** A refused attempt and a repetition with the same key, after a wait in milliseconds of both clocks. */
function retried(wait: number, retryAfter?: string, over: Step = {}): Step[] {
  const attempt = { key: 'k', body: { name: 'a' } }
  return [
    { ...attempt, status: 429, ...(retryAfter !== undefined && { retryAfter }), took: 0, at: 0, ...over },
    { ...attempt, at: wait, ...over },
  ]
}

const inSeconds = (n: number) => new Date(START + n * 1_000).toUTCString()

test.for<[what: string, steps: Step[], expected: string[]]>([
  ['no wait at all', retried(5, '2'), ['error wait.none']],
  ['no wait after a value that cannot be parsed', retried(5, 'soon'), ['error wait.none']],
  ['no wait after a 429 without the header', retried(5), ['error wait.none']],
  ['no wait after more seconds than a timer can hold', retried(5, '2147484'), ['error wait.none']],
  ['the back-off of the client after a value that cannot be parsed', retried(150, 'soon'), []],
  ['a retry at once after Retry-After: 0', retried(5, '0'), []],
  ['a wait of ten seconds instead of 61', retried(10_000, '61'), ['error wait.too-short']],
  ['a wait that is one millisecond too short for the timer of the client', retried(60_999, '61'), []],
  ['a wait of 61 seconds', retried(61_000, '61'), []],
  ['the back-off of the client instead of a year', retried(1_000, '31536000'), []],
  ['a date that is ignored', retried(5, inSeconds(2)), ['warning wait.date-ignored']],
  ['a date that is respected', retried(2_000, inSeconds(2)), []],
  ['a date by a clock that is 50 ms ahead', retried(1_950, inSeconds(2)), []],
  ['a date in the past', retried(5, inSeconds(-60)), []],
  ['a wait of 40 minutes', retried(2_400_000, '2400'), []],
])('after a refusal: %s', ([, steps, expected]) => {
  expect(codesOn(steps).filter((code) => !code.startsWith('note'))).toEqual(expected)
})

test.for<[wait: number, retryAfter: string, expected: string[]]>([
  [300, '1.5', ['note wait.too-short']],
  [1_000, '1.5', []],
  [1_500, '1.5', []],
  [100, '0.5', ['note wait.too-short']],
  [500, '0.5', []],
  [5, '1.5', ['note wait.none']],
])('a wait of %i ms after Retry-After: %s', ([wait, retryAfter, expected]) => {
  expect(codesOn(retried(wait, retryAfter))).toEqual(expected)
})

test('a client that waits longer than half an hour has no cap', () => {
  const long = { key: 'k', status: 429, retryAfter: '2400', at: 0, real: 0 }
  expect(codesOn([long, { key: 'k', at: 2_400_000, real: 800_000 }])).toContain('note wait.uncapped')
  expect(codesOn([long, { key: 'k', at: 60_000, real: 60_000 }])).not.toContain('note wait.uncapped')
  expect(codesOn([long, { key: 'k', at: 2_400_000, real: 1 }], {}, { rate: 3_600 })).toEqual([])
})

test('the finding names the clock: the virtual one when it has moved, otherwise the real one', () => {
  const refused = { key: 'k', status: 503, retryAfter: '2', at: 0, real: 0, took: 0 }
  const evidence = (at: number, real: number) =>
    reportOn([refused, { key: 'k', at, real }]).data.map((finding) => finding.evidence)
  expect(evidence(1_500, 4)).toMatchObject([{ waited_ms: 1_500, promised_ms: 2_000, clock: 'virtual' }])
  expect(evidence(0, 1_500)).toMatchObject([{ waited_ms: 1_500, promised_ms: 2_000, clock: 'real' }])
  expect(evidence(2_000, 4)).toEqual([])
  expect(evidence(0, 2_000)).toEqual([])
})

test('a clock that only a test moves shows a wait of milliseconds; with a fast clock the real wait decides', () => {
  const refused = { key: 'k', status: 429, retryAfter: '2', at: 0, real: 0, took: 0 }
  const codes = (at: number, real: number, rate: number) =>
    codesOn([refused, { key: 'k', at, real }], {}, { rate })
  expect(codes(2, 30, 0)).toEqual(['error wait.too-short'])
  expect(codes(1, 300, 0)).toEqual(['error wait.none'])
  expect(codes(60, 1, 60)).toEqual(['error wait.none'])
})

test('with limits on the wall clock only the real distance counts', () => {
  const call = { key: 'k', settings: new Settings({ 'limits.clock': 'wall' }) }
  const refused = { ...call, status: 429, retryAfter: '2', at: 0, real: 0 }
  expect(codesOn([refused, { ...call, at: 5_000, real: 500 }])).toEqual(['error wait.too-short'])
})

test('a wait is not judged when the clock did not move and no real time is known', () => {
  const not_judged = ['real time', 'without HTTP'].map((words) => expect.stringContaining(words))
  expect(reportOn(retried(0, '2', { real: null, at: 0 }))).toMatchObject({ data: [], not_judged })
})

test.for<[what: string, options: object, expected: string[]]>([
  ['nothing is declared', {}, ['warning wait.none']],
  ['retries are declared', { retries: 2 }, ['error wait.none']],
])('a repetition without a key may be deliberate when %s', ([, options, expected]) => {
  const list = { operation: 'agents.list' }
  const steps = [{ ...list, status: 429, retryAfter: '2' }, list]
  expect(codesOn(steps, options)).toEqual(expected)
})

test('a loop that continues at its pace after a refusal is only a note', () => {
  const operation = 'agents.list'
  const refused = { operation, at: 10, status: 429, retryAfter: '60' }
  expect(codesOn([{ operation, at: 0 }, refused, { operation, at: 20 }])).toEqual(['note wait.none'])
})

test('a call has one finding, whatever the number of its attempts', () => {
  const refused = { key: 'k', status: 429, retryAfter: '2' }
  const { data } = reportOn([refused, refused, refused, { key: 'k' }])
  const [none] = data.filter(({ code }) => code === 'wait.none')
  expect([none?.evidence.waits, none?.requests.length]).toEqual([3, 4])
})
