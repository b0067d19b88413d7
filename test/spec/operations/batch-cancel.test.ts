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

test.for([
  ['validating', '0s', 0],
  ['in_progress', '350ms', 3],
] as const)(
  'a batch that is %s becomes cancelling and a second later cancelled, and its work stops',
  { tags: ['R104', 'R109', 'R112', 'R218', 'T15'] },
  async ([from, after, finished]) => {
    const emulator = await batchEmulator({ 'batch.pace': { in_progress: { per_item: '100ms' } } })
    const { id } = await createBatch(emulator, { items: 10 })
    await bring(emulator, id, from)
    emulator.advance(after)
    const { status, body } = await cancel(emulator, id)
    expect([status, body.status, Date.parse(body.cancelling_at)]).toEqual([200, 'cancelling', emulator.now()])
    expect(body.request_counts).toMatchObject({ succeeded: finished, processing: 10 - finished })
    emulator.advance('999ms')
    expect(await retrieve(emulator, id)).toEqual(body)
    emulator.advance('1ms')
    const batch = await retrieve(emulator, id)
    expect([batch.status, batch.in_progress_at]).toEqual(['cancelled', body.in_progress_at])
    expect(batch.request_counts).toMatchObject({ succeeded: finished, canceled: 10 - finished })
    const words = (await linesOf(emulator, id)).map((line) => line.status)
    expect(words).toEqual([...Array(finished).fill('succeeded'), ...Array(10 - finished).fill('canceled')])
    expect(emulator.advance('23h').events).toEqual([])
  },
)

test('the error of a cancelled batch counts its unfinished items', async () => {
  const emulator = await batchEmulator()
  const { id } = await createBatch(emulator, { items: 1 })
  const { error } = await bring(emulator, id, 'cancelled')
  const detail = 'The batch was cancelled before 1 of 1 item was finished.'
  expect(error).toMatchObject({ title: 'Batch Cancelled', detail })
})

test('a repeated cancel responds with the unchanged batch', { tags: ['R105', 'R219'] }, async () => {
  const emulator = await batchEmulator()
  const { id } = await createBatch(emulator)
  for (const status of ['cancelling', 'cancelled']) {
    const batch = await bring(emulator, id, status)
    const before = emulator.digest()
    const again = await cancel(emulator, id)
    expect([again.status, again.body, emulator.digest()]).toEqual([200, batch, before])
    emulator.advance('100ms')
    expect((await cancel(emulator, id)).body.cancelling_at).toBe(batch.cancelling_at)
  }
})

test.for(['finalizing', 'completed', 'failed', 'expired'])(
  'a cancel of a batch that is %s is refused, or by a setting responds with it, and never changes it',
  { tags: ['R220', 'U041'] },
  async (status) => {
    const emulator = await batchEmulator()
    const { id } = await createBatch(emulator)
    await bring(emulator, id, status)
    const refused = await refusedProblem(emulator, () => cancel(emulator, id), 409, 'conflict')
    expect(refused.body.detail).toContain(status)
    const lenient = await batchEmulator({ 'batch.cancel_terminal': 'unchanged' })
    const other = await createBatch(lenient)
    const batch = await bring(lenient, other.id, status)
    const before = lenient.digest()
    const response = await cancel(lenient, other.id)
    expect([response.status, response.body, lenient.digest()]).toEqual([200, batch, before])
  },
)

test('a cancel shows cancelling even if batch.cancel_delay is 0s', { tags: ['T15'] }, async () => {
  const emulator = await batchEmulator({ 'batch.cancel_delay': '0s' })
  const { id } = await createBatch(emulator)
  const shown = [(await cancel(emulator, id)).body, await retrieve(emulator, id)]
  expect(shown.map(({ status }) => status)).toEqual(['cancelling', 'cancelled'])
})

test.for(['10s', { polls: 4 }, { per_item: '1s', concurrency: 2 }, 'hold', 'immediate'])(
  'no item is finished after a cancel at the pace %o',
  { tags: ['R104'] },
  async (in_progress) => {
    const emulator = await batchEmulator({ 'batch.pace': { in_progress }, 'batch.cancel_delay': '1h' })
    const { id } = await createBatch(emulator, { items: 8 })
    emulator.advance(in_progress === 'immediate' ? '1s' : '2s')
    await retrieve(emulator, id)
    emulator.advance(in_progress === 'immediate' ? '500ms' : '3s')
    const { body } = await cancel(emulator, id)
    expect(body.status).toBe('cancelling')
    emulator.advance('30m')
    for (let n = 0; n < 5; n++) expect(counts(await retrieve(emulator, id))).toEqual(counts(body))
  },
)

test('a batch that is held counts no polls, and can be cancelled', { tags: ['R104'] }, async () => {
  const emulator = await batchEmulator({ 'batch.pace': { validating: { polls: 2 } } })
  const { id } = await createBatch(emulator)
  intervene(emulator, 'change', id, { hold: true })
  for (let n = 0; n < 3; n++) expect((await retrieve(emulator, id)).status).toBe('validating')
  await bring(emulator, id, 'cancelled')
})
