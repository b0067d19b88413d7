import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerOptions,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http'
import type { Socket } from 'node:net'
import type { Evidence } from '../../core/log/evidence.ts'
import { holdContinue } from './body.ts'
import { Connections, connectionOf, KEEP_ALIVE_TIMEOUT, noteEnd } from './connections.ts'
import type { HeaderPair } from './guard.ts'
import {
  CONNECT_REFUSED,
  EXPECTATION_FAILED,
  REQUEST_TIMEOUT,
  TRANSFER_CODING_REFUSED,
  type WireProblem,
  wireProblemOf,
} from './wire-problem.ts'

/** The head and body of a response that is written without a ServerResponse. */
export interface RawResponse {
  /** Without `Connection` and `Content-Length`, which are added. */
  readonly headers: readonly HeaderPair[]
  readonly body: string
}

interface HttpServerOptions {
  /**
   * Renders the response to bytes that are not a request: error body, rate-limit headers. Must not throw. The target is that
   * of the request line, empty where it is not known.
   */
  readonly renderParserError: (problem: WireProblem, evidence: Evidence, target: string) => RawResponse
  /** Responds to a request that is refused before it reaches the listener, through the caller's usual error path. */
  readonly refuse: (req: IncomingMessage, res: ServerResponse, problem: WireProblem) => void
  /** Called with each new connection, before a byte of it is read: its id is unique on this server. */
  readonly acceptConnection?: (socket: Socket, id: string) => void
  /** Replace the defaults of Node and of the emulator. */
  readonly limits?: ServerOptions
}

const connectionsOf = new WeakMap<Server, Connections>()

/** The only transfer coding that Node's parser decodes. It accepts others before `chunked`, but passes on their coded bytes. */
const CHUNKED = /^[ \t]*chunked[ \t]*$/i

/**
 * Creates a node:http server whose responses are never HTML, never contain a stack, and always have the caller's headers.
 * - A request without `Host` reaches the listener, whose host check refuses it.
 * - `100 Continue` is sent when readBody() starts; until then the listener can refuse the request without an upload.
 * - `Upgrade` is ignored, as RFC 9110 section 7.8 allows: some clients offer h2c with every first request.
 */
export function createHttpServer(listener: RequestListener, options: HttpServerOptions): Server {
  const keepAlive = { keepAliveTimeout: KEEP_ALIVE_TIMEOUT, noDelay: true, requireHostHeader: false }
  const server = createServer({ ...keepAlive, ...options.limits })
  const refuse = (problem: WireProblem) => (req: IncomingMessage, res: ServerResponse) =>
    options.refuse(req, res, problem)
  const refuseTransferCoding = refuse(TRANSFER_CODING_REFUSED)
  const refuseExpectation = refuse(EXPECTATION_FAILED)
  const connections = new Connections()
  connectionsOf.set(server, connections)
  // Node would silently drop headers after the 1,000th, and with them a second Host. maxHeaderSize bounds them already.
  server.maxHeadersCount = 0
  // With a maximum, Node would respond to later requests with a 503 without our headers and body.
  server.maxRequestsPerSocket = 0

  const serve: RequestListener = (req, res) => {
    const coding = req.headers['transfer-encoding']
    const isReadable = coding === undefined || CHUNKED.test(coding)
    connections.take(req, res, isReadable ? listener : refuseTransferCoding)
  }
  // A connection inside the process may be opened with an id.
  server.on('connection', (socket: Socket, given?: string) => {
    const id = connections.add(socket, given)
    options.acceptConnection?.(socket, id)
  })
  server.on('request', serve)
  server.on('checkContinue', (req: IncomingMessage, res: ServerResponse) => {
    holdContinue(req, () => res.writeContinue())
    serve(req, res)
  })
  server.on('checkExpectation', (req: IncomingMessage, res: ServerResponse) => {
    connections.take(req, res, refuseExpectation)
  })
  // A connection that a fault holds open has only the timeout of that fault.
  server.on('timeout', (socket) => {
    if (connectionOf.get(socket)?.silent !== true) socket.destroy()
  })
  // Sockets of a node:http server are net.Sockets, but its types only declare stream.Duplex.
  server.on('clientError', (error, socket) => {
    const problem = wireProblemOf(error)
    const waiting = connectionOf.get(socket as Socket)?.pending.length ?? 0
    // The rest of a request cannot arrive in time while its connection is not being read.
    if (problem === REQUEST_TIMEOUT && waiting > 1) return
    if (problem === undefined) socket.destroy()
    else respondRaw(socket as Socket, problem, brokenTarget(socket as Socket, error))
  })
  server.on('connect', (_req, socket) => {
    // Node has removed its own listeners; without one, a reset of this connection would end the process.
    socket.on('error', () => socket.destroy())
    respondRaw(socket as Socket, CONNECT_REFUSED, '')
  })
  return server

  function respondRaw(socket: Socket, problem: WireProblem, target: string): void {
    connections.writeLast(socket, (evidence) => {
      if (!socket.writable) {
        socket.destroy()
        return
      }
      const raw = rawResponse(problem, options.renderParserError(problem, evidence, target))
      evidence.sent_bytes = Buffer.byteLength(raw)
      socket.end(raw, () => socket.destroy())
      noteEnd(evidence, 'whole')
    })
  }
}

/** The target of the request that could not be parsed: one whose body is incomplete, or the last request line of the bytes. */
function brokenTarget(socket: Socket, { rawPacket }: Error & { readonly rawPacket?: Buffer }): string {
  const req = connectionOf.get(socket)?.latest?.req
  if (req?.complete === false) return req.url ?? ''
  const lines = rawPacket?.toString('latin1').matchAll(/^[A-Z]+ (\/\S*)/gm) ?? []
  return [...lines].at(-1)?.[1] ?? ''
}

/**
 * Stops accepting connections, and resolves when the last one is closed. `graceful` lets requests in flight finish; idle
 * connections and incomplete heads are closed at once. Without it, all connections are cut. That is also allowed after a
 * graceful call that takes too long (a slow upload, an event stream that its client keeps open).
 */
export function close(server: Server, { graceful }: { graceful: boolean }): Promise<void> {
  return new Promise((resolve) => {
    const connections = connectionsOf.get(server)
    // An error here means that the server is not listening. Connections inside the process may be open even then.
    server.close(() => (connections === undefined ? resolve() : connections.whenNone(resolve)))
    if (graceful) connections?.closeWhenIdle()
    else {
      server.closeAllConnections()
      connections?.cut()
    }
  })
}

function rawResponse({ status }: WireProblem, { headers, body }: RawResponse): string {
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  const length = `Content-Length: ${Buffer.byteLength(body)}\r\n`
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines}${length}Connection: close\r\n\r\n${body}`
}

/** The address at which a server listens. */
interface ListenAddress {
  /** 0 to 65535; 0 selects any free port. */
  readonly port: number
  /** A name or address of this machine. */
  readonly host: string
}

/** A server cannot listen at the given address. The message contains the fix. */
export class ListenError extends Error {
  override readonly name = 'ListenError'
  /** The error code of the operating system, such as `EADDRINUSE`. */
  readonly code: string

  constructor(code: string, message: string, cause: unknown) {
    super(message, { cause })
    this.code = code
  }
}

/**
 * Starts to listen, and resolves with the bound address: the real port instead of 0.
 * @throws ListenError when the port is in use, not permitted or invalid, or the host is not one of this machine
 */
export function listen(server: Server, address: ListenAddress): Promise<ListenAddress> {
  return new Promise((resolve, reject) => {
    const fail = (error: unknown) => reject(listenError(error, address))
    server.once('error', fail)
    try {
      server.listen({ port: address.port, host: address.host }, () => {
        server.removeListener('error', fail)
        const bound = server.address()
        const isIp = typeof bound === 'object' && bound !== null
        resolve(isIp ? { port: bound.port, host: bound.address } : address)
      })
    } catch (error) {
      server.removeListener('error', fail)
      fail(error)
    }
  })
}

function listenError(error: unknown, { port, host }: ListenAddress): ListenError {
  const code = error instanceof Error && 'code' in error ? String(error.code) : String(error)
  const isForbidden = `Listening on port ${port} of ${host} is not permitted. Choose a --port above 1023, or --port 0.`
  const isElsewhere = `${host} is not an address of this machine (${code}). Use --host 127.0.0.1, or 0.0.0.0 for all of them.`
  const messages: Readonly<Record<string, string>> = {
    EADDRINUSE: `Port ${port} on ${host} is in use. Choose another with --port, or a free one with --port 0.`,
    EACCES: isForbidden,
    EPERM: isForbidden,
    EADDRNOTAVAIL: isElsewhere,
    EAFNOSUPPORT: isElsewhere,
    EINVAL: isElsewhere,
    ENOTFOUND: isElsewhere,
    EAI_AGAIN: isElsewhere,
    ERR_SOCKET_BAD_PORT: `${port} is not a port. Give --port a whole number from 0 (any free one) to 65535.`,
  }
  const other = `Cannot listen on port ${port} of ${host}: ${code}. Try another --port or --host.`
  return new ListenError(code, messages[code] ?? other, error)
}
