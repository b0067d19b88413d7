import { expect, test } from 'vitest'
import type { JsonObject } from '../../src/core/json.ts'
import { fingerprint } from '../../src/core/request/idempotency.ts'
import { aBatch, batchEmulator } from '../support/batches.ts'
import { callOperation } from '../support/call-operation.ts'

/** How often one field of a body is read. */
function readsIn(use: (body: JsonObject) => unknown): number {
  let count = 0
  const { prompt, ...body } = aBatch() as unknown as JsonObject
  const get = () => {
    count += 1
    return prompt
  }
  use(Object.defineProperty(body, 'prompt', { get, enumerable: true }))
  return count
}

test('the first use of a key computes the digest of its body only once', { tags: ['R276'] }, async () => {
  const { sandbox } = await batchEmulator()
  const create = (headers: Readonly<Record<string, string>>) => (body: JsonObject) =>
    expect(callOperation(sandbox, 'batch-predictions.create', { body, headers }).status).toBe(200)
  const ofOneDigest = readsIn(fingerprint)
  expect(ofOneDigest).toBeGreaterThan(0)
  expect(readsIn(create({ 'idempotency-key': 'key-1' })) - readsIn(create({}))).toBe(ofOneDigest)
})
