import { expect, test } from 'vitest'
import type { Document } from '../../src/core/state/state.ts'
import { contentOf } from '../support/data-folder.ts'
import { type TestEmulatorOptions, testEmulator } from '../support/emulator.ts'
import { batchBody, sampleRecords } from '../support/sample-calls.ts'

/** An emulator, the sandbox named fork, and a way to save a snapshot and make that sandbox of it. */
async function forking(options: TestEmulatorOptions = {}) {
  const emulator = await testEmulator({ collections: sampleRecords, ...options })
  const { control, post } = emulator
  const fork = emulator.in('fork')
  return {
    ...emulator,
    fork,
    save: async () => {
      await control('POST', '/snapshots', { name: 'base' })
      return (await control('GET', '/snapshots/base')).body
    },
    make: () => control('POST', '/sandboxes', { name: 'fork', from_snapshot: 'base' }),
    createPage: async (name: string) =>
      (await post('/pages', { name: 'Page' }, { headers: { 'X-Emulator-Sandbox': name } })).body,
    forked: async () => contentOf((await fork('GET', '/state')).body),
  }
}

// A fork does not have the requests of its source, so its request counter starts at 0.
function withoutRequests(document: Document): string {
  return contentOf({ ...document, counters: { ...document.counters, requests: 0 } })
}

test('a sandbox created from a snapshot has its state without its log, and is independent from then on', async () => {
  const { control, fork, forked, post, save, make, createPage } = await forking()
  const { id } = (await post('/batch-predictions', batchBody())).body
  await control('POST', '/clock/advance', { steps: 1 })
  const then = await save()
  await control('POST', '/clock/advance', { by: '1h' })
  const made = await make()
  expect([made.status, made.body.now]).toEqual([201, then.clock.now])
  expect(await forked()).toBe(withoutRequests(then))
  expect((await fork('GET', '/state')).body.sandbox).toBe('fork')
  expect((await fork('GET', '/requests')).body).toMatchObject({ data: [], dropped: 0 })

  const later = contentOf((await control('GET', '/state')).body)
  await createPage('fork')
  await fork('POST', '/clock/advance', { until: { batch: id } })
  await fork('PATCH', '/settings', { unknown_fields: 'reject' })
  await fork('POST', '/limits/pages.create/fill', { remaining: 0 })
  expect((await fork('GET', '/requests')).body.data).toMatchObject([{ id: 'fork-000001' }])
  expect(contentOf((await control('GET', '/state')).body)).toBe(later)
  expect((await control('GET', '/snapshots/base')).body).toEqual(then)
  expect((await fork('GET', '/snapshots')).body.data).toEqual([])
})

test('a fork resets to its snapshot, also if that is saved again and deleted', async () => {
  const { control, fork, forked, save, make, createPage } = await forking()
  await createPage('default')
  await control('POST', '/clock/advance', { by: '1h' })
  const base = withoutRequests(await save())
  await make()
  await createPage('default')
  await save()
  await control('DELETE', '/snapshots/base')
  await createPage('fork')
  await fork('POST', '/reset')
  expect(await forked()).toBe(base)
})

test('a fork resets with another seed, another instant or other fixtures, and keeps the other values', async () => {
  const { control, fork, save, make, createPage } = await forking()
  await createPage('default')
  await control('POST', '/clock/advance', { by: '1h' })
  await control('PATCH', '/settings', { unknown_fields: 'reject' })
  await save()
  await make()
  const reset = async (options?: object) => {
    const { seed, now, records } = (await fork('POST', '/reset', options)).body
    return [seed, now, records.pages]
  }
  const [saved, clock] = ['2026-03-01T13:00:00.000Z', '2020-01-01T00:00:00.000Z']
  expect(await reset({ seed: 9 })).toEqual([9, saved, 1])
  expect(await reset({ clock })).toEqual([1, clock, 1])
  expect(await reset({ fixtures: 'empty' })).toEqual([1, saved, 0])
  expect((await fork('GET', '/settings')).body.overrides).toEqual({ unknown_fields: 'reject' })
  expect(await reset()).toEqual([1, saved, 1])
})

test('from_snapshot names a snapshot of the sandbox that the request selects', async () => {
  const { in: sandbox, make } = await forking()
  const source = sandbox('source')
  await source('POST', '/clock/advance', { by: '5h' })
  await source('POST', '/snapshots', { name: 'base' })
  const elsewhere = await make()
  const message = 'The sandbox "default" has no snapshot "base".'
  expect([elsewhere.status, elsewhere.body.message]).toEqual([404, message])
  const made = await source('POST', '/sandboxes', { name: 'fork', from_snapshot: 'base' })
  expect([made.status, made.body.now]).toEqual([201, '2026-03-01T17:00:00.000Z'])
})

test('the clock of a fork continues from the saved instant at the saved rate, at any later time', async () => {
  let now = Date.parse('2026-03-01T12:00:00.000Z')
  const { control, fork, save, make } = await forking({ rate: 1, hostTime: () => now })
  await control('PATCH', '/clock', { rate: 10 })
  now += 1000
  await save()
  await control('PATCH', '/clock', { rate: 1 })
  now += 3_600_000
  await make()
  expect((await fork('GET', '/clock')).body).toMatchObject({ now: '2026-03-01T12:00:10.000Z', rate: 10 })
  now += 1000
  expect((await fork('GET', '/clock')).body.now).toBe('2026-03-01T12:00:20.000Z')
  now += 1000
  expect((await fork('POST', '/reset')).body.now).toBe('2026-03-01T12:00:10.000Z')
})
