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

test('a new batch is validating, and has every field', {
  tags: [
    'R076',
    'R077',
    'R078',
    'R079',
    'R080',
    'R081',
    'R082',
    'R085',
    'R087',
    'R091',
    'R092',
    'R102',
    'R207',
  ],
}, async () => {
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
    in_progress_at: null,
    finalizing_at: null,
    completed_at: null,
    failed_at: null,
    cancelling_at: null,
    cancelled_at: null,
    expired_at: null,
    request_counts: { total: 2, processing: 2, succeeded: 0, errored: 0, canceled: 0, expired: 0 },
    metadata: { team: 'north' },
    error: null,
    results_url: null,
  })
  expect(await retrieve(emulator, body.id)).toEqual(body)
})

test('the window is 24 hours, also across a change to summer time', { tags: ['R081'] }, async () => {
  const emulator = await batchEmulator({}, { clock: '2026-03-29T00:30:00.000Z' })
  const { created_at, expires_at } = await createBatch(emulator)
  expect(Date.parse(expires_at) - Date.parse(created_at)).toBe(86_400_000)
})

test('two equal creations without an Idempotency-Key create two batches', { tags: ['R198'] }, async () => {
  const emulator = await batchEmulator()
  const [one, two] = [await createBatch(emulator), await createBatch(emulator)]
  expect(one.id).not.toBe(two.id)
  expect(emulator.state('batch_predictions')).toHaveLength(2)
})

test('missing fields are reported as required, and the response names the assumption', {
  tags: ['U015'],
}, async () => {
  const emulator = await batchEmulator({ 'required.batch-predictions.create.completion_window': true })
  const response = await refusedProblem(emulator, () => emulator.post(CREATE, {}), 400)
  expect(pointersOf(response)).toEqual([
    '/prompt',
    '/output_schema',
    '/model',
    '/completion_window',
    '/items',
  ])
  for (const { detail } of response.body.errors) expect(detail).toBe('is required')
  expect(response.assumed).toContain('U015')
})

test('the window is 24h, whether it is given or not', {
  tags: ['R202', 'R275'],
}, async () => {
  const emulator = await batchEmulator()
  expect((await createBatch(emulator)).completion_window).toBe('24h')
  expect((await createBatch(emulator, { completion_window: '24h' })).completion_window).toBe('24h')
})

test('a setting makes the window a required field', { tags: ['R202'] }, async () => {
  const emulator = await batchEmulator({ 'required.batch-predictions.create.completion_window': true })
  const response = await refusedProblem(emulator, () => emulator.post(CREATE, aBatch()), 400)
  expect(pointersOf(response)).toEqual(['/completion_window'])
  await createBatch(emulator, { completion_window: '24h' })
})

test('the body may have 100 MiB after decoding', { tags: ['R270'] }, async () => {
  const emulator = await batchEmulator()
  expect(BODY_LIMIT).toBe(100 * 1024 * 1024)
  expect(emulator.sandbox.service.operations.get('batch-predictions.create')?.bodyLimit).toBe(BODY_LIMIT)
  await createBatch(emulator, { prompt: 'x'.repeat(2 * 1024 * 1024) })
})

test('settings give the two field names, and --strict does not invent them', {
  tags: ['U035'],
}, async () => {
  const named = await batchEmulator({ 'batch.names.items': 'requests', 'batch.names.file_ref': 'document' })
  const requests = [{ custom_id: 'a', document: 'file-pdf', page: 2 }]
  const { items: _, ...rest } = aBatch()
  const created = await named.post(CREATE, { ...rest, requests })
  expect([created.status, created.assumed.includes('U035')]).toEqual([200, false])
  expect(named.state('batch_predictions')[0]._emulator.request.items).toEqual([
    { custom_id: 'a', file_id: 'file-pdf', page: 2 },
  ])
  const missing = await refusedProblem(named, () => named.post(CREATE, aBatch()), 400)
  expect(pointersOf(missing)).toEqual(['/requests'])

  const strict = await batchEmulator({}, { strict: true })
  const before = strict.digest()
  const response = await strict.post(CREATE, 'not even an object')
  expect([response.status, response.body.type.split('/').at(-1)]).toEqual([
    501,
    'emulator_contract_unspecified',
  ])
  expect(response.body.detail).toContain('"batch.names.items" and "batch.names.file_ref"')
  expect(response.assumed).toContain('U035')
  expect(strict.digest()).toBe(before)
})

test('every error of the four batch endpoints is problem details', { tags: ['R245', 'R246'] }, async () => {
  const emulator = await batchEmulator()
  const { id } = await createBatch(emulator)
  const paths: readonly [string, string][] = [
    ['POST', CREATE],
    ['GET', `${CREATE}/${id}`],
    ['GET', `${CREATE}/${id}/results`],
    ['POST', `${CREATE}/${id}/cancel`],
  ]
  for (const [method, path] of paths)
    expectProblem(await emulator.request(method, path, { key: 'none' }), 401)
  for (const path of [`${CREATE}/nobody`, `${CREATE}/nobody/results`])
    expectProblem(await emulator.get(path), 404)
  expectProblem(await emulator.post(`${CREATE}/nobody/cancel`), 404)
  expectProblem(await emulator.request('POST', CREATE, { raw: '{"prompt"' }), 400, 'malformed_json')
  expectProblem(await emulator.request('POST', CREATE, { raw: 'x', type: 'text/plain' }), 415)
  expectProblem(await emulator.request('POST', CREATE), 400)
  expectProblem(await emulator.get(`${CREATE}/${id}/results`), 409, 'results_not_ready')
})

test('a batch of another teamspace gets the same 404 as one that does not exist', {
  tags: ['R246'],
}, async () => {
  const emulator = await batchEmulator()
  const { id } = await createBatch(emulator)
  for (const key of ['K2', 'KO'] as const) {
    const foreign = await emulator.get(`${CREATE}/${id}`, { key })
    const unknown = await emulator.get(`${CREATE}/${'0'.repeat(24)}`, { key })
    const blind = (text: string) => text.replaceAll(id, 'ID').replaceAll('0'.repeat(24), 'ID')
    expect(blind(foreign.text)).toBe(blind(unknown.text))
    expectProblem(foreign, 404, 'not_found')
    expectProblem(await emulator.post(`${CREATE}/${id}/cancel`, undefined, { key }), 404)
    expectProblem(await emulator.get(`${CREATE}/${id}/results`, { key }), 404)
  }
  expect((await emulator.get(`${CREATE}/${id}`, { key: 'KS' })).status).toBe(200)
})
