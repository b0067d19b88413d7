import { expect, test } from 'vitest'
import type { Document } from '../../src/core/state/state.ts'
import { controlOf } from '../support/control.ts'
import { contentOf } from '../support/data-folder.ts'
import { testEmulator } from '../support/emulator.ts'
import { batchBody, sampleRecords } from '../support/sample-calls.ts'

async function emulator(options: Parameters<typeof testEmulator>[0] = {}) {
  const made = await testEmulator({ collections: sampleRecords, ...options })
  const origin = made.emulator.baseUrl.slice(0, -'/v1'.length)
  const post = async (name: string, path: string, json: object) => {
    const headers = { authorization: 'Bearer live_owner', 'content-type': 'application/json' }
    const sent = { method: 'POST', headers, body: JSON.stringify(json) }
    return (await fetch(`${origin}/@${name}/v1${path}`, sent)).json() as Promise<{ id: string }>
  }
  const control = controlOf(made.emulator)
  return { emulator: made.emulator, control, in: (name: string) => controlOf(made.emulator, name), post }
}

// A fork does not have the requests of its source, so its request counter starts at 0.
function withoutRequests(document: Document): Document {
  return { ...document, counters: { ...document.counters, requests: 0 } }
}

test('a sandbox created from a snapshot has its state, and is independent from then on', async () => {
  const { control, in: sandbox, post } = await emulator()
  const { id } = await post('default', '/batch-predictions', batchBody())
  await control('POST', '/clock/advance', { steps: 1 })
  await control('POST', '/snapshots', { name: 'base' })
  const then = (await control('GET', '/snapshots/base')).body
  await control('POST', '/clock/advance', { by: '1h' })
  const made = await control('POST', '/sandboxes', { name: 'fork', from_snapshot: 'base' })
  expect([made.status, made.body.now]).toEqual([201, then.clock.now])
  const fork = sandbox('fork')
  const forked = (await fork('GET', '/state')).body
  expect([contentOf(forked), forked.sandbox]).toEqual([contentOf(withoutRequests(then)), 'fork'])

  const later = contentOf((await control('GET', '/state')).body)
  await post('fork', '/pages', { name: 'Only here' })
  await fork('POST', '/clock/advance', { until: { batch: id } })
  await fork('PATCH', '/settings', { unknown_fields: 'reject' })
  await fork('POST', '/limits/pages.create/fill', { remaining: 0 })
  expect(contentOf((await control('GET', '/state')).body)).toBe(later)
  expect((await control('GET', '/snapshots/base')).body).toEqual(then)
  expect((await fork('GET', '/snapshots')).body.data).toEqual([])
})

test('two forks of one snapshot respond alike to the same requests, and share nothing', async () => {
  const { control, in: sandbox, post } = await emulator()
  await control('POST', '/snapshots', { name: 'base' })
  for (const name of ['one', 'two']) await control('POST', '/sandboxes', { name, from_snapshot: 'base' })
  const first = await post('one', '/pages', { name: 'Page' })
  expect((await sandbox('two')('GET', '/state/pages')).body.data).toEqual([])
  expect(await post('two', '/pages', { name: 'Page' })).toEqual(first)
})

test('the request log of a fork starts empty', async () => {
  const { control, in: sandbox, post } = await emulator()
  await post('default', '/pages', { name: 'Plan' })
  await control('POST', '/snapshots', { name: 'base' })
  await control('POST', '/sandboxes', { name: 'fork', from_snapshot: 'base' })
  expect((await sandbox('fork')('GET', '/requests')).body).toMatchObject({ data: [], dropped: 0 })
  await post('fork', '/pages', { name: 'Plan' })
  expect((await sandbox('fork')('GET', '/requests')).body.data).toMatchObject([{ id: 'fork-000001' }])
})

test('a fork resets to its snapshot, also if that is deleted or saved again', async () => {
  const { control, in: sandbox, post } = await emulator()
  await post('default', '/pages', { name: 'Base' })
  await control('POST', '/clock/advance', { by: '1h' })
  await control('POST', '/snapshots', { name: 'base' })
  const then = (await control('GET', '/snapshots/base')).body
  await control('POST', '/sandboxes', { name: 'fork', from_snapshot: 'base' })
  await post('default', '/pages', { name: 'Later' })
  await control('POST', '/snapshots', { name: 'base' })
  const fork = sandbox('fork')
  await post('fork', '/pages', { name: 'Fork' })
  await fork('POST', '/reset')
  const base = contentOf(withoutRequests(then))
  expect(contentOf((await fork('GET', '/state')).body)).toBe(base)
  await control('DELETE', '/snapshots/base')
  await post('fork', '/pages', { name: 'Fork' })
  await fork('POST', '/reset')
  expect(contentOf((await fork('GET', '/state')).body)).toBe(base)
})

test('a fork resets with another seed, another instant or other fixtures, and keeps the other values', async () => {
  const { control, in: sandbox, post } = await emulator()
  await post('default', '/pages', { name: 'Base' })
  await control('POST', '/clock/advance', { by: '1h' })
  await control('PATCH', '/settings', { unknown_fields: 'reject' })
  await control('POST', '/snapshots', { name: 'base' })
  await control('POST', '/sandboxes', { name: 'fork', from_snapshot: 'base' })
  const fork = sandbox('fork')
  const seeded = (await fork('POST', '/reset', { seed: 9 })).body
  expect([seeded.seed, seeded.now, seeded.records.pages]).toEqual([9, '2026-03-01T13:00:00.000Z', 1])
  const clock = '2020-01-01T00:00:00.000Z'
  const moved = (await fork('POST', '/reset', { clock })).body
  expect([moved.seed, moved.now, moved.records.pages]).toEqual([1, clock, 1])
  const emptied = (await fork('POST', '/reset', { fixtures: 'empty' })).body
  expect([emptied.seed, emptied.now, emptied.records.pages]).toEqual([1, '2026-03-01T13:00:00.000Z', 0])
  expect((await fork('GET', '/settings')).body.overrides).toEqual({ unknown_fields: 'reject' })
  const again = (await fork('POST', '/reset')).body
  expect([again.seed, again.now, again.records.pages]).toEqual([1, '2026-03-01T13:00:00.000Z', 1])
})

test('from_snapshot names a snapshot of the sandbox that the request selects', async () => {
  const { control, in: sandbox } = await emulator()
  await sandbox('source')('POST', '/clock/advance', { by: '5h' })
  await sandbox('source')('POST', '/snapshots', { name: 'base' })
  const elsewhere = await control('POST', '/sandboxes', { name: 'fork', from_snapshot: 'base' })
  expect([elsewhere.status, elsewhere.body.message]).toEqual([
    404,
    'The sandbox "default" has no snapshot "base".',
  ])
  const made = await sandbox('source')('POST', '/sandboxes', { name: 'fork', from_snapshot: 'base' })
  expect([made.status, made.body.now]).toEqual([201, '2026-03-01T17:00:00.000Z'])
})

test('the clock of a fork continues from the saved instant at the saved rate, at any later time', async () => {
  let now = Date.parse('2026-03-01T12:00:00.000Z')
  const { control, in: sandbox } = await emulator({ rate: 1, hostTime: () => now })
  await control('PATCH', '/clock', { rate: 10 })
  now += 1000
  await control('POST', '/snapshots', { name: 'base' })
  await control('PATCH', '/clock', { rate: 1 })
  now += 3_600_000
  await control('POST', '/sandboxes', { name: 'fork', from_snapshot: 'base' })
  const fork = sandbox('fork')
  expect((await fork('GET', '/clock')).body).toMatchObject({ now: '2026-03-01T12:00:10.000Z', rate: 10 })
  now += 1000
  expect((await fork('GET', '/clock')).body.now).toBe('2026-03-01T12:00:20.000Z')
  now += 1000
  expect((await fork('POST', '/reset')).body.now).toBe('2026-03-01T12:00:10.000Z')
})
