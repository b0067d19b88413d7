import { connect } from 'node:net'
import { expect, test } from 'vitest'
import type { CutFault } from '../../src/server/http/faults/cut.ts'
import type { Stage } from '../../src/server/http/faults/stage.ts'
import { KEYS } from '../support/base-state.ts'
import { type TestEmulator, testEmulator } from '../support/emulator.ts'
import { armRule, hasMatched, nextHeld } from '../support/faults.ts'
import { fullDisk } from '../support/journal.ts'
import { underRule } from '../support/under-rule.ts'
import { bearer, overSocket, type RawRequest, requestBytes, viaFetch } from '../support/wire-client.ts'

const HOWS = ['fin', 'rst', 'pause'] as const
const ENDS = { fin: 'fin', rst: 'rst', pause: 'open' } as const
const BODY = JSON.stringify({ name: 'A page' })

/** The bytes of a request with a key and Connection: keep-alive. */
function bytesOf({ emulator }: TestEmulator, { headers, ...request }: RawRequest): string {
  const own = { Host: `127.0.0.1:${emulator.port}`, Connection: 'keep-alive', ...bearer(KEYS.KU) }
  return requestBytes({ ...request, headers: { ...own, ...headers } })
}

const creation = (emulator: TestEmulator, headers = {}): string =>
  bytesOf(emulator, { method: 'POST', path: '/v1/pages', body: BODY, headers })
const decision = (emulator: TestEmulator): string => bytesOf(emulator, { path: '/v1/data-views' })

/** The bytes of the body that arrive, from the Content-Length; null if not even the head arrives. */
type Arrives = ((length: number) => number) | null

const STAGES: readonly (readonly [name: string, at: Stage, hasEffect: boolean, arrives: Arrives])[] = [
  ['accept', 'accept', false, null],
  ['before-read', 'before-read', false, null],
  ['after-request-head', 'after-request-head', false, null],
  ['request_bytes:5', { request_bytes: 5 }, false, null],
  ['before-handler', 'before-handler', false, null],
  ['after-handler', 'after-handler', true, null],
  ['before-head', 'before-head', true, null],
  ['after-head', 'after-head', true, () => 0],
  ['bytes:7', { bytes: 7 }, true, () => 7],
  ['fraction:0.5 plus_bytes:1', { fraction: 0.5, plus_bytes: 1 }, true, (all) => Math.floor(all / 2) + 1],
  ['line:0 plus_bytes:3', { line: 0, plus_bytes: 3 }, true, () => 3],
  ['before-last-chunk', 'before-last-chunk', true, (all) => all - 1],
  ['end', 'end', true, (all) => all],
  ['idle', 'idle', true, (all) => all],
]

const cut = (at: Stage, how: CutFault['how']) => ({ cut: { at, how } })

function lastFaults(emulator: TestEmulator) {
  const entry = emulator.sandbox.log.entries().at(-1)
  return { status: entry?.status, sent: entry?.faults?.sent }
}

/** The bytes of the body that are in a part of a response, and its Content-Length. */
function bodyOf(text: string): readonly [arrived: number, length: number] {
  const [head = '', body = ''] = text.split('\r\n\r\n')
  return [body.length, Number(/content-length: (\d+)/i.exec(head)?.[1])]
}

const cases = STAGES.flatMap((stage) => HOWS.map((how) => [stage[0], how, stage] as const))

test.for(cases)('a cut at %s by %s happens at its stage', async ([name, how, [, at, hasEffect, arrives]]) => {
  const emulator = await underRule({ times: 1_000, do: [cut(at, how)] })
  const held = nextHeld(emulator.sandbox)
  const isEnough = at === 'accept' ? () => hasMatched(emulator.sandbox) : held
  const paused = how === 'pause' ? isEnough : undefined
  const { text, end } = await overSocket(emulator.emulator.port, creation(emulator), paused)
  const [arrived, length] = bodyOf(text)
  if (arrives === null) expect(text).toBe('')
  else expect([text.slice(0, 15), arrived]).toEqual(['HTTP/1.1 200 OK', arrives(length)])
  expect(end).toBe(ENDS[how])
  expect(emulator.state('pages').length > 0).toBe(hasEffect)
  const sent = { stage: name, bytes: text.length, end: how === 'pause' ? 'held' : 'cut' }
  const logged = { status: hasEffect ? 200 : 0, faults: { sent } }
  // No request begins on a connection that ends before its first byte.
  expect(emulator.sandbox.log.entries()).toMatchObject(at === 'accept' ? [] : [logged])
})

test.for<[at: Stage, times: number | null, status: number]>([
  ['before-read', null, 507],
  ['end', null, 507],
  // A connection fault that cannot be counted is skipped.
  ['accept', 1_000, 200],
])('a cut at %s (times: %j) is a %i on a full disk', { tags: ['R123'] }, async ([at, times, status]) => {
  const emulator = await underRule({ times, do: [cut(at, 'rst')] })
  emulator.sandbox.store.journal = fullDisk
  expect((await emulator.get('/data-views')).status).toBe(status)
})

test('a cut at before-read uses no quota, a cut at before-handler uses one request', async () => {
  const emulator = await testEmulator()
  for (const at of ['before-read', 'before-handler'] as const) {
    armRule(emulator.sandbox, { times: 1, do: [cut(at, 'rst')] })
    await overSocket(emulator.emulator.port, decision(emulator))
  }
  // One request for the cut at before-handler, one for this request itself.
  const { headers } = await emulator.get('/data-views')
  expect(headers.get('x-ratelimit-remaining')).toBe('198')
})

test('a cut at before-read sends no 100 Continue', async () => {
  const emulator = await underRule({ do: [cut('before-read', 'fin')] })
  const view = await overSocket(emulator.emulator.port, asking(emulator).slice(0, -BODY.length))
  expect(view).toMatchObject({ text: '', end: 'fin' })
})

test('request_bytes cuts after that number of body bytes, and never cuts a shorter body', async () => {
  const emulator = await underRule({ do: [cut({ request_bytes: BODY.length + 1 }, 'rst')] })
  expect((await emulator.post('/pages', { name: 'A page' })).status).toBe(200)
  const longer = { method: 'POST', headers: bearer(KEYS.KU), body: `${BODY} ` }
  expect((await viaFetch(`${emulator.baseUrl}/pages`, longer)).error).toBe('ECONNRESET')
  expect(emulator.state('pages')).toHaveLength(1)
})

/** A creation whose client sends the body after 100 Continue. */
const asking = (emulator: TestEmulator) => creation(emulator, { Connection: 'close', Expect: '100-continue' })

test.for([
  ['max_ms', 50],
  ['the removal of the rule', 60_000],
] as const)('a client that gets no 100 Continue waits at most until %s', async ([, max_ms]) => {
  const emulator = await testEmulator()
  const { id } = armRule(emulator.sandbox, { do: [{ pace: { no_continue: true, max_ms } }] })
  const view = overSocket(emulator.emulator.port, asking(emulator).slice(0, -BODY.length))
  await expect.poll(() => hasMatched(emulator.sandbox)).toBe(true)
  if (max_ms > 50) await emulator.control('DELETE', `/faults/${id}`)
  expect(await view).toMatchObject({ text: '', end: 'fin' })
})

test('no_continue sends no 100 Continue, but accepts a body', async () => {
  const emulator = await underRule({ do: [{ pace: { no_continue: true } }] })
  const { port } = emulator.emulator
  const request = asking(emulator)
  expect((await overSocket(port, request)).text).toMatch(/^HTTP\/1\.1 200 OK/)
  await emulator.control('DELETE', '/faults')
  const asked = await overSocket(port, request.slice(0, -BODY.length), (text) => text !== '')
  expect(asked.text).toBe('HTTP/1.1 100 Continue\r\n\r\n')
})

test('a client that disconnects ends a wait before the handler, and the handler does not run', async () => {
  const emulator = await underRule({ do: [{ pace: { before_handler_ms: 10_000 } }] })
  await overSocket(emulator.emulator.port, creation(emulator), () => hasMatched(emulator.sandbox))
  const sent = { stage: 'before-handler', bytes: 0, end: 'left' }
  await expect.poll(() => lastFaults(emulator)).toEqual({ status: 0, sent })
  expect(emulator.state('pages')).toEqual([])
})

test('a wait before the handler ends at max_ms, and the request continues', async () => {
  const pace = { before_handler_ms: 10_000, before_head_ms: 10_000, max_ms: 30 }
  const emulator = await underRule({ do: [{ pace }] })
  expect((await emulator.post('/pages', { name: 'A page' })).status).toBe(200)
  expect(lastFaults(emulator)).toMatchObject({ sent: { stage: 'end', end: 'whole' } })
})

const STALLS = ['before-read', 'before-handler', 'after-handler', 'after-head', 'accept'] as const

test.for(STALLS)('a stall at %s ends at max_ms', async (at) => {
  const emulator = await underRule({ times: 1_000, do: [{ pace: { stall_at: at, max_ms: 60 } }] })
  expect((await overSocket(emulator.emulator.port, creation(emulator))).end).toBe('fin')
  expect(emulator.state('pages').length > 0).toBe(at.startsWith('after-h'))
})

test.for([
  ['a reset of the sandbox', (emulator: TestEmulator) => emulator.control('POST', '/reset')],
  ['the removal of the rules', (emulator: TestEmulator) => emulator.control('DELETE', '/faults')],
  ['the end of the emulator', (emulator: TestEmulator) => emulator.emulator.close()],
] as const)('%s ends connections that are held at any stage', async ([, act]) => {
  const emulator = await testEmulator()
  const all: Stage[] = ['before-read', 'before-handler', 'after-handler', 'after-head', { bytes: 3 }, 'end']
  const views = all.map((at, n) => {
    armRule(emulator.sandbox, { match: { query: { limit: String(n + 1) } }, do: [cut(at, 'pause')] })
    const bytes = bytesOf(emulator, { path: `/v1/data-views?limit=${n + 1}` })
    return overSocket(emulator.emulator.port, bytes)
  })
  await expect
    .poll(() => emulator.sandbox.log.entries().filter(({ faults }) => faults?.sent?.end === 'held'))
    .toHaveLength(6)
  await act(emulator)
  expect((await Promise.all(views)).map(({ end }) => end)).toEqual(Array(6).fill('fin'))
})

test('a pipelined request is cut after the whole response to the one before it', async () => {
  const emulator = await underRule({ match: { operation: 'pages.create' }, do: [cut('before-read', 'fin')] })
  const { text, end } = await overSocket(emulator.emulator.port, [decision(emulator) + creation(emulator)])
  expect(text.match(/HTTP\/1\.1 200/g)).toHaveLength(1)
  const [arrived, length] = bodyOf(text)
  expect(arrived).toBe(length)
  expect(end).toBe('fin')
})

test('a client that resets its connection at any point causes no error', async () => {
  const emulator = await underRule({ do: [{ pace: { before_head_ms: 20, bytes: 1, gap_ms: 5 } }] })
  for (const bytes of [0, 1, 10, 100]) {
    const socket = connect(emulator.emulator.port, '127.0.0.1')
    socket.write(creation(emulator))
    await overSocket(emulator.emulator.port, decision(emulator), ({ length }) => length >= bytes)
    socket.resetAndDestroy()
  }
  await expect
    .poll(() => emulator.sandbox.log.entries().filter(({ faults }) => faults?.sent === undefined))
    .toEqual([])
})
