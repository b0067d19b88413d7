import { expect, test } from 'vitest'
import { controlEmulator } from '../support/control-emulator.ts'

async function someRequests() {
  const emulator = await controlEmulator()
  emulator.perform('books.list')
  await emulator.call('POST', '/clock/advance', { by: '10s' })
  emulator.perform('books.create', { shelf_id: 's1' }, { title: 'Ode' })
  emulator.perform('books.create', { shelf_id: 's1' }, { title: 'x'.repeat(11) })
  emulator.perform('books.list', {}, undefined, 'service_b')
  const verify = (match: unknown, count?: unknown) =>
    emulator.call('POST', '/requests/verify', { match, ...(count === undefined ? {} : { count }) })
  return { emulator, verify }
}

test('a verification has the ids of the matching requests, and no nearest ones if there are too many', async () => {
  const { verify } = await someRequests()
  const { status, body } = await verify({ operation: 'books.create', status: '2xx' })
  const passed = { passed: true, actual: 1, expected: { at_least: 1 }, matched: ['default-000002'] }
  expect([status, body]).toEqual([200, passed])
  const failed = (await verify({ operation: 'books.list' }, { at_most: 1 })).body
  const matched = ['default-000001', 'default-000004']
  expect(failed).toMatchObject({ passed: false, actual: 2, matched, nearest: [] })
})

test.for<[match: object, count: object | undefined, status: number]>([
  [{ operation: 'books.create' }, { exactly: 2 }, 200],
  [{ operation: 'books.create' }, { exactly: 1 }, 409],
  [{ operation: 'books.create' }, { at_least: 2, at_most: 3 }, 200],
  [{ operation: 'books.create' }, { at_most: 1 }, 409],
  [{ operation: 'books.list' }, { at_least: 3 }, 409],
  [{ path: '/v1/nothing' }, undefined, 409],
  [{ path: '/v1/nothing' }, { exactly: 0 }, 200],
  [{ body: { '/title': { glob: '*' } } }, { exactly: 2 }, 200],
  [{ since: 'default-000002' }, { exactly: 2 }, 200],
  [{ since: '2026-03-01T12:00:05.000Z', method: 'POST' }, { exactly: 2 }, 200],
])('a verification of %j with count %j is a %i', async ([match, count, status]) => {
  const { verify } = await someRequests()
  expect((await verify(match, count)).status).toBe(status)
})

test('a failed verification has the nearest requests, those with the fewest differences first', async () => {
  const { verify } = await someRequests()
  const match = { operation: 'books.create', status: '2xx', body: { '/title': { equals: 'Odes' } } }
  const { status, body } = await verify(match, { exactly: 1 })
  expect(status).toBe(409)
  expect(body).toMatchObject({ passed: false, actual: 0, expected: { exactly: 1 }, matched: [] })
  const request = { id: 'default-000002', method: 'POST', path: '/v1/shelves/s1/books', status: 201 }
  const missed = [{ what: 'body /title', expected: { equals: 'Odes' }, actual: 'Ode' }]
  const explain = '/__emulator/explain/default-000002'
  expect(body.nearest[0]).toEqual({ ...request, missed, explain })
  expect(body.nearest.slice(1)).toMatchObject([
    { missed: [{ what: 'operation' }, { what: 'body /title' }] },
    { missed: [{ what: 'status' }, { what: 'body /title' }] },
  ])
})

const match = { method: 'GET' }

test.for<[check: 'verify' | 'wait', body: object, pointer: string, detail: RegExp]>([
  ['verify', {}, '/match', /required/],
  ['verify', { match: { operation: 'books.lst' } }, '/match/operation', /Did you mean "books.list"\?/],
  ['verify', { match: { since: 'yesterday' } }, '/match/since', /^"yesterday" is neither an ISO 8601/],
  ['verify', { match, count: {} }, '/count', /exactly/],
  ['verify', { match, count: { exactly: 1, at_least: 1 } }, '/count', /exactly/],
  ['verify', { match, count: { at_least: 2, at_most: 1 } }, '/count/at_least', /at_most/],
  ['verify', { match, count: { at_least: -1 } }, '/count/at_least', /0 to 100000/],
  ['verify', { match, cuont: {} }, '/cuont', /Did you mean "count"\?/],
  ['wait', { match: {} }, '/match', /at least one/],
  ['wait', { match, count: 0 }, '/count', /./],
  ['wait', { match, count: { exactly: 1 } }, '/count', /./],
  ['wait', { match, timeout_ms: 0 }, '/timeout_ms', /from 1/],
  ['wait', { match, timeout_ms: 600_001 }, '/timeout_ms', /to 600000/],
  ['wait', { match, timeout: 5 }, '/timeout', /Did you mean "timeout_ms"\?/],
])('%s of %j is refused', async ([check, body, pointer, detail]) => {
  const emulator = await controlEmulator()
  const response = await emulator.call('POST', `/requests/${check}`, body)
  expect(response.status).toBe(400)
  expect(response.body.details.errors).toContainEqual({ pointer, detail: expect.stringMatching(detail) })
})

test('the number of criteria is bounded, and a header name counts once in any letter case', async () => {
  const { verify } = await someRequests()
  const many = Object.fromEntries(Array.from({ length: 101 }, (_, n) => [`x-${n}`, '*']))
  const refused = await verify({ headers: many })
  expect([refused.status, refused.body.message]).toEqual([400, expect.stringContaining('/match/headers')])
  const body = Object.fromEntries(Array.from({ length: 101 }, (_, n) => [`/${n}`, { exists: true }]))
  expect((await verify({ body })).status).toBe(400)
  const twice = await verify({ headers: { 'x-a': '*', 'X-A': '*' } })
  expect([twice.status, twice.body.message]).toEqual([400, expect.stringContaining('is given twice')])
})
