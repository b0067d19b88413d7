import { expect, test } from 'vitest'
import type { JsonObject } from '../../src/core/json.ts'
import { fingerprint } from '../../src/core/request/idempotency.ts'
import { aBatch, batchEmulator } from '../support/batches.ts'
import { callOperation } from '../support/call-operation.ts'

/** A body that counts the reads of one of its fields. */
function countingBody() {
  const reads = { count: 0 }
  const body = aBatch() as unknown as JsonObject
  const prompt = body.prompt
  const get = () => {
    reads.count += 1
    return prompt
  }
  return { reads, body: Object.defineProperty(body, 'prompt', { get, enumerable: true }) }
}

test('the first use of a key computes the digest of its body only once', { tags: ['R276'] }, async () => {
  const { sandbox } = await batchEmulator()
  const readsOfCreation = (key: Readonly<Record<string, string>>): number => {
    const { reads, body } = countingBody()
    expect(callOperation(sandbox, 'batch-predictions.create', { body, headers: key }).status).toBe(200)
    return reads.count
  }
  const { reads, body } = countingBody()
  fingerprint(body)
  const ofOneDigest = reads.count
  expect(ofOneDigest).toBeGreaterThan(0)
  expect(readsOfCreation({ 'idempotency-key': 'key-1' }) - readsOfCreation({})).toBe(ofOneDigest)
})
