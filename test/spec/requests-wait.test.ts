import { request as httpRequest } from 'node:http'
import { expect, test, vi } from 'vitest'
import { type ControlEmulator, controlEmulator } from '../support/control-emulator.ts'

/** An emulator whose listeners of the request log and of the sandbox being replaced are counted. */
async function observedEmulator() {
  const emulator = await controlEmulator()
  const { sandbox } = emulator
  const [listening, watching] = [new Set<() => void>(), new Set<() => void>()]
  const listen = sandbox.log.onEntry.bind(sandbox.log)
  vi.spyOn(sandbox.log, 'onEntry').mockImplementation((hear) => counted(listening, listen(hear)))
  const watch = sandbox.listeners.onReplaced.bind(sandbox.listeners)
  vi.spyOn(sandbox.listeners, 'onReplaced').mockImplementation((hear) => counted(watching, watch(hear)))
  const isHeard = () => vi.waitUntil(() => listening.size > 0, { timeout: 120_000 })
  return { emulator, listening, watching, isHeard }
}

function counted(open: Set<() => void>, stop: () => void): () => void {
  const stopCounted = () => {
    open.delete(stopCounted)
    stop()
  }
  open.add(stopCounted)
  return stopCounted
}

const LIST = { operation: 'books.list' }
const wait = (emulator: ControlEmulator, match: object, more: object = {}) =>
  emulator.call('POST', '/requests/wait', { match, ...more })

test('a wait responds at once if the log already has the requests', async () => {
  const { emulator, listening } = await observedEmulator()
  emulator.perform('books.list')
  emulator.perform('books.list')
  const { status, body } = await wait(emulator, LIST, { count: 2 })
  const matched = ['default-000001', 'default-000002']
  expect([status, body]).toEqual([200, { passed: true, actual: 2, expected: { at_least: 2 }, matched }])
  expect(listening.size).toBe(0)
})

test('a wait responds when the last request arrives, and with since counts only later ones', async () => {
  const { emulator, listening, watching, isHeard } = await observedEmulator()
  emulator.perform('books.list')
  emulator.perform('books.list')
  const response = wait(emulator, { ...LIST, since: 'default-000001' }, { count: { at_least: 2 } })
  await isHeard()
  emulator.perform('books.create', { shelf_id: 's1' }, { title: 'Ode' })
  expect(listening.size).toBe(1)
  emulator.perform('books.list')
  const { status, body } = await response
  expect([status, body.matched]).toEqual([200, ['default-000002', 'default-000004']])
  expect([listening.size, watching.size]).toEqual([0, 0])
})

test('a wait that times out fails with timed_out and the nearest requests', async () => {
  const { emulator, listening } = await observedEmulator()
  emulator.perform('books.list')
  const { status, body } = await wait(emulator, { ...LIST, status: 429 }, { timeout_ms: 20 })
  const description = 'Not enough matching requests came within 20 ms.'
  const ended = { passed: false, timed_out: true, actual: 0, expected: { at_least: 1 }, description }
  const nearest = [{ id: 'default-000001', missed: [{ what: 'status', expected: 429, actual: 200 }] }]
  expect([status, body]).toMatchObject([409, { ...ended, nearest }])
  expect(listening.size).toBe(0)
})

test('a wait keeps as many requests for its nearest as the log has capacity', async () => {
  const { emulator, isHeard } = await observedEmulator()
  const response = wait(emulator, { ...LIST, method: 'GET', status: 418 }, { timeout_ms: 500 })
  await isHeard()
  emulator.perform('books.list')
  for (let n = 0; n < emulator.sandbox.log.capacity; n++)
    emulator.perform('books.create', { shelf_id: 's1' }, {})
  const { nearest } = (await response).body
  const ids = nearest.map(({ id }: { id: string }) => id)
  expect(ids).toEqual(['default-001001', 'default-001000', 'default-000999'])
})

test('a client that disconnects leaves no listener', async () => {
  const { emulator, listening, isHeard } = await observedEmulator()
  const body = JSON.stringify({ match: LIST, timeout_ms: 600_000 })
  const headers = { 'content-type': 'application/json', 'content-length': body.length }
  const url = `http://127.0.0.1:${emulator.port}/__emulator/requests/wait`
  const req = httpRequest(url, { method: 'POST', headers })
  req.on('error', () => {})
  req.end(body)
  await isHeard()
  req.destroy()
  await vi.waitUntil(() => listening.size === 0, { timeout: 120_000 })
  emulator.perform('books.list')
  expect(emulator.defects).toEqual([])
})

test('a reset ends the wait with that reason', async () => {
  const { emulator, listening, isHeard } = await observedEmulator()
  const response = wait(emulator, LIST, { timeout_ms: 600_000 })
  await isHeard()
  expect((await emulator.call('POST', '/reset')).status).toBe(200)
  const description = expect.stringContaining('The state of the sandbox was replaced')
  const ended = { passed: false, timed_out: false, actual: 0, description }
  expect(await response).toMatchObject({ status: 409, body: ended })
  expect(listening.size).toBe(0)
})

test('emptying the log does not remove requests that the wait has counted', async () => {
  const { emulator, isHeard } = await observedEmulator()
  const response = wait(emulator, LIST, { count: 2 })
  await isHeard()
  emulator.perform('books.list')
  await emulator.call('DELETE', '/requests')
  emulator.perform('books.list')
  expect((await response).body).toMatchObject({ passed: true, actual: 2 })
})
