import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { Agent, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { gzipSync } from 'node:zlib'
import express from 'express'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { Stage } from '../../src/server/http/faults/stage.ts'
import { serving } from '../drift/proxy.ts'
import { KEYS } from '../support/base-state.ts'
import { batchEmulator, createBatch } from '../support/batches.ts'
import { type TestEmulator, testEmulator } from '../support/emulator.ts'
import { batchBody, sampleRecords } from '../support/sample-calls.ts'
import { underRule } from '../support/under-rule.ts'
import { overSocket, requestBytes, viaHttp } from '../support/wire-client.ts'

const AUTH = { Authorization: `Bearer ${KEYS.KU}` }
const PATIENCE = 25_000
const portOf = ({ emulator }: TestEmulator) => emulator.port

/** The bytes of a GET, on a connection that stays open. */
function kept(port: number, path = '/v1/data-views', headers: Readonly<Record<string, string>> = {}): string {
  const own = { ...AUTH, Host: `127.0.0.1:${port}`, Connection: 'keep-alive' }
  return requestBytes({ path, headers: { ...own, ...headers } })
}

/** The bytes of a GET, after which the server closes the connection. */
const last = (port: number) => kept(port, undefined, { Connection: 'close' })

/** The evidence of each request in the log, once all of them have ended. */
async function ended(emulator: TestEmulator) {
  return vi.waitFor(async () => {
    // biome-ignore lint/suspicious/noExplicitAny: the assertions are the types.
    const { data } = (await emulator.control('GET', '/requests')).body as any
    for (const { evidence } of data) expect(evidence.ended_ms).not.toBeNull()
    // biome-ignore lint/suspicious/noExplicitAny: as above.
    return data.map(({ evidence }: any) => evidence) as any[]
  }, PATIENCE)
}

/** Like {@link ended}, once the connection of the latest request is closed. */
async function closed(emulator: TestEmulator) {
  return vi.waitFor(async () => {
    const all = await ended(emulator)
    expect(all.at(-1).connection.closed_ms).not.toBeNull()
    return all
  }, PATIENCE)
}

/** Sends a GET on a connection of its own, and waits for the first bytes of the response. */
async function begun(emulator: TestEmulator, path?: string) {
  const socket = connect(portOf(emulator), '127.0.0.1')
  socket.write(kept(portOf(emulator), path))
  await once(socket, 'data')
  return socket
}

test('a connection that its client closes was closed by the client, with a FIN and with a RST', async () => {
  const emulator = await testEmulator()
  for (const close of ['end', 'resetAndDestroy'] as const) {
    const socket = await begun(emulator)
    await ended(emulator)
    socket[close]()
    const connection = { closed_by: 'client' }
    expect((await closed(emulator)).at(-1)).toMatchObject({ end: 'whole', connection })
  }
})

test('all bytes of a response that was sent whole are counted, its head included', async () => {
  const emulator = await testEmulator()
  const bytes = kept(portOf(emulator))
  const { text } = await overSocket(portOf(emulator), [bytes, last(portOf(emulator))])
  const sent = (await ended(emulator)).map(({ sent_bytes }) => sent_bytes)
  expect(sent[0] + sent[1]).toBe(text.length)
  expect(sent[0]).toBe(text.lastIndexOf('HTTP/1.1'))
})

test('a results stream that its client reads to the end is whole; one that it abandons is left', async () => {
  const emulator = await batchEmulator()
  const { id } = await createBatch(emulator, { items: 300, output_schema: { type: 'object' } })
  // The whole stream is larger than the buffers of the system.
  const outcomes = [{ match: { custom_id: '*' }, output: { text: 'x'.repeat(100_000) } }]
  await emulator.control('PATCH', `/batches/${id}`, { outcomes })
  emulator.advance('24h')
  const path = `/v1/batch-predictions/${id}/results`
  const { text } = await emulator.get(path.slice(3))
  const socket = await begun(emulator, path)
  socket.destroy()
  const [whole, left] = (await closed(emulator)).slice(-2)
  expect(whole).toMatchObject({ end: 'whole' })
  expect(whole.sent_bytes).toBeGreaterThan(text.length)
  expect(left).toMatchObject({ end: 'left', connection: { closed_by: 'client' } })
  expect(left.sent_bytes).toBeGreaterThan(0)
  expect(left.sent_bytes).toBeLessThan(whole.sent_bytes)
})

test.for<Stage>(['before-handler', 'after-handler', { bytes: 4 }])(
  'an exchange that a fault cuts at %j is cut, and the emulator has closed it',
  async (at) => {
    const emulator = await underRule({ do: [{ cut: { at, how: 'rst' } }] })
    await expect(emulator.get('/data-views')).rejects.toThrow()
    const connection = { closed_by: 'emulator', requests: 1 }
    expect(await closed(emulator)).toMatchObject([{ end: 'cut', connection }])
  },
)

test('an exchange that a fault holds open ends when its client closes the connection', async () => {
  const emulator = await underRule({ do: [{ cut: { at: 'after-head', how: 'pause' } }] })
  const socket = await begun(emulator)
  const open = async () => (await emulator.control('GET', '/requests')).body.data[0].evidence
  await expect.poll(async () => (await open()).end).toBe('held')
  expect(await open()).toMatchObject({ ended_ms: null, sent_bytes: null, connection: { closed_by: null } })
  socket.destroy()
  const [evidence] = await closed(emulator)
  expect(evidence).toMatchObject({ end: 'held', connection: { closed_by: 'client' } })
  expect(evidence.sent_bytes).toBeGreaterThan(0)
})

test('the body has its length and digest as it arrived, also coded, and with wrong syntax', async () => {
  const emulator = await testEmulator({ collections: sampleRecords })
  const json = JSON.stringify(batchBody())
  const bodies = [json, gzipSync(json), '{"half":']
  for (const raw of bodies) {
    const headers: Record<string, string> = typeof raw === 'string' ? {} : { 'content-encoding': 'gzip' }
    await emulator.post('/batch-predictions', undefined, { raw, headers })
  }
  const sha256 = (bytes: string | Buffer) => createHash('sha256').update(bytes).digest('hex')
  expect((await ended(emulator)).map(({ body }) => body)).toEqual(
    bodies.map((bytes) => ({ bytes: bytes.length, sha256: sha256(bytes) })),
  )
})

test('a body that is refused before it is read to its end has no digest', async () => {
  const emulator = await testEmulator({ collections: sampleRecords })
  await emulator.post('/batch-predictions', undefined, { raw: 'text', type: 'text/plain' })
  await emulator.delete('/conversations/conversation-1', { raw: '{}' })
  expect((await ended(emulator)).map(({ body }) => body)).toEqual([null, null])
})

test('stubbed and refused requests have evidence too: unknown routes, foreign hosts, preflights, and bytes that are not HTTP', async () => {
  const emulator = await testEmulator()
  await emulator.control('POST', '/stubs', { method: 'GET', path: '/own', status: 200, body: {} })
  const port = portOf(emulator)
  const get = (path: string, headers = {}) => kept(port, path, { Connection: 'close', ...headers })
  const preflight = { Origin: 'https://app.example', 'Access-Control-Request-Method': 'POST' }
  const paths = ['/v1/data-views', '/v1/nowhere', '/v1/own', '/elsewhere']
  for (const bytes of [
    ...paths.map((path) => get(path)),
    get('/v1/data-views', { Host: 'example.com' }),
    get('/v1/pages', preflight).replace('GET', 'OPTIONS'),
    'no request\r\n\r\n',
  ])
    await overSocket(port, bytes)
  const all = await closed(emulator)
  expect(all.map(({ end }) => end)).toEqual(Array(7).fill('whole'))
  expect(new Set(all.map(({ connection }) => connection.id)).size).toBe(7)
  expect(all.map(({ connection }) => connection.requests)).toEqual([1, 1, 1, 1, 1, 1, 0])
  expect(all.every(({ sent_bytes }) => sent_bytes > 100)).toBe(true)
})

test('a request that is sent again from the log has no connection', async () => {
  const emulator = await testEmulator()
  await emulator.get('/data-views')
  const { body } = await emulator.control('POST', '/requests/default-000001/resend')
  expect(body.evidence).toBeNull()
})

/** The application mounted in another one, which has a route of its own. */
async function mounted(emulator: TestEmulator, before?: (req: IncomingMessage) => Promise<unknown>) {
  const app = express()
  app.get('/own', (_req, res) => void res.end())
  app.use((req, _res, next) => void Promise.resolve(before?.(req)).then(() => next()))
  app.use(emulator.emulator.app)
  return serving(app)
}

const LIST = '/v1/data-views'

/** Each server, with requests to it of which two are to the emulator. */
const servers = [
  ['its own server', [LIST, LIST], async (emulator: TestEmulator) => portOf(emulator)],
  ['the server of an application that mounts the emulator', [LIST, '/own', LIST], mounted],
] as const

test.for(servers)(
  'on %s, requests on one connection share it, and the second one knows the first',
  async ([, paths, portFor]) => {
    const emulator = await testEmulator()
    const port = await portFor(emulator)
    const agent = new Agent({ keepAlive: true })
    onTestFinished(() => agent.destroy())
    const [kept, single] = [viaHttp(agent), viaHttp()]
    for (const path of paths) await kept(`http://127.0.0.1:${port}${path}`, { headers: AUTH })
    await single(`http://127.0.0.1:${port}${LIST}`, { headers: AUTH })
    const [first, second, other] = await closed(emulator)
    expect(first).toMatchObject({ requests_before: 0, idle_before_ms: null, end: 'whole', body: null })
    expect(first.connection).toMatchObject({ requests: 2, closed_ms: null, closed_by: null })
    expect(second).toMatchObject({ requests_before: 1, connection: first.connection })
    expect(second.idle_before_ms).toBeCloseTo(second.arrived_ms - first.ended_ms, 0)
    const instants = [first.connection.opened_ms, first.arrived_ms, first.ended_ms, second.arrived_ms]
    expect(instants.toSorted((a, b) => a - b)).toEqual(instants)
    expect(other).toMatchObject({ requests_before: 0, idle_before_ms: null })
    // The client has asked the server to close it.
    expect(other.connection).toMatchObject({ requests: 1, closed_by: 'emulator' })
    expect(other.connection.id).not.toBe(first.connection.id)
  },
)

test.for(servers)('on %s, pipelined requests arrive before the previous response', async ([, , portFor]) => {
  const emulator = await testEmulator()
  const port = await portFor(emulator)
  await overSocket(port, kept(port) + kept(port) + last(port))
  const all = await ended(emulator)
  expect(all).toMatchObject([0, 1, 2].map((requests_before) => ({ requests_before, end: 'whole' })))
  expect(all.map(({ idle_before_ms }) => idle_before_ms)).toEqual([null, 0, 0])
  expect(all[2].arrived_ms).toBeLessThanOrEqual(all[1].ended_ms)
  expect(new Set(all.map(({ connection }) => connection.id)).size).toBe(1)
})

test('a client that leaves before the application passes its request on has left', async () => {
  const emulator = await testEmulator()
  const port = await mounted(emulator, ({ socket }) => once(socket, 'close'))
  const socket = connect(port, '127.0.0.1')
  socket.end(kept(port))
  expect(await closed(emulator)).toMatchObject([{ end: 'left', connection: { closed_by: 'client' } }])
})

test('with stable, lists, explanations and HAR have no real-time field, so equal runs have equal exports', async () => {
  const run = async () => {
    const emulator = await testEmulator({ collections: sampleRecords })
    await emulator.post('/batch-predictions', batchBody())
    await emulator.get('/nowhere')
    await ended(emulator)
    const paths = ['/requests?full=true', '/explain/default-000001?', '/requests/har?']
    const stable = paths.map(async (path) => (await emulator.control('GET', `${path}&stable=true`)).text)
    const [list, , har] = await Promise.all(paths.map((path) => emulator.control('GET', path)))
    const connection = har?.body.log.entries[0].connection
    expect(connection).toBe(list?.body.data[0].evidence.connection.id)
    return (await Promise.all(stable)).join('\n').replaceAll(/127\.0\.0\.1:\d+/g, '127.0.0.1:4010')
  }
  const text = await run()
  expect(text).not.toMatch(/evidence|duration_ms|_ms"|"connection":"[cm]\d/)
  expect(await run()).toBe(text)
})
