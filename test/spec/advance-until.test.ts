import { expect, test } from 'vitest'
import { batchEmulator, cancel, createBatch, intervene, retrieve } from '../support/batches.ts'
import type { TestEmulator } from '../support/emulator.ts'

const until = (emulator: TestEmulator, goal: object, more: object = {}) =>
  emulator.control('POST', '/clock/advance', { until: goal, ...more })

const PACE = { pace: { validating: '2s', in_progress: { per_item: '1s', concurrency: 1 }, finalizing: '3s' } }

/** A batch of ten items that takes 2 s, 10 s and 3 s. */
async function pacedBatch(emulator: TestEmulator) {
  const { id } = await createBatch(emulator, { items: 10 })
  intervene(emulator, 'change', id, PACE)
  return id as string
}

test.each([
  [{}, 15_000, 'completed', 10],
  [{ status: 'in_progress' }, 2_000, 'in_progress', 0],
  [{ status: 'finalizing' }, 12_000, 'finalizing', 10],
  [{ status: 'completed' }, 15_000, 'completed', 10],
  [{ finished_items: 1 }, 3_000, 'in_progress', 1],
  [{ finished_items: 10 }, 12_000, 'finalizing', 10],
])('until a batch has %j: after %i ms it is %s, with %i items', async (goal, after, status, succeeded) => {
  const emulator = await batchEmulator()
  const start = emulator.now()
  const id = await pacedBatch(emulator)
  expect((await until(emulator, { batch: id, ...goal })).status).toBe(200)
  expect(emulator.now() - start).toBe(after)
  expect(await retrieve(emulator, id)).toMatchObject({ status, request_counts: { succeeded, errored: 0 } })
})

test('a status that the batch does not reach is refused before any time passes; a held batch can only expire', async () => {
  const emulator = await batchEmulator()
  const id = await pacedBatch(emulator)
  await until(emulator, { batch: id, status: 'finalizing' })
  const now = emulator.now()
  const { status, body } = await until(emulator, { batch: id, status: 'in_progress' })
  expect([status, emulator.now()]).toEqual([409, now])
  expect(body.message).toBe(`The batch ${id} does not reach in_progress as time passes: it is finalizing.`)
  const held = await pacedBatch(emulator)
  intervene(emulator, 'change', held, { hold: true })
  const never = await until(emulator, { batch: held, status: 'finalizing' })
  expect(never.body.message).toContain('it is expired')
  expect((await until(emulator, { batch: held })).status).toBe(200)
})

test('more items than there are, an unknown batch and two goals at once are refused', async () => {
  const emulator = await batchEmulator()
  const id = await pacedBatch(emulator)
  const digest = emulator.digest()
  expect((await until(emulator, { batch: id, finished_items: 11 })).status).toBe(409)
  const { status, body } = await until(emulator, { batch: 'nobody' })
  expect([status, body.message]).toEqual([404, 'There is no batch prediction with the id "nobody".'])
  expect(body.mitigation).toContain('state list batch_predictions" lists every batch prediction.')
  const both = await until(emulator, { batch: id, status: 'completed', finished_items: 2 })
  expect([both.status, both.body.details.errors[0].pointer]).toEqual([400, '/until'])
  for (const goal of [{ batch: id, status: 'done' }, { bach: id }])
    expect((await until(emulator, goal)).status).toBe(400)
  expect((await until(emulator, { batch: id }, { by: '1s' })).status).toBe(400)
  expect(emulator.digest()).toBe(digest)
})

test('an advance can bring a cancelling batch to cancelled', async () => {
  const emulator = await batchEmulator()
  const id = await pacedBatch(emulator)
  await until(emulator, { batch: id, finished_items: 4 })
  await cancel(emulator, id)
  expect((await until(emulator, { batch: id, status: 'cancelled' })).status).toBe(200)
  expect((await retrieve(emulator, id)).request_counts).toMatchObject({ canceled: 6 })
})
