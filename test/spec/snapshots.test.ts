import { expect, test } from 'vitest'
import { aBatch, batchEmulator, createBatch } from '../support/batches.ts'
import { controlOf } from '../support/control.ts'
import { contentOf } from '../support/data-folder.ts'
import { testEmulator } from '../support/emulator.ts'
import { batchBody, sampleRecords } from '../support/sample-calls.ts'

test('a restore covers records, batches in progress, clock, schedule, limits, log, settings, keys and webhooks', async () => {
  const { control, post, get, delete: remove, sandbox } = await testEmulator({ collections: sampleRecords })
  const key = { headers: { 'idempotency-key': 'k-1' } }
  const batch = (await post('/batch-predictions', batchBody(), key)).body
  await control('POST', '/clock/advance', { steps: 1 })
  await control('POST', '/webhooks', { url: 'http://127.0.0.1:9/hook' })
  await control('PATCH', '/settings', { 'status.validation': 422 })
  const saved = await control('POST', '/snapshots', { name: 'before' })
  expect(saved.status).toBe(201)
  const then = contentOf(sandbox.document())
  const log = (await control('GET', '/requests?stable=true')).body

  await post(`/batch-predictions/${batch.id}/cancel`)
  await control('POST', '/clock/advance', { by: '40d' })
  await remove('/agents/agent-1/automations/automation-2')
  await control('POST', '/limits/pages.create/fill', { remaining: 0 })
  const [hook] = (await control('GET', '/webhooks')).body.data
  expect((await control('DELETE', `/webhooks/${hook.id}`)).status).toBeLessThan(300)
  await control('PATCH', '/settings', { 'status.validation': null })
  await control('DELETE', '/requests')
  expect((await post('/pages', { name: 'Plan' })).status).toBe(429)

  const restored = await control('POST', '/snapshots/before/restore')
  expect([restored.status, restored.body.restored, restored.body.sandbox]).toEqual([200, 'before', 'default'])
  expect(contentOf(sandbox.document())).toBe(then)
  expect((await control('GET', '/requests?stable=true')).body).toEqual(log)
  expect((await post('/batch-predictions', batchBody(), key)).body.id).toBe(batch.id)
  expect((await get(`/batch-predictions/${batch.id}`)).body.status).toBe('in_progress')
  expect((await post('/pages', { name: 7 })).status).toBe(422)
  expect((await post('/pages', { name: 'Plan' })).status).toBe(200)
  await control('POST', '/clock/advance', { until: { batch: batch.id } })
  expect((await get(`/batch-predictions/${batch.id}`)).body.status).toBe('completed')
})

test('the same requests after a restore always get the same responses, with the same ids', async () => {
  const { control, post } = await testEmulator({ collections: sampleRecords })
  await post('/pages', { name: 'First' })
  await control('POST', '/snapshots', { name: 'base' })
  const session = async (): Promise<string> => {
    const responses = [
      await post('/pages', { name: 'Second' }),
      await post('/batch-predictions', batchBody()),
      await control('POST', '/clock/advance', { by: '1h' }),
      await control('GET', '/state'),
      await control('GET', '/requests?stable=true'),
    ]
    const said = responses.map(({ status, body }) => JSON.stringify([status, body]))
    return said.join('\n').replaceAll(/"revision":\d+/g, '"revision":N')
  }
  const first = await session()
  for (let n = 0; n < 3; n++) {
    await control('POST', '/snapshots/base/restore')
    expect(await session()).toBe(first)
  }
})

test('an export equals the response of GET /state when it was saved, byte for byte', async () => {
  const { control, post } = await testEmulator({ collections: sampleRecords })
  await post('/batch-predictions', batchBody())
  await control('POST', '/snapshots', { name: 'base' })
  const then = JSON.stringify((await control('GET', '/state')).body)
  await control('POST', '/clock/advance', { by: '1h' })
  const exported = await control('GET', '/snapshots/base')
  expect([exported.status, JSON.stringify(exported.body)]).toEqual([200, then])
  expect(then).not.toMatch(/live_owner|"service_a"/)
})

test('an export that is imported into another sandbox gives the same state and the same export', async () => {
  const { control, in: sandbox, post } = await testEmulator({ collections: sampleRecords })
  const { id } = (await post('/batch-predictions', batchBody())).body
  await control('POST', '/clock/advance', { steps: 1 })
  await control('POST', '/snapshots', { name: 'base' })
  const exported = (await control('GET', '/snapshots/base')).body
  const w1 = sandbox('w1')
  const imported = await w1('PUT', '/snapshots/copied', exported)
  expect([imported.status, imported.body]).toEqual([
    201,
    {
      name: 'copied',
      saved_at: exported.clock.now,
      revision: exported.revision,
      records: expect.any(Number),
      problem: null,
      replaced: false,
    },
  ])
  expect((await w1('PUT', '/snapshots/copied', exported)).status).toBe(200)
  await w1('POST', '/snapshots/copied/restore')
  expect(contentOf((await w1('GET', '/state')).body)).toBe(contentOf(exported))
  expect((await w1('GET', '/snapshots/copied')).body).toEqual({ ...exported, sandbox: 'w1' })
  const advance = { until: { batch: id } }
  const [here, there] = [
    await control('POST', '/clock/advance', advance),
    await w1('POST', '/clock/advance', advance),
  ]
  expect(here).toMatchObject(there)
  expect((await control('PUT', '/state', exported)).status).toBe(200)
  expect(contentOf((await control('GET', '/state')).body)).toBe(contentOf(exported))
})

test('a list shows each snapshot with instant, revision and number of records', async () => {
  const { control, post } = await testEmulator({ collections: sampleRecords })
  expect((await control('GET', '/snapshots')).body).toEqual({ object: 'list', data: [] })
  await control('POST', '/snapshots', { name: 'b-start' })
  await post('/pages', { name: 'Plan' })
  await control('POST', '/clock/advance', { by: '24h' })
  await control('POST', '/snapshots', { name: 'a-later' })
  const { data } = (await control('GET', '/snapshots')).body
  const { records } = (await control('GET', '/sandboxes/default')).body
  expect(data).toEqual([
    { name: 'a-later', saved_at: '2026-03-02T12:00:00.000Z', revision: 2, records, problem: null },
    {
      name: 'b-start',
      saved_at: '2026-03-01T12:00:00.000Z',
      revision: 0,
      records: records - 1,
      problem: null,
    },
  ])
})

test('saving under an existing name replaces the snapshot, with 200 instead of 201', async () => {
  const { control, post, state } = await testEmulator({ collections: sampleRecords })
  expect((await control('POST', '/snapshots', { name: 'base' })).body.replaced).toBe(false)
  await post('/pages', { name: 'Kept' })
  const again = await control('POST', '/snapshots', { name: 'base' })
  expect([again.status, again.body.replaced]).toEqual([200, true])
  await post('/pages', { name: 'Lost' })
  await control('POST', '/snapshots/base/restore')
  expect(state('pages').map(({ name }) => name)).toEqual(['Kept'])
})

test('snapshots survive resets, and a restore undoes a reset', async () => {
  const { control, post, state } = await testEmulator({ collections: sampleRecords })
  await post('/pages', { name: 'Kept' })
  await control('POST', '/snapshots', { name: 'base' })
  await control('POST', '/reset', { fixtures: 'empty', seed: 9 })
  expect(state('pages')).toEqual([])
  expect((await control('POST', '/snapshots/base/restore')).body.seed).toBe(1)
  expect(state('pages').map(({ name }) => name)).toEqual(['Kept'])
})

test('snapshots belong to one sandbox: two sandboxes can have different snapshots with one name', async () => {
  const { in: sandbox } = await testEmulator({ collections: sampleRecords })
  const [w1, w2] = [sandbox('w1'), sandbox('w2')]
  await w1('POST', '/clock/advance', { by: '1h' })
  await Promise.all([w1, w2].map((call) => call('POST', '/snapshots', { name: 'base' })))
  expect((await w1('GET', '/snapshots')).body.data[0].saved_at).toBe('2026-03-01T13:00:00.000Z')
  expect((await w2('GET', '/snapshots')).body.data[0].saved_at).toBe('2026-03-01T12:00:00.000Z')
  await w2('DELETE', '/snapshots/base')
  expect((await w1('POST', '/snapshots/base/restore')).status).toBe(200)
  const unknown = await w2('POST', '/snapshots/base/restore')
  expect([unknown.status, unknown.body.message]).toEqual([404, 'The sandbox "w2" has no snapshot "base".'])
})

test('a deleted snapshot is not listed, and the 404 of an unknown one names the nearest for every method', async () => {
  const { control } = await testEmulator({ collections: sampleRecords })
  await control('POST', '/snapshots', { name: 'after-login' })
  await control('POST', '/snapshots', { name: 'other' })
  expect(await control('DELETE', '/snapshots/other')).toMatchObject({ status: 204, text: '' })
  expect((await control('GET', '/snapshots')).body.data.map(({ name }: { name: string }) => name)).toEqual([
    'after-login',
  ])
  const before = (await control('GET', '/state')).body
  for (const [method, path] of [
    ['GET', '/snapshots/after-logon'],
    ['DELETE', '/snapshots/after-logon'],
    ['POST', '/snapshots/after-logon/restore'],
  ] as const) {
    const response = await control(method, path)
    expect([response.status, response.body.error]).toEqual([404, 'not_found'])
    expect(response.body.message).toContain('Did you mean "after-login"?')
  }
  const forked = await control('POST', '/sandboxes', { name: 'w1', from_snapshot: 'after-logon' })
  expect([forked.status, forked.body.error]).toEqual([404, 'not_found'])
  expect((await control('GET', '/sandboxes')).body.data).toHaveLength(1)
  expect((await control('GET', '/state')).body).toEqual(before)
})

test.for(['', 'A', 'a b', '-x', '(start)', 'x'.repeat(64)])(
  '%j is refused as the name of a snapshot',
  async (name) => {
    const { control } = await testEmulator({ collections: sampleRecords })
    const saved = await control('POST', '/snapshots', { name })
    expect([saved.status, saved.body.details.errors[0].pointer]).toEqual([400, '/name'])
    if (name !== '') {
      const imported = await control(
        'PUT',
        `/snapshots/${encodeURIComponent(name)}`,
        (await control('GET', '/state')).body,
      )
      expect([imported.status, imported.body.details.errors[0].pointer]).toEqual([400, '/path/name'])
    }
    expect((await control('GET', '/snapshots')).body.data).toEqual([])
  },
)

test('a snapshot name with encoded slashes, .. or a null byte is a 404', async () => {
  const { control } = await testEmulator({ collections: sampleRecords })
  for (const name of ['..%2F..%2Fdefault', '%2Fetc%2Fpasswd', '..%5Cdefault', 'a%00b']) {
    expect((await control('GET', `/snapshots/${name}`)).status).toBe(404)
    expect((await control('POST', `/snapshots/${name}/restore`)).status).toBe(404)
    expect((await control('DELETE', `/snapshots/${name}`)).status).toBe(404)
  }
})

test('a restored running clock continues from the saved instant, and events run at their own instants', async () => {
  let host = Date.parse('2026-03-01T12:00:00.000Z')
  const made = await batchEmulator({}, { rate: 10, hostTime: () => host })
  const control = controlOf(made.emulator)
  const { id } = await createBatch(made)
  host += 100
  await control('POST', '/snapshots', { name: 'running' })
  const horizon = (await control('GET', '/clock/horizon')).body
  host += 3_600_000
  expect((await made.get(`/batch-predictions/${id}`)).body.status).toBe('completed')
  const restored = await control('POST', '/snapshots/running/restore')
  expect(restored.body.now).toBe('2026-03-01T12:00:01.000Z')
  expect((await control('GET', '/clock/horizon')).body).toEqual(horizon)
  expect((await made.get(`/batch-predictions/${id}`)).body.status).toBe('validating')
  host += 3_600_000
  const done = (await made.get(`/batch-predictions/${id}`)).body
  expect([done.status, done.completed_at < '2026-03-01T12:10']).toEqual(['completed', true])
})

test('a batch of 5,000 items is restored with its results', async () => {
  const made = await batchEmulator()
  const control = controlOf(made.emulator)
  const items = Array.from({ length: 5000 }, (_, n) => ({ custom_id: `item-${n}`, file_id: 'file-pdf' }))
  const { id } = (await made.post('/batch-predictions', aBatch({ items }))).body
  await control('POST', '/clock/advance', { until: { batch: id, finished_items: 2500 } })
  await control('POST', '/snapshots', { name: 'half' })
  const then = contentOf(made.sandbox.document())
  await control('POST', '/clock/advance', { until: { batch: id } })
  const results = (await made.get(`/batch-predictions/${id}/results`)).text
  await control('POST', '/snapshots/half/restore')
  expect(contentOf(made.sandbox.document())).toBe(then)
  await control('POST', '/clock/advance', { until: { batch: id } })
  expect((await made.get(`/batch-predictions/${id}/results`)).text).toBe(results)
})
