import type { RequestListener } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import { overSocket, requestBytes } from '../../../test/support/wire-client.ts'
import { isIdle, passageOf, silence, turnOf } from './connections.ts'
import { listen } from './listen.ts'
import { close, createHttpServer, type ServerLimits } from './server.ts'

const KEPT = requestBytes({ path: '/', headers: { Host: 'a', Connection: 'keep-alive' } })
const LAST = requestBytes({ path: '/', headers: { Host: 'a' } })

async function serving(listener: RequestListener, limits: Partial<ServerLimits> = {}): Promise<number> {
  const server = createHttpServer(listener, {
    renderParserError: () => ({ headers: [], body: '' }),
    refuse: (_req, res) => res.destroy(),
    limits,
  })
  onTestFinished(() => close(server, { graceful: false }))
  return (await listen(server, { port: 0, host: '127.0.0.1' })).port
}

test('connections are numbered in their order, and requests on each of them', async () => {
  const port = await serving((req, res) => {
    const passage = passageOf(req)
    res.end(`${passage?.id}/${passage?.index};`)
  })
  const { text } = await overSocket(port, [KEPT, KEPT, LAST])
  expect(text.match(/c\d\/\d;/g)).toEqual(['c1/1;', 'c1/2;', 'c1/3;'])
  expect((await overSocket(port, LAST)).text).toMatch(/c2\/1;/)
})

test('pipelined requests keep their numbers however late they are asked for, and have their turns in order', async () => {
  const turns: (number | undefined)[] = []
  const port = await serving(async (req, res) => {
    await new Promise(setImmediate)
    const index = passageOf(req)?.index
    await turnOf(req)
    turns.push(index)
    res.end(`${index};`)
  })
  const { text } = await overSocket(port, KEPT + KEPT + LAST)
  expect(text.match(/\d;/g)).toEqual(['1;', '2;', '3;'])
  expect(turns).toEqual([1, 2, 3])
})

test('a connection is idle between the end of an answer and the next request', async () => {
  const idle: boolean[] = []
  const port = await serving((req, res) => {
    idle.push(isIdle(req.socket))
    res.once('close', () => setImmediate(() => idle.push(isIdle(req.socket))))
    res.end()
  })
  await overSocket(port, LAST)
  await expect.poll(() => idle).toEqual([false, true])
})

test('a silent connection outlives the keep-alive timeout, and is answered no more', async () => {
  const port = await serving(
    (req, res) => {
      if (req.url === '/silent') silence(req.socket)
      res.end('ok')
    },
    { keepAliveTimeout: 30 },
  )
  // Node grants a client a second beyond it.
  const silent = overSocket(port, KEPT.replace('/', '/silent'), 2_000)
  const twice = overSocket(port, KEPT.replace('/', '/silent') + LAST, 2_000)
  expect((await overSocket(port, KEPT, 5_000)).end).toBe('fin')
  expect(await silent).toMatchObject({ end: 'open', text: expect.stringMatching(/ok$/) })
  expect((await twice).text.match(/200 OK/g)).toHaveLength(1)
})
