import { expect, test } from 'vitest'
import { batchStatuses } from '../../../src/service/batch-predictions/states.ts'
import {
  batchEmulator,
  bring,
  counts,
  createBatch,
  intervene,
  retrieve,
  stamps,
} from '../../support/batches.ts'
import { mountPath } from '../../support/transport.ts'

test.for<[from: string, to: string, expected: Record<string, number>]>([
  ['validating', 'failed', { failed_at: 0 }],
  ['in_progress', 'failed', { in_progress_at: 2, failed_at: 2 }],
  ['validating', 'expired', { expired_at: 0 }],
  ['in_progress', 'expired', { in_progress_at: 2, expired_at: 2 }],
  ['validating', 'cancelling', { cancelling_at: 0 }],
  ['in_progress', 'cancelling', { in_progress_at: 2, cancelling_at: 2 }],
  ['validating', 'cancelled', { cancelling_at: 0, cancelled_at: 1 }],
  ['in_progress', 'cancelled', { in_progress_at: 2, cancelling_at: 2, cancelled_at: 3 }],
])('the way from %s to %s sets the timestamps %o', { tags: ['R084'] }, async ([from, to, expected]) => {
  const emulator = await batchEmulator()
  const { id } = await createBatch(emulator)
  await bring(emulator, id, from)
  expect(stamps(await bring(emulator, id, to))).toEqual(expected)
})

/** The kinds of the future events in each state. */
const AHEAD: Readonly<Record<string, readonly string[]>> = {
  validating: ['batch.expire', 'batch.start'],
  in_progress: ['batch.expire', 'batch.finalize'],
  finalizing: ['batch.complete'],
  cancelling: ['batch.cancelled'],
}

test.for(batchStatuses)(
  'a batch that is %s is complete and consistent, and each of its events has a sentence',
  { tags: ['R077', 'R079', 'R080', 'R085', 'R086', 'R087', 'R091', 'R092', 'T18', 'T29'] },
  async (status) => {
    const emulator = await batchEmulator()
    const { id } = await createBatch(emulator, { items: 4 })
    const batch = await bring(emulator, id, status)
    expect(batch).toMatchObject({
      completion_window: '24h',
      created_at: '2026-03-01T12:00:00.000Z',
      expires_at: '2026-03-02T12:00:00.000Z',
    })
    const { total, ...parts } = batch.request_counts as Record<string, number>
    expect(Object.keys(parts)).toEqual(['processing', 'succeeded', 'errored', 'canceled', 'expired'])
    expect([total, Object.values(parts).reduce((sum, count) => sum + count)]).toEqual([4, 4])
    const unhappy = ['failed', 'cancelled', 'expired'].includes(status)
    expect(batch.error).toEqual(unhappy ? expect.any(Object) : null)
    const terminal = unhappy || status === 'completed'
    expect(batch.results_url).toBe(terminal ? `${mountPath()}/v1/batch-predictions/${id}/results` : null)
    const ahead = emulator.sandbox.scheduler.horizon()
    expect(ahead.map(({ kind }) => kind).sort()).toEqual(AHEAD[status] ?? ['batch.cleanup'])
    for (const { description } of ahead) expect(description).toMatch(/^[A-Z].{20,}\.$/)
  },
)

test('the error of a batch is a problem, given, or empty', { tags: ['R091', 'R106', 'U010'] }, async () => {
  const emulator = await batchEmulator()
  const { id } = await createBatch(emulator)
  expect((await bring(emulator, id, 'failed')).error).toEqual({
    type: expect.stringMatching(/\/batch_failed$/),
    title: 'Batch Failed',
    status: 422,
    detail: 'The batch was failed on request.',
  })
  const given = await createBatch(emulator)
  intervene(emulator, 'fail', given.id, { error: { code: 'quota', left: 0 } })
  expect((await retrieve(emulator, given.id)).error).toEqual({ code: 'quota', left: 0 })
  const names = { 'batch.names.items': 'items', 'batch.names.file_ref': 'file_id' }
  for (const each of [batchEmulator(names, { strict: true }), batchEmulator({ 'batch.error': 'empty' })]) {
    const { id } = await createBatch(await each)
    expect((await bring(await each, id, 'expired')).error).toEqual({})
  }
})

test('a batch whose items all errored is completed, and its error is null', { tags: ['R111'] }, async () => {
  const emulator = await batchEmulator({ 'batch.outcomes': [{ status: 'errored' }] })
  const { id } = await createBatch(emulator, { items: 10 })
  const batch = await bring(emulator, id, 'completed')
  expect([counts(batch), batch.error]).toEqual([{ total: 10, errored: 10 }, null])
})

test('a batch survives a restart unchanged in every phase', { tags: ['R082', 'R083'] }, async () => {
  const settings = { 'batch.outcomes': [{ probability: 0.5, status: 'errored' }] }
  let emulator = await batchEmulator(settings)
  const straight = await batchEmulator(settings)
  const { id } = await createBatch(emulator, { items: 200 })
  await createBatch(straight, { items: 200 })
  for (const by of ['1s', '1100ms', '300ms', '500ms', '2s', '30d']) {
    emulator.advance(by)
    straight.advance(by)
    emulator = await emulator.restart()
    expect(await retrieve(emulator, id)).toEqual(await retrieve(straight, id))
  }
})

test('a batch from fixtures runs to its end', async () => {
  const first = await batchEmulator()
  await createBatch(first)
  const batch_predictions = first.state('batch_predictions')
  const emulator = await batchEmulator({}, { collections: { batch_predictions } })
  await bring(emulator, batch_predictions[0].id, 'completed')
})
