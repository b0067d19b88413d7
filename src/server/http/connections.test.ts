import { once } from 'node:events'
import type { RequestListener, ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import { connected, everything, serving } from '../../../test/support/http-server.ts'
import { overSocket, requestBytes } from '../../../test/support/wire-client.ts'
import { evidenceOf, silence } from './connections.ts'

const KEPT = requestBytes({ path: '/', headers: { Host: 'a', Connection: 'keep-alive' } })
const LAST = requestBytes({ path: '/', headers: { Host: 'a' } })

test('connections are numbered in the order of arrival, and so are the requests on each of them', async () => {
  const served: string[] = []
  const { port } = await serving(async (req, res) => {
    // Pipelined requests keep their numbers until they are served.
    await new Promise(setImmediate)
    const { connection, requests_before } = evidenceOf(req, res)
    served.push(`${connection.id}/${requests_before + 1};`)
    res.end(served.at(-1))
  })
  const received = []
  for (const requests of [[KEPT, KEPT, LAST], KEPT + KEPT + LAST])
    received.push(...((await overSocket(port, requests)).text.match(/c\d\/\d;/g) ?? []))
  expect(received).toEqual(['c1/1;', 'c1/2;', 'c1/3;', 'c2/1;', 'c2/2;', 'c2/3;'])
  expect(served).toEqual(received)
})

test('pipelined requests are served one at a time, each in a separate turn of the event loop', async () => {
  let turn = 0
  let isOver = false
  const next = (): void => {
    turn += 1
    if (!isOver) setImmediate(next)
  }
  setImmediate(next)
  const turns: number[] = []
  const { port } = await serving((_req, res) => {
    turns.push(turn)
    res.end('ok;')
  })
  const { text } = await overSocket(port, KEPT.repeat(99) + LAST)
  isOver = true
  expect(text.match(/ok;/g)).toHaveLength(100)
  expect(new Set(turns).size).toBe(100)
})

test('nothing more is read from a connection while requests on it wait for their turn', async () => {
  const held: ServerResponse[] = []
  const { server, port } = await serving((req, res) => {
    if (req.url === '/other') res.end()
    else held.push(res)
  })
  let read = 0
  server.on('request', (req) => {
    if (req.url === '/') read += 1
  })
  const socket = await connected(port)
  const begun = once(server, 'request')
  socket.write(KEPT.repeat(9_999) + LAST)
  await begun
  for (let n = 0; n < 50; n++) await overSocket(port, LAST.replace('/', '/other'))
  // Node reads 64 KiB at a time.
  expect(read).toBeLessThan(65_536 / KEPT.length + 2)
  expect(held).toHaveLength(1)
  const text = everything(socket)
  const response = (): void => {
    held.shift()?.end()
    if (!socket.closed) setImmediate(response)
  }
  response()
  expect([(await text).match(/200 OK/g)?.length, read]).toEqual([10_000, 10_000])
})

test('a client that ends its side after its requests gets all responses', async () => {
  const { port } = await serving((_req, res) => res.end('ok;'))
  const socket = await connected(port)
  const text = everything(socket)
  socket.end(KEPT.repeat(100))
  expect((await text).match(/ok;/g)).toHaveLength(100)
})

test('a client that sends Connection: close gets no response to later requests', async () => {
  const urls: (string | undefined)[] = []
  const { port } = await serving((req, res) => {
    urls.push(req.url)
    res.end()
  })
  await overSocket(port, LAST.replace('/', '/last') + KEPT)
  expect(urls).toEqual(['/last'])
})

test('a silent connection stays open after the keep-alive timeout, and gets no more responses', async () => {
  const listener: RequestListener = (req, res) => {
    if (req.url === '/silent') silence(req.socket)
    res.end('ok')
  }
  const { port } = await serving(listener, { keepAliveTimeout: 30 })
  // Node adds a second to the keep-alive timeout.
  let isOver = false
  const silent = overSocket(port, KEPT.replace('/', '/silent'), () => isOver)
  const twice = overSocket(port, KEPT.replace('/', '/silent') + LAST, () => isOver)
  expect((await overSocket(port, KEPT)).end).toBe('fin')
  isOver = true
  expect(await silent).toMatchObject({ end: 'open', text: expect.stringMatching(/ok$/) })
  expect((await twice).text.match(/200 OK/g)).toHaveLength(1)
})
