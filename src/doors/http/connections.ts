import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** How long an idle connection stays open. Milliseconds. */
export const KEEP_ALIVE_TIMEOUT = 65_000

interface Exchange {
  readonly req: IncomingMessage
  readonly res: ServerResponse
}

interface Connection {
  /** `c1`, `c2` and so on, in the order in which the connections of a server came. */
  readonly id: string
  /** Requests whose head was complete so far. */
  requests: number
  /** The latest of them, and its response. */
  latest: Exchange | undefined
  /** Those whose response is not done yet, in order; more than one when they are pipelined. */
  pending: Exchange[]
  /** Whether nothing on it is answered any more: its bytes have stopped being HTTP, or a fault has silenced it. */
  silent: boolean
}

/**
 * - `now`: nothing is under way; or the latest request broke inside its body and has no answer yet.
 * - `after`: a complete request comes first, whose answer has not begun.
 * - `never`: bytes of an answer are out, which raw ones would be spliced into or be taken for.
 * - `taken`: another answer has this turn, or the connection is gone.
 */
export type Turn = { kind: 'now' | 'never' | 'taken' } | { kind: 'after'; res: ServerResponse }

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

/** Resolves when the answers to all requests before this one on its connection are done; undefined when they are. */
export function turnOf(req: IncomingMessage): Promise<void> | undefined {
  const pending = connectionOf.get(req.socket)?.pending ?? []
  const before = pending[pending.findIndex((each) => each.req === req) - 1]
  return before && new Promise((resolve) => before.res.once('close', resolve))
}

/** From now on nothing that comes on a connection is answered, be it a request or not. */
export function silence(socket: Socket): void {
  const connection = connectionOf.get(socket)
  if (connection !== undefined) connection.silent = true
}

/** Whether nothing on a connection is answered any more. */
export function isSilent(socket: Socket): boolean {
  return connectionOf.get(socket)?.silent === true
}

/** Whether no request is under way on a connection. */
export function isIdle(socket: Socket): boolean {
  return connectionOf.get(socket)?.pending.length === 0
}

/**
 * The open connections of one server and where each stands in its requests and answers: what decides whether raw
 * bytes may be written between responses, and which connections an orderly shutdown may end.
 */
export class Connections {
  readonly #open = new Map<Socket, Connection>()
  #count = 0
  #closing = false

  /** @returns its id */
  add(socket: Socket): string {
    const id = `c${++this.#count}`
    const connection = { id, requests: 0, latest: undefined, pending: [], silent: false }
    this.#open.set(socket, connection)
    connectionOf.set(socket, connection)
    socket.once('close', () => this.#open.delete(socket))
    return id
  }

  /** Notes a request at the moment at which it is handed on. @returns whether anybody is to answer it */
  began(req: IncomingMessage, res: ServerResponse): boolean {
    const connection = this.#open.get(req.socket)
    if (connection === undefined) return true
    const exchange = { req, res }
    connection.requests++
    connection.latest = exchange
    connection.pending.push(exchange)
    if (this.#closing) res.shouldKeepAlive = false
    res.once('close', () => {
      // Answers are done in the order of their requests, but a connection that ends ends all of them at once.
      if (connection.pending[0] === exchange) connection.pending.shift()
      else connection.pending = connection.pending.filter((each) => each !== exchange)
      if (this.#closing && connection.pending.length === 0) req.socket.destroySoon()
    })
    return !connection.silent
  }

  /**
   * When the raw answer to something that is no request may be written, after which the connection ends. Node
   * reports everything that arrives behind the first error as a further error: those get `taken`.
   */
  lastTurn(socket: Socket): Turn {
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
