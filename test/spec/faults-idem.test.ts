import { expect, test } from 'vitest'
import type { IdemFault } from '../../src/core/faults/idem.ts'
import type { When } from '../../src/core/faults/rule.ts'
import type { KeyName } from '../support/base-state.ts'
import { aBatch, batchEmulator, expectProblem } from '../support/batches.ts'
import type { TestEmulator } from '../support/emulator.ts'
import { underRule } from '../support/under-rule.ts'

/** A sandbox whose creations of batches are under the fault. */
function underIdem(fault: IdemFault, when: When = {}): Promise<TestEmulator> {
  const match = { operation: 'batch-predictions.create' }
  return underRule({ match, when, do: [{ idem: fault }] }, batchEmulator())
}

const create = (emulator: TestEmulator, body: object = aBatch(), key: KeyName = 'KU') =>
  emulator.post('/batch-predictions', body, { key, headers: { 'idempotency-key': 'key-1' } })

const batchesOf = (emulator: TestEmulator): number => emulator.state('batch_predictions').length

test('a key can be in use, which is an assumption', { tags: ['U059'] }, async () => {
  const emulator = await underIdem({ concurrent: true })
  const response = await create(emulator)
  expectProblem(response, 409, 'idempotency_key_in_use')
  expect(response.assumed).toContain('U059')
})

test('the fault needs a key, and an operation with idempotency', { tags: ['U059'] }, async () => {
  const emulator = await underRule({ do: [{ idem: { concurrent: true } }] }, batchEmulator())
  expect((await emulator.post('/batch-predictions', aBatch())).status).toBe(200)
  const page = await emulator.post('/pages', { name: 'Plan' }, { headers: { 'idempotency-key': 'key-1' } })
  expect(page.status).toBe(200)
})

test('a fault can change the status for another body under the same key', { tags: ['R277'] }, async () => {
  const emulator = await underIdem({ mismatch_status: 422 })
  await create(emulator)
  const response = await create(emulator, aBatch({ prompt: 'Another.' }))
  expectProblem(response, 422, 'idempotency_key_reused')
  expect(batchesOf(emulator)).toBe(1)
})

test('a fault can make keys unique in the whole organization', { tags: ['U059'] }, async () => {
  const emulator = await underIdem({ scope: 'organization' })
  const first = await create(emulator)
  const second = await create(emulator, aBatch(), 'K2')
  expect([second.status, second.body.id]).toEqual([200, first.body.id])
  expect((await create(emulator, aBatch({ items: 0 }), 'KO')).status).toBe(400)
  expect(batchesOf(emulator)).toBe(1)
})

test('a fault can make keys unique for each API key', { tags: ['U059'] }, async () => {
  const emulator = await underIdem({ scope: 'api_key' })
  const [first, other] = [await create(emulator), await create(emulator, aBatch(), 'KM')]
  const again = await create(emulator)
  expect([other.status, batchesOf(emulator)]).toEqual([200, 2])
  expect(again.body.id).toBe(first.body.id)
})

test('a fault can remove a stored response, so that the request runs again', { tags: ['R276'] }, async () => {
  const emulator = await underIdem({ forget: true }, { nth: 2 })
  await create(emulator)
  const [second, third] = [await create(emulator), await create(emulator)]
  expect(third.body.id).toBe(second.body.id)
  expect(batchesOf(emulator)).toBe(2)
})

test('a refused request removes no stored response', { tags: ['R276'] }, async () => {
  const emulator = await underIdem({ forget: true }, { nth: 2 })
  const first = await create(emulator)
  expect((await create(emulator, aBatch({ items: 0 }))).status).toBe(400)
  expect((await create(emulator)).body.id).toBe(first.body.id)
})
