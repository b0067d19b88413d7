import { Agent, ClientRequest, type IncomingMessage, type RequestOptions, type Server } from 'node:http'
import type { Socket } from 'node:net'
import { type Duplex, pipeline, Readable } from 'node:stream'
import type { ReadableStream as NodeReadableStream } from 'node:stream/web'
import { urlToHttpOptions } from 'node:url'
import type { ClientConnection } from '../../core/log/evidence.ts'
import { connectionOf } from './connections.ts'
import { MemorySocket } from './memory-socket.ts'

/** Responds to a request as the global `fetch` does, without a network. */
export type FetchHandler = (request: Request | string | URL, init?: RequestInit) => Promise<Response>

/**
 * Connects a server to `fetch` without a network: requests and responses are the same bytes as on a socket. Their connections
 * are kept for later requests to the same origin, as those of `fetch` are.
 */
export function fetchFrom(server: Server): FetchHandler {
  const agents = new Map<string, Agent>()
  return fetchOver((url) => {
    const agent = agents.get(url.origin) ?? memoryAgent(server, new URL(url.origin))
    agents.set(url.origin, agent)
    return agent
  })
}

/** A `fetch` through the connections of an agent; it follows no redirects. */
export function fetchOver(agentOf: (url: URL) => Agent): FetchHandler {
  return async (given, init) => {
    const isUrl = typeof given === 'string' || given instanceof URL
    // Other frameworks give their own second parameter to a handler of a Request.
    const request = isUrl ? new Request(given, init) : given
    return exchange(request, agentOf(new URL(request.url)))
  }
}

/** Opens a connection inside the process under the id of an earlier one. @returns the end of its client, and its record */
export function connectAgain(server: Server, origin: string, id: string) {
  const [socket, ours] = connected(server, new URL(origin), id)
  return { socket, record: connectionOf.get(ours as Duplex as Socket)?.record as ClientConnection }
}

function connected(server: Server, origin: URL, id?: string): ReturnType<typeof MemorySocket.pair> {
  const ends = MemorySocket.pair(origin)
  server.emit('connection', ends[1], id)
  return ends
}

/** Keeps connections inside the process, which need no timeout. */
function memoryAgent(server: Server, origin: URL): Agent {
  const agent = new Agent({ keepAlive: true, maxFreeSockets: Number.POSITIVE_INFINITY })
  agent.createConnection = () => connected(server, origin)[0]
  agent.keepSocketAlive = () => true
  return agent
}

// Node's own class. Mock Service Worker replaces `http.request` and `http.ClientRequest`, so that the emulator would call itself.
const OwnRequest = ClientRequest.prototype.constructor as new (options: RequestOptions) => ClientRequest

function exchange(request: Request, agent: Agent): Promise<Response> {
  const { method, url, body, signal } = request
  const { host } = new URL(url)
  const { hostname, port, path } = urlToHttpOptions(new URL(url))
  const headers: Record<string, string> = { host, ...Object.fromEntries(request.headers) }
  // A Request made from another one has the length of the other's body: the rest of a longer one would be the next request.
  for (const name of ['content-length', 'transfer-encoding']) delete headers[name]
  if (body !== null) headers['transfer-encoding'] = 'chunked'
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason)
    const sent = new OwnRequest({ method, hostname, port, path, headers, agent } as RequestOptions)
    const onAbort = (): void => void sent.destroy()
    const failure = (message: string, cause: unknown): unknown =>
      signal.aborted ? signal.reason : new TypeError(message, { cause })
    signal.addEventListener('abort', onAbort)
    // It needs the request itself: an abort no longer reaches the signal of a request that has been garbage-collected.
    sent.on('close', () => request.signal.removeEventListener('abort', onAbort))
    sent.on('error', (cause) => reject(failure('fetch failed', cause)))
    sent.on('response', (received) => {
      try {
        resolve(responseOf(received, method, (cause) => failure('terminated', cause)))
      } catch (cause) {
        sent.destroy()
        reject(failure('fetch failed', cause))
      }
    })
    if (body === null) return sent.end()
    const upload = Readable.fromWeb(body as NodeReadableStream)
    upload.on('error', (cause) => sent.destroy(cause))
    // It also ends the upload when the exchange ends. `sent` reports all errors.
    pipeline(upload, sent, () => {})
  })
}

/** Statuses whose responses have no body. */
const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205, 304])

/** @param failure the error of a body that does not arrive whole */
function responseOf(
  received: IncomingMessage,
  method: string,
  failure: (cause: unknown) => unknown,
): Response {
  const { statusCode: status = 0, statusMessage: statusText = '', rawHeaders } = received
  const headers = new Headers()
  for (let at = 0; at < rawHeaders.length; at += 2)
    headers.append(rawHeaders[at] ?? '', rawHeaders[at + 1] ?? '')
  const isBodiless = method === 'HEAD' || WITHOUT_BODY.has(status)
  const response = new Response(isBodiless ? null : bodyOf(received, failure), {
    status,
    statusText,
    headers,
  })
  if (isBodiless) received.resume()
  return response
}

// The emulator sends only as fast as the body is read.
function bodyOf(received: IncomingMessage, failure: (cause: unknown) => unknown): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      start: (controller) => {
        received.on('data', (chunk: Buffer) => {
          controller.enqueue(chunk)
          received.pause()
        })
        received.on('end', () => controller.close())
        received.on('error', (cause) => controller.error(failure(cause)))
        received.pause()
      },
      pull: () => void received.resume(),
      cancel: () => void received.destroy(),
    },
    { highWaterMark: 0 },
  )
}
