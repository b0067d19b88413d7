import fc from 'fast-check'
import { expect, test } from 'vitest'
import { batchEmulator } from '../support/batches.ts'

const WINDOW = 10

const instants = fc.tuple(fc.integer({ min: 1, max: 9_999 }), fc.integer({ min: 1, max: 9_999 }))

test('a client that waits until X-RateLimit-Reset, Retry-After or reset_at is admitted, at 200 random fractions of a second', {
  tags: ['R261', 'R262', 'R263', 'T05'],
}, async () => {
  const emulator = await batchEmulator()
  await emulator.control('PUT', '/limits/mcp-servers.list', { limit: 1, window_s: WINDOW })
  const read = () => emulator.get('/organization/mcp-servers')
  const round = fc.asyncProperty(instants, async ([skip, gap]) => {
    await emulator.control('DELETE', '/limits')
    emulator.advance(`${skip}ms`)
    await read()
    emulator.advance(`${gap}ms`)
    const refused = await read()
    const { data } = (await emulator.control('GET', '/limits')).body
    const reset = Number(refused.headers.get('x-ratelimit-reset'))
    expect(Date.parse(data[0].reset_at) / 1000).toBe(reset)
    expect(refused.status).toBe(429)
    const retryAfter = Number(refused.headers.get('retry-after'))
    expect(retryAfter).toBeLessThanOrEqual(WINDOW)
    expect(reset - Date.parse(refused.headers.get('date') ?? '') / 1000).toBeLessThanOrEqual(WINDOW + 1)
    // The shorter of the two waits; after the longer one the window is as free.
    const wait = Math.min(retryAfter * 1000, reset * 1000 - emulator.now())
    emulator.advance(`${wait}ms`)
    expect((await read()).status).toBe(200)
  })
  await fc.assert(round, { numRuns: 200 })
})
