import { expect, test } from 'vitest'
import {
  batchEmulator,
  bring,
  cancel,
  createBatch,
  intervene,
  refusedProblem,
  retrieve,
} from '../../support/batches.ts'

test('a terminal batch changes only its results_url', { tags: ['R113', 'R210'] }, async () => {
  for (const status of ['completed', 'failed', 'expired', 'cancelled']) {
    const emulator = await batchEmulator()
    const { id } = await createBatch(emulator)
    const batch = await bring(emulator, id, status)
    await cancel(emulator, id)
    emulator.advance('20d')
    expect(await retrieve(emulator, id)).toEqual(batch)
    emulator.advance('400d')
    await cancel(emulator, id)
    expect(await retrieve(emulator, id)).toEqual({ ...batch, results_url: null })
  }
})

test('results are removed 29 days after creation, whenever the batch ended, and metadata stays', {
  tags: ['R281', 'R282', 'R283', 'R093', 'R210', 'R215', 'R250'],
}, async () => {
  const emulator = await batchEmulator({ 'batch.pace': { in_progress: '23h' } })
  const late = await createBatch(emulator, { metadata: { a: 'b' } })
  const early = await createBatch(emulator)
  intervene(emulator, 'complete', early.id)
  emulator.advance(`${29 * 86_400_000 - 1}ms`)
  for (const { id } of [late, early]) {
    expect((await retrieve(emulator, id)).results_url).not.toBeNull()
    expect((await emulator.get(`/batch-predictions/${id}/results`)).status).toBe(200)
  }
  emulator.advance('1ms')
  for (const { id } of [late, early]) {
    expect((await retrieve(emulator, id)).results_url).toBeNull()
    const results = () => emulator.get(`/batch-predictions/${id}/results`)
    await refusedProblem(emulator, results, 410, 'results_gone')
  }
  emulator.advance('400d')
  const batch = await retrieve(emulator, late.id)
  expect([batch.status, batch.metadata, batch.results_url]).toEqual(['completed', { a: 'b' }, null])
})

test('cleanup can be delayed, or left to the control API', { tags: ['U056'] }, async () => {
  const delayed = await batchEmulator({ 'batch.cleanup': '6h' })
  const one = await createBatch(delayed)
  delayed.advance('29d')
  expect((await retrieve(delayed, one.id)).results_url).not.toBeNull()
  delayed.advance('6h')
  expect((await retrieve(delayed, one.id)).results_url).toBeNull()

  const manual = await batchEmulator({ 'batch.cleanup': 'manual' })
  const two = await createBatch(manual)
  manual.advance('300d')
  expect((await retrieve(manual, two.id)).results_url).not.toBeNull()
  intervene(manual, 'cleanup', two.id)
  expect((await retrieve(manual, two.id)).results_url).toBeNull()
  expect((await manual.get(`/batch-predictions/${two.id}/results`)).status).toBe(410)
})
