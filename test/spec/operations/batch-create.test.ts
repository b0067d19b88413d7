import { expect, test } from 'vitest'
import { BODY_LIMIT } from '../../../src/service/batch-predictions/create.ts'
import {
  aBatch,
  batchEmulator,
  createBatch,
  expectProblem,
  pointersOf,
  refusedProblem,
  retrieve,
} from '../../support/batches.ts'

const CREATE = '/batch-predictions'

const STAMPS = ['in_progress', 'finalizing', 'completed', 'failed', 'cancelling', 'cancelled', 'expired'].map(
  (state) => `${state}_at`,
)

test('a new batch has every field', { tags: ['R076', 'R078', 'R081', 'R082', 'R102', 'R207'] }, async () => {
  const emulator = await batchEmulator()
  const { status, body } = await emulator.post(CREATE, aBatch({ items: 2, metadata: { team: 'north' } }))
  expect(status).toBe(200)
  expect(body).toEqual({
    object: 'batch_prediction',
    id: expect.stringMatching(/^[0-9a-f]{24}$/),
    status: 'validating',
    model: 'model-1',
    completion_window: '24h',
    created_at: '2026-03-01T12:00:00.000Z',
    expires_at: '2026-03-02T12:00:00.000Z',
    ...Object.fromEntries(STAMPS.map((stamp) => [stamp, null])),
    request_counts: { total: 2, processing: 2, succeeded: 0, errored: 0, canceled: 0, expired: 0 },
    metadata: { team: 'north' },
    error: null,
    results_url: null,
  })
  expect(await retrieve(emulator, body.id)).toEqual(body)
})

test('missing fields are reported as required', { tags: ['U015', 'R199', 'R202', 'R275'] }, async () => {
  const emulator = await batchEmulator({ 'required.batch-predictions.create.completion_window': true })
  const response = await refusedProblem(emulator, () => emulator.post(CREATE, {}), 400)
  const fields = ['/prompt', '/output_schema', '/model', '/completion_window', '/items']
  expect(response.body.errors).toEqual(fields.map((pointer) => ({ pointer, detail: 'is required' })))
  await createBatch(emulator, { completion_window: '24h' })
})

test('the body may have 100 MiB after decoding, and the start of a long prompt is kept', {
  tags: ['R270'],
}, async () => {
  const emulator = await batchEmulator()
  expect(BODY_LIMIT).toBe(100 * 1024 * 1024)
  expect(emulator.sandbox.service.operations.get('batch-predictions.create')?.bodyLimit).toBe(BODY_LIMIT)
  for (const [length, note] of [
    [65_536, ''],
    [2_097_152, '... (2097152 characters)'],
  ] as const) {
    const { id } = await createBatch(emulator, { prompt: 'x'.repeat(length) })
    const batch = emulator.state('batch_predictions').find((each) => each.id === id)
    expect(batch._emulator.request.prompt).toBe('x'.repeat(65_536) + note)
  }
})

test('settings give the two field names', { tags: ['U035'] }, async () => {
  const emulator = await batchEmulator({
    'batch.names.items': 'requests',
    'batch.names.file_ref': 'document',
  })
  const requests = [{ custom_id: 'a', document: 'file-pdf', page: 2 }]
  const { items: _, ...rest } = aBatch()
  const created = await emulator.post(CREATE, { ...rest, requests })
  expect([created.status, created.assumed.includes('U035')]).toEqual([200, false])
  expect(emulator.state('batch_predictions')[0]._emulator.request.items).toEqual([
    { custom_id: 'a', file_id: 'file-pdf', page: 2 },
  ])
  const missing = await refusedProblem(emulator, () => emulator.post(CREATE, aBatch()), 400)
  expect(pointersOf(missing)).toEqual(['/requests'])
})

test('--strict does not invent the two field names', { tags: ['U035'] }, async () => {
  const emulator = await batchEmulator({}, { strict: true })
  const before = emulator.digest()
  const { status, body } = await emulator.post(CREATE, 'not even an object')
  expect([status, body.type]).toEqual([501, expect.stringMatching(/\/emulator_contract_unspecified$/)])
  expect(body.detail).toContain('"batch.names.items" and "batch.names.file_ref"')
  expect(emulator.digest()).toBe(before)
})

test.for([
  ['GET', '/nobody', {}, 404, 'not_found'],
  ['GET', '/nobody/results', {}, 404, 'not_found'],
  ['POST', '/nobody/cancel', {}, 404, 'not_found'],
  ['POST', '', { raw: '{"prompt"' }, 400, 'malformed_json'],
  ['POST', '', { raw: 'x', type: 'text/plain' }, 415, undefined],
  ['POST', '', {}, 400, undefined],
] as const)(
  '%s %s with %o is a problem: %i',
  { tags: ['R245', 'R246'] },
  async ([method, path, how, status, code]) => {
    const emulator = await batchEmulator()
    expectProblem(await emulator.request(method, CREATE + path, how), status, code)
  },
)

test('a batch of another teamspace is a 404 like a missing one', { tags: ['R229', 'R246'] }, async () => {
  const emulator = await batchEmulator()
  const { id } = await createBatch(emulator)
  const unknown = await emulator.get(`${CREATE}/${'0'.repeat(24)}`, { key: 'K2' })
  for (const key of ['K2', 'KO'] as const) {
    const foreign = await emulator.get(`${CREATE}/${id}`, { key })
    expect(foreign.text.replaceAll(id, '0'.repeat(24))).toBe(unknown.text)
    expectProblem(foreign, 404, 'not_found')
    expectProblem(await emulator.post(`${CREATE}/${id}/cancel`, undefined, { key }), 404)
    expectProblem(await emulator.get(`${CREATE}/${id}/results`, { key }), 404)
  }
  expect((await emulator.get(`${CREATE}/${id}`, { key: 'KS' })).status).toBe(200)
})
