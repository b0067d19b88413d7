import { connect, type Socket } from 'node:net'
import { later } from '../../../src/core/time/realtime.ts'

export interface RawResponse {
  readonly status: number
  /** Names in lower case; values of a repeated header are joined by a comma. */
  readonly headers: ReadonlyMap<string, string>
  readonly text: string
}

export type NoResponse = 'closed' | 'silent' | 'malformed'

interface Waiting {
  readonly isHead: boolean
  readonly done: (response: RawResponse | NoResponse) => void
}

/**
 * One HTTP/1.1 connection to 127.0.0.1, kept alive, and opened again when the server has closed it. Unlike client libraries,
 * it sends any bytes and reads responses strictly.
 */
export class Connection {
  readonly #port: number
  readonly #patience: number
  #socket: Socket | undefined
  #received: Buffer = Buffer.alloc(0)
  #waiting: Waiting | undefined
  made = 0

  /** @param patience real milliseconds without a response before an exchange is given up */
  constructor(port: number, patience = 120_000) {
    this.#port = port
    this.#patience = patience
  }

  exchange(bytes: Buffer, isHead = false): Promise<RawResponse | NoResponse> {
    return new Promise((resolve) => {
      const socket = this.#open()
      const cancel = later(this.#patience, () => this.#give('silent'))
      const done = (response: RawResponse | NoResponse): void => {
        cancel()
        resolve(response)
      }
      this.#waiting = { isHead, done }
      socket.write(bytes)
    })
  }

  /** Closes the connection; the next exchange opens another. */
  close(): void {
    this.#socket?.destroy()
    this.#socket = undefined
    this.#received = Buffer.alloc(0)
  }

  #open(): Socket {
    if (this.#socket?.writable) return this.#socket
    const socket = connect({ port: this.#port, host: '127.0.0.1', noDelay: true })
    this.made += 1
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
    socket.on('error', lost)
    socket.on('end', lost)
    socket.on('close', lost)
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
