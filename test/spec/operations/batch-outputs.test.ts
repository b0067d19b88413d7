import { expect, test } from 'vitest'
import { batches } from '../../../src/service/batch-predictions/batches.ts'
import {
  aBatch,
  batchEmulator,
  counts,
  createBatch,
  linesOf,
  pointersOf,
  retrieve,
} from '../../support/batches.ts'

const IMPOSSIBLE = {
  type: 'object',
  properties: { total: { type: 'string', minLength: 3, maxLength: 2 } },
  required: ['total'],
}

/** Too large to be examined by the request that creates its batch. */
const LARGE = {
  type: 'object',
  properties: Object.fromEntries(Array.from({ length: 400 }, (_, n) => [`field_${n}`, { type: 'string' }])),
}

test('a batch without outputs completes, and its items say why', { tags: ['R100', 'U079'] }, async () => {
  const emulator = await batchEmulator()
  const { id } = await createBatch(emulator, { output_schema: IMPOSSIBLE })
  await emulator.control('POST', '/clock/advance', { until: { batch: id } })
  const batch = await retrieve(emulator, id)
  expect([batch.status, batch.error, counts(batch)]).toEqual(['completed', null, { total: 3, errored: 3 }])
  for (const line of await linesOf(emulator, id)) {
    expect(line).toMatchObject({ status: 'errored', output: null, error: { status: 422 } })
    expect(line.error?.detail).toMatch(/at \/properties\/total\/minLength: minLength .*outcome rule.*output/)
  }
})

test('a setting refuses an unsatisfiable schema', { tags: ['U079'] }, async () => {
  const emulator = await batchEmulator({ 'batch.unsatisfiable': 'refuse' })
  const response = await emulator.post('/batch-predictions', aBatch({ output_schema: IMPOSSIBLE }))
  expect([response.status, pointersOf(response)]).toEqual([400, ['/output_schema']])
  expect(response.text).toContain('/properties/total/minLength')
  await createBatch(emulator)
})

test('a large schema is examined when its batch starts', { tags: ['R100', 'U079'] }, async () => {
  const emulator = await batchEmulator()
  const { id } = await createBatch(emulator, { output_schema: LARGE })
  await emulator.control('POST', '/clock/advance', { steps: 1 })
  expect((await retrieve(emulator, id)).status).toBe('in_progress')
  await emulator.control('POST', '/clock/advance', { until: { batch: id } })
  expect(counts(await retrieve(emulator, id))).toEqual({ total: 3, succeeded: 3 })
  const [line] = await linesOf(emulator, id)
  expect(Object.keys(line?.output ?? {})).toHaveLength(400)
})

test('a batch whose large schema is not examined yet can be completed', { tags: ['U079'] }, async () => {
  const emulator = await batchEmulator()
  const { id } = await createBatch(emulator, { output_schema: { ...LARGE, required: ['field_0', 'other'] } })
  const { body } = await emulator.control('POST', `/batches/${id}/complete`)
  expect(body.batch).toMatchObject({ status: 'completed', request_counts: { succeeded: 3 } })
})

test('an outcome rule whose output violates the schema is refused', { tags: ['R100'] }, async () => {
  const emulator = await batchEmulator()
  const { id } = await createBatch(emulator)
  const outcomes = [{ output: { total: 1 } }, { output: { total: 'one' } }, { output: {} }]
  const response = await emulator.control('PATCH', `/batches/${id}`, { outcomes })
  expect(response.status).toBe(400)
  expect(response.text).toContain('/outcomes/1/output/total')
  expect(response.text).toContain('/outcomes/2/output')
  expect(response.text).not.toContain('/outcomes/0')
  const { body } = await emulator.control('GET', `/batches/${id}`)
  expect(body.plan.stages).toEqual([{ from: 0, outcomes: [] }])
})

test('a written batch whose schema was never examined has correct counts', { tags: ['U079'] }, async () => {
  const emulator = await batchEmulator()
  const { id } = await createBatch(emulator, { output_schema: IMPOSSIBLE })
  await emulator.control('POST', '/clock/advance', { until: { batch: id } })
  const { body } = await emulator.control('GET', `/state/${batches.name}/${id}`)
  const { no_output: _, ...plan } = body._emulator.plan
  const changed = { ...body, _emulator: { ...body._emulator, plan } }
  expect((await emulator.control('PUT', `/state/${batches.name}/${id}`, changed)).status).toBe(200)
  expect(counts(await retrieve(emulator, id))).toEqual({ total: 3, errored: 3 })
})
