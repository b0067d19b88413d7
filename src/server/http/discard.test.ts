import { once } from 'node:events'
import { expect, test } from 'vitest'
import { connected, serving } from '../../../test/support/http-server.ts'
import { discardBody } from './body.ts'

const MIB = 1024 * 1024

/** A server that responds with 401 without reading bodies, and a connection to it. */
async function unread(maxBytes?: number) {
  const { server, port } = await serving(async (req, res) => {
    await discardBody(req, maxBytes)
    server.emit('answering')
    res.statusCode = 401
    res.end()
  })
  return { server, socket: await connected(port) }
}

test('a response on a connection that stays open is sent before the body has arrived', async () => {
  const { socket } = await unread()
  socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n')
  expect(String(await once(socket, 'data'))).toContain('401')
  socket.write('helloGET / HTTP/1.1\r\nHost: x\r\n\r\n')
  expect(String(await once(socket, 'data'))).toContain('401')
})

test('a response that closes the connection is sent after the body has arrived', async () => {
  const { server, socket } = await unread()
  let responding = false
  server.on('answering', () => {
    responding = true
  })
  const head = once(server, 'request')
  socket.write('POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 5\r\n\r\n')
  await head
  await new Promise((resolve) => setImmediate(resolve))
  expect(responding).toBe(false)
  socket.write('hello')
  expect(String(await once(socket, 'data'))).toContain('401')
})

test('a request without a body gets its response at once, even when the connection closes', async () => {
  const { socket } = await unread()
  socket.write('GET / HTTP/1.0\r\n\r\n')
  expect(String(await once(socket, 'data'))).toContain('401')
})

test.for(['keep-alive', 'close'])('an upload beyond the bound is cut off: %s', async (connection) => {
  const { socket } = await unread(MIB)
  socket.resume()
  const head = `Host: x\r\nConnection: ${connection}\r\nContent-Length: ${8 * MIB}`
  socket.write(`POST / HTTP/1.1\r\n${head}\r\n\r\n`)
  socket.write(Buffer.alloc(3 * MIB))
  await new Promise((resolve) => socket.once('close', resolve))
})
