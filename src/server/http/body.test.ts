import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { Agent, type IncomingMessage, type RequestOptions, request } from 'node:http'
import type { Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { expect, onTestFinished, test, vi } from 'vitest'
import { connected, serving } from '../../../test/support/http-server.ts'
import type { Evidence } from '../../core/log/evidence.ts'
import { type ArrivedRequest, MAX_BODY, noteArrival } from '../../core/record/recording.ts'
import { type Body, type BodyOptions, discardBody, readBody } from './body.ts'

const MIB = 1024 * 1024
const ZEROS = Buffer.alloc(50 * MIB, 0x20)

const STATUSES = new Map([
  ['bad_request', 400],
  ['payload_too_large', 413],
  ['unsupported_media_type', 415],
])

/**
 * A server that reads each body and responds with 200 and its size, or with the status of the refusal.
 * `seen` is the n-th request, as soon as it has arrived, and the result of readBody for it.
 */
async function decision(options: BodyOptions) {
  const all: { req: IncomingMessage; body: Promise<Body> }[] = []
  const { server, port } = await serving(async (req, res) => {
    const promise = readBody(req, options)
    all.push({ req, body: promise })
    const body = await promise
    if (body.kind === 'aborted') return
    res.statusCode = body.kind === 'bytes' ? 200 : (STATUSES.get(body.refusal.code) ?? 500)
    res.end(body.kind === 'bytes' ? String(body.bytes.length) : body.refusal.message)
  })
  const seen = async (n: number) => {
    for (;;) {
      const wanted = all[n]
      if (wanted !== undefined) return wanted
      await once(server, 'request')
    }
  }
  return { port, seen }
}

async function send(port: number, options: RequestOptions, ...chunks: readonly Buffer[]) {
  const req = request({ host: '127.0.0.1', port, method: 'POST', ...options })
  // A refused upload may be reset after its response. Before that, `once` rejects.
  req.on('error', () => {})
  const arrived = once(req, 'response') as Promise<[IncomingMessage]>
  for (const chunk of chunks) req.write(chunk)
  req.end()
  const [res] = await arrived
  return { status: res.statusCode, text: await text(res) }
}

const sized = (size: number): RequestOptions => ({ headers: { 'content-length': size } })
const coded = (coding: string): RequestOptions => ({ headers: { 'content-encoding': coding } })
const CODINGS = [
  ['gzip', gzipSync],
  ['deflate', deflateSync],
  ['br', brotliCompressSync],
] as const

async function rawConnection(port: number, head: string): Promise<Socket> {
  const socket = await connected(port)
  socket.write(`POST / HTTP/1.1\r\nHost: x\r\n${head}\r\n\r\n`)
  return socket
}

function noise(size: number): Buffer {
  const blocks = Array.from({ length: size / 32 }, (_, n) => createHash('sha256').update(String(n)).digest())
  return Buffer.concat(blocks)
}

test('the limit is exact to the byte for every way of sending', { tags: ['R270'] }, async () => {
  const server = await decision({ bytes: 64 * 1024 })
  // Noise does not compress: its coded form is larger than the limit, but it is still accepted.
  const within = noise(64 * 1024)
  const over = Buffer.concat([within, Buffer.from('!')])
  for (const [status, bytes] of [
    [200, within],
    [413, over],
  ] as const) {
    expect((await send(server.port, sized(bytes.length), bytes)).status).toBe(status)
    expect((await send(server.port, {}, bytes)).status).toBe(status)
    for (const [coding, encode] of CODINGS)
      expect((await send(server.port, coded(coding), encode(bytes))).status, coding).toBe(status)
  }
})

test('a small compressed body that decodes to many bytes is stopped at the limit', async () => {
  const server = await decision({ bytes: MIB })
  const bomb = gzipSync(ZEROS, { level: 1 })
  const response = await send(server.port, coded('gzip'), bomb)
  expect(response.status).toBe(413)
  expect(response.text).toMatch(/larger than 1048576 bytes.*after content decoding.*split/)
})

test('a coded body that decodes to no bytes is limited by its coded size', async () => {
  const server = await decision({ bytes: 1024 })
  const empty = Buffer.concat(Array.from({ length: 1_000 }, () => gzipSync('')))
  expect(await send(server.port, coded('gzip'), empty)).toMatchObject({ status: 413 })
})

test('an early 413 reaches http and fetch clients that upload 20 MB, with any Connection header', async () => {
  const server = await decision({ bytes: MIB })
  const upload = ZEROS.subarray(0, 20_000_000)
  const responses = [
    await send(server.port, sized(upload.length), upload),
    await send(server.port, { ...sized(upload.length), agent: false }, upload),
    await send(server.port, { headers: { 'content-length': upload.length, connection: 'close' } }, upload),
    await send(server.port, {}, upload),
    await fetch(`http://127.0.0.1:${server.port}`, { method: 'POST', body: upload }),
  ]
  expect(responses.map(({ status }) => status)).toEqual([413, 413, 413, 413, 413])
})

test('a connection can be used for the next request after a refused upload', async () => {
  const server = await decision({ bytes: 10 })
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  onTestFinished(() => agent.destroy())
  expect((await send(server.port, { agent, ...sized(3 * MIB) }, ZEROS.subarray(0, 3 * MIB))).status).toBe(413)
  expect((await send(server.port, { agent }, Buffer.from('{}'))).status).toBe(200)
  const [first, second] = [await server.seen(0), await server.seen(1)]
  expect(second.req.socket).toBe(first.req.socket)
})

test('gzip, deflate, br and identity are decoded, in any letter case', async () => {
  const server = await decision({ bytes: 100 })
  const json = Buffer.from('{"name":"é"}')
  for (const [coding, bytes] of [
    ['GZIP', gzipSync(json)],
    ['x-gzip', gzipSync(json)],
    ['gzip', Buffer.concat([gzipSync(json.subarray(0, 5)), gzipSync(json.subarray(5))])],
    ['deflate', deflateSync(json)],
    ['br', brotliCompressSync(json)],
    ['identity', json],
  ] as const) {
    expect(await send(server.port, coded(coding), bytes), coding).toEqual({ status: 200, text: '13' })
  }
})

test('an unknown or second content coding is refused', async () => {
  const server = await decision({ bytes: 100 })
  for (const coding of ['zstd', 'gzip, br', 'constructor']) {
    const response = await send(server.port, coded(coding), Buffer.from('{}'))
    expect(response).toEqual({ status: 415, text: expect.stringContaining('Use gzip, deflate, br or no') })
  }
})

test.for(CODINGS)('a body in %s that is corrupt, cut, or continued is refused', async ([coding, encode]) => {
  const { port } = await decision({ bytes: 10 * MIB })
  const bytes = encode(noise(320))
  const refusal = async (...chunks: Buffer[]) => {
    const { status, text } = await send(port, coded(coding), ...chunks)
    expect(status).toBe(400)
    return text
  }
  expect(await refusal(bytes.subarray(0, -3))).toContain('ends too early')
  expect(await refusal(bytes, Buffer.alloc(200_000, 0))).toContain('continues for 200000 bytes')
  await refusal(bytes, Buffer.from('xyz'))
  await refusal(Buffer.from('{"a":1,"b":2}'))
})

test('a client that sends Connection: close gets the refusal of its coded body', async () => {
  const server = await decision({ bytes: 100 })
  const headers = { 'content-encoding': 'gzip', connection: 'close' }
  expect(await send(server.port, { headers }, Buffer.from('{"a":1}'))).toMatchObject({ status: 400 })
  expect(await send(server.port, { headers }, gzipSync('{}').subarray(0, -3))).toMatchObject({ status: 400 })
})

const HEADS = [
  'Content-Length: 9',
  'Transfer-Encoding: chunked',
  'Content-Length: 9\r\nContent-Encoding: gzip',
]

test.for(HEADS)('the body of a client that leaves before its end is aborted: %s', async (head) => {
  const server = await decision({ bytes: 1_000 })
  const socket = await rawConnection(server.port, head)
  const { body } = await server.seen(0)
  socket.destroy()
  expect(await body).toEqual({ kind: 'aborted' })
})

test('chunks of any size are joined in order, however the body is sent', async () => {
  const bytes = noise(96 * 1024)
  const chunks: Buffer[] = []
  for (let at = 0, size = 1; at < bytes.length; at += size, size = (size * 7) % 4_099)
    chunks.push(bytes.subarray(at, at + size))
  const server = await decision({ bytes: MIB })
  await send(server.port, {}, ...chunks)
  await send(server.port, sized(bytes.length), ...chunks)
  for (const n of [0, 1]) expect(await (await server.seen(n)).body).toEqual({ kind: 'bytes', bytes })
})

test.for<[bytes: number, isKept: boolean]>([
  [0, true],
  [MAX_BODY, true],
  [MAX_BODY + 1, false],
])('a body of %i bytes has its digest, and is kept for the recording: %s', async ([bytes, isKept]) => {
  const evidence = {} as Evidence
  const arrived: ArrivedRequest = { method: 'POST', target: '/', version: '1.1', headers: [] }
  noteArrival(evidence, arrived)
  const sent = Buffer.alloc(bytes, 'x')
  const server = await decision({ bytes: 2 * MAX_BODY, evidence })
  await send(server.port, { headers: { 'transfer-encoding': 'chunked' } }, sent)
  expect(evidence.body).toEqual({ bytes, sha256: createHash('sha256').update(sent).digest('hex') })
  expect(arrived.body).toEqual(isKept ? sent : 'large')
})

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
  const responding = vi.fn()
  server.on('answering', responding)
  const head = once(server, 'request')
  socket.write('POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 5\r\n\r\n')
  await head
  await new Promise((resolve) => setImmediate(resolve))
  expect(responding).not.toHaveBeenCalled()
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
