import { expect, test } from 'vitest'
import { batchLifecycle, batchStatuses } from '../../../src/service/batch-predictions/states.ts'
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

test('a batch expires at the exact end of its window', { tags: ['R107', 'T16'] }, async () => {
  const emulator = await batchEmulator({
    'batch.pace': { in_progress: { per_item: '10h', concurrency: 2 } },
    // A setting for batches that are still validating.
    'batch.expire_in_validating': 'fail',
  })
  const { id } = await createBatch(emulator, { items: 5 })
  emulator.advance('86399999ms')
  expect((await retrieve(emulator, id)).status).toBe('in_progress')
  emulator.advance('1ms')
  const batch = await retrieve(emulator, id)
  expect([batch.status, batch.expired_at]).toEqual(['expired', batch.expires_at])
  expect(counts(batch)).toEqual({ total: 5, succeeded: 4, expired: 1 })
  const detail = 'The completion window ended before 1 of 5 items were finished.'
  expect(batch.error).toMatchObject({ title: 'Batch Expired', detail })
  const words = (await linesOf(emulator, id)).map((line) => line.status)
  expect(words).toEqual([...Array(4).fill('succeeded'), 'expired'])
})

test.for([
  ['before the end', { validating: 'immediate', in_progress: '86399s', finalizing: '2s' }],
  ['at the exact end', { validating: 'immediate', in_progress: '24h', finalizing: '1s' }],
] as const)(
  'a batch whose items finish %s of the window completes',
  {
    tags: ['R108', 'T13', 'T14'],
  },
  async ([, pace]) => {
    const emulator = await batchEmulator({ 'batch.pace': pace })
    const { id } = await createBatch(emulator)
    emulator.advance('24h')
    expect((await retrieve(emulator, id)).status).toBe('finalizing')
    emulator.advance('1s')
    expect(await retrieve(emulator, id)).toMatchObject({ status: 'completed', expired_at: null })
  },
)

test('a validation that ends with the window starts the items first', { tags: ['T14'] }, async () => {
  const emulator = await batchEmulator({ 'batch.pace': { validating: '24h', in_progress: 'immediate' } })
  const { id } = await createBatch(emulator)
  const { id: moved } = await createBatch(emulator, { items: 2 })
  intervene(emulator, 'change', moved, { pace: { validating: '23h' } })
  intervene(emulator, 'change', moved, { pace: { validating: '24h' } })
  emulator.advance('24h')
  for (const each of [id, moved]) expect((await retrieve(emulator, each)).status).toBe('finalizing')
})

test('a window that ends at the instant of a cancel ends first', { tags: ['T14'] }, async () => {
  const emulator = await batchEmulator({ 'batch.pace': { in_progress: 'hold' } })
  const { id } = await createBatch(emulator)
  emulator.advance('24h')
  const { status } = await cancel(emulator, id)
  expect([status, (await retrieve(emulator, id)).status]).toEqual([409, 'expired'])
})

test.for([
  ['expire', 'expired', { expired: 3 }],
  ['fail', 'failed', { errored: 3 }],
  ['wait', 'validating', { processing: 3 }],
] as const)('the window ends while validating: %s', { tags: ['T13'] }, async ([decision, status, rest]) => {
  const pace = { validating: '25h', in_progress: '1h' }
  const emulator = await batchEmulator({ 'batch.expire_in_validating': decision, 'batch.pace': pace })
  const { id } = await createBatch(emulator)
  emulator.advance('24h')
  const batch = await retrieve(emulator, id)
  expect([batch.status, batch.in_progress_at]).toEqual([status, null])
  expect(counts(batch)).toEqual({ total: 3, ...rest })
  emulator.advance('2h')
  if (decision === 'wait') expect((await retrieve(emulator, id)).status).toBe('expired')
  else expect(await retrieve(emulator, id)).toEqual(batch)
})

test('a batch whose window ends while cancelling is cancelled', { tags: ['T13'] }, async () => {
  const emulator = await batchEmulator({ 'batch.cancel_delay': '2h', 'batch.pace': { in_progress: 'hold' } })
  const { id } = await createBatch(emulator)
  emulator.advance('23h')
  await cancel(emulator, id)
  emulator.advance('1h')
  expect((await retrieve(emulator, id)).status).toBe('cancelling')
  emulator.advance('1h')
  expect((await retrieve(emulator, id)).status).toBe('cancelled')
})

test('each transition is one of the specification or names its assumption', { tags: ['R114'] }, () => {
  const rows = batchLifecycle.arrows.map(({ from, on, to, because }) => `${from} ${on} ${to} ${because}`)
  expect(rows.sort()).toEqual([
    'cancelled cancel cancelled spec',
    'cancelling cancel cancelling spec',
    'cancelling stop cancelled U054',
    'finalizing complete completed U054',
    'in_progress cancel cancelling spec',
    'in_progress expire expired spec',
    'in_progress fail failed spec',
    'in_progress finish finalizing U054',
    'validating cancel cancelling spec',
    'validating expire expired T13',
    'validating fail failed spec',
    'validating start in_progress U054',
  ])
  const terminal = batchStatuses.filter((status) => batchLifecycle.terminal(status))
  expect(terminal.sort()).toEqual(['cancelled', 'completed', 'expired', 'failed'])
})

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
