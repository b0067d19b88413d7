import { expect, test } from 'vitest'
import { contentOf } from '../support/data-folder.ts'
import { testEmulator } from '../support/emulator.ts'
import { batchBody, sampleRecords } from '../support/sample-calls.ts'

const withRecords = () => testEmulator({ collections: sampleRecords })

test('a restore covers records, batches in progress, clock, schedule, limits, log, settings, keys and webhooks', async () => {
  const { control, post, get, delete: remove, sandbox } = await withRecords()
  const key = { headers: { 'idempotency-key': 'k-1' } }
  const batch = (await post('/batch-predictions', batchBody(), key)).body
  await control('POST', '/clock/advance', { steps: 1 })
  const hook = (await control('POST', '/webhooks', { url: 'http://127.0.0.1:9/hook' })).body
  await control('PATCH', '/settings', { 'status.validation': 422 })
  expect((await control('POST', '/snapshots', { name: 'before' })).status).toBe(201)
  const then = contentOf(sandbox.document())
  const log = (await control('GET', '/requests?stable=true')).body

  await post(`/batch-predictions/${batch.id}/cancel`)
  await control('POST', '/clock/advance', { by: '40d' })
  await remove('/agents/agent-1/automations/automation-2')
  await control('POST', '/limits/pages.create/fill', { remaining: 0 })
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
})

test('a restored running clock continues from the saved instant', async () => {
  let host = Date.parse('2026-03-01T12:00:00.000Z')
  const { control } = await testEmulator({ rate: 10, hostTime: () => host })
  host += 100
  await control('POST', '/snapshots', { name: 'running' })
  host += 3_600_000
  expect((await control('POST', '/snapshots/running/restore')).body.now).toBe('2026-03-01T12:00:01.000Z')
  host += 1_000
  expect((await control('GET', '/clock')).body.now).toBe('2026-03-01T12:00:11.000Z')
})

test('an export equals GET /state when it was saved, and an import of it gives the same state and export', async () => {
  const { control, in: sandbox, post } = await withRecords()
  await post('/batch-predictions', batchBody())
  await control('POST', '/clock/advance', { steps: 1 })
  await control('POST', '/snapshots', { name: 'base' })
  const then = (await control('GET', '/state')).text
  await post('/pages', { name: 'Later' })
  const { body: exported, text } = await control('GET', '/snapshots/base')
  expect(text).toBe(then)
  const w1 = sandbox('w1')
  const { status, body: imported } = await w1('PUT', '/snapshots/copied', exported)
  const { clock, revision } = exported
  expect([status, imported]).toMatchObject([201, { saved_at: clock.now, revision, replaced: false }])
  expect((await w1('PUT', '/snapshots/copied', exported)).status).toBe(200)
  await w1('POST', '/snapshots/copied/restore')
  expect(contentOf((await w1('GET', '/state')).body)).toBe(contentOf(exported))
  expect((await w1('GET', '/snapshots/copied')).body).toEqual({ ...exported, sandbox: 'w1' })
})

test('a list shows each snapshot with instant, revision and number of records', async () => {
  const { control, post } = await testEmulator()
  await control('POST', '/snapshots', { name: 'b' })
  await post('/pages', { name: 'Plan' })
  await control('POST', '/clock/advance', { by: '24h' })
  await control('POST', '/snapshots', { name: 'a' })
  const { records } = (await control('GET', '/sandboxes/default')).body
  expect((await control('GET', '/snapshots')).body.data).toEqual([
    { name: 'a', saved_at: '2026-03-02T12:00:00.000Z', revision: 2, records, problem: null },
    { name: 'b', saved_at: '2026-03-01T12:00:00.000Z', revision: 0, records: records - 1, problem: null },
  ])
})

test('saving under an existing name replaces the snapshot, with 200 instead of 201; snapshots survive resets', async () => {
  const { control, post, state } = await withRecords()
  expect((await control('POST', '/snapshots', { name: 'base' })).body.replaced).toBe(false)
  await post('/pages', { name: 'Kept' })
  const again = await control('POST', '/snapshots', { name: 'base' })
  expect([again.status, again.body.replaced]).toEqual([200, true])
  await post('/pages', { name: 'Lost' })
  await control('POST', '/reset', { fixtures: 'empty', seed: 9 })
  expect((await control('POST', '/snapshots/base/restore')).body.seed).toBe(1)
  expect(state('pages').map(({ name }) => name)).toEqual(['Kept'])
})

test('a deleted snapshot is not listed, and the 404 of an unknown one names the nearest for every method', async () => {
  const { control } = await testEmulator()
  await control('POST', '/snapshots', { name: 'after-login' })
  await control('POST', '/snapshots', { name: 'other' })
  expect(await control('DELETE', '/snapshots/other')).toMatchObject({ status: 204, text: '' })
  expect((await control('GET', '/snapshots')).body.data).toMatchObject([{ name: 'after-login' }])
  const before = (await control('GET', '/state')).body
  for (const [method, path, body] of [
    ['GET', '/snapshots/after-logon'],
    ['DELETE', '/snapshots/after-logon'],
    ['POST', '/snapshots/after-logon/restore'],
    ['POST', '/sandboxes', { name: 'w1', from_snapshot: 'after-logon' }],
  ] as const) {
    const response = await control(method, path, body)
    expect([response.status, response.body.error]).toEqual([404, 'not_found'])
    expect(response.body.message).toContain('Did you mean "after-login"?')
  }
  expect((await control('GET', '/sandboxes')).body.data).toHaveLength(1)
  expect((await control('GET', '/state')).body).toEqual(before)
})

test('an invalid name of a snapshot is refused with its place in the request', async () => {
  const { control } = await testEmulator()
  const saved = await control('POST', '/snapshots', { name: '(start)' })
  const imported = await control('PUT', '/snapshots/(start)', (await control('GET', '/state')).body)
  const pointers = [saved, imported].map(({ body }) => body.details.errors[0].pointer)
  expect([saved.status, imported.status, ...pointers]).toEqual([400, 400, '/name', '/path/name'])
})
