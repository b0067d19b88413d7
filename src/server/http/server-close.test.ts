import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import { connected, everything, exchange, HOST, serving } from '../../../test/support/http-server.ts'
import { close } from './server.ts'

test('a graceful close finishes the request in flight, and ends idle and unfinished connections at once', async () => {
  const { server, port } = await serving((req, res) => {
    if (req.url === '/slow') server.emit('held', res)
    else res.end()
  })
  const idle = await connected(port)
  idle.write(`GET /idle HTTP/1.1\r\n${HOST}\r\n`)
  await once(idle, 'data')
  const unfinished = await connected(port)
  unfinished.write('GET / HT')
  const held = once(server, 'held') as Promise<[ServerResponse]>
  const slow = await connected(port)
  const slowText = everything(slow)
  slow.write(`GET /slow HTTP/1.1\r\n${HOST}\r\n`)
  const [res] = await held
  const ended = Promise.all([everything(idle), everything(unfinished)])
  const closed = close(server, { graceful: true })
  expect(await ended).toEqual(['', ''])
  await expect(connected(port)).rejects.toThrow(/ECONNREFUSED/)
  res.end('done')
  await closed
  expect(await slowText).toMatch(/^HTTP\/1\.1 200 OK.*Connection: close.*done$/s)
})

test('a graceful close also ends a connection whose response began before it', async () => {
  const { server, port } = await serving((_req, res) => {
    res.writeHead(200, ['Content-Length', '4'])
    res.write('ha')
    server.emit('held', res)
  })
  const held = once(server, 'held') as Promise<[ServerResponse]>
  const text = exchange(port, `GET / HTTP/1.1\r\n${HOST}\r\n`)
  const [res] = await held
  const closed = close(server, { graceful: true })
  res.end('lf')
  await closed
  expect(await text).toMatch(/half$/)
})

test('a close that is not graceful cuts the connections of an earlier graceful one; both resolve', async () => {
  const { server, port } = await serving((_req, res) => {
    res.writeHead(200)
    res.write('endless')
  })
  const socket = await connected(port)
  socket.write(`GET / HTTP/1.1\r\n${HOST}\r\n`)
  await once(socket, 'data')
  const graceful = close(server, { graceful: true })
  await close(server, { graceful: false })
  await graceful
  await close(server, { graceful: true })
})
