import { expect, test } from 'vitest'
import type { ClockFault } from '../../src/core/faults/clock.ts'
import { batchEmulator, createBatch } from '../support/batches.ts'
import { type TestEmulator, testEmulator } from '../support/emulator.ts'
import { armRule } from '../support/faults.ts'
import { underRule } from '../support/under-rule.ts'

/** A sandbox whose first request moves the clock. */
const underClock = (fault: ClockFault, starting?: Promise<TestEmulator>): Promise<TestEmulator> =>
  underRule({ when: { nth: 1 }, do: [{ clock: fault }] }, starting)

test.for([
  ['-5m', 'Sun, 01 Mar 2026 11:55:00 GMT'],
  ['+2h', 'Sun, 01 Mar 2026 14:00:00 GMT'],
  ['-1000000d', 'Thu, 01 Jan 1970 00:00:00 GMT'],
  ['9000000d', 'Thu, 31 Dec 9998 23:59:59 GMT'],
] as const)('the Date of one response is off by %s, and the clock stays', async ([offset, date]) => {
  const emulator = await underClock({ offset })
  const response = await emulator.post('/pages', { name: 'Plan' })
  expect(response.headers.get('date')).toBe(date)
  expect(response.body.created_at).toBe('2026-03-01T12:00:00.000Z')
  expect(emulator.now()).toBe(Date.parse('2026-03-01T12:00:00Z'))
})

test.for<[fault: ClockFault, now: string]>([
  [{ advance: '1h' }, '2026-03-01T13:00:00.000Z'],
  [{ jump: '2026-03-02T00:00:00Z' }, '2026-03-02T00:00:00.000Z'],
  [{ jump: '2020-01-01T00:00:00Z' }, '2026-03-01T12:00:00.000Z'],
])('%j moves the clock to %s before the handler', async ([fault, now]) => {
  const emulator = await underClock(fault)
  const { body, headers } = await emulator.post('/pages', { name: 'Plan' })
  expect([body.created_at, emulator.now()]).toEqual([now, Date.parse(now)])
  expect(headers.get('date')).toBe(new Date(now).toUTCString())
})

test('an advance beyond the last possible instant is refused, and the clock stays', async () => {
  const emulator = await underClock({ advance: '9000000d' })
  const before = emulator.now()
  const { status, text } = await emulator.get('/agents')
  expect([status, text]).toEqual([409, expect.stringContaining('9998-12-31T23:59:59.999Z')])
  expect(emulator.now()).toBe(before)
})

test('a fault can stop the clock', async () => {
  const emulator = await underClock({ freeze: true, advance: '1m' }, testEmulator({ rate: 1 }))
  await emulator.get('/agents')
  const frozen = (await emulator.control('GET', '/clock')).body
  expect(frozen.rate).toBe(0)
  expect((await emulator.control('GET', '/clock')).body.now).toBe(frozen.now)
})

test('a request that is refused before the fault does not advance the clock', async () => {
  const emulator = await underClock({ advance: '1h' })
  expect((await emulator.get('/agents', { key: 'none' })).status).toBe(401)
  expect(emulator.now()).toBe(Date.parse('2026-03-01T12:00:00Z'))
})

test('the clock and its events also advance for an injected response, which is sent after that', async () => {
  const emulator = await batchEmulator()
  await createBatch(emulator)
  armRule(emulator.sandbox, { do: [{ respond: { status: 503 } }, { clock: { advance: '1h' } }] })
  const response = await emulator.get('/batch-predictions/nothing')
  expect([response.status, response.headers.get('date')]).toEqual([503, 'Sun, 01 Mar 2026 13:00:00 GMT'])
  expect(emulator.state('batch_predictions')).toMatchObject([{ status: 'completed' }])
})

test('a skew changes every instant of one response, but no client data and no records', async () => {
  const emulator = await batchEmulator()
  const metadata = { due: '2026-03-01T12:00:00.000Z' }
  const { id } = await createBatch(emulator, { metadata })
  const right = await emulator.get(`/batch-predictions/${id}`)
  armRule(emulator.sandbox, { when: { nth: 1 }, do: [{ clock: { skew: '-5m' } }] })
  const { body, headers } = await emulator.get(`/batch-predictions/${id}`)
  const shown = { created_at: '2026-03-01T11:55:00.000Z', expires_at: '2026-03-02T11:55:00.000Z' }
  expect(body).toEqual({ ...right.body, ...shown })
  expect(headers.get('date')).toBe('Sun, 01 Mar 2026 11:55:00 GMT')
  const reset = Number(right.headers.get('x-ratelimit-reset'))
  expect(Number(headers.get('x-ratelimit-reset'))).toBe(reset - 300)
  expect((await emulator.get(`/batch-predictions/${id}`)).text).toBe(right.text)
})

test('a skew changes the instants of a refusal, also a Retry-After that is a date', async () => {
  const quota = { reject: true, retry_after: 'http-date' } as const
  const emulator = await underRule({ do: [{ clock: { skew: '1h' } }, { quota }] })
  const refused = await emulator.post('/pages', { name: 'Plan' })
  const [date, retry] = ['date', 'retry-after'].map((name) => Date.parse(refused.headers.get(name) ?? ''))
  expect([refused.status, date]).toEqual([429, Date.parse('2026-03-01T13:00:00Z')])
  expect(Number(refused.headers.get('x-ratelimit-reset'))).toBe((retry ?? 0) / 1000)
})
