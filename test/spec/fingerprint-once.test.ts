import { expect, test, vi } from 'vitest'
import { aBatch, batchWorld } from '../support/batches.ts'

const digests = vi.hoisted(() => ({ count: 0 }))

vi.mock('../../src/kernel/request/idempotency.ts', async (original) => {
  const module = await original<typeof import('../../src/kernel/request/idempotency.ts')>()
  return {
    ...module,
    fingerprint: (body: Parameters<typeof module.fingerprint>[0]) => {
      digests.count += 1
      return module.fingerprint(body)
    },
  }
})

test('R276 a first use of a key takes the digest of its body once, however large', async () => {
  const world = await batchWorld()
  await world.post('/batch-predictions', aBatch(), { headers: { 'idempotency-key': 'key-1' } })
  expect(digests.count).toBe(1)
})
