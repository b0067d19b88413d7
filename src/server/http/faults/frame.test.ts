import { expect, test } from 'vitest'
import { faultedServer, seen } from '../../../../test/support/faulted-server.ts'
import { overSocket, requestBytes } from '../../../../test/support/wire-client.ts'
import type { AskedFraming } from './wire-primitive.ts'

const frame = (frame: AskedFraming) => ({ actions: [{ frame }] })
const KEPT = requestBytes({ path: '/', headers: { Connection: 'keep-alive' } })

test('chunked marks the end of a body with a last chunk, and the connection can be used again', async () => {
  const { port } = await faultedServer(frame({ mode: 'chunked' }))
  const { text } = await overSocket(port, [KEPT, requestBytes({ path: '/' })])
  const [first = '', second = ''] = text.split(/(?=HTTP\/1\.1)/)
  expect(first).toMatch(/Transfer-Encoding: chunked\r\n[\s\S]*\r\n\r\nb\r\n\{"ok":true\}\r\n0\r\n\r\n$/)
  expect(first).not.toContain('Content-Length')
  expect(second).toMatch(/^HTTP\/1\.1 200/)
})

test('length sends a stream with a Content-Length', async () => {
  const { head, body } = await seen({ ...frame({ mode: 'length' }), text: undefined, lines: ['a\n', 'b\n'] })
  expect(head).toContain('Content-Length: 4')
  expect(body).toBe('a\nb\n')
})

test('close marks the end of a body by closing the connection, even if the client wants to keep it', async () => {
  const { port } = await faultedServer(frame({ mode: 'close' }))
  const { text, end } = await overSocket(port, KEPT)
  expect(text).not.toMatch(/content-length|transfer-encoding/i)
  expect(text).toMatch(/Connection: close\r\n\r\n\{"ok":true\}$/)
  expect(end).toBe('fin')
})

test('a response with too large a Content-Length ends early, with its connection', async () => {
  const { port, sent } = await faultedServer(frame({ length_delta: 10 }))
  const { text, end } = await overSocket(port, KEPT)
  expect(text).toMatch(/Content-Length: 21\r\n[\s\S]*\r\n\r\n\{"ok":true\}$/)
  expect(end).toBe('fin')
  expect(sent).toEqual([{ stage: 'end', bytes: text.length, end: 'whole' }])
})

test('a Content-Length that is too small leaves bytes after the message', async () => {
  const { head, body } = await seen(frame({ length_delta: -4 }))
  expect(head).toContain('Content-Length: 7')
  expect(body).toBe('{"ok":true}')
})

test('a tail follows the end of the message', async () => {
  const tail_b64 = Buffer.from('HTTP/1.1 500 Oops').toString('base64')
  expect((await seen(frame({ tail_b64 }))).body).toBe('{"ok":true}HTTP/1.1 500 Oops')
  const chunked = await seen(frame({ mode: 'chunked', tail_b64 }))
  expect(chunked.body).toBe('b\r\n{"ok":true}\r\n0\r\n\r\nHTTP/1.1 500 Oops')
})

test('a 204 has a body if a fault sets its framing', async () => {
  const framed = await seen({ ...frame({ mode: 'length' }), status: 204 })
  expect(framed.head).toMatch(/^HTTP\/1\.1 204 No Content\r\n[\s\S]*Content-Length: 11/)
  expect(framed).toMatchObject({ body: '{"ok":true}', end: 'fin' })
  const plain = await seen({ status: 204, actions: [] })
  expect([plain.head.includes('Content-Length'), plain.body]).toEqual([false, ''])
})

test('the response to HEAD has the headers of the framing and no body, from both writers', async () => {
  const { actions } = frame({ mode: 'chunked' })
  const node = await seen({ actions }, { method: 'HEAD' })
  const raw = await seen({ actions: [...actions, { head: { version: '1.0' } }] }, { method: 'HEAD' })
  expect(node.head).toContain('Transfer-Encoding: chunked')
  expect(raw.head).toMatch(/^HTTP\/1\.0 200/)
  expect([node.body, raw.body]).toEqual(['', ''])
})

test('an HTTP/1.0 client gets a stream that ends with its connection', async () => {
  const { port } = await faultedServer({ text: undefined, lines: ['a\n'] })
  const { text, end } = await overSocket(port, 'GET / HTTP/1.0\r\nHost: a\r\n\r\n')
  expect(text).toMatch(/^HTTP\/1\.1 200 OK\r\n[\s\S]*\r\n\r\na\n$/)
  expect(text).not.toMatch(/chunked/)
  expect(end).toBe('fin')
})
