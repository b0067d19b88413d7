import { once } from 'node:events'
import {
  Agent,
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type RequestListener,
  type RequestOptions,
  type Server,
} from 'node:http'
import type { Duplex } from 'node:stream'
import { text } from 'node:stream/consumers'
import { urlToHttpOptions } from 'node:url'
import express from 'express'
import request, { type Response as SuperResponse } from 'supertest'
import type { RunningEmulator } from '../../src/emulator/emulator.ts'
import { recorded } from '../prism/record.ts'

const TRANSPORTS = ['socket', 'express', 'fetch'] as const

/** How requests of the tests reach the API. */
export type TransportName = (typeof TRANSPORTS)[number]

let transport = TRANSPORTS.find((name) => name === process.env.TEST_TRANSPORT) ?? 'socket'

/** The path before `/v1` in responses: that of the router in another Express application. */
export const mountPath = (): string => (transport === 'express' ? '/tools/emulator' : '')

/** Sets the transport of all requests in this test worker. @returns a function that restores the previous one */
export function useTransport(next: TransportName): () => void {
  const former = transport
  transport = next
  return () => {
    transport = former
  }
}

interface Sent {
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array | undefined
}

/** A response with its whole body. */
export interface Received {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

/** Sends one request and returns its response. @param path from the root of the emulator, or with {@link mountPath} in front */
export type Send = (path: string, sent: Sent) => Promise<Received>

/** Over a socket to node:http, with supertest to an Express application that mounts the router, or through `fetch`. */
export function transportTo(emulator: RunningEmulator): Send {
  const send = plainTransport(emulator)
  return EXCHANGES === undefined ? send : recorded(send, emulator, EXCHANGES)
}

/** The folder in which `test/prism/run.ts` collects the exchanges of tests. */
const EXCHANGES = process.env.TEST_EXCHANGES

function plainTransport(emulator: RunningEmulator): Send {
  if (transport === 'socket') return (path, sent) => overSocket(emulator.url + path, sent)
  if (transport === 'fetch') return (path, sent) => throughFetch(emulator, path, sent)
  const mount = mountPath()
  let server: Promise<Server> | undefined
  return async (path, sent) => {
    server ??= listening(express().use(mount, emulator.router()))
    return throughExpress(await server, path.startsWith(`${mount}/`) ? path : mount + path, sent)
  }
}

async function throughFetch(
  { fetch, url }: RunningEmulator,
  path: string,
  { method, headers, body }: Sent,
): Promise<Received> {
  const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
  const response = await fetch(url + path, { method, headers: { ...length, ...headers }, body: body ?? null })
  return { status: response.status, headers: response.headers, text: await response.text() }
}

/** Keeps connections alive. If a server closes one before reading the body, Node emits an error after the response; ignored. */
class Connections extends Agent {
  override createConnection(...args: Parameters<Agent['createConnection']>): Duplex {
    return super.createConnection(...args)?.on('error', () => {}) as Duplex
  }
}

const agent = new Connections({ keepAlive: true })

/** Sends a request with Node's own client, to any host and path. @returns the response, whose body is not read yet */
// fetch would need a third of the processor time of most tests.
export function exchange(options: RequestOptions, body?: string | Uint8Array): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    httpRequest(options, resolve).on('error', reject).end(body)
  })
}

/** Like {@link Send}, but for any URL. */
export async function overSocket(url: string, { method, headers, body }: Sent): Promise<Received> {
  const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }
  const options = { ...urlToHttpOptions(new URL(url)), method, headers: { ...length, ...headers }, agent }
  const response = await exchange(options, body).catch((cause: unknown) => Promise.reject(failed(cause)))
  const { statusCode: status = 0, rawHeaders } = response
  const received = new Headers()
  for (let n = 0; n < rawHeaders.length; n += 2) received.append(rawHeaders[n] ?? '', rawHeaders[n + 1] ?? '')
  return { status, headers: received, text: await text(response) }
}

// The same error as fetch.
function failed(cause: unknown): TypeError {
  return new TypeError('fetch failed', { cause })
}

// supertest would open a new port for every request, and URLs in responses contain the port. unref: no test closes it.
async function listening(app: RequestListener): Promise<Server> {
  const server = createServer(app).listen(0, '127.0.0.1').unref()
  await once(server, 'listening')
  return server
}

async function throughExpress(
  server: Server,
  path: string,
  { method, headers, body }: Sent,
): Promise<Received> {
  const name = method.toLowerCase() as 'get'
  const sent = request(server)[name](path).redirects(0).buffer(true).parse(asBytes).serialize(asItIs)
  for (const [header, value] of Object.entries(headers)) sent.set(header, value)
  const response = await sent
    .send(body === undefined ? undefined : Buffer.from(body))
    .catch((cause: unknown) => Promise.reject(failed(cause)))
  const received = Object.entries(response.headers as Record<string, string | string[]>)
  return {
    status: response.status,
    headers: new Headers(
      received.flatMap(([header, value]) => [value].flat().map((each): [string, string] => [header, each])),
    ),
    // superagent does not read a response to HEAD.
    text: method === 'HEAD' ? '' : (response.body as Buffer).toString(),
  }
}

// superagent would serialize a body of this type to JSON a second time.
function asItIs(body: unknown): string {
  return body as string
}

function asBytes(response: SuperResponse, done: (error: Error | null, body: Buffer) => void): void {
  const chunks: Buffer[] = []
  response.on('data', (chunk: Buffer) => chunks.push(chunk))
  response.on('end', () => done(null, Buffer.concat(chunks)))
}
