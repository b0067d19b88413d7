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
  for (const [cleanup, until] of [
    ['6h', '29d'],
    ['manual', '300d'],
  ] as const) {
    const emulator = await batchEmulator({ 'batch.cleanup': cleanup })
    const { id } = await createBatch(emulator)
    emulator.advance(until)
    expect((await retrieve(emulator, id)).results_url).not.toBeNull()
    if (cleanup === 'manual') intervene(emulator, 'cleanup', id)
    else emulator.advance(cleanup)
    expect((await retrieve(emulator, id)).results_url).toBeNull()
  }
})
