import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Emulator, startEmulator } from '../../index.ts'
import { waitsAmong } from './waits.ts'

let emulator: Emulator

beforeAll(async () => {
  emulator = await startEmulator({ port: 0, ephemeral: true, rate: 0, clock: '2030-01-01T00:00:00.250Z' })
})

afterAll(() => emulator.close())

const LATER = Date.parse('2030-01-01T00:00:00.250Z')
const respond = (headers: Record<string, string>, more = {}) => [
  { respond: { status: 503, headers, ...more } },
]
const rejected = (quota: object) => [{ quota: { reject: true, remaining: 0, reset_in_s: 3, ...quota } }]

// The log has only the number of seconds, so the expected waits come from the header that was sent.
test.for<[what: string, rule: object, ms: number | undefined]>([
  ['the usual form', { preset: 'rate-limited' }, 2_000],
  ['a date', { preset: 'retry-after-http-date' }, 2_750],
  ['a date that is over', { preset: 'retry-after-date-past' }, 0],
  ['zero', { preset: 'retry-after-zero' }, 0],
  ['a year', { preset: 'retry-after-huge' }, 31_536_000_000],
  ['a fraction, which is no form', { preset: 'retry-after-fractional' }, undefined],
  ['a word, which is no form', { preset: 'retry-after-garbage' }, undefined],
  ['none', { preset: 'retry-after-missing' }, undefined],
  ['a 503', { preset: 'unavailable-with-retry-after' }, 2_000],
  ['an injected header in odd case', { do: respond({ 'retry-AFTER': '7' }) }, 7_000],
  ['an injected response without one', { do: respond({}) }, undefined],
  ['an injected 429', { do: [{ respond: { status: 429 } }] }, 61_000],
  ['a gateway in front of the service', { do: [{ respond: { status: 503, proxy: true } }] }, undefined],
  ['a gateway that names one', { do: respond({ 'Retry-After': '4' }, { proxy: true }) }, 4_000],
  [
    'two rules that say something of the limit',
    { do: [...rejected({}), ...rejected({ reset_in_s: 9 })] },
    9_000,
  ],
  [
    'a step of a sequence',
    { when: { sequence: ['early', 'pass'] }, actions: { early: rejected({ retry_after: 'http-date' }) } },
    3_750,
  ],
])('a wait is as long as the header that was sent: %s', async ([, rule, ms]) => {
  await using sandbox = await emulator.sandbox()
  await sandbox.faults.arm({ match: { operation: 'data-views.list' }, ...rule })
  const response = await sandbox.fetch('/data-views')
  const waits = await waitsAmong(sandbox, await sandbox.requests.list())
  expect(waits.map(({ until }) => until - LATER)).toEqual(ms === undefined ? [] : [ms])
  expect(waits.map(({ told }) => told)).toEqual(ms === undefined ? [] : [response.headers.get('retry-after')])
})

test('the last request of a window also gets Retry-After, but is not a refusal', async () => {
  await using sandbox = await emulator.sandbox()
  await sandbox.limits.fill('data-views.list', { remaining: 1 })
  const response = await sandbox.fetch('/data-views')
  expect([response.status, response.headers.has('retry-after')]).toEqual([200, true])
  expect(await waitsAmong(sandbox, await sandbox.requests.list())).toEqual([])
})

test('a client that got nothing of the response has no wait', async () => {
  await using sandbox = await emulator.sandbox()
  await sandbox.faults.arm({
    match: { operation: 'data-views.list' },
    do: [...respond({ 'Retry-After': '4' }), { cut: { at: 'before-head', how: 'rst' } }],
  })
  await expect(sandbox.fetch('/data-views')).rejects.toThrow()
  expect(await waitsAmong(sandbox, await sandbox.requests.list())).toEqual([])
})
