import { expect, test } from 'vitest'
import {
  batchEmulator,
  bring,
  cancel,
  counts,
  createBatch,
  intervene,
  linesOf,
  refusedProblem,
  retrieve,
} from '../../support/batches.ts'

test.for(['validating', 'in_progress'])(
  'a batch that is %s becomes cancelling and a second later cancelled, and its work stops',
  { tags: ['R104', 'R109', 'R218', 'T15'] },
  async (from) => {
    const emulator = await batchEmulator({ 'batch.pace': { in_progress: { per_item: '100ms' } } })
    const { id } = await createBatch(emulator, { items: 10 })
    await bring(emulator, id, from)
    if (from === 'in_progress') emulator.advance('350ms')
    const finished = from === 'in_progress' ? 3 : 0
    const response = await cancel(emulator, id)
    expect([response.status, response.body.status]).toEqual([200, 'cancelling'])
    expect(Date.parse(response.body.cancelling_at)).toBe(emulator.now())
    expect(response.body.request_counts).toMatchObject({ succeeded: finished, processing: 10 - finished })
    emulator.advance('999ms')
    expect(await retrieve(emulator, id)).toEqual(response.body)
    emulator.advance('1ms')
    const batch = await retrieve(emulator, id)
    expect([batch.status, batch.in_progress_at]).toEqual(['cancelled', response.body.in_progress_at])
    expect(batch.request_counts).toMatchObject({
      succeeded: finished,
      canceled: 10 - finished,
      processing: 0,
    })
    const { events } = emulator.advance('23h')
    expect(events).toEqual([])
  },
)

test('a cancel after three of ten items gives three succeeded and seven canceled lines', {
  tags: ['R112'],
}, async () => {
  const emulator = await batchEmulator({ 'batch.pace': { in_progress: { per_item: '1s', concurrency: 1 } } })
  const { id } = await createBatch(emulator, { items: 10 })
  emulator.advance('5s')
  await cancel(emulator, id)
  emulator.advance('1s')
  const words = (await linesOf(emulator, id)).map((line) => line.status)
  expect(words).toEqual([...Array(3).fill('succeeded'), ...Array(7).fill('canceled')])
})

test('a repeated cancel responds with the unchanged batch', {
  tags: ['R105', 'R219'],
}, async () => {
  const emulator = await batchEmulator()
  const { id } = await createBatch(emulator)
  for (const status of ['cancelling', 'cancelled']) {
    const batch = await bring(emulator, id, status)
    const before = emulator.digest()
    emulator.advance('0ms')
    const again = await cancel(emulator, id)
    expect([again.status, again.body]).toEqual([200, batch])
    expect(again.body).toEqual(await retrieve(emulator, id))
    expect(emulator.digest()).toBe(before)
    emulator.advance('100ms')
    expect((await cancel(emulator, id)).body.cancelling_at).toBe(batch.cancelling_at)
  }
})

test.for(['finalizing', 'completed', 'failed', 'expired'])(
  'a cancel of a batch that is %s is refused, and the batch unchanged',
  { tags: ['R220', 'U041'] },
  async (status) => {
    const emulator = await batchEmulator()
    const { id } = await createBatch(emulator)
    const batch = await bring(emulator, id, status)
    const response = await refusedProblem(emulator, () => cancel(emulator, id), 409, 'conflict')
    expect(response.body.detail).toContain(status)
    expect(response.assumed).toContain('U041')
    expect(await retrieve(emulator, id)).toEqual(batch)
  },
)

test.for(['finalizing', 'completed', 'failed', 'expired'])(
  'a setting makes a cancel of a batch that is %s respond with it, unchanged',
  { tags: ['R220', 'U041'] },
  async (status) => {
    const emulator = await batchEmulator({ 'batch.cancel_terminal': 'unchanged' })
    const { id } = await createBatch(emulator)
    const batch = await bring(emulator, id, status)
    const before = emulator.digest()
    const response = await cancel(emulator, id)
    expect([response.status, response.body]).toEqual([200, batch])
    expect(response.assumed).not.toContain('U041')
    expect(emulator.digest()).toBe(before)
  },
)

test('the response to a cancel shows cancelling even if batch.cancel_delay is 0s', {
  tags: ['T15'],
}, async () => {
  const emulator = await batchEmulator({ 'batch.cancel_delay': '0s' })
  const { id } = await createBatch(emulator)
  expect((await cancel(emulator, id)).body.status).toBe('cancelling')
  expect((await retrieve(emulator, id)).status).toBe('cancelled')
})

test('no item is finished after a cancel, whatever the pace', { tags: ['R104'] }, async () => {
  for (const in_progress of ['10s', { polls: 4 }, { per_item: '1s', concurrency: 2 }, 'hold', 'immediate']) {
    const emulator = await batchEmulator({ 'batch.pace': { in_progress }, 'batch.cancel_delay': '1h' })
    const { id } = await createBatch(emulator, { items: 8 })
    emulator.advance('1s')
    if (in_progress !== 'immediate') emulator.advance('1s')
    await retrieve(emulator, id)
    emulator.advance(in_progress === 'immediate' ? '500ms' : '3s')
    const { body } = await cancel(emulator, id)
    expect(body.status).toBe('cancelling')
    emulator.advance('30m')
    for (let n = 0; n < 5; n++) expect(counts(await retrieve(emulator, id))).toEqual(counts(body))
  }
})

test('a batch that is held can be cancelled', { tags: ['R104'] }, async () => {
  const emulator = await batchEmulator()
  const { id } = await createBatch(emulator)
  intervene(emulator, 'change', id, { hold: true })
  await cancel(emulator, id)
  emulator.advance('1s')
  expect((await retrieve(emulator, id)).status).toBe('cancelled')
})
