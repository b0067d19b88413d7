import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

interface Connection {
  /** The latest request whose head was complete, and its response. */
  req: IncomingMessage | undefined
  res: ServerResponse | undefined
  /** Requests whose response is not done yet; more than one when they are pipelined. */
  pending: number
  /** Whether its bytes have stopped being HTTP. */
  broken: boolean
}

/**
 * - `now`: nothing is under way; or the latest request broke inside its body and has no answer yet.
 * - `after`: a complete request comes first, whose answer has not begun.
 * - `never`: bytes of an answer are out, which raw ones would be spliced into or be taken for.
 * - `taken`: another answer has this turn, or the connection is gone.
 */
export type Turn = { kind: 'now' | 'never' | 'taken' } | { kind: 'after'; res: ServerResponse }

/**
 * The open connections of one server and where each stands in its requests and answers: what decides whether raw
 * bytes may be written between responses, and which connections an orderly shutdown may end.
 */
export class Connections {
  readonly #open = new Map<Socket, Connection>()
  #closing = false

  add(socket: Socket): void {
    this.#open.set(socket, { req: undefined, res: undefined, pending: 0, broken: false })
    socket.once('close', () => this.#open.delete(socket))
  }

  /** Notes a request at the moment at which it is handed on. */
  began(req: IncomingMessage, res: ServerResponse): void {
    const connection = this.#open.get(req.socket)
    if (connection === undefined) return
    connection.req = req
    connection.res = res
    connection.pending++
    if (this.#closing) res.shouldKeepAlive = false
    res.once('close', () => {
      connection.pending--
      if (this.#closing && connection.pending === 0) req.socket.destroySoon()
    })
  }

  /**
   * When the raw answer to something that is no request may be written, after which the connection ends. Node
   * reports everything that arrives behind the first error as a further error: those get `taken`.
   */
  lastTurn(socket: Socket): Turn {
    const connection = this.#open.get(socket)
    if (connection === undefined || connection.broken) return { kind: 'taken' }
    connection.broken = true
    const { req, res, pending } = connection
    if (req === undefined || res === undefined) return { kind: 'now' }
    if (!req.complete) return { kind: res.headersSent || pending > 1 ? 'never' : 'now' }
    if (pending === 0) return { kind: 'now' }
    return res.headersSent ? { kind: 'never' } : { kind: 'after', res }
  }

  /** Ends every connection as soon as its requests in flight are answered: idle ones at once. */
  closeWhenIdle(): void {
    this.#closing = true
    for (const [socket, { res, pending }] of this.#open) {
      if (pending === 0) socket.destroySoon()
      else if (res !== undefined && !res.headersSent) res.shouldKeepAlive = false
    }
  }
}
