import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** How long an idle connection stays open. Milliseconds. */
export const KEEP_ALIVE_TIMEOUT = 65_000

/** Maximum requests read on a silenced connection. It is still read, so that a disconnect is noticed. */
const MAX_IGNORED = 100

interface Exchange {
  readonly req: IncomingMessage
  readonly res: ServerResponse
  /** Responds to it when it is its turn. */
  readonly serve: RequestListener
  /** Set while the request only waits: ends the wait early, with a response. */
  end?: () => void
}

interface Connection {
  /** `c1`, `c2` and so on, in the order in which the server accepted its connections. */
  readonly id: string
  /** Number of requests so far. A request counts when its head is complete. */
  requests: number
  /** The latest request, and its response. */
  latest: Exchange | undefined
  /** Requests whose response is not finished, in order: more than one when they are pipelined. Only the first is being served. */
  pending: Exchange[]
  /** Whether new requests get no response: the bytes are not HTTP any more, a fault has silenced it, or it is being closed. */
  silent: boolean
  /** Requests that came after it was silenced. */
  ignored: number
  /** Whether it was accepted beyond the maximum number of connections: its requests are refused. */
  readonly surplus: boolean
  /** When it last became idle or started a request, as a sequence number: the lowest is the oldest. */
  since: number
}

/**
 * - `now`: no request is in progress; or the latest request broke inside its body and has no response yet.
 * - `after`: a complete request must be served first; its response has not begun.
 * - `never`: part of another response is sent already; a client would read the raw bytes as part of it.
 * - `taken`: another response has this turn, or the connection is closed.
 */
export type WireTurn = { kind: 'now' | 'never' | 'taken' } | { kind: 'after'; res: ServerResponse }

// Lets the functions below find a connection by its socket: their callers have no access to the server.
const connectionOf = new WeakMap<Socket, Connection>()

/** The id of a request's connection, and the number of the request on that connection, from 1. */
export function passageOf(req: IncomingMessage): { readonly id: string; readonly index: number } | undefined {
  const connection = connectionOf.get(req.socket)
  if (connection === undefined) return undefined
  const { id, requests, pending } = connection
  const behind = pending.length - 1 - pending.findLastIndex((each) => each.req === req)
  return { id, index: requests - (behind === pending.length ? 0 : behind) }
}

/** From now on, requests that arrive on a connection get no response. */
export function silence(socket: Socket): void {
  const connection = connectionOf.get(socket)
  if (connection !== undefined) connection.silent = true
}

/** Whether new requests on a connection get no response. */
export function isSilent(socket: Socket): boolean {
  return connectionOf.get(socket)?.silent === true
}

/** Whether a connection has no request in progress. */
export function isIdle(socket: Socket): boolean {
  return connectionOf.get(socket)?.pending.length === 0
}

/** Sets how to end a waiting request early, for the case that a new connection needs its place. */
export function mayEnd(req: IncomingMessage, end: () => void): void {
  const exchange = connectionOf.get(req.socket)?.pending.find((each) => each.req === req)
  if (exchange !== undefined) exchange.end = end
}

/**
 * Whether reading from a connection is paused. A single read can contain thousands of requests; the next read starts only when
 * the last of these is being served. This bounds the number of requests that a client can have waiting.
 */
export function isHeldBack(socket: Socket): boolean {
  const connection = connectionOf.get(socket)
  return connection !== undefined && holdsBack(connection)
}

function holdsBack({ pending, ignored }: Connection): boolean {
  return pending.length > 1 || ignored >= MAX_IGNORED
}

/**
 * The open connections of one server, each with its requests in progress. Decides when a request is served, whether raw
 * bytes may be written between responses, and which connections can be closed.
 */
export class Connections {
  readonly #open = new Map<Socket, Connection>()
  readonly #refuseSurplus: RequestListener
  #count = 0
  #moments = 0
  #closing = false

  /** @param refuseSurplus responds to requests on connections beyond the maximum */
  constructor(refuseSurplus: RequestListener) {
    this.#refuseSurplus = refuseSurplus
  }

  get size(): number {
    return this.#open.size
  }

  /** @param surplus whether it is beyond the maximum number of connections. @returns its id */
  add(socket: Socket, surplus: boolean): string {
    const id = `c${++this.#count}`
    const since = ++this.#moments
    const counts = { requests: 0, ignored: 0, since }
    const connection: Connection = { id, ...counts, latest: undefined, pending: [], silent: false, surplus }
    this.#open.set(socket, connection)
    connectionOf.set(socket, connection)
    socket.once('close', () => this.#open.delete(socket))
    // Node itself resumes a socket, for example when a request has been read to its end.
    socket.on('resume', () => {
      if (holdsBack(connection)) socket.pause()
    })
    return id
  }

  /**
   * Accepts a request when its head is complete. It is served as soon as the responses to all earlier requests on its
   * connection are finished; never on a silent connection.
   */
  take(req: IncomingMessage, res: ServerResponse, serve: RequestListener): void {
    const { socket } = req
    const connection = this.#open.get(socket)
    if (connection === undefined) {
      serve(req, res)
      return
    }
    connection.requests++
    if (connection.silent) {
      connection.ignored++
      req.resume()
    } else {
      const exchange: Exchange = { req, res, serve: connection.surplus ? this.#refuseSurplus : serve }
      connection.latest = exchange
      connection.pending.push(exchange)
      if (this.#closing || connection.surplus) res.shouldKeepAlive = false
      res.once('close', () => this.#done(socket, connection, exchange))
    }
    if (holdsBack(connection)) socket.pause()
    else if (!connection.silent) this.#serveFirst(socket, connection)
  }

  #serveFirst(socket: Socket, connection: Connection): void {
    const [first] = connection.pending
    // After a response with `Connection: close` no other response is sent.
    if (first === undefined || !socket.writable) return
    connection.since = ++this.#moments
    first.serve(first.req, first.res)
    // Resume only now: a client that has ended its side must still get the last response.
    if (socket.isPaused() && !holdsBack(connection)) socket.resume()
  }

  #done(socket: Socket, connection: Connection, exchange: Exchange): void {
    // Responses finish in the order of their requests; only a closed connection finishes all of them at once.
    const isFirst = connection.pending[0] === exchange
    if (isFirst) connection.pending.shift()
    else connection.pending = connection.pending.filter((each) => each !== exchange)
    if (connection.pending.length === 0) {
      connection.since = ++this.#moments
      if (this.#closing) socket.destroySoon()
    } else if (isFirst) {
      // Gives other connections a turn: the requests of a single read must not block the event loop until all are served.
      setImmediate(() => this.#serveFirst(socket, connection))
    }
  }

  /**
   * Makes room for a new connection: closes the one that has been idle longest, otherwise ends the oldest waiting request.
   * @returns whether it closed a connection or ended a request
   */
  makeSpace(): boolean {
    const all = [...this.#open].filter(([, { silent }]) => !silent)
    const idle = oldest(all.filter(([, { pending }]) => pending.length === 0))
    if (idle !== undefined) {
      const [socket, connection] = idle
      // Requests that still arrive on it are not performed, since the client would not get the responses.
      connection.silent = true
      socket.destroySoon()
      return true
    }
    const [, waiting] = oldest(all.filter(([, { pending }]) => pending[0]?.end !== undefined)) ?? []
    const [exchange] = waiting?.pending ?? []
    if (exchange?.end === undefined) return false
    const { end, res } = exchange
    delete exchange.end
    res.shouldKeepAlive = false
    end()
    return true
  }

  /**
   * When a raw response to bytes that are not a request may be written. The connection ends after it. Node reports all bytes
   * that arrive after the first error as further errors: those get `taken`.
   */
  lastTurn(socket: Socket): WireTurn {
    const connection = this.#open.get(socket)
    if (connection === undefined || connection.silent) return { kind: 'taken' }
    connection.silent = true
    const { latest, pending } = connection
    if (latest === undefined) return { kind: 'now' }
    const { req, res } = latest
    if (!req.complete) return { kind: res.headersSent || pending.length > 1 ? 'never' : 'now' }
    if (pending.length === 0) return { kind: 'now' }
    return res.headersSent ? { kind: 'never' } : { kind: 'after', res }
  }

  /** Closes idle connections at once, and each other connection after the responses to its requests in flight. */
  closeWhenIdle(): void {
    this.#closing = true
    for (const [socket, { latest, pending }] of this.#open) {
      if (pending.length === 0) socket.destroySoon()
      else if (latest !== undefined && !latest.res.headersSent) latest.res.shouldKeepAlive = false
    }
  }
}

type Open = readonly [Socket, Connection]

function oldest(connections: readonly Open[]): Open | undefined {
  const [first, ...others] = connections
  return others.reduce((found, each) => (found && found[1].since < each[1].since ? found : each), first)
}
