import { expect, test } from 'vitest'
import { defineEndpoint } from '../../src/endpoints/define.ts'
import { testEmulator } from '../support/emulator.ts'
import { folderWith, put } from '../support/endpoint-folder.ts'

const AUTH = { authorization: 'Bearer live_owner' }

const three = [
  { data: 'one' },
  { event: 'delta', data: { n: 2 }, after: '30s' },
  { data: 'three', after: '30s' },
]

const streams = [
  defineEndpoint({ method: 'GET', path: '/events', handle: ({ stream }) => stream.events(three) }),
  defineEndpoint({ method: 'GET', path: '/lines', handle: ({ stream }) => stream.lines(three) }),
  defineEndpoint({
    method: 'GET',
    path: '/chunks',
    response: { stream: { chunks: [{ data: 'ab' }, { data: 'cd' }] } },
  }),
  defineEndpoint({
    method: 'GET',
    path: '/slow',
    handle: ({ stream }) => stream.events(three, { clock: 'virtual' }),
  }),
]

const EVENTS = 'data: one\n\nevent: delta\ndata: {"n":2}\n\ndata: three\n\n'

test('a stream has the form that it names, and no pauses while the clock is frozen', async () => {
  const emulator = await testEmulator({ endpoints: streams })
  const events = await emulator.get('/events')
  expect(events.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
  expect(events.text).toBe(EVENTS)
  const lines = await emulator.get('/lines')
  expect(lines.headers.get('content-type')).toBe('application/x-ndjson')
  expect(lines.text).toBe('"one"\n{"n":2}\n"three"\n')
  expect((await emulator.get('/chunks')).text).toBe('abcd')
  expect(emulator.sandbox.log.entries().map(({ status }) => status)).toEqual([200, 200, 200])
})

async function reader(url: string) {
  const response = await fetch(url, { headers: AUTH })
  const parts = (response.body as ReadableStream<Uint8Array>).getReader()
  return async () => {
    const { value, done } = await parts.read()
    return done ? undefined : Buffer.from(value).toString()
  }
}

test('on the virtual clock, an advance sends the next part, and the horizon shows it', async () => {
  const emulator = await testEmulator({ endpoints: streams })
  const next = await reader(`${emulator.baseUrl}/slow`)
  expect(await next()).toBe('data: one\n\n')
  const { data } = (await emulator.control('GET', '/clock/horizon')).body
  expect(data).toMatchObject([
    { kind: 'stream.part', at: '2026-03-01T12:00:30.000Z', ref: 'requests/default-000001' },
  ])
  await emulator.control('POST', '/clock/advance', { by: '30s' })
  expect(await next()).toBe('event: delta\ndata: {"n":2}\n\n')
  await emulator.control('POST', '/clock/advance', { by: '1h' })
  expect(await next()).toBe('data: three\n\n')
  expect(await next()).toBe(undefined)
  expect((await emulator.control('GET', '/clock/horizon')).body.data).toEqual([])
})

test.for([
  ['a reset', 'POST', '/reset', 'default'],
  ['a restore of a snapshot', 'POST', '/snapshots/one/restore', 'default'],
  ['the deletion of its sandbox', 'DELETE', '/sandboxes/other', 'other'],
] as const)('%s ends a stream, and leaves no wait', async ([, method, path, sandbox]) => {
  const emulator = await testEmulator({ endpoints: streams })
  await emulator.control('POST', '/snapshots', { name: 'one' })
  await emulator.control('POST', '/sandboxes', { name: 'other' })
  const { origin } = new URL(emulator.baseUrl)
  const next = await reader(`${origin}/@${sandbox}/v1/slow`)
  expect(await next()).toBe('data: one\n\n')
  await emulator.control(method, path)
  expect(await next()).toBe(undefined)
  expect(emulator.sandbox.scheduler.horizon()).toEqual([])
})

test('a change of the files does not touch a stream that runs', async () => {
  const file = (body: string) => `import { defineEndpoint } from 'agent-workspace-emulator'
export default defineEndpoint({ method: 'GET', path: '/slow', ${body} })\n`
  const folder = folderWith({
    'slow.ts': file(
      "response: { stream: { clock: 'virtual', chunks: [{ data: 'old' }, { data: 'end', after: '1m' }] } }",
    ),
  })
  const emulator = await testEmulator({ endpoints: folder })
  const next = await reader(`${emulator.baseUrl}/slow`)
  expect(await next()).toBe('old')
  put(folder, { 'slow.ts': file('response: { body: {} }') })
  await emulator.control('GET', '/endpoints')
  expect((await emulator.get('/slow')).body).toEqual({})
  await emulator.control('POST', '/clock/advance', { by: '1m' })
  expect([await next(), await next()]).toEqual(['end', undefined])
})

test('a fault that delays a stream leaves its pauses on the virtual clock', async () => {
  const emulator = await testEmulator({ endpoints: streams })
  await emulator.control('POST', '/faults', {
    match: { operation: 'slow.list' },
    do: [{ pace: { before_head_ms: 1 } }],
  })
  const next = await reader(`${emulator.baseUrl}/slow`)
  expect(await next()).toBe('data: one\n\n')
  await emulator.control('POST', '/clock/advance', { by: '1h' })
  expect(await next()).toContain('event: delta')
})

test('a stream of more than 10,000 parts is refused', async () => {
  const many = Array.from({ length: 10_001 }, () => ({ data: 'x' }))
  const [method, path] = ['GET', '/many'] as const
  const endpoint = defineEndpoint({ method, path, handle: ({ stream }) => stream.chunks(many) })
  const { status, body } = await (await testEmulator({ endpoints: [endpoint] })).get('/many')
  expect(status).toBe(500)
  expect(body.message).toContain('/stream/chunks must have at most 10000 items')
})
