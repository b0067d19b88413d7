import { Agent } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import { faultedServer, isHeld, seen } from '../../../../test/support/faulted-server.ts'
import { overSocket, requestBytes, viaHttp } from '../../../../test/support/wire-client.ts'
import type { CutFault } from './cut.ts'
import type { Stage } from './stage.ts'
import { SETTLE } from './stop.ts'

const cut = (at: Stage, how: CutFault['how']) => ({ actions: [{ cut: { at, how } }] })
const KEPT = requestBytes({ path: '/', headers: { Connection: 'keep-alive' } })

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
  const chunked = { frame: { mode: 'chunked' } } as const
  const actions = [chunked, ...cut('before-last-chunk', 'rst').actions]
  expect(await seen({ actions })).toMatchObject({ body: 'b\r\n{"ok":true}\r\n', end: 'rst' })
})

test('the cut that is reached first counts', async () => {
  const actions = (['end', { bytes: 5 }, { bytes: 3 }] as const).flatMap((at) => cut(at, 'fin').actions)
  expect(await seen({ actions })).toMatchObject({ body: '{"o', sent: [{ stage: 'bytes:3' }] })
})

test('a cut at a stage that has passed already comes before the response', async () => {
  const sent = [{ stage: 'before-read', bytes: 0, end: 'cut' }]
  expect(await seen(cut('before-read', 'rst'))).toMatchObject({ text: '', sent })
})

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
  expect([text.match(/200 OK/g)?.length, end]).toEqual([1, 'open'])
  // So it is when the client wanted to close the connection.
  const view = await seen(cut('end', 'pause'), { isEnough: isHeld })
  expect(view).toMatchObject({ body: '{"ok":true}', end: 'open' })
})

test('a response that is held back is cut when released is aborted', async () => {
  const { port, released, sent } = await faultedServer({ hold: () => new Promise(() => {}) })
  const view = overSocket(port, requestBytes({ path: '/' }))
  setImmediate(() => released.abort())
  expect(await view).toMatchObject({ text: '', end: 'fin' })
  expect(sent).toEqual([{ stage: 'after-handler', bytes: 0, end: 'cut' }])
})
