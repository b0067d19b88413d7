import { once } from 'node:events'
import type { RequestListener, ServerResponse } from 'node:http'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  connected,
  everything,
  exchange,
  HOST,
  RATE_HEADERS,
  rawResponse,
  serving,
} from '../../../test/support/http-server.ts'
import { readBody } from './body.ts'
import { close } from './server.ts'

const GET = `GET / HTTP/1.1\r\n${HOST}`
const POST = `POST / HTTP/1.1\r\n${HOST}`
const CHUNKED = 'Transfer-Encoding: chunked\r\n'
const BIG = 'x'.repeat(17 * 1024)

/** Responds with the body, or with the reason why there is none. */
const echoBody: RequestListener = async (req, res) => {
  const body = await readBody(req, { bytes: 100 })
  res.end(body.kind === 'bytes' ? body.bytes : body.kind)
}

test.each([
  ['garbage', 'garbage\r\n\r\n'],
  ['an unknown method', `BREW / HTTP/1.1\r\n${HOST}\r\n`],
  ['a bad version', `GET / HTTP/9.9\r\n${HOST}\r\n`],
  ['a space in the target', `GET /a b HTTP/1.1\r\n${HOST}\r\n`],
  ['a bad header name', `${GET}a b: c\r\n\r\n`],
  ['a header without a colon', `${GET}abc\r\n\r\n`],
  ['a NUL in a header', `${GET}a: \0\r\n\r\n`],
  ['lines that end in LF', 'GET / HTTP/1.1\nHost: localhost\n\n'],
  ['two equal Content-Lengths', `${POST}Content-Length: 1\r\nContent-Length: 1\r\n\r\na`],
  ['a bad Content-Length', `${POST}Content-Length: 1x\r\n\r\na`],
  ['Content-Length and Transfer-Encoding', `${POST}Content-Length: 1\r\n${CHUNKED}\r\n`],
  ['an unknown Transfer-Encoding', `${POST}Transfer-Encoding: chunked, gzip\r\n\r\n`],
])('%s gets a 400 in JSON', { tags: ['R253', 'R259', 'R239'] }, async (_what, bytes) => {
  const { port } = await serving()
  expect(rawResponse(await exchange(port, bytes), 400)).toMatchObject({ error: 'bad_request' })
})

test.each<[what: string, bytes: string | Buffer, status: number, reason: string]>([
  ['a TLS client', Buffer.from([0x16, 0x03, 0x01, 0x00, 0x05, 0x01, 0x00, 0x00, 0x01, 0x03]), 400, 'http://'],
  ['CONNECT', 'CONNECT example.org:443 HTTP/1.1\r\nHost: x\r\n\r\n', 405, 'not a proxy'],
  ['a body that breaks before its response', `${POST}${CHUNKED}\r\nzz\r\n`, 400, 'chunk size'],
  ['17 KiB of chunk extensions', `${POST}${CHUNKED}\r\n2;${BIG}\r\n{}\r\n`, 400, 'extensions of one chunk'],
])('%s is refused with the reason', async (_what, bytes, status, reason) => {
  const { port } = await serving(echoBody)
  expect(rawResponse(await exchange(port, bytes), status).message).toContain(reason)
})

test('a head or URL that is too large gets a 431', { tags: ['R259', 'R239'] }, async () => {
  const { port } = await serving()
  rawResponse(await exchange(port, `${GET}a: ${BIG}\r\n\r\n`), 431)
  rawResponse(await exchange(port, `GET /${BIG} HTTP/1.1\r\n${HOST}\r\n`), 431)
})

test('S3 a head or body that arrives too slowly gets a 408', { tags: ['R259'] }, async () => {
  const limits = { headersTimeout: 40, requestTimeout: 80, connectionsCheckingInterval: 10 }
  const { port } = await serving((req) => req.resume(), limits)
  expect(rawResponse(await exchange(port, 'GET / HT'), 408)).toMatchObject({ error: 'request_timeout' })
  rawResponse(await exchange(port, `${POST}Content-Length: 9\r\n\r\nabc`), 408)
})

test('a request that is half closed before its end gets a 400', async () => {
  const { port } = await serving((req) => req.resume())
  const socket = await connected(port)
  const response = everything(socket)
  socket.end(`${POST}Content-Length: 9\r\n\r\nabc`)
  expect(rawResponse(await response, 400).message).toContain('half closed')
})

test('a body that breaks after its response gets no second response', async () => {
  const { port } = await serving((req, res) => {
    req.resume()
    res.end('early')
  })
  const socket = await connected(port)
  const text = everything(socket)
  socket.write(`${POST}${CHUNKED}\r\n`)
  await once(socket, 'data')
  socket.write('zz\r\n')
  expect((await text).match(/HTTP\/1\.1 \d/g)).toHaveLength(1)
  expect(await text).toMatch(/early$/)
})

test('garbage after a request gets its 400 after the response to that request', async () => {
  const responses: ServerResponse[] = []
  const { server, port } = await serving((_req, res) => responses.push(res))
  const socket = await connected(port)
  const text = everything(socket)
  const failed = once(server, 'clientError')
  socket.write(`GET /first HTTP/1.1\r\n${HOST}\r\ngarbage\r\n\r\n`)
  await failed
  responses[0]?.write('fir')
  const failedAgain = once(server, 'clientError')
  socket.write('more garbage\r\n\r\n')
  await failedAgain
  responses[0]?.end('st')
  const [first = '', second = '', ...others] = (await text).split(/(?=HTTP\/1\.1 \d)/)
  expect(first).toMatch(/^HTTP\/1\.1 200 OK.*fir\r\n2\r\nst\r\n/s)
  rawResponse(second, 400)
  expect(others).toEqual([])
})

test('no error is written into a response in progress', async () => {
  const { port } = await serving((_req, res) => {
    res.writeHead(200, ['Content-Length', '100'])
    res.write('half')
  })
  const text = await exchange(port, `${GET}\r\ngarbage\r\n\r\n`)
  expect(text).not.toContain('400')
})

test('a connection that is reset inside a head does not disturb others', async () => {
  const { server, port } = await serving()
  const socket = await connected(port)
  const accepted = new Promise((resolve) => server.once('clientError', resolve))
  socket.write('GET / HT')
  socket.resetAndDestroy()
  await accepted
  expect(await (await fetch(`http://127.0.0.1:${port}/next`)).text()).toBe('/next')
})

test('a request without a Host reaches the listener, as does one with more than a thousand headers', async () => {
  const hosts: string[][] = []
  const { port } = await serving((req, res) => {
    hosts.push(req.rawHeaders.filter((_, at, all) => at % 2 === 1 && all[at - 1] === 'Host'))
    res.setHeader('Connection', 'close')
    res.end()
  })
  await exchange(port, 'GET / HTTP/1.1\r\n\r\n')
  await exchange(port, `${GET}${'a:b\r\n'.repeat(3_000)}Host: evil\r\n\r\n`)
  expect(hosts).toEqual([[], ['localhost', 'evil']])
})

test('a CONNECT whose connection is reset does not disturb others', async () => {
  const { server, port } = await serving()
  server.on('connect', (_req, socket) => socket.emit('error', new Error('reset')))
  await exchange(port, 'CONNECT example.org:443 HTTP/1.1\r\nHost: x\r\n\r\n')
  expect((await fetch(`http://127.0.0.1:${port}`)).status).toBe(200)
})

test('a client that offers an upgrade is served without it', async () => {
  const bodies: string[] = []
  const { port } = await serving(async (req, res) => {
    const body = await readBody(req, { bytes: 100 })
    if (body.kind === 'bytes') bodies.push(body.bytes.toString())
    res.end(req.url)
  })
  const socket = await connected(port)
  const offer = `${HOST}Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n`
  socket.write(`POST /1 HTTP/1.1\r\n${offer}Content-Length: 5\r\n\r\n`)
  socket.write('hello')
  expect(String(await once(socket, 'data'))).toMatch(/^HTTP\/1\.1 200 OK.*\/1$/s)
  socket.write(`GET /2 HTTP/1.1\r\n${HOST}Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n`)
  expect(String(await once(socket, 'data'))).toMatch(/^HTTP\/1\.1 200 OK.*\/2$/s)
  socket.write(`GET /3 HTTP/1.1\r\n${HOST}\r\n`)
  expect(String(await once(socket, 'data'))).toMatch(/^HTTP\/1\.1 200 OK.*\/3$/s)
  expect(bodies).toEqual(['hello', '', ''])
})

test('100 Continue is sent when the body is read', async () => {
  const { port } = await serving(echoBody)
  const socket = await connected(port)
  socket.write(`${POST}Expect: 100-continue\r\nContent-Length: 2\r\n\r\n`)
  expect(String(await once(socket, 'data'))).toBe('HTTP/1.1 100 Continue\r\n\r\n')
  socket.write('{}')
  expect(String(await once(socket, 'data'))).toMatch(/^HTTP\/1\.1 200 OK.*\{\}$/s)
})

test('a client that waits for 100 Continue gets the 413 instead of it', { tags: ['R270'] }, async () => {
  const { port } = await serving(async (req, res) => {
    const body = await readBody(req, { bytes: 10 })
    res.statusCode = body.kind === 'refused' ? 413 : 500
    res.end()
  })
  for (const connection of ['keep-alive', 'close']) {
    const head = `${POST}Connection: ${connection}\r\nExpect: 100-continue\r\nContent-Length: 11\r\n`
    const text = await exchange(port, `${head}\r\n`)
    expect(text).toMatch(/^HTTP\/1\.1 413 /)
    expect(text).toContain('Connection: close')
  }
})

test('an unknown expectation gets a 417 in the form of the caller', { tags: ['R259'] }, async () => {
  const { port } = await serving()
  const text = await exchange(port, `${GET}Expect: miracles\r\nConnection: close\r\n\r\n`)
  expect(text).toMatch(/^HTTP\/1\.1 417 Expectation Failed\r\nX-RateLimit-Limit: 200/)
  expect(text).toContain('"error":"expectation_failed"')
})

test('chunked in any letter case and chunk extensions are accepted', async () => {
  const { port } = await serving(echoBody)
  const head = `${POST}Transfer-Encoding: Chunked \r\nConnection: close\r\n\r\n`
  const text = await exchange(port, `${head}2;a=b;c="d"\r\n{}\r\n0;last\r\n\r\n`)
  expect(text).toMatch(/^HTTP\/1\.1 200 .*\{\}$/s)
})

const CODINGS = ['gzip, chunked', 'chunked, chunked', 'x, chunked', 'GZIP,CHUNKED']

test.each(CODINGS)('a body in the coding %s is refused unread', { tags: ['R259'] }, async (coding) => {
  let isRead = false
  const { port } = await serving(() => {
    isRead = true
  })
  const head = `${POST}Transfer-Encoding: ${coding}\r\nConnection: close\r\n`
  const text = await exchange(port, `${head}\r\n2\r\n{}\r\n0\r\n\r\n`)
  expect(text).toMatch(/^HTTP\/1\.1 400 .*X-RateLimit-Limit: 200.*"error":"bad_request".*chunked/s)
  expect(isRead).toBe(false)
})

test('a request that has arrived only in part does not time out while earlier requests are served', async () => {
  const limits = { headersTimeout: 40, requestTimeout: 80, connectionsCheckingInterval: 10 }
  const { server, port } = await serving((req, res) => {
    if (req.url === '/slow') server.emit('held', res)
    else res.end(req.url)
  }, limits)
  const held = once(server, 'held') as Promise<[ServerResponse]>
  const timeouts = once(server, 'clientError')
  const socket = await connected(port)
  const text = everything(socket)
  socket.write(`GET /slow HTTP/1.1\r\n${HOST}\r\nGET /next HTTP/1.1\r\n${HOST}\r\nGET /la`)
  const [res] = await held
  await timeouts
  socket.write(`st HTTP/1.1\r\n${HOST}Connection: close\r\n\r\n`)
  res.end('/slow')
  expect((await text).match(/\r\n\r\n\/(?:slow|next|last)/g)).toHaveLength(3)
})

test('F2 every response to random bytes has the rate-limit headers', { tags: ['R259'] }, async () => {
  const { port } = await serving((req, res) => {
    req.resume()
    res.writeHead(200, [...RATE_HEADERS.flat(), 'Content-Type', 'application/json'])
    res.end('{}')
  })
  const whole = `POST /v1/pages HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n2\r\n{}\r\n0\r\n\r\n`
  const mutation = fc.tuple(
    fc.nat(whole.length),
    fc.nat(3),
    fc.constantFrom('', '\r\n', '\0', ' ', ':', 'ÿ', '9', whole),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(mutation, { minLength: 1, maxLength: 3 }), async (mutations) => {
      const bytes = mutations.reduce(
        (text, [at, cut, put]) => text.slice(0, at) + put + text.slice(at + cut),
        whole,
      )
      const socket = await connected(port)
      const responses = everything(socket)
      socket.end(Buffer.from(bytes, 'latin1'))
      const heads = (await responses).match(/HTTP\/1\.1 [2-5].*?\r\n\r\n/gs) ?? []
      for (const head of heads) expect(head).toContain('\r\nX-RateLimit-Limit: 200')
      expect((await fetch(`http://127.0.0.1:${port}`)).status).toBe(200)
    }),
    { numRuns: 200 },
  )
})

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
