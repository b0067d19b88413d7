import { once } from 'node:events'
import type { Socket } from 'node:net'
import { expect, test } from 'vitest'
import { refuse } from '../../src/core/errors.ts'
import type { Sandbox } from '../../src/core/sandboxes/sandbox.ts'
import { KEYS } from '../support/base-state.ts'
import { aBatch, batchEmulator } from '../support/batches.ts'
import { type TestEmulator, testEmulator } from '../support/emulator.ts'
import { connected } from '../support/http-server.ts'
import { bearer, type RawRequest, requestBytes } from '../support/wire-client.ts'

/** Sends requests that arrive in one turn of the event loop, each on its own connection. */
async function together({ emulator: { port } }: TestEmulator, ...requests: readonly OneRequest[]) {
  const sockets = await Promise.all(requests.map(() => connected(port)))
  // The first exchange shows that the server has accepted the connection.
  for (const socket of sockets) await exchange(socket, bytesOf(port, { path: '/v1/data-views' }))
  // The event loop finds all of them at once: they are with the system before it looks.
  return Promise.all(sockets.map((socket, n) => exchange(socket, bytesOf(port, requests[n] as OneRequest))))
}

/** A POST of its body, or a GET. */
type OneRequest = Pick<RawRequest, 'path' | 'headers'> & { readonly body?: object }

function bytesOf(port: number, { path, body, headers: more }: OneRequest): string {
  const headers = { Host: `127.0.0.1:${port}`, Connection: 'keep-alive', ...bearer(KEYS.KU), ...more }
  if (body === undefined) return requestBytes({ path, headers })
  return requestBytes({ method: 'POST', path, headers, body: JSON.stringify(body) })
}

/** A response that is one packet, as those of this file are. */
async function exchange(socket: Socket, bytes: string) {
  socket.write(bytes)
  const [packet] = await once(socket, 'data')
  const [head = '', body = ''] = String(packet).split('\r\n\r\n')
  return { status: Number(head.slice(9, 12)), id: /X-Emulator-Request-Id: (\S+)/.exec(head)?.[1], body }
}

/** Replaces the journal by one that counts the commits of each write. The writes fail while `isFull` holds. */
function countWrites({ sandbox }: Pick<TestEmulator, 'sandbox'>, isFull = () => false): number[] {
  const writes: number[] = []
  let held = 0
  const write = (commits: number): void => {
    held = 0
    if (isFull()) refuse('storage_unavailable', { detail: 'The disk is full.' })
    writes.push(commits)
  }
  sandbox.store.journal = {
    append: (_commit, isHeld) => {
      if (isHeld === true) held += 1
      else write(held + 1)
    },
    flush: () => write(held),
  }
  return writes
}

const page = (name: string): OneRequest => ({ path: '/v1/pages', body: { name } })
const names = ({ sandbox }: TestEmulator) =>
  [...sandbox.store.rows('pages').values()].map((row) => (row as unknown as { name: string }).name)
const statusesOf = (responses: readonly { status: number }[]) => responses.map(({ status }) => status)

test('the commits of requests that arrive together are one write, in the order of arrival', async () => {
  const emulator = await testEmulator()
  const writes = countWrites(emulator)
  const all = ['One', 'Two', 'Three']
  const responses = await together(emulator, ...all.map(page))
  expect(responses.map(({ body }) => JSON.parse(body).name)).toEqual(all)
  expect([writes, names(emulator)]).toEqual([[3], all])
  const log = [...emulator.sandbox.log.entries()].slice(-3)
  expect(log.map(({ id, status }) => [id, status])).toEqual(responses.map(({ id }) => [id, 200]))
})

test('when their write fails, all are a 507 and change nothing', { tags: ['R123'] }, async () => {
  const emulator = await batchEmulator()
  let isFull = true
  const writes = countWrites(emulator, () => isFull)
  const told: unknown[] = []
  emulator.sandbox.store.onCommit((commit) => told.push(commit))
  const digest = (await emulator.control('GET', '/state/digest')).body
  // The second batch is a replay of the first. The next request is refused for another reason.
  const create = { path: '/v1/batch-predictions', body: aBatch(), headers: { 'Idempotency-Key': 'k' } }
  const requests = [page('One'), create, create, { path: '/v1/pages', body: {} }]
  const refused = await together(emulator, ...requests)
  expect(statusesOf(refused)).toEqual([507, 507, 507, 507])
  expect(JSON.parse(refused[0]?.body ?? '')).toMatchObject({ error: 'storage_unavailable', retryable: true })
  expect([writes, told, names(emulator)]).toEqual([[], [], []])
  expect((await emulator.control('GET', '/state/digest')).body).toEqual(digest)
  expect(statusesOf([...emulator.sandbox.log.entries()].slice(-4))).toEqual([507, 507, 507, 507])
  const read = await together(emulator, page('One'), { path: '/v1/data-views' })
  expect(statusesOf(read)).toEqual([507, 200])
  isFull = false
  const repeated = await together(emulator, ...requests)
  expect(statusesOf(repeated)).toEqual([200, 200, 200, 400])
  expect(repeated[2]?.body).toBe(repeated[1]?.body)
  expect([writes, names(emulator)]).toEqual([[2], ['One']])
})

test('what arrives after them runs after them: a read, a control request, an unknown path', async () => {
  const emulator = await testEmulator()
  const writes = countWrites(emulator)
  // Express is loaded at the first request that needs it.
  await emulator.control('GET', '/health')
  const rule = { preset: 'server-error', id: 'late', match: { operation: 'pages.create' } }
  const [read, unknown] = [{ path: '/v1/data-views' }, { path: '/v1/nothing' }]
  const arming = { path: '/__emulator/faults', body: rule }
  const requests = [page('One'), page('Two'), read, page('Three'), arming, page('Four'), unknown]
  const statuses = [200, 200, 200, 200, 201, 500, 404]
  expect(statusesOf(await together(emulator, ...requests))).toEqual(statuses)
  expect(writes.slice(0, 2)).toEqual([2, 1])
  expect(names(emulator)).toEqual(['One', 'Two', 'Three'])
  const log = [...emulator.sandbox.log.entries()].slice(-6)
  const expected = requests.map(({ path }, n) => [path, statuses[n]])
  expect(log.map(({ path, status }) => [path, status])).toEqual(expected.toSpliced(4, 1))
  expect((await emulator.control('GET', '/faults/late')).body).toMatchObject({ matched: 1, fired: 1 })
})

test('requests of two sandboxes that arrive together are a write of each', async () => {
  const emulator = await testEmulator()
  await emulator.control('POST', '/sandboxes', { name: 'other' })
  const other = emulator.emulator.sandboxes.get('other') as Sandbox
  const [own, others] = [countWrites(emulator), countWrites({ sandbox: other }, () => true)]
  const inOther = { path: '/@other/v1/pages', body: { name: 'There' } }
  const responses = await together(emulator, page('One'), inOther, page('Two'), inOther)
  expect(statusesOf(responses)).toEqual([200, 507, 200, 507])
  expect([own, others, names(emulator)]).toEqual([[2], [], ['One', 'Two']])
})

test('when a response cannot be made, its connection is closed and the defect is reported', async () => {
  const defects: unknown[] = []
  const logger = { info: () => {}, warn: () => {}, error: (...all: unknown[]) => void defects.push(all[1]) }
  const emulator = await testEmulator({ logger })
  emulator.sandbox.log.add = () => {
    throw new Error('a defect')
  }
  const sent = fetch(`${emulator.baseUrl}/v1/pages`, { method: 'POST', body: '{}' })
  await expect(sent).rejects.toThrow('fetch failed')
  expect(defects).toEqual([{ error: new Error('a defect') }])
})
