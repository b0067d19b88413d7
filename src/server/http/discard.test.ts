import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { discardBody } from './body.ts'

const MIB = 1024 * 1024

/** A server that responds with 401 without reading bodies, and a connection to it. */
async function serving(maxBytes?: number) {
  const server = createServer(async (req, res) => {
    await discardBody(req, maxBytes)
    server.emit('answering')
    res.statusCode = 401
    res.end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  onTestFinished(() => {
    socket.destroy()
    server.close()
    server.closeAllConnections()
  })
  await once(socket, 'connect')
  return { server, socket }
}

test('a response on a connection that stays open is sent before the body has arrived', async () => {
  const { socket } = await serving()
  socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n')
  expect(String(await once(socket, 'data'))).toContain('401')
  socket.write('helloGET / HTTP/1.1\r\nHost: x\r\n\r\n')
  expect(String(await once(socket, 'data'))).toContain('401')
})

test('a response that closes the connection is sent after the body has arrived', async () => {
  const { server, socket } = await serving()
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
  const { socket } = await serving()
  socket.write('GET / HTTP/1.0\r\n\r\n')
  expect(String(await once(socket, 'data'))).toContain('401')
})

test('an upload that exceeds the bound loses its connection', async () => {
  for (const connection of ['keep-alive', 'close']) {
    const { socket } = await serving(MIB)
    socket.on('error', () => {})
    socket.resume()
    socket.write(
      `POST / HTTP/1.1\r\nHost: x\r\nConnection: ${connection}\r\nContent-Length: ${8 * MIB}\r\n\r\n`,
    )
    socket.write(Buffer.alloc(3 * MIB))
    await new Promise((resolve) => socket.once('close', resolve))
    expect(socket.destroyed, connection).toBe(true)
  }
})
