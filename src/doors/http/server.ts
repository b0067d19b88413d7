import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http'
import type { Socket } from 'node:net'
import { Connections, isSilent, KEEP_ALIVE_TIMEOUT } from './connections.ts'
import { holdContinue } from './expect-continue.ts'
import type { HeaderPair } from './headers.ts'
import { CONNECT_REFUSED, EXPECTATION_FAILED, type WireProblem, wireProblemOf } from './wire-problem.ts'

/** The head and body of an answer that is written without a ServerResponse. */
export interface RawAnswer {
  /** Without `Connection` and `Content-Length`, which are added. */
  readonly headers: readonly HeaderPair[]
  readonly body: string
}

/** How long and how much a connection may take; times in milliseconds. */
export interface ServerLimits {
  /** From the first byte of a request to the end of its head. */
  readonly headersTimeout: number
  /** From the first byte of a request to the end of its body. */
  readonly requestTimeout: number
  /** How long an idle connection stays open. */
  readonly keepAliveTimeout: number
  /** How often the first two are checked; a timeout is late by this much at most. */
  readonly connectionsCheckingInterval: number
  readonly maxConnections: number
  /** Bytes of request line and headers together. */
  readonly maxHeaderSize: number
}

/** Limits that let 100 MiB come through a slow line, and cut a dripping head within 11 s. */
const SERVER_LIMITS: ServerLimits = {
  headersTimeout: 10_000,
  requestTimeout: 300_000,
  keepAliveTimeout: KEEP_ALIVE_TIMEOUT,
  connectionsCheckingInterval: 1_000,
  maxConnections: 1_000,
  maxHeaderSize: 16 * 1024,
}

export interface HttpServerOptions {
  /** Renders the answer to what never became a request: standard error body, rate-limit headers. Must not throw. */
  readonly renderParserError: (problem: WireProblem) => RawAnswer
  /** Answers a request that is refused for its `Expect` header, through the caller's usual error path. */
  readonly refuse: (req: IncomingMessage, res: ServerResponse, problem: WireProblem) => void
  /** Told of each new connection, before a byte of it is read: its id is unique on this server. */
  readonly accepted?: (socket: Socket, id: string) => void
  readonly limits?: Partial<ServerLimits>
}

const connectionsOf = new WeakMap<Server, Connections>()

/**
 * A node:http server that never answers in HTML, with a stack, or without the caller's headers.
 * - A request without `Host` reaches the listener, whose host check refuses it.
 * - `Expect: 100-continue` is answered when readBody() starts; until then the listener can refuse without upload.
 * - `Upgrade` is ignored, as RFC 9110 section 7.8 allows: some clients offer h2c with every first request.
 */
export function createHttpServer(listener: RequestListener, options: HttpServerOptions): Server {
  const { maxConnections, ...limits } = { ...SERVER_LIMITS, ...options.limits }
  const server = createServer({ ...limits, noDelay: true, requireHostHeader: false })
  const connections = new Connections()
  connectionsOf.set(server, connections)
  server.maxConnections = maxConnections
  // Node would drop headers past the 1,000th in silence, and with them a second Host; maxHeaderSize is bound enough.
  server.maxHeadersCount = 0
  // Node would answer the request past this count with a bare 503.
  server.maxRequestsPerSocket = 0

  const serve: RequestListener = (req, res) => {
    if (connections.began(req, res)) listener(req, res)
    else req.resume()
  }
  server.on('connection', (socket: Socket) => {
    const id = connections.add(socket)
    options.accepted?.(socket, id)
  })
  server.on('request', serve)
  server.on('checkContinue', (req: IncomingMessage, res: ServerResponse) => {
    holdContinue(req, () => res.writeContinue())
    serve(req, res)
  })
  server.on('checkExpectation', (req: IncomingMessage, res: ServerResponse) => {
    if (connections.began(req, res)) options.refuse(req, res, EXPECTATION_FAILED)
  })
  // A connection that is held open in silence has no timeout but that of the fault.
  server.on('timeout', (socket) => {
    if (!isSilent(socket)) socket.destroy()
  })
  // Sockets of a node:http server are net.Sockets, which its types do not say.
  server.on('clientError', (error, socket) => {
    const problem = wireProblemOf(error)
    if (problem === undefined) socket.destroy()
    else answerRaw(socket as Socket, problem)
  })
  server.on('connect', (_req, socket) => {
    // Node has taken its own listeners off; without one, a reset of this connection would end the process.
    socket.on('error', () => socket.destroy())
    answerRaw(socket as Socket, CONNECT_REFUSED)
  })
  return server

  function answerRaw(socket: Socket, problem: WireProblem): void {
    const turn = connections.lastTurn(socket)
    if (turn.kind === 'after') turn.res.once('finish', () => writeRaw(socket, problem))
    else if (turn.kind === 'now') writeRaw(socket, problem)
    else if (turn.kind === 'never') socket.destroy()
  }

  function writeRaw(socket: Socket, problem: WireProblem): void {
    if (!socket.writable) socket.destroy()
    else socket.end(rawResponse(problem, options.renderParserError(problem)), () => socket.destroy())
  }
}

/**
 * Stops accepting and resolves when the last connection is gone. `graceful` lets requests in flight finish; idle
 * connections and half-sent heads are ended at once. Otherwise everything is cut, also after a graceful call that
 * takes too long (a slow upload, an event stream that nobody ended).
 */
export function close(server: Server, { graceful }: { graceful: boolean }): Promise<void> {
  return new Promise((resolve) => {
    // An error here says that the server does not listen, which is what was asked for.
    server.close(() => resolve())
    if (graceful) connectionsOf.get(server)?.closeWhenIdle()
    else server.closeAllConnections()
  })
}

function rawResponse({ status, reason }: WireProblem, { headers, body }: RawAnswer): string {
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  const length = `Content-Length: ${Buffer.byteLength(body)}\r\n`
  return `HTTP/1.1 ${status} ${reason}\r\n${lines}${length}Connection: close\r\n\r\n${body}`
}
