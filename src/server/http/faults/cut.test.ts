import { EventEmitter, once } from 'node:events'
import { Agent } from 'node:http'
import { connect } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { faultedServer, isHeld, seen } from '../../../../test/support/faulted-server.ts'
import {
  type Client,
  overSocket,
  requestBytes,
  viaFetch,
  viaHttp,
} from '../../../../test/support/wire-client.ts'
import type { CutFault } from './cut.ts'
import type { Stage } from './stage.ts'
import { SETTLE } from './stop.ts'

const cut = (at: Stage, how: CutFault['how']) => ({ actions: [{ cut: { at, how } }] })
const KEPT = requestBytes({ path: '/', headers: { Connection: 'keep-alive' } })
const ENDS = { fin: 'fin', rst: 'rst', pause: 'open' } as const
const HOWS = ['fin', 'rst', 'pause'] as const

/** The parts of a response that have arrived when an exchange stops at a stage. */
const STAGES: readonly (readonly [at: Stage, name: string, head: boolean, body: string])[] = [
  ['after-handler', 'after-handler', false, ''],
  ['before-head', 'before-head', false, ''],
  ['after-head', 'after-head', true, ''],
  [{ bytes: 4 }, 'bytes:4', true, '{"ok'],
  [{ fraction: 0.5, plus_bytes: 1 }, 'fraction:0.5 plus_bytes:1', true, '{"ok":'],
  [{ line: 1 }, 'line:1', true, '{"ok":true}'],
  ['before-last-chunk', 'before-last-chunk', true, '{"ok":true'],
  ['end', 'end', true, '{"ok":true}'],
  ['idle', 'idle', true, '{"ok":true}'],
]

const cases = STAGES.flatMap((stage) => HOWS.map((how) => [stage[1], how, stage] as const))

test.for(cases)('at %s, a %s comes after all bytes sent until then', async ([name, how, stage]) => {
  const [at, , hasHead, body] = stage
  const { port, sent } = await faultedServer(cut(at, how))
  const paused = how === 'pause' ? (text: string) => isHeld(sent, text) : undefined
  const { text, end } = await overSocket(port, KEPT, paused)
  expect(text.startsWith('HTTP/1.1 200 OK\r\n')).toBe(hasHead)
  expect(text.slice(text.indexOf('\r\n\r\n') + (hasHead ? 4 : 1))).toBe(body)
  expect(end).toBe(ENDS[how])
  expect(sent).toEqual([{ stage: name, bytes: text.length, end: how === 'pause' ? 'held' : 'cut' }])
})

test('a reset comes after the sent bytes, even if the process is blocked almost all the time', async () => {
  for (let n = 0; n < 5; n++) {
    const { port } = await faultedServer(cut({ bytes: 4 }, 'rst'))
    // Blocks each turn of the event loop for longer than the wait between the last bytes and the reset.
    let busy = true
    const work = (): void => {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2 * SETTLE)
      if (busy) setImmediate(work)
    }
    setImmediate(work)
    const { text, end } = await overSocket(port, KEPT)
    busy = false
    expect([text.slice(-4), end]).toEqual(['{"ok', 'rst'])
  }
})

test('before-last-chunk is after the whole body when that is sent in chunks', async () => {
  const { body, end } = await seen({
    actions: [{ frame: { mode: 'chunked' } }, { cut: { at: 'before-last-chunk', how: 'rst' } }],
  })
  expect(body).toBe('b\r\n{"ok":true}\r\n')
  expect(end).toBe('rst')
})

test('the cut that is reached first counts', async () => {
  const { body, sent } = await seen({
    actions: [
      { cut: { at: 'end', how: 'rst' } },
      { cut: { at: { bytes: 5 }, how: 'fin' } },
      { cut: { at: { bytes: 3 }, how: 'fin' } },
    ],
  })
  expect(body).toBe('{"o')
  expect(sent).toMatchObject([{ stage: 'bytes:3' }])
})

test('a cut at a stage that has passed already comes before the response', async () => {
  const { text, sent } = await seen(cut('before-read', 'rst'))
  expect(text).toBe('')
  expect(sent).toEqual([{ stage: 'before-read', bytes: 0, end: 'cut' }])
})

test('a request with a body shorter than request_bytes is not cut', async () => {
  expect((await seen(cut({ request_bytes: 10 }, 'rst'))).body).toBe('{"ok":true}')
})

const CLIENTS: readonly (readonly [string, Client])[] = [
  ['fetch', viaFetch],
  ['node:http', viaHttp()],
]

test.for(CLIENTS)('a reset before any byte is ECONNRESET for %s, 100 of 100 times', async ([, client]) => {
  const { port, sent } = await faultedServer({ ...cut('before-head', 'rst'), always: true })
  const errors = new Map<string | undefined, number>()
  for (let n = 0; n < 100; n++) {
    const { error } = await client(`http://127.0.0.1:${port}/`, { method: n % 2 ? 'POST' : 'GET' })
    errors.set(error, (errors.get(error) ?? 0) + 1)
  }
  expect([...errors]).toEqual([['ECONNRESET', 100]])
  expect(sent).toHaveLength(100)
})

test.for(CLIENTS)(
  'after the head, %s gets the status and then the reset, 20 of 20 times',
  async ([, client]) => {
    const { port } = await faultedServer({ ...cut('after-head', 'rst'), always: true })
    for (let n = 0; n < 20; n++) {
      const view = await client(`http://127.0.0.1:${port}/`)
      expect(view).toMatchObject({ status: 200, error: 'ECONNRESET' })
    }
  },
)

test('a FIN before any byte ends the connection without a reset, even if a part of the request is unread', async () => {
  const { port } = await faultedServer(cut('before-head', 'fin'))
  const upload = `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n${'x'.repeat(10_000)}`
  expect(await overSocket(port, upload)).toMatchObject({ text: '', end: 'fin' })
})

test('an idle connection that is cut leaves the pool of its client', async () => {
  const { port } = await faultedServer(cut('idle', 'rst'))
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  onTestFinished(() => agent.destroy())
  const client = viaHttp(agent)
  expect((await client(`http://127.0.0.1:${port}/`)).body).toBe('{"ok":true}')
  await expect.poll(() => Object.keys(agent.freeSockets)).toEqual([])
})

test('a connection that is used again at once is cut when it becomes idle', async () => {
  const { port, sent } = await faultedServer(cut('idle', 'fin'))
  const { text, end } = await overSocket(port, [KEPT, KEPT])
  expect(text.match(/200 OK/g)).toHaveLength(2)
  expect(end).toBe('fin')
  await expect.poll(() => sent.map(({ stage }) => stage).toSorted()).toEqual(['end', 'idle'])
})

test('requests after a pause get no response', async () => {
  const { port, sent } = await faultedServer(cut('end', 'pause'))
  const paused = (text: string) => isHeld(sent, text)
  const { text, end } = await overSocket(port, [KEPT, KEPT, 'no HTTP at all\r\n\r\n'], paused)
  expect(text.match(/200 OK/g)).toHaveLength(1)
  expect(end).toBe('open')
})

test('a pause after the end holds a connection open that the client wanted to close', async () => {
  expect(await seen(cut('end', 'pause'), { isEnough: isHeld })).toMatchObject({
    body: '{"ok":true}',
    end: 'open',
  })
})

test.for(['released', 'closing'] as const)('an abort of %s closes a held connection', async (signal) => {
  const server = await faultedServer(cut('before-head', 'pause'))
  const view = overSocket(server.port, KEPT)
  await expect.poll(() => server.sent).toEqual([{ stage: 'before-head', bytes: 0, end: 'held' }])
  server[signal].abort()
  expect(await view).toMatchObject({ text: '', end: 'fin' })
})

test('a held connection that the client leaves is logged as held', async () => {
  const server = await faultedServer(cut('after-head', 'pause'))
  await overSocket(server.port, KEPT, (text) => isHeld(server.sent, text))
  expect(server.sent).toMatchObject([{ stage: 'after-head', end: 'held' }])
})

test('a stall ends after the maximum time of the fault', async () => {
  const { body, end, sent } = await seen({ actions: [{ pace: { stall_at: { bytes: 4 }, max_ms: 50 } }] })
  expect(body).toBe('{"ok')
  expect(end).toBe('fin')
  expect(sent).toMatchObject([{ stage: 'bytes:4', end: 'held' }])
})

test('a response waits until it is no longer held back', async () => {
  const held = new EventEmitter()
  let asked = 0
  const hold = async () => {
    asked++
    await once(held, 'free')
  }
  const { port } = await faultedServer({ hold, actions: [{ head: { status: 201 } }] })
  const view = overSocket(port, requestBytes({ path: '/' }))
  await expect.poll(() => asked).toBe(1)
  held.emit('free')
  expect((await view).text).toMatch(/^HTTP\/1\.1 201/)
})

test('a response that is held back is cut when released is aborted', async () => {
  const { port, released, sent } = await faultedServer({ hold: () => new Promise(() => {}) })
  const view = overSocket(port, requestBytes({ path: '/' }))
  setImmediate(() => released.abort())
  expect(await view).toMatchObject({ text: '', end: 'fin' })
  expect(sent).toEqual([{ stage: 'after-handler', bytes: 0, end: 'cut' }])
})

test('a pipelined request is cut after the response to the one before it', async () => {
  const { port } = await faultedServer({
    actions: [{ pace: { before_head_ms: 40 } }, { cut: { at: 'end', how: 'fin' } }],
    always: true,
  })
  const { text, end } = await overSocket(port, [KEPT, KEPT])
  expect(text.match(/200 OK/g)).toHaveLength(1)
  expect(end).toBe('fin')
})

test('a client that leaves before its response causes no error', async () => {
  const { port, sent } = await faultedServer({ actions: [{ pace: { before_head_ms: 50 } }] })
  const socket = connect(port, '127.0.0.1')
  socket.write(KEPT, () => setImmediate(() => socket.resetAndDestroy()))
  await expect.poll(() => sent).toEqual([{ stage: 'after-handler', bytes: 0, end: 'left' }])
})
