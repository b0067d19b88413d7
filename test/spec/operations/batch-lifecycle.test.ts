import { expect, test } from 'vitest'
import { batchStatuses } from '../../../src/service/batch-predictions/states.ts'
import {
  batchEmulator,
  bring,
  counts,
  createBatch,
  intervene,
  linesOf,
  retrieve,
  stamps,
} from '../../support/batches.ts'
import { type TestEmulator, testEmulator } from '../../support/emulator.ts'
import { batchBody as sampleBatch, sampleRecords } from '../../support/sample-calls.ts'
import { mountPath } from '../../support/transport.ts'

async function countsWhile(emulator: TestEmulator, id: string, steps: number) {
  const seen = []
  for (let n = 0; n < steps; n++) {
    seen.push((await retrieve(emulator, id)).request_counts)
    emulator.advance('100ms')
  }
  return seen
}

test.for<[string, string, string, Record<string, number>]>([
  ['failed while validating', 'validating', 'failed', { failed_at: 0 }],
  ['failed in progress', 'in_progress', 'failed', { in_progress_at: 2, failed_at: 2 }],
  ['expired while validating', 'validating', 'expired', { expired_at: 0 }],
  ['expired in progress', 'in_progress', 'expired', { in_progress_at: 2, expired_at: 2 }],
  ['cancelling while validating', 'validating', 'cancelling', { cancelling_at: 0 }],
  ['cancelling in progress', 'in_progress', 'cancelling', { in_progress_at: 2, cancelling_at: 2 }],
  ['cancelled while validating', 'validating', 'cancelled', { cancelling_at: 0, cancelled_at: 1 }],
  [
    'cancelled in progress',
    'in_progress',
    'cancelled',
    { in_progress_at: 2, cancelling_at: 2, cancelled_at: 3 },
  ],
])('%s sets exactly these timestamps', { tags: ['R084'] }, async ([, from, to, expected]) => {
  const emulator = await batchEmulator()
  const { id } = await createBatch(emulator)
  await bring(emulator, id, from)
  expect(stamps(await bring(emulator, id, to))).toEqual(expected)
})

test('a batch is complete and consistent in every state', {
  tags: ['R077', 'R079', 'R080', 'R085', 'R086', 'R087', 'R091', 'R092'],
}, async () => {
  for (const status of batchStatuses) {
    const emulator = await batchEmulator()
    const { id } = await createBatch(emulator, { items: 4 })
    const batch = await bring(emulator, id, status)
    expect([batch.status, batch.completion_window]).toEqual([status, '24h'])
    expect([batch.created_at, batch.expires_at]).toEqual([
      '2026-03-01T12:00:00.000Z',
      '2026-03-02T12:00:00.000Z',
    ])
    const { total, ...parts } = batch.request_counts as Record<string, number>
    expect(Object.keys(parts)).toEqual(['processing', 'succeeded', 'errored', 'canceled', 'expired'])
    expect(Object.values(parts).every((count) => Number.isInteger(count) && count >= 0)).toBe(true)
    expect([total, Object.values(parts).reduce((sum, count) => sum + count)]).toEqual([4, 4])
    const unhappy = ['failed', 'cancelled', 'expired'].includes(status)
    expect(batch.error).toEqual(unhappy ? expect.any(Object) : null)
    const terminal = unhappy || status === 'completed'
    expect(batch.results_url).toEqual(terminal ? `${mountPath()}/v1/batch-predictions/${id}/results` : null)
  }
})

test('a batch is spelled cancelled and its items canceled', { tags: ['R077', 'R085', 'T18'] }, async () => {
  const emulator = await batchEmulator()
  const { id } = await createBatch(emulator)
  const batch = await bring(emulator, id, 'cancelled')
  expect(batchStatuses).toEqual(expect.arrayContaining(['cancelling', 'cancelled']))
  expect(Object.keys(batch)).toEqual(expect.arrayContaining(['cancelling_at', 'cancelled_at']))
  expect(batch.request_counts.canceled).toBe(3)
  expect((await linesOf(emulator, id)).map((line) => line.status)).toEqual([
    'canceled',
    'canceled',
    'canceled',
  ])
  expect(JSON.stringify(batch)).not.toMatch(/"(canceling|canceled_at|status":"canceled|cancelled":)/)
})

test('the error of a batch is a problem that names the cause, and empty under --strict', {
  tags: ['R091', 'U010'],
}, async () => {
  const emulator = await batchEmulator()
  const { id } = await createBatch(emulator)
  const failed = await bring(emulator, id, 'failed')
  expect(failed.error).toEqual({
    type: expect.stringMatching(/\/batch_failed$/),
    title: 'Batch Failed',
    status: 422,
    detail: 'The batch was failed on request.',
  })
  expect((await emulator.get(`/batch-predictions/${id}`)).assumed).toContain('U010')
  const strict = await batchEmulator(
    { 'batch.names.items': 'items', 'batch.names.file_ref': 'file_id' },
    { strict: true },
  )
  const { id: other } = await createBatch(strict)
  expect((await bring(strict, other, 'expired')).error).toEqual({})
})

test('the control API fails a batch with a given error', { tags: ['R106', 'U010'] }, async () => {
  const emulator = await batchEmulator()
  const { id } = await createBatch(emulator)
  intervene(emulator, 'fail', id, { error: { code: 'quota', left: 0 } })
  expect((await retrieve(emulator, id)).error).toEqual({ code: 'quota', left: 0 })
})

test('a batch whose items all errored is completed, and its error is null', {
  tags: ['R111'],
}, async () => {
  const emulator = await batchEmulator({ 'batch.outcomes': [{ status: 'errored' }] })
  const { id } = await createBatch(emulator, { items: 10 })
  const batch = await bring(emulator, id, 'completed')
  expect(counts(batch)).toEqual({ total: 10, errored: 10 })
  expect(batch.error).toBeNull()
})

test('counts add up, never go back, and change only in progress', {
  tags: ['R086', 'R088', 'R109'],
}, async () => {
  const emulator = await batchEmulator({
    'batch.pace': { in_progress: { per_item: '100ms', concurrency: 3 } },
    'batch.outcomes': [{ every: 4, status: 'errored' }],
  })
  const { id } = await createBatch(emulator, { items: 40 })
  const seen = await countsWhile(emulator, id, 50)
  for (const [n, now] of seen.entries()) {
    const { total, processing, succeeded, errored, canceled, expired } = now
    expect(processing + succeeded + errored + canceled + expired).toBe(total)
    const before = seen[n - 1] ?? now
    expect([succeeded >= before.succeeded, errored >= before.errored]).toEqual([true, true])
    expect(processing <= before.processing).toBe(true)
  }
  const { in_progress_at, finalizing_at } = await retrieve(emulator, id)
  const moving = seen.flatMap((now, n) =>
    n > 0 && now.processing !== seen[n - 1].processing ? [n * 100] : [],
  )
  const offset = (at: string) => Date.parse(at) - Date.parse('2026-03-01T12:00:00.000Z')
  expect(moving.every((ms) => ms > offset(in_progress_at) && ms <= offset(finalizing_at))).toBe(true)
  expect(moving.length).toBeGreaterThan(10)
})

test('every event has a sentence as its description, and a batch has at most one of each kind', async () => {
  const emulator = await batchEmulator()
  const { id } = await createBatch(emulator, { items: 100 })
  const seen = new Set<string>()
  for (const by of ['0s', '2s', '400ms', '1s']) {
    emulator.advance(by)
    const ahead = emulator.sandbox.scheduler.horizon().filter(({ ref }) => ref.endsWith(id))
    expect(new Set(ahead.map(({ kind }) => kind)).size).toBe(ahead.length)
    for (const { kind, description } of ahead) seen.add(`${kind} ${/^[A-Z].{20,}\.$/.test(description)}`)
  }
  expect([...seen].sort()).toEqual([
    'batch.cleanup true',
    'batch.complete true',
    'batch.expire true',
    'batch.finalize true',
    'batch.start true',
  ])
  const kinds = [
    'batch.start',
    'batch.finalize',
    'batch.complete',
    'batch.cancelled',
    'batch.expire',
    'batch.cleanup',
  ]
  for (const kind of kinds)
    expect(emulator.sandbox.service.events.get(kind)?.description).toMatch(/^[A-Z].{20,}\.$/)
})

test('a batch survives a restart unchanged in every phase', async () => {
  let emulator = await batchEmulator({ 'batch.outcomes': [{ probability: 0.5, status: 'errored' }] })
  const straight = await batchEmulator({ 'batch.outcomes': [{ probability: 0.5, status: 'errored' }] })
  const { id } = await createBatch(emulator, { items: 200 })
  await createBatch(straight, { items: 200 })
  for (const by of ['1s', '1100ms', '300ms', '500ms', '2s', '30d']) {
    emulator.advance(by)
    straight.advance(by)
    emulator = await emulator.restart()
    expect(await retrieve(emulator, id)).toEqual(await retrieve(straight, id))
  }
})

test('a batch from fixtures runs to its end, and its results are removed', async () => {
  const first = await testEmulator({ collections: sampleRecords })
  await first.post('/batch-predictions', sampleBatch(2))
  const [batch] = first.state('batch_predictions')
  const emulator = await testEmulator({ collections: { ...sampleRecords, batch_predictions: [batch] } })
  emulator.advance('1h')
  expect((await emulator.get(`/batch-predictions/${batch.id}`)).body.status).toBe('completed')
  emulator.advance('29d')
  expect((await emulator.get(`/batch-predictions/${batch.id}/results`)).status).toBe(410)
})
