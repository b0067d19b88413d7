import { expect, test } from 'vitest'
import { testEmulator } from '../support/emulator.ts'
import { batchBody, sampleRecords } from '../support/sample-calls.ts'
import { arm } from '../support/state-faults.ts'

const ids = (body: { data: { id: string }[] }) => body.data.map(({ id }) => Number(id.split('-').at(-1)))

async function someRequests() {
  const emulator = await testEmulator({ collections: sampleRecords })
  await emulator.get('/data-views')
  await emulator.post('/batch-predictions', batchBody(), { headers: { 'idempotency-key': 'try-1' } })
  await emulator.post('/batch-predictions', batchBody(), { headers: { 'idempotency-key': 'try-2' } })
  await emulator.delete('/conversations/conversation-2')
  await emulator.request('PUT', '/conversations/conversation-1')
  const list = (query: string) => emulator.control('GET', `/requests?${query}`)
  const resend = (n: number) => emulator.control('POST', `/requests/default-00000${n}/resend`)
  return { emulator, list, resend }
}

test('an entry has its sandbox, how that was chosen, its idempotency key, and its explain path', async () => {
  const { emulator, list } = await someRequests()
  const { body } = await list('limit=4')
  const key = { idempotency: 'fresh', idempotency_key: 'try-1' }
  const explain = '/__emulator/explain/default-000002'
  expect(body.data[0]).toMatchObject({ sandbox: 'default', chosen_by: 'default', ...key, explain })
  expect(body.data[3]).toMatchObject({ operation: null, decided: 'route', idempotency_key: null })
  await emulator.get('/data-views', { token: 'live_owner@w3' })
  const other = { sandbox: 'w3', chosen_by: 'token', explain: '/__emulator/explain/w3-000001' }
  expect((await list('sandbox=w3')).body.data).toMatchObject([other])
})

test.for<[query: string, expected: number[]]>([
  ['method=POST', [2, 3]],
  ['method=post&status=2xx', [2, 3]],
  ['path=/v1/conversations/*', [4, 5]],
  ['idempotency_key=try-*&limit=1', [3]],
  ['sandbox=default&operation=data-views.list', [1]],
  ['path=/data-views', []],
])('the log is filtered by %s', async ([query, expected]) => {
  const { list } = await someRequests()
  expect(ids((await list(query)).body)).toEqual(expected)
})

test('the log of an unknown sandbox is a 404, and it is not created', async () => {
  const { emulator, list } = await someRequests()
  const { status, body } = await list('sandbox=defualt')
  expect([status, body.error]).toEqual([404, 'not_found'])
  expect(body.message).toContain('Did you mean "default"?')
  expect(emulator.emulator.sandboxes.has('defualt')).toBe(false)
})

test('an entry has the real duration of its request, delays by faults included', async () => {
  const { emulator, list } = await someRequests()
  await arm(emulator, { match: { method: 'GET' }, do: [{ pace: { before_head_ms: 40 } }] })
  await emulator.get('/data-views')
  const { body } = await list('limit=1')
  // Timers of the host can be early by a millisecond.
  expect(body.data[0].duration_ms).toBeGreaterThanOrEqual(39)
})

test.for([
  ['rst', 'reset'],
  ['fin', 'closed'],
] as const)('a request whose connection a fault ended by %s has the end: %s', async ([how, end]) => {
  const emulator = await testEmulator({ collections: sampleRecords })
  await arm(emulator, { match: { operation: 'pages.create' }, do: [{ cut: { at: 'before-head', how } }] })
  await expect(emulator.post('/pages', {})).rejects.toThrow()
  await emulator.get('/data-views')
  const { body } = await emulator.control('GET', '/requests')
  expect(body.data.map((row: { end: string | null }) => row.end)).toEqual([end, null])
})

test('the log can be read backwards with the id of an entry', async () => {
  const { list } = await someRequests()
  const { body: newest } = await list('limit=2')
  const { body: older } = await list(`limit=2&before=${newest.data[0].id}`)
  expect([...ids(older), ...ids(newest)]).toEqual([2, 3, 4, 5])
  expect(older.matched).toBe(3)
  const unknown = await list('before=none')
  expect([unknown.status, unknown.body.message]).toEqual([400, expect.stringContaining('before: "none"')])
})

test('a logged request is sent again as its caller, and has its effect again unless it has a key', async () => {
  const { emulator, list, resend } = await someRequests()
  await emulator.post('/batch-predictions', batchBody())
  const [first] = (await list('limit=1')).body.data
  const { status, body } = await resend(6)
  const { operation, caller } = first
  expect([status, body]).toMatchObject([200, { operation, status: first.status, caller }])
  expect(body.changed).not.toEqual(first.changed)
  expect((await resend(2)).body).toMatchObject({ idempotency: 'replay', changed: [] })
})

test('a request is refused when sent again without its API key, a route or a log entry', async () => {
  const { emulator, list, resend } = await someRequests()
  const [{ caller }] = (await list('operation=data-views.list')).body.data
  await emulator.control('DELETE', `/state/api_keys/${caller.key_id}`)
  expect((await resend(1)).body).toMatchObject({ status: 401, error: { code: 'unauthorized' } })
  const message = expect.stringContaining('it matches no route')
  expect(await resend(5)).toMatchObject({ status: 409, body: { message } })
  expect((await resend(9)).status).toBe(404)
})
