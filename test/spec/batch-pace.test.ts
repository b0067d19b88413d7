import { expect, test } from 'vitest'
import { batchEmulator, counts, createBatch, retrieve, stamps } from '../support/batches.ts'

test('at the default pace each timestamp of a batch is set once', {
  tags: ['R082', 'R083', 'R084', 'R089', 'R110', 'U054'],
}, async () => {
  const emulator = await batchEmulator()
  const { id } = await createBatch(emulator, { items: 120 })
  const seen = []
  for (const by of ['1999ms', '1ms', '200ms', '200ms', '199ms', '1ms', '999ms', '1ms', '400d']) {
    emulator.advance(by)
    const batch = await retrieve(emulator, id)
    seen.push([batch.status, counts(batch), stamps(batch)])
  }
  const total = 120
  const done = { in_progress_at: 2, finalizing_at: 2.6, completed_at: 3.6 }
  expect(seen).toEqual([
    ['validating', { total, processing: 120 }, {}],
    ['in_progress', { total, processing: 120 }, { in_progress_at: 2 }],
    ['in_progress', { total, processing: 70, succeeded: 50 }, { in_progress_at: 2 }],
    ['in_progress', { total, processing: 20, succeeded: 100 }, { in_progress_at: 2 }],
    ['in_progress', { total, processing: 20, succeeded: 100 }, { in_progress_at: 2 }],
    ['finalizing', { total, succeeded: 120 }, { in_progress_at: 2, finalizing_at: 2.6 }],
    ['finalizing', { total, succeeded: 120 }, { in_progress_at: 2, finalizing_at: 2.6 }],
    ['completed', { total, succeeded: 120 }, done],
    ['completed', { total, succeeded: 120 }, done],
  ])
})

test('a hundred polls at one instant give one body and change nothing', { tags: ['R209'] }, async () => {
  const emulator = await batchEmulator({}, { limits: false })
  const { id } = await createBatch(emulator, { items: 100 })
  emulator.advance('2300ms')
  const before = emulator.digest()
  const bodies = new Set<string>()
  for (let n = 0; n < 100; n++) bodies.add((await emulator.get(`/batch-predictions/${id}`)).text)
  expect(bodies.size).toBe(1)
  expect(emulator.digest()).toBe(before)
})

test('at a pace of polls, each poll moves a batch and its items on', { tags: ['U054'] }, async () => {
  const pace = { validating: { polls: 2 }, in_progress: { polls: 3 }, finalizing: { polls: 1 } }
  const emulator = await batchEmulator({ 'batch.pace': pace })
  const { id } = await createBatch(emulator, { items: 7 })
  emulator.advance('1h')
  const seen = []
  for (let n = 0; n < 7; n++) {
    const batch = await retrieve(emulator, id)
    seen.push([batch.status, batch.request_counts.succeeded])
  }
  expect(seen).toEqual([
    ['validating', 0],
    ['in_progress', 0],
    ['in_progress', 2],
    ['in_progress', 4],
    ['finalizing', 7],
    ['completed', 7],
    ['completed', 7],
  ])
})

test('reading results is no poll, nor a retrieve by another teamspace', { tags: ['U054'] }, async () => {
  const emulator = await batchEmulator({ 'batch.pace': { validating: { polls: 1 } } })
  const { id } = await createBatch(emulator)
  await emulator.get(`/batch-predictions/${id}/results`)
  await emulator.get(`/batch-predictions/${id}`, { key: 'K2' })
  expect(emulator.state('batch_predictions')[0].status).toBe('validating')
})

test('at an immediate pace the next request shows completed', { tags: ['R102', 'U054'] }, async () => {
  const pace = { validating: 'immediate', in_progress: 'immediate', finalizing: 'immediate' }
  const emulator = await batchEmulator({ 'batch.pace': pace })
  const created = await createBatch(emulator, { items: 5_000 })
  expect(created.status).toBe('validating')
  const batch = await retrieve(emulator, created.id)
  expect(batch.status).toBe('completed')
  expect(stamps(batch)).toEqual({ in_progress_at: 0, finalizing_at: 0, completed_at: 0 })
})

test('skipping on polls runs work events and never skips to a deadline', { tags: ['U054'] }, async () => {
  const emulator = await batchEmulator({ 'batch.pace': { finalizing: 'hold' } }, { skipOnPoll: true })
  const { id } = await createBatch(emulator)
  const seen = []
  for (let n = 0; n < 4; n++) seen.push((await retrieve(emulator, id)).status)
  expect(seen).toEqual(['in_progress', 'finalizing', 'finalizing', 'finalizing'])
  expect(emulator.now() - Date.parse('2026-03-01T12:00:00.000Z')).toBe(2_200)
})
