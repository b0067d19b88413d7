import { expect, test } from 'vitest'
import { type TestEmulator, type TestResponse, testEmulator } from '../support/emulator.ts'

/** The default number of retries of the client after a 429. */
const RETRIES = 2

/** A client as the specification describes it: it waits for Retry-After seconds, else for 1 s, doubled up to 60 s. */
async function stockClient(emulator: TestEmulator, path: string, retries = RETRIES): Promise<TestResponse> {
  let pause = 1
  for (let attempt = 0; ; attempt++) {
    const response = await emulator.get(path)
    if (response.status !== 429 || attempt === retries) return response
    const asked = response.headers.get('retry-after')
    emulator.advance(`${asked ?? pause}s`)
    pause = Math.min(pause * 2, 60)
  }
}

/** Seconds between the requests in the log. */
async function pausesOf(emulator: TestEmulator): Promise<number[]> {
  const { body } = await emulator.control('GET', '/requests')
  const times = body.data.map(({ at }: { at: string }) => Date.parse(at))
  return times.slice(1).map((at: number, n: number) => (at - times[n]) / 1000)
}

test('a client with two retries succeeds after two 429s, and waits for Retry-After', {
  tags: ['R268'],
}, async () => {
  const emulator = await testEmulator()
  await emulator.control('POST', '/faults', { preset: 'rate-limited', when: { first: 2 } })
  expect((await stockClient(emulator, '/data-views')).status).toBe(200)
  expect(await pausesOf(emulator)).toEqual([2, 2])
})

test('a client with two retries fails after three 429s', { tags: ['R268'] }, async () => {
  const emulator = await testEmulator()
  await emulator.control('POST', '/faults', { preset: 'rate-limited', when: { first: 3 } })
  const { status, body } = await stockClient(emulator, '/data-views')
  expect([status, body.error, body.retryable]).toEqual([429, 'rate_limit_exceeded', true])
  expect((await emulator.control('GET', '/requests')).body.matched).toBe(3)
})

test('a sequence can also give two 429s and then a success', { tags: ['R268'] }, async () => {
  const emulator = await testEmulator()
  const actions = { refuse: [{ quota: { reject: true, reset_in_s: 7 } }] }
  const when = { sequence: ['refuse', 'refuse', 'pass'] }
  await emulator.control('POST', '/faults', { match: { operation: 'data-views.list' }, when, actions })
  expect((await stockClient(emulator, '/data-views')).status).toBe(200)
  expect(await pausesOf(emulator)).toEqual([7, 7])
})

test('the log shows the backoff of a client without Retry-After', { tags: ['R268'] }, async () => {
  const emulator = await testEmulator()
  await emulator.control('POST', '/faults', { preset: 'retry-after-missing', when: { first: 8 } })
  const { status, headers } = await stockClient(emulator, '/data-views', 8)
  expect([status, headers.get('retry-after')]).toEqual([200, null])
  expect(await pausesOf(emulator)).toEqual([1, 2, 4, 8, 16, 32, 60, 60])
})
