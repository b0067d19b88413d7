import { expect, test } from 'vitest'
import type { IdemFault } from '../../src/kernel/faults/actions.ts'
import type { When } from '../../src/kernel/faults/rule.ts'
import { aBatch, batchWorld, expectProblem } from '../support/batches.ts'
import { armRule } from '../support/faults.ts'
import type { RequestOptions, TestWorld } from '../support/world.ts'

function idem(world: TestWorld, fault: IdemFault, when: When = {}): void {
  armRule(world.sandbox, { match: { operation: 'batch-predictions.create' }, when, do: [{ idem: fault }] })
}

function create(world: TestWorld, body: object = aBatch(), options: RequestOptions = {}) {
  return world.post('/batch-predictions', body, { headers: { 'idempotency-key': 'key-1' }, ...options })
}

function batchesOf(world: TestWorld): number {
  return world.state('batch_predictions').length
}

test('U059 a key can be in use: 409, retryable, and nothing is made or remembered', async () => {
  const world = await batchWorld()
  idem(world, { concurrent: true }, { nth: 1 })
  const answer = await create(world)
  expectProblem(answer, 409, 'idempotency_key_in_use')
  expect(answer.assumed).toContain('U059')
  expect(batchesOf(world)).toBe(0)
  expect((await create(world)).status).toBe(200)
  expect(world.sandbox.log.entries().map(({ idempotency }) => idempotency)).toEqual(['none', 'fresh'])
})

test('U059 a request without a key, or without idempotency, is none of its business', async () => {
  const world = await batchWorld()
  armRule(world.sandbox, { do: [{ idem: { concurrent: true } }] })
  expect((await world.post('/batch-predictions', aBatch())).status).toBe(200)
  const page = await world.post('/pages', { name: 'Plan' }, { headers: { 'idempotency-key': 'key-1' } })
  expect(page.status).toBe(200)
})

test('R277 the status for another body under the same key can be another', async () => {
  const world = await batchWorld()
  idem(world, { mismatch_status: 422 })
  await create(world)
  const answer = await create(world, aBatch({ prompt: 'Another.' }))
  expectProblem(answer, 422, 'idempotency_key_reused')
  expect(batchesOf(world)).toBe(1)
})

test('U059 keys can be unique in the whole organization', async () => {
  const world = await batchWorld()
  idem(world, { scope: 'organization' })
  const [first, second, foreign] = [
    await create(world),
    await create(world, aBatch(), { key: 'K2', headers: { 'idempotency-key': 'key-1' } }),
    await create(world, { ...aBatch(), items: [] }, { key: 'KO', headers: { 'idempotency-key': 'key-1' } }),
  ]
  expect([second.status, second.body.id]).toEqual([200, first.body.id])
  expect(foreign.status).toBe(400)
  expect(batchesOf(world)).toBe(1)
})

test('U059 keys can be unique for each API key', async () => {
  const world = await batchWorld()
  idem(world, { scope: 'api_key' })
  const first = await create(world)
  const other = await create(world, aBatch(), { key: 'KM', headers: { 'idempotency-key': 'key-1' } })
  expect(other.status).toBe(200)
  expect(other.body.id).not.toBe(first.body.id)
  expect((await create(world)).body.id).toBe(first.body.id)
})

test('R276 what is remembered can be forgotten: the request is made once more', async () => {
  const world = await batchWorld()
  idem(world, { forget: true }, { nth: 2 })
  const ids = [await create(world), await create(world), await create(world)].map(({ body }) => body.id)
  expect(ids[1]).not.toBe(ids[0])
  expect(ids[2]).toBe(ids[1])
  expect(batchesOf(world)).toBe(2)
})

test('R276 a request that is refused forgets nothing', async () => {
  const world = await batchWorld()
  idem(world, { forget: true }, { nth: 2 })
  const first = await create(world)
  expect((await create(world, aBatch({ items: 0 }))).status).toBe(400)
  expect((await create(world)).body.id).toBe(first.body.id)
})
