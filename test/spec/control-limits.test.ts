import { expect, test } from 'vitest'
import { controlEmulator } from '../support/control-emulator.ts'

test('a limit of one operation can be set, listed and removed', { tags: ['R258'] }, async () => {
  const emulator = await controlEmulator()
  const response = await emulator.call('PUT', '/limits/books.list', { limit: 2, window_s: 10 })
  expect(response.body.data).toEqual([{ operation: 'books.list', limit: 2, window_s: 10 }])
  expect([1, 2, 3].map(() => emulator.perform('books.list'))).toEqual([200, 200, 429])
  const { settings } = (await emulator.call('GET', '/state')).body
  expect(settings).toEqual({ 'limits.overrides': response.body.data })
  await emulator.call('PUT', '/limits/books.create', { limit: 1 })
  const again = await emulator.call('PUT', '/limits/books.list', { limit: 3 })
  expect(again.body.data).toEqual([
    { operation: 'books.create', limit: 1, window_s: 60 },
    { operation: 'books.list', limit: 3, window_s: 60 },
  ])
  await emulator.call('PATCH', '/settings', { 'limits.overrides': null })
  expect((await emulator.call('GET', '/limits')).body.overrides).toEqual([])
})

test('every window with requests is listed with its key, limit, use, oldest request and reset', async () => {
  const emulator = await controlEmulator()
  emulator.perform('books.list')
  await emulator.call('POST', '/clock/advance', { by: '10s' })
  emulator.perform('books.list')
  emulator.perform('books.list', {}, undefined, 'service_b')
  const { body } = await emulator.call('GET', '/limits')
  expect(body).toMatchObject({ object: 'list', enforced: true, clock: 'virtual', overrides: [] })
  const first = { key: 'ts-a books.list', operation: 'books.list', used: 2, remaining: 198 }
  const times = { oldest_at: '2026-03-01T12:00:00.000Z', reset_at: '2026-03-01T12:01:00.000Z' }
  expect(body.data).toEqual([
    { ...first, ...times, limit: 200, window_s: 60 },
    expect.objectContaining({ key: 'ts-b books.list', used: 1, reset_at: '2026-03-01T12:01:10.000Z' }),
  ])
  await emulator.call('POST', '/clock/advance', { by: '60s' })
  expect((await emulator.call('GET', '/limits')).body.data).toEqual([])
})

test('fill leaves the given number of requests in every teamspace that has a key, or in one', async () => {
  const emulator = await controlEmulator()
  const fill = (body: object) => emulator.call('POST', '/limits/books.list/fill', body)
  const response = await fill({ remaining: 1 })
  expect(response.body.data).toMatchObject([
    { key: 'ts-a books.list', used: 199, remaining: 1 },
    { key: 'ts-b books.list', used: 199, remaining: 1 },
  ])
  expect([1, 2].map(() => emulator.perform('books.list'))).toEqual([200, 429])
  await emulator.call('POST', '/clock/advance', { by: '60s' })
  expect(emulator.perform('books.list')).toBe(200)
  await fill({ remaining: 0, teamspace_id: 'ts-a' })
  expect(emulator.perform('books.list')).toBe(429)
  expect(emulator.perform('books.list', {}, undefined, 'service_b')).toBe(200)
  await fill({ remaining: 200, teamspace_id: 'ts-a' })
  expect(emulator.perform('books.list')).toBe(200)
})

// The tests of rate windows show the operation of such a window.
test('if windows are counted by concrete path, filling is a 409', async () => {
  const emulator = await controlEmulator({ settings: { 'limits.path_key': 'concrete' } })
  const response = await emulator.call('POST', '/limits/books.list/fill', { remaining: 0 })
  expect([response.status, response.body.error]).toEqual([409, 'conflict'])
})

test('windows of the virtual clock are not those of the wall clock', { tags: ['T07', 'R262'] }, async () => {
  const emulator = await controlEmulator()
  await emulator.call('POST', '/clock/advance', { by: '29d' })
  await emulator.call('PUT', '/limits/books.list', { limit: 1 })
  expect([1, 2].map(() => emulator.perform('books.list'))).toEqual([200, 429])
  await emulator.call('PATCH', '/settings', { 'limits.clock': 'wall' })
  expect([1, 2].map(() => emulator.perform('books.list'))).toEqual([200, 429])
})

test('the windows of one operation or of all can be emptied, and limits that were set stay', async () => {
  const emulator = await controlEmulator()
  await emulator.call('PUT', '/limits/books.list', { limit: 1 })
  expect([1, 2].map(() => emulator.perform('books.list'))).toEqual([200, 429])
  emulator.perform('books.create')
  const { body } = await emulator.call('DELETE', '/limits?operation=books.list')
  expect(body).toEqual({ removed: ['ts-a books.list'] })
  expect([1, 2].map(() => emulator.perform('books.list'))).toEqual([200, 429])
  const { removed } = (await emulator.call('DELETE', '/limits')).body
  expect(removed).toEqual(['ts-a books.create', 'ts-a books.list'])
  expect((await emulator.call('GET', '/limits')).body).toMatchObject({ data: [], overrides: [{ limit: 1 }] })
  const { status, body: refusal } = await emulator.call('DELETE', '/limits?operation=books.lst')
  expect([status, refusal.message]).toEqual([404, expect.stringContaining('Did you mean "books.list"?')])
})
