import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { ClientConnection, Evidence } from '../../core/log/evidence.ts'
import { noteArrival as noteRecorded } from '../../core/record/recording.ts'
import { elapsedTime } from '../../core/time/clock.ts'
import { real } from '../../core/time/real.ts'

/** How long an idle connection stays open. Milliseconds. */
export const KEEP_ALIVE_TIMEOUT = 65_900

interface Exchange {
  readonly req: IncomingMessage
  readonly res: ServerResponse
  readonly evidence: Evidence
  /** Responds to it when it is its turn. Undefined on the server of an application that has mounted ours. */
  readonly serve: RequestListener | undefined
}

interface Connection {
  /** Shared with the log, which outlives the socket. */
  readonly record: ClientConnection
  /** The latest request, and its response. */
  latest: Exchange | undefined
  /**
   * Requests whose response is not finished, in order: more than one when they are pipelined. Only the first is being served,
   * and nothing more is read from the connection until the last is: a single read can contain thousands of requests.
   */
  pending: Exchange[]
  /** Number of bytes that were handed to the socket when the latest response ended. */
  written: number
  /** Whether new requests get no response: the bytes are not HTTP any more, or a fault has silenced it. */
  silent: boolean
}

/** Number of connections of servers of other applications. */
let mounted = 0

/** The connections of all servers: those who have a socket need no access to its server. */
export const connectionOf = new WeakMap<Socket, Connection>()

/**
 * What the connection of a request shows of its client. On a server of another application, which has mounted ours, the
 * connection is known from its first request here.
 */
export function evidenceOf(req: IncomingMessage, res: ServerResponse): Evidence {
  const { socket } = req
  const connection = connectionOf.get(socket) ?? openConnection(socket, `m${++mounted}`)
  const known = connection.pending.find((each) => each.req === req)
  if (known !== undefined) return known.evidence
  const exchange = noteArrival(connection, req, res)
  if (res.closed) noteDone(connection, exchange)
  else res.once('close', () => noteDone(connection, exchange))
  return exchange.evidence
}

/** Notes how an exchange ended, unless that is known. One that is held open ends only with its connection. */
export function noteEnd(evidence: Evidence, end: NonNullable<Evidence['end']>): void {
  evidence.end ??= end
  if (evidence.end !== 'held') evidence.ended_ms ??= now()
}

// More digits mean nothing for an emulated service.
const toTenth = (ms: number): number => Math.round(ms * 10) / 10
const now = (): number => toTenth(elapsedTime())

function openConnection(socket: Socket, id: string): Connection {
  const record: ClientConnection = { id, opened_ms: now(), requests: 0, closed_ms: null, closed_by: null }
  const connection = { record, latest: undefined, pending: [], written: 0, silent: false }
  connectionOf.set(socket, connection)
  // Before the listeners of Node, which end the side of the emulator and the responses.
  socket.prependOnceListener('end', () => {
    if (!socket.writableEnded) record.closed_by ??= 'client'
  })
  socket.prependOnceListener('close', () => noteClosed(socket, record))
  if (socket.closed) {
    // The application has not responded, so it was not the one that closed it.
    record.closed_by = 'client'
    noteClosed(socket, record)
  }
  return connection
}

// The only errors of a socket that the emulator does not cause itself are resets by the client.
function noteClosed(socket: Socket, record: ClientConnection): void {
  record.closed_ms ??= now()
  record.closed_by ??= socket.errored && !socket.writableEnded ? 'client' : 'emulator'
}

function noteArrival(
  connection: Connection,
  req: IncomingMessage,
  res: ServerResponse,
  serve?: RequestListener,
): Exchange {
  const exchange: Exchange = { req, res, evidence: newEvidence(connection), serve }
  const { method = '', url: target = '', httpVersion: version, rawHeaders: headers } = req
  noteRecorded(exchange.evidence, { method, target, version, headers })
  connection.record.requests += 1
  connection.latest = exchange
  connection.pending.push(exchange)
  return exchange
}

function newEvidence({ record, pending, latest }: Connection): Evidence {
  const arrived_ms = now()
  const ended = latest?.evidence.ended_ms ?? null
  return {
    arrived_ms,
    connection: record,
    requests_before: record.requests,
    idle_before_ms: pending.length > 0 ? 0 : ended && toTenth(arrived_ms - ended),
    body: null,
    end: null,
    ended_ms: null,
    sent_bytes: null,
  }
}

function noteDone(connection: Connection, exchange: Exchange): void {
  const { evidence, req, res } = exchange
  const { record, written } = connection
  noteEnd(evidence, res.writableFinished ? 'whole' : record.closed_by === 'client' ? 'left' : 'cut')
  evidence.ended_ms ??= now()
  connection.written = req.socket.bytesWritten
  evidence.sent_bytes = connection.written - written
  connection.pending = connection.pending.filter((each) => each !== exchange)
}

/** From now on, requests that arrive on a connection get no response. */
export function silence(socket: Socket): void {
  const connection = connectionOf.get(socket)
  if (connection !== undefined) connection.silent = true
}

/**
 * The open connections of one server, each with its requests in progress. Decides when a request is served, and whether raw
 * bytes may be written between responses.
 */
export class Connections {
  readonly #open = new Map<Socket, Connection>()
  #count = 0
  #closing = false

  /** @param id default: `c1`, `c2` and so on, in the order in which the server accepts the connections */
  add(socket: Socket, id = `c${++this.#count}`): string {
    const connection = openConnection(socket, id)
    this.#open.set(socket, connection)
    socket.once('close', () => this.#open.delete(socket))
    // Node itself resumes a socket, for example when a request has been read to its end.
    socket.on('resume', () => {
      if (connection.pending.length > 1) socket.pause()
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
    if (connection.silent) {
      connection.record.requests += 1
      req.resume()
      return
    }
    const exchange = noteArrival(connection, req, res, serve)
    if (this.#closing) res.shouldKeepAlive = false
    res.once('close', () => this.#done(socket, connection, exchange))
    if (connection.pending.length > 1) socket.pause()
    else serveFirst(socket, connection)
  }

  #done(socket: Socket, connection: Connection, exchange: Exchange): void {
    // Responses finish in the order of their requests; only a closed connection finishes all of them at once.
    const isFirst = connection.pending[0] === exchange
    noteDone(connection, exchange)
    if (connection.pending.length === 0) {
      if (this.#closing) socket.destroySoon()
    } else if (isFirst) {
      // Gives other connections a turn: the requests of a single read must not block the event loop until all are served.
      real.setImmediate(() => serveFirst(socket, connection))
    }
  }

  /**
   * Calls `write` when a raw response to bytes that are not a request may be written; the connection ends after it. Closes the
   * connection when part of another response was sent: a client would read the raw bytes as part of that one.
   */
  writeLast(socket: Socket, write: (evidence: Evidence) => void): void {
    const connection = this.#open.get(socket)
    // Node reports all bytes that arrive after the first error as further errors.
    if (connection === undefined || connection.silent) return
    connection.silent = true
    const { latest, pending } = connection
    const writeOwn = (): void => write(newEvidence(connection))
    if (latest === undefined || (latest.req.complete && pending.length === 0)) writeOwn()
    else if (latest.res.headersSent) socket.destroy()
    else if (latest.req.complete) latest.res.once('finish', writeOwn)
    // The latest request broke inside its body, and gets this response instead of its own.
    else if (pending.length === 1) write(latest.evidence)
    else socket.destroy()
  }

  /** Closes idle connections at once, and each other connection after the responses to its requests in flight. */
  closeWhenIdle(): void {
    this.#closing = true
    for (const [socket, { latest, pending }] of this.#open) {
      if (pending.length === 0) socket.destroySoon()
      else if (latest !== undefined && !latest.res.headersSent) latest.res.shouldKeepAlive = false
    }
  }

  /** Cuts all connections. */
  cut(): void {
    for (const socket of this.#open.keys()) socket.destroy()
  }

  /** Calls back when no connection is open. */
  whenNone(call: () => void): void {
    const [socket] = this.#open.keys()
    if (socket === undefined) call()
    else socket.once('close', () => this.whenNone(call))
  }
}

function serveFirst(socket: Socket, { pending }: Connection): void {
  const [first] = pending
  // After a response with `Connection: close` no other response is sent.
  if (first === undefined || !socket.writable) return
  first.serve?.(first.req, first.res)
  // Resume only now: a client that has ended its side must still get the last response.
  if (pending.length < 2 && socket.isPaused()) socket.resume()
}
