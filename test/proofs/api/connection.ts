import { once } from 'node:events'
import { connect } from 'node:net'
import type { Duplex } from 'node:stream'
import { later } from '../../../src/core/time/realtime.ts'

export interface RawResponse {
  readonly status: number
  /** Names in lower case; values of a repeated header are joined by a comma. */
  readonly headers: ReadonlyMap<string, string>
  readonly text: string
}

export type NoResponse = 'closed' | 'silent' | 'malformed'

/** A request that is being sent: its bytes may be written in pieces. */
export interface Arriving {
  readonly write: (piece: Buffer) => void
  readonly response: Promise<RawResponse | NoResponse>
}

interface Waiting {
  readonly isHead: boolean
  readonly done: (response: RawResponse | NoResponse) => void
}

/** Opens a socket to a port of this machine. */
export async function openSocket(port: number): Promise<Duplex> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  await once(socket, 'connect')
  return socket
}

/** Real milliseconds without a response before an exchange is given up. */
const PATIENCE = 120_000

/**
 * One HTTP/1.1 connection, kept alive, and opened again when the server has closed it. Unlike client libraries, it sends any
 * bytes and reads responses strictly.
 */
export class Connection {
  readonly #open: () => Promise<Duplex>
  #socket: Duplex | undefined
  #received: Buffer = Buffer.alloc(0)
  #waiting: Waiting | undefined

  constructor(open: () => Promise<Duplex>) {
    this.#open = open
  }

  async exchange(bytes: Buffer, isHead = false): Promise<RawResponse | NoResponse> {
    const { write, response } = await this.begin(isHead)
    write(bytes)
    return response
  }

  async begin(isHead = false): Promise<Arriving> {
    const socket = this.#socket?.writable ? this.#socket : await this.#opened()
    const response = new Promise<RawResponse | NoResponse>((resolve) => {
      const cancel = later(PATIENCE, () => this.#give('silent'))
      const done = (given: RawResponse | NoResponse): void => {
        cancel()
        resolve(given)
      }
      this.#waiting = { isHead, done }
    })
    return { write: (piece) => void socket.write(piece), response }
  }

  /** Closes the connection; the next exchange opens another. */
  close(): void {
    this.#socket?.destroy()
    this.#socket = undefined
    this.#received = Buffer.alloc(0)
  }

  async #opened(): Promise<Duplex> {
    const socket = await this.#open()
    this.#socket = socket
    this.#received = Buffer.alloc(0)
    const lost = (): void => {
      if (this.#socket !== socket) return
      this.#socket = undefined
      this.#give('closed')
    }
    socket.on('data', (piece: Buffer) => {
      if (this.#socket === socket) this.#take(piece)
    })
    for (const event of ['error', 'end', 'close']) socket.on(event, lost)
    return socket
  }

  #take(piece: Buffer): void {
    this.#received = this.#received.length === 0 ? piece : Buffer.concat([this.#received, piece])
    while (this.#waiting !== undefined) {
      const read = readResponse(this.#received, this.#waiting.isHead)
      if (read === 'incomplete') return
      if (read === 'malformed') {
        this.close()
        this.#give('malformed')
        return
      }
      this.#received = this.#received.subarray(read.length)
      if (read.response.status < 200) continue
      if (read.response.headers.get('connection') === 'close') this.close()
      this.#give(read.response)
    }
  }

  #give(response: RawResponse | NoResponse): void {
    const waiting = this.#waiting
    this.#waiting = undefined
    if (response === 'silent') this.close()
    waiting?.done(response)
  }
}

type Read = { readonly response: RawResponse; readonly length: number } | 'incomplete' | 'malformed'

function readResponse(received: Buffer, isHead: boolean): Read {
  const end = received.indexOf('\r\n\r\n')
  if (end === -1) return 'incomplete'
  const [first = '', ...lines] = received.toString('latin1', 0, end).split('\r\n')
  const [, code] = /^HTTP\/1\.1 (\d{3}) /.exec(first) ?? []
  if (code === undefined) return 'malformed'
  const headers = new Map<string, string>()
  for (const line of lines) {
    const colon = line.indexOf(':')
    if (colon < 1) return 'malformed'
    const name = line.slice(0, colon).toLowerCase()
    const earlier = headers.get(name)
    const value = line.slice(colon + 1).trim()
    headers.set(name, earlier === undefined ? value : `${earlier}, ${value}`)
  }
  const status = Number(code)
  const at = end + 4
  if (isHead || status === 204 || status < 200) return { response: { status, headers, text: '' }, length: at }
  const body = headers.has('transfer-encoding') ? readChunks(received, at) : readLength(received, at, headers)
  if (typeof body === 'string') return body
  return { response: { status, headers, text: body.bytes.toString() }, length: body.end }
}

type Body = { readonly bytes: Buffer; readonly end: number } | 'incomplete' | 'malformed'

function readLength(received: Buffer, at: number, headers: ReadonlyMap<string, string>): Body {
  const length = headers.get('content-length')
  if (length === undefined || !/^\d+$/.test(length)) return 'malformed'
  const end = at + Number(length)
  return received.length < end ? 'incomplete' : { bytes: received.subarray(at, end), end }
}

function readChunks(received: Buffer, from: number): Body {
  const pieces: Buffer[] = []
  let at = from
  for (;;) {
    const lineEnd = received.indexOf('\r\n', at)
    if (lineEnd === -1) return 'incomplete'
    const size = Number.parseInt(received.toString('latin1', at, lineEnd), 16)
    if (Number.isNaN(size)) return 'malformed'
    const start = lineEnd + 2
    if (received.length < start + size + 2) return 'incomplete'
    pieces.push(received.subarray(start, start + size))
    at = start + size + 2
    if (size === 0) return { bytes: Buffer.concat(pieces), end: at }
  }
}
