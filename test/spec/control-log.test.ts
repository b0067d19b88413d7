import { expect, test } from 'vitest'
import { controlEmulator } from '../support/control-emulator.ts'

async function someRequests() {
  const emulator = await controlEmulator()
  emulator.perform('books.list')
  await emulator.call('POST', '/clock/advance', { by: '10s' })
  emulator.perform('books.create', { shelf_id: 's1' }, { title: 'x'.repeat(11) })
  emulator.perform('books.create', { shelf_id: 's1' }, { title: 'Ode' })
  emulator.perform('books.list', {}, undefined, 'live_nobody')
  return emulator
}

const ids = (body: { data: { id: string }[] }) => body.data.map(({ id }) => Number(id.split('-')[1]))

test('the log has one entry without secrets for each API request, in order of arrival, until it is emptied', async () => {
  const emulator = await someRequests()
  const { body, text } = await emulator.call('GET', '/requests')
  expect(body).toMatchObject({ object: 'list', matched: 4, capacity: 1000, dropped: 0 })
  expect(ids(body)).toEqual([1, 2, 3, 4])
  expect(ids((await emulator.call('GET', '/requests?since=default-000002&limit=1')).body)).toEqual([4])
  const listed = { method: 'GET', path: '/v1/books', operation: 'books.list', status: 200, changed: [] }
  expect(body.data[0]).toMatchObject({
    ...{ ...listed, at: '2026-03-01T12:00:00.000Z', error: null, caller: { key_id: 'k1' } },
    admission: { admitted: true, limit: 200, remaining: 199, reset: 1772366460, retry_after: null },
    assumed: ['U901', 'U071', 'U012', 'U013'],
  })
  const error = { code: 'validation_failed' }
  expect(body.data[1]).toMatchObject({ status: 400, decided: 'validate', error })
  expect(body.data[2].changed).toEqual([expect.stringMatching(/^books\/[0-9a-f]{24}$/)])
  expect(body.data[3]).toMatchObject({ status: 401, caller: null })
  expect(text).not.toMatch(/live_|service_b|authorization|bearer/i)
  expect((await emulator.call('DELETE', '/requests')).status).toBe(204)
  expect((await emulator.call('GET', '/requests')).body.data).toEqual([])
})

test('GET /assumptions lists every open item with its settings and the number of responses that relied on it', async () => {
  const emulator = await someRequests()
  const { data } = (await emulator.call('GET', '/assumptions')).body
  expect(data.length).toBe(emulator.sandbox.service.assumptions.items.size)
  const named = data.find(({ id }: { id: string }) => id === 'U901')
  expect(named).toMatchObject({ open: 'How long names are.', decision: '20.', used: 1 })
  expect(named.settings).toMatchObject([{ key: 'shelves.name_bound', default: 20, value: 20 }])
  expect(data.find(({ id }: { id: string }) => id === 'U068').used).toBe(1)
})

test('settings are shown and changed by key, unless they are only checked; null restores the default', async () => {
  const emulator = await controlEmulator()
  const overrides = { 'shelves.name_bound': 8, 'lists.default_limit': 5 }
  expect((await emulator.call('PATCH', '/settings?dry_run=true', overrides)).body.overrides).toEqual({})
  const changed = await emulator.call('PATCH', '/settings', overrides)
  expect(changed.body.overrides).toEqual(overrides)
  expect(changed.body.values).toMatchObject({ 'shelves.name_bound': 8, 'lists.order': 'newest' })
  expect((await emulator.call('PATCH', '/state/shelves/s1', { name: 'Nine long' })).status).toBe(400)
  const back = await emulator.call('PATCH', '/settings', { 'shelves.name_bound': null })
  expect(back.body.overrides).toEqual({ 'lists.default_limit': 5 })
  expect((await emulator.call('GET', '/settings')).body).toEqual(back.body)
})
