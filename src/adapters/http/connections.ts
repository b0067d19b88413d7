import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** How long an idle connection stays open. Milliseconds. */
export const KEEP_ALIVE_TIMEOUT = 65_000

/** A silenced connection is read on, so that a client that leaves is noticed, up to so many requests. */
const MAX_IGNORED = 100

interface Exchange {
  readonly req: IncomingMessage
  readonly res: ServerResponse
  /** Responds to it when it is its turn. */
  readonly serve: RequestListener
  /** Set while it only waits for something: ends it with a response. */
  end?: () => void
}

interface Connection {
  /** `c1`, `c2` and so on, in the order in which the connections of a server came. */
  readonly id: string
  /** Requests whose head was complete so far. */
  requests: number
  /** The latest of them, and its response. */
  latest: Exchange | undefined
  /** Those whose response is not done yet, in order; more than one when they are pipelined. Only the first is being served. */
  pending: Exchange[]
  /** Whether nothing on it is answered any more: its bytes have stopped being HTTP, or a fault has silenced it. */
  silent: boolean
  /** Requests that came after it was silenced. */
  ignored: number
  /** Whether it was accepted beyond the most that are held: all it gets is a refusal. */
  readonly surplus: boolean
  /** When it became idle or began a request, as a count of such moments: the lowest is the longest ago. */
  since: number
}

/**
 * - `now`: nothing is under way; or the latest request broke inside its body and has no response yet.
 * - `after`: a complete request comes first, whose response has not begun.
 * - `never`: bytes of a response are out, which raw ones would be spliced into or be taken for.
 * - `taken`: another response has this turn, or the connection is gone.
 */
export type WireTurn = { kind: 'now' | 'never' | 'taken' } | { kind: 'after'; res: ServerResponse }

// What is asked of one connection is asked far from its server.
const connectionOf = new WeakMap<Socket, Connection>()

/** Which connection a request came on, and which of its requests it is, from 1. */
export function passageOf(req: IncomingMessage): { readonly id: string; readonly index: number } | undefined {
  const connection = connectionOf.get(req.socket)
  if (connection === undefined) return undefined
  const { id, requests, pending } = connection
  const behind = pending.length - 1 - pending.findLastIndex((each) => each.req === req)
  return { id, index: requests - (behind === pending.length ? 0 : behind) }
}

/** From now on nothing that comes on a connection gets a response. */
export function silence(socket: Socket): void {
  const connection = connectionOf.get(socket)
  if (connection !== undefined) connection.silent = true
}

/** Whether requests on a connection get no response any more. */
export function isSilent(socket: Socket): boolean {
  return connectionOf.get(socket)?.silent === true
}

/** Whether no request is under way on a connection. */
export function isIdle(socket: Socket): boolean {
  return connectionOf.get(socket)?.pending.length === 0
}

/** Notes how a request that only waits can be ended early, should its connection be needed for others. */
export function mayEnd(req: IncomingMessage, end: () => void): void {
  const exchange = connectionOf.get(req.socket)?.pending.find((each) => each.req === req)
  if (exchange !== undefined) exchange.end = end
}

/**
 * Whether reading from a connection is paused. A single read can bring thousands of requests, but there is no
 * second one before all of these have their responses: that bounds what a client can have waiting here.
 */
export function isHeldBack(socket: Socket): boolean {
  const connection = connectionOf.get(socket)
  return connection !== undefined && holdsBack(connection)
}

function holdsBack({ pending, ignored }: Connection): boolean {
  return pending.length > 1 || ignored >= MAX_IGNORED
}

/**
 * The open connections of one server and where each stands in its requests and answers: what decides when a request is
 * served, whether raw bytes may be written between responses, and which connections can be ended.
 */
export class Connections {
  readonly #open = new Map<Socket, Connection>()
  readonly #refuseSurplus: RequestListener
  #count = 0
  #moments = 0
  #closing = false

  /** @param refuseSurplus responds to requests on connections beyond the most that are held */
  constructor(refuseSurplus: RequestListener) {
    this.#refuseSurplus = refuseSurplus
  }

  get size(): number {
    return this.#open.size
  }

  /** @param surplus whether it is one beyond the most that are held. @returns its id */
  add(socket: Socket, surplus: boolean): string {
    const id = `c${++this.#count}`
    const since = ++this.#moments
    const counts = { requests: 0, ignored: 0, since }
    const connection: Connection = { id, ...counts, latest: undefined, pending: [], silent: false, surplus }
    this.#open.set(socket, connection)
    connectionOf.set(socket, connection)
    socket.once('close', () => this.#open.delete(socket))
    // Node resumes a socket of its own accord, when a request has been read to its end for one.
    socket.on('resume', () => {
      if (holdsBack(connection)) socket.pause()
    })
    return id
  }

  /**
   * Takes a request at the moment at which its head is complete. It is served at once, or when the responses to all requests
   * before it on its connection are done; never on a connection that is silent.
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
    // A client that asked for the connection to be closed after a response gets no other.
    if (first === undefined || !socket.writable) return
    connection.since = ++this.#moments
    first.serve(first.req, first.res)
    // After that, so that a client that has ended its side gets the last response, too.
    if (socket.isPaused() && !holdsBack(connection)) socket.resume()
  }

  #done(socket: Socket, connection: Connection, exchange: Exchange): void {
    // Answers are done in the order of their requests, but a connection that ends ends all of them at once.
    const isFirst = connection.pending[0] === exchange
    if (isFirst) connection.pending.shift()
    else connection.pending = connection.pending.filter((each) => each !== exchange)
    if (connection.pending.length === 0) {
      connection.since = ++this.#moments
      if (this.#closing) socket.destroySoon()
    } else if (isFirst) {
      // Other connections come between: a single read must not keep the event loop for all the requests in it.
      setImmediate(() => this.#serveFirst(socket, connection))
    }
  }

  /**
   * Ends what can best be spared: the connection that has been idle longest, otherwise the oldest request that only waits.
   * @returns whether there was any
   */
  makeSpace(): boolean {
    const all = [...this.#open].filter(([, { silent }]) => !silent)
    const idle = oldest(all.filter(([, { pending }]) => pending.length === 0))
    if (idle !== undefined) {
      const [socket, connection] = idle
      // What still comes on it is not performed, since no client would get the response.
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
   * When the raw response to something that is no request may be written, after which the connection ends. Node
   * reports everything that arrives after the first error as a further error: those get `taken`.
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

  /** Ends every connection as soon as its requests in flight are answered: idle ones at once. */
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
