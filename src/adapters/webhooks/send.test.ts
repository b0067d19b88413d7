import { type AddressInfo, createServer, type Server } from 'node:net'
import { expect, onTestFinished, test, vi } from 'vitest'
import { freePort } from '../../../test/support/free-port.ts'
import { webhookReceiver } from '../../../test/support/webhook-receiver.ts'
import { asAddress } from '../../../test/support/webhook-targets.ts'
import type { AttemptResult } from '../../core/webhooks/delivery.ts'
import type { WebhookRequest } from '../../core/webhooks/message.ts'
import { sender } from './send.ts'
import { allowTargets, type Resolve, Targets } from './targets.ts'

const NEVER = new AbortController().signal

function send(url: string, { timeout = 5_000, signal = NEVER, ...resolving }: Options = {}) {
  const targets = new Targets({ allowed: allowTargets([]), forbiddenPorts: () => [], ...resolving })
  const body = Buffer.from('{"a":1}')
  const headers = { 'Content-Type': 'application/json', 'Content-Length': '7', 'X-Event': 'e' }
  const bounds = { timeout, signal, inboxStatus: 200, attempt: 'd1/1' }
  return sender(targets)({ url, headers, body } satisfies WebhookRequest, bounds)
}

interface Options {
  readonly timeout?: number
  readonly signal?: AbortSignal
  readonly resolve?: Resolve
}

/** A server that sends these bytes after the first data of each connection. */
async function speaking(bytes: string, then: 'end' | 'reset' | 'hold' = 'end'): Promise<string> {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => {
      socket.write(bytes, () => {
        if (then === 'end') socket.end()
        if (then === 'reset') socket.resetAndDestroy()
      })
    })
  })
  return `http://127.0.0.1:${await listen(server)}/`
}

async function listen(server: Server, host = '127.0.0.1'): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, host, resolve))
  onTestFinished(() => void server.close())
  return (server.address() as AddressInfo).port
}

test('a webhook is one POST with the given headers and body; only host and connection are added', async () => {
  const { url, received, connections } = await webhookReceiver()
  expect(await send(`${url}?a=b%20c`)).toEqual({ outcome: 'delivered', status: 200, error: null })
  const [{ method, path, text, headers } = { headers: {} }] = received
  expect([method, path, text]).toEqual(['POST', '/hook?a=b%20c', '{"a":1}'])
  expect(headers).toEqual({
    'content-type': 'application/json',
    'content-length': '7',
    'x-event': 'e',
    host: new URL(url).host,
    connection: 'close',
  })
  expect(await connections()).toBe(0)
})

test.for<[number, AttemptResult['outcome'], string | null]>([
  [200, 'delivered', null],
  [299, 'delivered', null],
  [300, 'failed', 'responded with 300; redirects are not followed'],
  [400, 'failed', 'responded with 400'],
  [500, 'failed', 'responded with 500'],
  [599, 'failed', 'responded with 599'],
])('a response of %i is %s', async ([status, outcome, error]) => {
  const { url } = await webhookReceiver(() => status)
  expect(await send(url)).toEqual({ outcome, status, error })
})

test.for([301, 302, 303, 307, 308])('X3 a %i redirect to another port is not followed', async (status) => {
  const other = await webhookReceiver()
  const { url } = await webhookReceiver((_received, res) => {
    res.writeHead(status, { location: other.url }).end()
    return undefined
  })
  const error = `responded with ${status}; redirects are not followed`
  expect(await send(url)).toEqual({ outcome: 'failed', status, error })
  expect(other.received).toEqual([])
})

test('X3 a webhook connects to the checked address of a name, even if the name changes afterwards', async () => {
  const { port, received } = await webhookReceiver()
  let asked = 0
  const resolve: Resolve = async () => [asAddress(asked++ === 0 ? '127.0.0.1' : '169.254.169.254')]
  expect(await send(`http://rebinding.example:${port}/`, { resolve })).toMatchObject({ outcome: 'delivered' })
  expect([asked, received[0]?.headers.host]).toEqual([1, `rebinding.example:${port}`])
  const refused = { outcome: 'refused', status: null }
  expect(await send(`http://rebinding.example:${port}/`, { resolve })).toMatchObject(refused)
  expect(received).toHaveLength(1)
})

test('a receiver that listens on one of the addresses of its name is found', async () => {
  const { port } = await webhookReceiver()
  const resolve: Resolve = async () => ['::1', '127.0.0.1'].map(asAddress)
  expect(await send(`http://localhost:${port}/`, { resolve })).toMatchObject({ outcome: 'delivered' })
})

test('proxy settings of the environment are ignored', async () => {
  const proxy = await webhookReceiver()
  const { url, received } = await webhookReceiver()
  const names = ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'ALL_PROXY', 'NODE_USE_ENV_PROXY']
  for (const name of names) vi.stubEnv(name, name.startsWith('NODE') ? '1' : `http://127.0.0.1:${proxy.port}`)
  onTestFinished(() => void vi.unstubAllEnvs())
  expect(await send(url)).toMatchObject({ outcome: 'delivered' })
  expect([proxy.received.length, received.length]).toEqual([0, 1])
})

test('an attempt to a port without a receiver fails with "connection refused"', async () => {
  const refused = { outcome: 'failed', status: null, error: 'connection refused' }
  expect(await send(`http://127.0.0.1:${await freePort()}/`)).toEqual(refused)
})

test('an attempt to a name without an address fails', async () => {
  const resolve: Resolve = async () => {
    throw Object.assign(new Error('getaddrinfo'), { code: 'ENOTFOUND' })
  }
  const failed = { outcome: 'failed', status: null, error: 'the name has no address' }
  expect(await send('http://nowhere.example/', { resolve })).toEqual(failed)
})

const NO_HTTP = expect.stringMatching(/^the response is not HTTP/)
const SHORT = 'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc'
const UPGRADE = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n'

test.for<[string, string, 'end' | 'reset' | 'hold', Partial<AttemptResult>]>([
  ['that closes without a word', '', 'end', { status: null, error: 'the connection was reset' }],
  ['that resets', '', 'reset', { status: null, error: 'the connection was reset' }],
  ['that does not speak HTTP', 'SSH-2.0-x\r\n', 'hold', { status: null, error: NO_HTTP }],
  ['whose answer is too short', SHORT, 'end', { status: 200 }],
  ['whose answer breaks off', SHORT, 'reset', { status: 200 }],
  ['that switches protocols', UPGRADE, 'hold', { status: null }],
])('an attempt to a receiver %s fails', async ([, bytes, then, expected]) => {
  const outcome = await send(await speaking(bytes, then))
  expect(outcome).toMatchObject({ outcome: 'failed', ...expected })
  expect(outcome.error).not.toBe(null)
})

test('a response longer than 64 KiB is cut off there and still counts as delivered', async () => {
  let written = 0
  const closed: Promise<void>[] = []
  const { url } = await webhookReceiver((_received, res) => {
    const chunk = Buffer.alloc(16_384, 'x')
    closed.push(new Promise((resolve) => res.on('close', resolve)))
    res.on('error', () => {})
    const write = (): void => {
      while (!res.destroyed && res.write(chunk)) written += chunk.length
    }
    res.on('drain', write)
    write()
    return undefined
  })
  expect(await send(url)).toEqual({ outcome: 'delivered', status: 200, error: null })
  await Promise.all(closed)
  // The buffers of two sockets may hold some megabytes, but never a response without end.
  expect(written).toBeLessThan(32 * 1024 * 1024)
})

test('a response that never ends is delivered only if it exceeds 64 KiB', async () => {
  const sent = async (bytes: number, timeout: number) => {
    const { url } = await webhookReceiver((_received, res) => {
      res.writeHead(200).write(Buffer.alloc(bytes, 'x'))
      return undefined
    })
    return send(url, { timeout })
  }
  expect(await sent(65_537, 60_000)).toEqual({ outcome: 'delivered', status: 200, error: null })
  // Long enough for the headers to arrive on a slow machine.
  const waits = [sent(65_535, 3_000), sent(65_536, 3_000)]
  const timeout = { outcome: 'timeout', status: 200, error: 'no complete response within 3s' }
  expect(await Promise.all(waits)).toEqual([timeout, timeout])
})

test('the timeout of an attempt covers the whole exchange, including the DNS lookup', async () => {
  const closed: Promise<void>[] = []
  const { url } = await webhookReceiver((_received, res) => {
    closed.push(new Promise((resolve) => res.on('close', resolve)))
    return undefined
  })
  const none = (within: string) => ({
    outcome: 'timeout',
    status: null,
    error: `no response within ${within}`,
  })
  // Long enough for the request to arrive on a slow machine.
  expect(await send(url, { timeout: 3_000 })).toEqual(none('3s'))
  const resolve: Resolve = () => new Promise(() => {})
  expect(await send('http://slow.example/', { timeout: 60, resolve })).toEqual(none('60ms'))
  await Promise.all(closed)
  expect(closed).toHaveLength(1)
})

test('an aborted request ends at once', async () => {
  const { url, arrived } = await webhookReceiver(() => undefined)
  const abort = new AbortController()
  const outcome = send(url, { signal: abort.signal })
  await arrived(1)
  abort.abort()
  expect(await outcome).toMatchObject({ outcome: 'failed', status: null })
  abort.abort()
  expect(await send(url, { signal: abort.signal })).toMatchObject({ outcome: 'failed', status: null })
})

test('a webhook to an https URL is sent over TLS', async () => {
  let first: number | undefined
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', (chunk) => {
      first = chunk[0]
      socket.end('HTTP/1.1 200 OK\r\n\r\n')
    })
  })
  const outcome = await send(`https://127.0.0.1:${await listen(server)}/`)
  expect(outcome).toMatchObject({ outcome: 'failed', status: null, error: expect.stringMatching(/./) })
  // The record type of a TLS handshake.
  expect(first).toBe(22)
})
