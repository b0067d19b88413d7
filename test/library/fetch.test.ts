import http from 'node:http'
import { syncBuiltinESMExports } from 'node:module'
import { dirname } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { EmulatorOptions } from '../../src/emulator/options.ts'
import { type Emulator, type FaultDraft, startEmulator } from '../../src/index.ts'
import { temporaryFile } from '../cli/in-process.ts'
import { collectGarbage } from '../support/collect-garbage.ts'
import { createBatch, refusalOf } from './both-ways.ts'

const AUTH = { authorization: 'Bearer live_demo_owner' }
const JSON_TYPE = { ...AUTH, 'content-type': 'application/json' }

async function withoutPort(options: EmulatorOptions = {}): Promise<Emulator> {
  const emulator = await startEmulator({ listen: false, ephemeral: true, rate: 0, ...options })
  onTestFinished(() => emulator.close())
  return emulator
}

/** The ends of all logged exchanges, when all of them are known. */
async function ends(emulator: Emulator): Promise<unknown[]> {
  const read = async () =>
    (await emulator.defaultSandbox.requests.list()).map(({ evidence }) => evidence?.end)
  await expect.poll(read).not.toContain(null)
  return read()
}

test('API, control interface and dashboard respond without a port', async () => {
  const emulator = await withoutPort()
  const url = 'http://localhost'
  expect(emulator).toMatchObject({ url, port: 0, baseUrl: `${url}/v1` })
  const views = await emulator.fetch(new Request(`${emulator.baseUrl}/data-views`, { headers: AUTH }))
  expect([views.status, views.statusText, views.headers.get('x-ratelimit-limit')]).toEqual([200, 'OK', '200'])
  expect(await views.json()).toMatchObject({ object: 'list' })
  const given = { method: 'POST', body: '{"by":"1h"}', headers: JSON_TYPE }
  expect((await emulator.fetch(`${emulator.controlUrl}/clock/advance`, given)).status).toBe(200)
  const page = await emulator.fetch(new URL('/__emulator/ui/', url))
  expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
  const root = await emulator.fetch(url, { headers: { accept: 'text/html' } })
  expect(root.headers.get('location')).toBe('/__emulator/ui/')
})

test('port and host cannot be given together with listen: false', async () => {
  const both = startEmulator({ listen: false, port: 4010, host: '127.0.0.1', ephemeral: true })
  await expect(both).rejects.toThrow(/\/port: cannot be given with listen: false.*\/host/)
})

test('a page of another host is refused as on a port', async () => {
  const emulator = await withoutPort({ allowHosts: ['api.example'] })
  const status = async (url: string, headers = {}) => (await emulator.fetch(url, { headers })).status
  expect(await status('https://api.example/v1/data-views', AUTH)).toBe(200)
  expect(await status('http://localhost:3000/v1/data-views', AUTH)).toBe(200)
  expect(await status('http://evil.example/v1/data-views', AUTH)).toBe(403)
  const clockOf = (url: string, origin: string) => status(`${url}/__emulator/clock`, { origin })
  for (const own of ['http://localhost:3000', 'https://localhost']) expect(await clockOf(own, own)).toBe(200)
  expect(await clockOf('http://localhost:3000', 'http://evil.example')).toBe(403)
})

test('HEAD, 204 and 304 have no body', async () => {
  const emulator = await withoutPort()
  const head = await emulator.fetch(`${emulator.baseUrl}/data-views`, { method: 'HEAD', headers: AUTH })
  expect([head.status, head.body]).toEqual([200, null])
  expect(Number(head.headers.get('content-length'))).toBeGreaterThan(100)
  const headers = { origin: 'http://localhost:5173', 'access-control-request-method': 'POST' }
  const preflight = await emulator.fetch(`${emulator.baseUrl}/pages`, { method: 'OPTIONS', headers })
  expect([preflight.status, preflight.body]).toEqual([204, null])
  await emulator.defaultSandbox.faults.arm({ match: 'everything', do: [{ head: { status: 304 } }] })
  const unchanged = await emulator.fetch(`${emulator.baseUrl}/data-views`, { headers: AUTH })
  expect([unchanged.status, unchanged.body, await unchanged.text()]).toEqual([304, null, ''])
})

test('a body that is a stream arrives, with and without its length', async () => {
  const emulator = await withoutPort()
  const text = JSON.stringify({ name: 'Roof plan é' })
  const stream = () => new Blob([text.slice(0, 5), text.slice(5)]).stream()
  for (const headers of [JSON_TYPE, { ...JSON_TYPE, 'content-length': String(Buffer.byteLength(text)) }]) {
    const init = { method: 'POST', headers, body: stream(), duplex: 'half' as const }
    const response = await emulator.fetch(new Request(`${emulator.baseUrl}/pages`, init))
    expect([response.status, await response.json()]).toMatchObject([200, { name: 'Roof plan é' }])
  }
  const upload = new ReadableStream({ pull: (controller) => controller.error(new Error('the file is gone')) })
  const init = { method: 'POST', headers: JSON_TYPE, body: upload, duplex: 'half' as const }
  const failed = await refusalOf(emulator.fetch(new Request(`${emulator.baseUrl}/pages`, init)))
  expect(failed).toMatchObject({ name: 'TypeError', message: 'fetch failed' })
  expect(failed.cause).toMatchObject({ message: 'the file is gone' })
  expect((await ends(emulator)).filter((end) => end === 'whole')).toHaveLength(2)
})

test.for<[what: string, headers: Record<string, string>]>([
  ['a length that is too small', { 'content-length': '2' }],
  ['a length that is too large', { 'content-length': '9999' }],
  ['a transfer coding', { 'transfer-encoding': 'chunked' }],
  ['another transfer coding', { 'transfer-encoding': 'identity' }],
])('a body ends where it ends, whatever its headers say: %s', async ([, headers]) => {
  const emulator = await withoutPort()
  const wrong = { method: 'POST', headers: { ...JSON_TYPE, ...headers } }
  const first = new Request(`${emulator.baseUrl}/pages`, { ...wrong, body: '{}' })
  // The rest of this body would be a request that no guard in front of `fetch` has seen.
  const body =
    '{"name":"Roof plan"}POST /__emulator/reset HTTP/1.1\r\nhost: localhost\r\ncontent-length: 0\r\n\r\n'
  const answers = await Promise.all([
    emulator.fetch(new Request(first, { body, method: 'POST' })),
    emulator.fetch(new Request(first.url, { method: 'POST', headers: JSON_TYPE, body: '{"name":"Cellar"}' })),
  ])
  expect(answers.map(({ status }) => status)).toEqual([400, 200])
  expect(await answers[1]?.json()).toMatchObject({ name: 'Cellar' })
  const later = await emulator.fetch(`${emulator.baseUrl}/data-views`, { headers: AUTH })
  expect(await later.json()).toMatchObject({ object: 'list' })
  const logged = await emulator.defaultSandbox.requests.list()
  const creation = 'POST /v1/pages'
  const seen = logged.map(({ method, path }) => `${method} ${path}`)
  expect(seen).toEqual([creation, creation, 'GET /v1/data-views'])
  // Without a body, too, the headers do not start one.
  const bodiless = new Request(first.url, { method: 'DELETE', headers: { ...AUTH, ...headers } })
  expect((await emulator.fetch(bodiless)).status).toBe(405)
})

test('a request body that is too large is refused before it is sent whole', async () => {
  const emulator = await withoutPort()
  let sent = 0
  let isCancelled = false
  const body = new ReadableStream({
    cancel: () => {
      isCancelled = true
    },
    pull: (controller) => {
      sent += 65_536
      controller.enqueue(new Uint8Array(65_536))
    },
  })
  const leaving = new AbortController()
  const init = { method: 'POST', headers: JSON_TYPE, body, duplex: 'half' as const, signal: leaving.signal }
  const response = await emulator.fetch(new Request(`${emulator.baseUrl}/pages`, init))
  expect(response.status).toBe(413)
  expect(sent).toBeLessThan(64_000_000)
  leaving.abort()
  await expect.poll(() => isCancelled).toBe(true)
})

/** A batch of the demo data whose results are many megabytes. @returns the path of its results */
async function largeResults(emulator: Emulator, items: number): Promise<string> {
  const sandbox = emulator.defaultSandbox
  const properties = { text: { const: 'x'.repeat(10_000) } }
  const output_schema = { type: 'object', properties, required: ['text'] }
  const id = await createBatch(sandbox, items, { output_schema })
  await sandbox.clock.advance({ until: { batch: id } })
  return `/batch-predictions/${id}/results`
}

test('a large stream of results is sent only as fast as it is read', async () => {
  const emulator = await withoutPort()
  const path = await largeResults(emulator, 2_000)
  const response = await emulator.defaultSandbox.fetch(path)
  const reader = response.body?.getReader() as ReadableStreamDefaultReader<Uint8Array>
  let bytes = (await reader.read()).value?.length ?? 0
  // Many turns, in which a writer without back pressure would have written everything.
  for (let turn = 0; turn < 1_000; turn++) await new Promise(setImmediate)
  await emulator.defaultSandbox.clock.show()
  const reads = await emulator.defaultSandbox.requests.list({ operation: 'batch-predictions.results' })
  expect(reads).toMatchObject([{ evidence: { end: null } }])
  for (let read = await reader.read(); !read.done; read = await reader.read()) bytes += read.value.length
  expect(bytes).toBeGreaterThan(20_000_000)
  expect((await ends(emulator)).at(-1)).toBe('whole')
})

test('a body that is cancelled ends the exchange, and the log says so', async () => {
  const emulator = await withoutPort()
  const path = await largeResults(emulator, 500)
  const response = await emulator.defaultSandbox.fetch(path)
  await response.body?.cancel()
  expect((await ends(emulator)).at(-1)).toBe('left')
})

test('an aborted request rejects with the reason of its signal, and the log says so', async () => {
  const emulator = await withoutPort()
  const sandbox = emulator.defaultSandbox
  const reason = new Error('The user has gone to another page.')
  expect(await refusalOf(sandbox.fetch('/data-views', { signal: AbortSignal.abort(reason) }))).toBe(reason)
  expect(await sandbox.requests.list()).toEqual([])
  await sandbox.faults.preset('never-answers')
  const leaving = new AbortController()
  const waiting = refusalOf(sandbox.fetch('/data-views', { signal: leaving.signal }))
  await expect.poll(() => sandbox.requests.count({})).toMatchObject({ matched: 1 })
  collectGarbage()
  leaving.abort(reason)
  expect(await waiting).toBe(reason)
  const slow = sandbox.fetch('/data-views', { signal: AbortSignal.timeout(20) })
  await expect(slow).rejects.toMatchObject({ name: 'TimeoutError' })
  await sandbox.faults.clear()
  // More than once: the request before may arrive after its end.
  await sandbox.faults.preset('stall-after-headers', { times: 2 })
  const late = new AbortController()
  const begun = await sandbox.fetch('/data-views', { signal: late.signal })
  late.abort(reason)
  expect([begun.status, await refusalOf(begun.text())]).toEqual([200, reason])
})

test.for<[fault: FaultDraft['do'], message: string]>([
  [[{ cut: { at: 'before-handler', how: 'fin' } }], 'fetch failed'],
  [[{ cut: { at: 'before-head', how: 'rst' } }], 'fetch failed'],
  [[{ raw: { base64: Buffer.from('not HTTP').toString('base64') } }], 'fetch failed'],
  [[{ cut: { at: 'after-head', how: 'rst' } }], 'terminated'],
  [[{ cut: { at: { fraction: 0.5 }, how: 'fin' } }], 'terminated'],
  [[{ frame: { mode: 'chunked' } }, { cut: { at: 'before-last-chunk', how: 'fin' } }], 'terminated'],
  [[{ frame: { length_delta: 10 } }], 'terminated'],
])('the fault %j rejects with the TypeError of fetch: %s', async ([actions, message]) => {
  const emulator = await withoutPort()
  const sandbox = emulator.defaultSandbox
  await sandbox.faults.arm({ match: 'everything', do: actions, times: 1 })
  const error = await refusalOf(sandbox.fetch('/data-views').then((response) => response.text()))
  expect([error.name, error.message, error.cause]).toEqual(['TypeError', message, expect.any(Error)])
  expect((await sandbox.fetch('/data-views')).status).toBe(200)
})

test('changed heads, bodies and lines arrive, and pieces arrive one by one', async () => {
  const emulator = await withoutPort()
  const sandbox = emulator.defaultSandbox
  await sandbox.faults.arm({
    match: 'everything',
    do: [
      { head: { reason: 'Slow Down', set: { 'X-Proxy': 'yes' } } },
      { body: { text: 'abcdef' } },
      { pace: { bytes: 2, gap_ms: 5 } },
    ],
  })
  const response = await sandbox.fetch('/data-views')
  expect([response.statusText, response.headers.get('x-proxy')]).toEqual(['Slow Down', 'yes'])
  const pieces: string[] = []
  for await (const piece of response.body ?? []) pieces.push(Buffer.from(piece).toString())
  expect(pieces).toEqual(['ab', 'cd', 'ef'])
})

test.for<[action: NonNullable<FaultDraft['do']>[number], pointer: string, reason: string]>([
  [{ head: { status: 600 } }, '/do/0/head/status', 'a Response has a status of at most 599'],
  [{ head: { version: '1.0' } }, '/do/0/head/version', 'a Response has no HTTP version'],
  [{ head: { case: 'upper' } }, '/do/0/head/case', 'the names in Headers are always lower case'],
  [{ head: { interim: [{ status: 103 }] } }, '/do/0/head/interim', 'it gives only the final response'],
  [{ frame: { tail_b64: 'eA==' } }, '/do/0/frame/tail_b64', 'bytes after the end of a message belong to no'],
  [{ pace: { no_continue: true } }, '/do/0/pace/no_continue', 'it does not wait for 100 Continue'],
  [{ pace: { stall_at: 'end' } }, '/do/0/pace/stall_at', 'the response is complete'],
  [{ cut: { at: 'idle', how: 'rst' } }, '/do/0/cut/at', 'the response is complete'],
])('without a port the fault %j is refused, with the way out', async ([action, pointer, reason]) => {
  const emulator = await withoutPort()
  const { faults } = emulator.defaultSandbox
  const error = await refusalOf(faults.arm({ match: 'everything', do: [action] }))
  const detail = expect.stringMatching(
    new RegExp(`^has no effect on emulator\\.fetch: ${reason}.*Start the emulator with a port`),
  )
  expect(error).toMatchObject({ code: 'validation_failed', issues: [{ pointer, detail }] })
})

test('without a port a fault can give the last status of a Response', async () => {
  const { defaultSandbox } = await withoutPort()
  await defaultSandbox.faults.arm({ match: 'everything', do: [{ head: { status: 599 } }] })
  expect((await defaultSandbox.fetch('/data-views')).status).toBe(599)
})

test('such a fault is refused in its only preset, in the header of a request and in a scenario, too', async () => {
  const scenario = `export default { description: 'x', faults: [{ preset: 'rate-headers-lowercase' }] }`
  const scenarios = dirname(temporaryFile('lower.ts', scenario))
  const emulator = await withoutPort({ scenarios })
  const sandbox = emulator.defaultSandbox
  const names = /the names in Headers are always lower case/
  const presets = await sandbox.faults.presets()
  const refused: Error[] = []
  for (const { name } of presets) await sandbox.faults.preset(name).catch((error) => refused.push(error))
  expect(refused.map(({ message }) => message)).toEqual([expect.stringMatching(names)])
  await sandbox.faults.clear()
  const headers = { 'x-emulator-fault': 'rate-headers-lowercase' }
  const named = await sandbox.fetch('/data-views', { headers })
  expect([named.status, await named.text()]).toEqual([400, expect.stringMatching(names)])
  expect((await refusalOf(sandbox.scenarios.start('lower'))).message).toMatch(names)
  expect(await sandbox.faults.list()).toEqual([])
})

test('every shipped scenario works without a port', async () => {
  const emulator = await withoutPort()
  for (const { name, error } of await emulator.defaultSandbox.scenarios.list()) {
    expect([name, error]).toEqual([name, null])
    await emulator.defaultSandbox.scenarios.start(name, { reset: true })
  }
})

test("it does not use Node's client functions, which Mock Service Worker replaces", async () => {
  const emulator = await withoutPort()
  const refuse = () => {
    throw new Error('the emulator calls itself')
  }
  const { request, ClientRequest } = http
  const replace = (replaced: object): void => {
    Object.assign(http, replaced)
    syncBuiltinESMExports()
  }
  replace({ request: refuse, ClientRequest: new Proxy(ClientRequest, { construct: refuse }) })
  onTestFinished(() => replace({ request, ClientRequest }))
  expect((await emulator.fetch(`${emulator.baseUrl}/data-views`, { headers: AUTH })).status).toBe(200)
})

test('connections are kept, so that conduct judges a client as on a port', async () => {
  const emulator = await withoutPort()
  for (let n = 0; n < 20; n++) await (await emulator.defaultSandbox.fetch('/data-views')).text()
  const all = await emulator.defaultSandbox.requests.list()
  expect(new Set(all.map(({ evidence }) => evidence?.connection.id)).size).toBe(1)
})

test('close lets a response in flight finish, and refuses later requests', async () => {
  const emulator = await startEmulator({ listen: false, ephemeral: true, rate: 0 })
  const begun = await emulator.defaultSandbox.fetch(await largeResults(emulator, 100))
  const closed = emulator.close()
  expect((await begun.text()).trim().split('\n')).toHaveLength(100)
  await closed
  expect(await refusalOf(emulator.fetch(emulator.baseUrl))).toMatchObject({ code: 'closed' })
})
