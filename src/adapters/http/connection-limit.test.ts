import { once } from 'node:events'
import type { Socket } from 'node:net'
import { expect, test } from 'vitest'
import { connected, echoUrl, everything, exchange, HOST, serving } from '../../../test/support/http-server.ts'
import { mayEnd } from './connections.ts'

/** A connection that is kept open after its first response. */
async function idleConnection(port: number, path = '/'): Promise<Socket> {
  const socket = await connected(port)
  socket.write(`GET ${path} HTTP/1.1\r\n${HOST}\r\n`)
  await once(socket, 'data')
  return socket
}

test('a new connection beyond the maximum replaces the one that has been idle longest', async () => {
  const { port, warnings } = await serving(echoUrl, { maxConnections: 3 })
  const [a, b, c] = [await idleConnection(port), await idleConnection(port), await idleConnection(port)]
  a.write(`GET /again HTTP/1.1\r\n${HOST}\r\n`)
  await once(a, 'data')
  expect(warnings).toEqual([])
  const ended = [once(b, 'end'), once(c, 'end')]
  await idleConnection(port)
  await ended[0]
  await idleConnection(port)
  await ended[1]
  a.write(`GET /still HTTP/1.1\r\n${HOST}\r\n`)
  expect(String(await once(a, 'data'))).toMatch(/^HTTP\/1\.1 200 OK/)
  expect(warnings).toEqual([expect.stringMatching(/^3 connections are open.*idle longest/)])
})

test('without an idle connection, the oldest waiting request is ended; without one, the new request is refused', async () => {
  const { server, port, warnings } = await serving(
    (req, res) => {
      const { url = '' } = req
      if (url.startsWith('/wait')) mayEnd(req, () => res.writeHead(503).end(`ended ${url}`))
      if (url === '/now') res.end()
      server.emit('held')
    },
    { maxConnections: 3 },
  )
  const ask = async (path: string): Promise<Promise<string>[]> => {
    const held = once(server, 'held')
    const socket = await connected(port)
    const text = everything(socket)
    socket.write(`GET ${path} HTTP/1.1\r\n${HOST}\r\n`)
    await held
    return [text]
  }
  await ask('/busy-1')
  const [first] = await ask('/wait-1')
  const [second] = await ask('/wait-2')
  await ask('/busy-2')
  expect(await first).toMatch(/^HTTP\/1\.1 503 .*Connection: close.*ended \/wait-1/s)
  await ask('/busy-3')
  expect(await second).toMatch(/^HTTP\/1\.1 503 .*ended \/wait-2/s)
  // Busy requests are not cut off for a new connection: the new one is refused.
  const refused = await exchange(port, `GET /now HTTP/1.1\r\n${HOST}\r\n`)
  expect(refused).toMatch(
    /^HTTP\/1\.1 503 .*Connection: close.*"error":"service_unavailable".*none of them is idle/s,
  )
  expect(warnings).toHaveLength(1)
})

test('a request whose wait is over is not ended: its connection is idle', async () => {
  const ended: string[] = []
  const { port } = await serving(
    (req, res) => {
      mayEnd(req, () => ended.push(req.url ?? ''))
      res.end()
    },
    { maxConnections: 1 },
  )
  const first = await idleConnection(port)
  const end = once(first, 'end')
  await idleConnection(port)
  await end
  expect(ended).toEqual([])
})
