import { expect, test } from 'vitest'
import { batchStatuses } from '../../src/service/batch-predictions/states.ts'
import { batchEmulator, bring, createBatch, intervene, linesOf, retrieve } from '../support/batches.ts'

test('a batch shows its plan, its present counts and its next events with a description of each', async () => {
  const emulator = await batchEmulator()
  const { id } = await createBatch(emulator, { items: 120 })
  emulator.advance('2200ms')
  const description = expect.stringMatching(/\.$/)
  expect(intervene(emulator, 'show', id)).toMatchObject({
    ...{ batch: await retrieve(emulator, id), ended: null, invalid_outputs: [] },
    request: { prompt: 'Read the total.', effective_model: 'model-1', items: 120 },
    plan: { pace: { validating: '2s' }, stages: [{ from: 0, outcomes: [] }], rejected: [] },
    progress: { finished: 50, all_finished_at: '2026-03-01T12:00:02.600Z', held: false },
    ahead: [
      { kind: 'batch.finalize', due_at: '2026-03-01T12:00:02.600Z', urgency: 'work', description },
      { kind: 'batch.expire', due_at: '2026-03-02T12:00:00.000Z', urgency: 'deadline', description },
    ],
  })
})

test('a new pace applies from then on, and finished items stay finished', async () => {
  const emulator = await batchEmulator({ 'batch.pace': { in_progress: { per_item: '1s' } } })
  const { id } = await createBatch(emulator, { items: 10 })
  emulator.advance('5500ms')
  intervene(emulator, 'change', id, { pace: { in_progress: { per_item: '2s', concurrency: 2 } } })
  const seen = []
  for (const by of ['0s', '1999ms', '1ms', '4s', '2s']) {
    emulator.advance(by)
    const batch = await retrieve(emulator, id)
    seen.push(`${batch.status} ${batch.request_counts.succeeded}`)
  }
  expect(seen).toEqual(['in_progress 3', 'in_progress 3', 'in_progress 5', 'in_progress 9', 'finalizing 10'])
})

test('new outcomes apply to unfinished items only, so counts never decrease', async () => {
  const emulator = await batchEmulator({ 'batch.pace': { in_progress: { per_item: '1s' } } })
  const { id } = await createBatch(emulator, { items: 6 })
  emulator.advance('4s')
  intervene(emulator, 'change', id, { outcomes: [{ status: 'errored' }] })
  expect((await retrieve(emulator, id)).request_counts).toMatchObject({ succeeded: 2, processing: 4 })
  emulator.advance('2s')
  intervene(emulator, 'change', id, { outcomes: [] })
  emulator.advance('1h')
  const [ok, failed] = ['succeeded', 'errored']
  expect((await linesOf(emulator, id)).map((line) => line.status)).toEqual([ok, ok, failed, failed, ok, ok])
})

test('a held batch stays in its phase until it is released, whatever the phase', async () => {
  for (const status of ['validating', 'in_progress', 'finalizing', 'cancelling']) {
    const emulator = await batchEmulator()
    const { id } = await createBatch(emulator)
    const batch = await bring(emulator, id, status)
    intervene(emulator, 'change', id, { hold: true })
    emulator.advance('1h')
    expect(await retrieve(emulator, id)).toEqual(batch)
    intervene(emulator, 'change', id, { hold: false })
    emulator.advance('10s')
    expect((await retrieve(emulator, id)).status).toBe(status === 'cancelling' ? 'cancelled' : 'completed')
  }
})

test('releasing a batch ends a phase whose pace is hold', async () => {
  const pace = { validating: 'hold', in_progress: 'hold', finalizing: 'hold' }
  const emulator = await batchEmulator({ 'batch.pace': pace })
  const { id } = await createBatch(emulator)
  const seen = []
  for (let n = 0; n < 4; n++) {
    emulator.advance('1h')
    seen.push((await retrieve(emulator, id)).status)
    if (n < 3) intervene(emulator, 'change', id, { hold: false })
  }
  expect(seen).toEqual(['validating', 'in_progress', 'finalizing', 'completed'])
})

test('a batch that is released with another pace goes on at that pace', async () => {
  const emulator = await batchEmulator({ 'batch.pace': { validating: 'hold' } })
  const { id } = await createBatch(emulator)
  intervene(emulator, 'change', id, { hold: false, pace: { validating: '5s' } })
  emulator.advance('4s')
  // A new pace for a later phase does not change the present one.
  intervene(emulator, 'change', id, { pace: { finalizing: '1h' } })
  expect((await retrieve(emulator, id)).status).toBe('validating')
  emulator.advance('1s')
  expect((await retrieve(emulator, id)).status).toBe('in_progress')
})

test.for(['validating', 'in_progress', 'finalizing'])(
  'complete moves a batch that is %s through all remaining phases',
  async (status) => {
    const emulator = await batchEmulator()
    const { id } = await createBatch(emulator)
    await bring(emulator, id, status)
    intervene(emulator, 'complete', id)
    const batch = await retrieve(emulator, id)
    expect(batch.status).toBe('completed')
    expect([batch.in_progress_at, batch.finalizing_at, batch.completed_at]).not.toContain(null)
    expect(batch.request_counts).toMatchObject({ total: 3, succeeded: 3 })
    expect(emulator.advance('25h').events).toEqual([])
  },
)

test('complete fails a batch whose items do not validate', async () => {
  const emulator = await batchEmulator()
  const { id } = await createBatch(emulator, { items: [{ custom_id: 'a', file_id: 'nobody' }] })
  intervene(emulator, 'complete', id)
  expect((await retrieve(emulator, id)).status).toBe('failed')
})

test('an intervention without a transition is refused with the status', { tags: ['R114'] }, async () => {
  const moves: Record<string, readonly string[]> = {
    fail: ['validating', 'in_progress'],
    expire: ['validating', 'in_progress'],
    complete: ['validating', 'in_progress', 'finalizing'],
    cleanup: ['completed', 'failed', 'expired', 'cancelled'],
    change: ['validating', 'in_progress', 'finalizing', 'cancelling'],
  }
  for (const status of batchStatuses) {
    const emulator = await batchEmulator()
    for (const [name, from] of Object.entries(moves)) {
      const { id } = await createBatch(emulator)
      const batch = await bring(emulator, id, status)
      const attempt = () => intervene(emulator, name, id)
      if (from.includes(status)) attempt()
      else {
        const refusal = { code: 'conflict', message: expect.stringContaining(status) }
        expect(attempt, `${name} ${status}`).toThrow(expect.objectContaining(refusal))
        expect(await retrieve(emulator, id)).toEqual(batch)
      }
    }
  }
})

test.for<[string, string, object]>([
  ['change', '/pace/validating', { pace: { validating: 'soon' } }],
  ['change', '/pace/validating', { pace: { validating: { per_item: '1s' } } }],
  ['change', '/pace/in_progress/concurrency', { pace: { in_progress: { per_item: '1s', concurrency: 0 } } }],
  ['change', '/pace/in_progress', { pace: { in_progress: '9999999d' } }],
  ['change', '/pace/later', { pace: { later: '1s' } }],
  ['change', '/outcomes/0/status', { outcomes: [{ status: 'canceled' }] }],
  ['change', '/outcomes/0/probability', { outcomes: [{ probability: 2 }] }],
  ['change', '/outcomes/0/every', { outcomes: [{ every: 0 }] }],
  ['change', '/outcomes/0/output', { outcomes: [{ output: [] }] }],
  ['change', '/outcomes/0/output', { outcomes: [{ status: 'errored', output: {} }] }],
  ['change', '/outcomes/0/detail', { outcomes: [{ detail: 'x' }] }],
  ['change', '/outcomes/0/match/id', { outcomes: [{ match: { id: 'x' } }] }],
  ['change', '/wait', { wait: true }],
  ['fail', '/error', { error: 'x' }],
  ['expire', '/now', { now: true }],
])('%s is refused at %s', async ([name, pointer, body]) => {
  const emulator = await batchEmulator()
  const { id } = await createBatch(emulator)
  const before = emulator.digest()
  const issues = [expect.objectContaining({ pointer })]
  const refusal = expect.objectContaining({ options: expect.objectContaining({ issues }) })
  expect(() => intervene(emulator, name, id, body)).toThrow(refusal)
  expect(emulator.digest()).toBe(before)
})

test('an event that has run says what happened, and its record what came of it', async () => {
  const emulator = await batchEmulator()
  const ran = () => emulator.advance('25h').events.map(({ description, to }) => [description, to])
  await createBatch(emulator)
  expect(ran()).toEqual([
    ['Validation has ended.', 'in_progress'],
    ['All items are finished: finalizing begins.', 'finalizing'],
    ['Finalizing has ended: the batch is completed.', 'completed'],
  ])
  intervene(emulator, 'change', (await createBatch(emulator)).id, { hold: true })
  const expired = 'The completion window has ended before all items were finished.'
  expect(ran()).toEqual([[expired, 'expired']])
})
