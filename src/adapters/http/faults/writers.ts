import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { headBytes } from './draft.ts'
import { chunkOf, LAST_CHUNK } from './framing.ts'
import type { ResponseMessage } from './message.ts'

/** Writes a message piece by piece, in this order. */
export interface Writer {
  head(): void
  /** Sends the bytes written so far, even a head without a body. */
  flush(): void
  piece(bytes: Buffer): void
  end(): void
}

/** Writes through Node's ServerResponse: the connection stays usable after it. */
export class ResponseWriter implements Writer {
  readonly #res: ServerResponse
  readonly #message: ResponseMessage

  constructor(res: ServerResponse, message: ResponseMessage) {
    this.#res = res
    this.#message = message
  }

  head(): void {
    const { head } = this.#message
    if (head === undefined) return
    // Our own Date is among the headers, unless a fault has removed it.
    this.#res.sendDate = false
    this.#res.writeHead(head.status, head.reason, head.headers.flat())
  }

  flush(): void {
    this.#res.flushHeaders()
  }

  piece(bytes: Buffer): void {
    this.#res.write(bytes)
  }

  end(): void {
    this.#res.end()
  }
}

/** Writes to the socket, for messages that Node refuses to write. The connection must be closed after it. */
export class SocketWriter implements Writer {
  readonly #socket: Socket
  readonly #message: ResponseMessage

  constructor(socket: Socket, message: ResponseMessage) {
    this.#socket = socket
    this.#message = message
  }

  head(): void {
    const { head } = this.#message
    if (head !== undefined) this.#write(headBytes(head))
  }

  flush(): void {}

  piece(bytes: Buffer): void {
    this.#write(this.#message.framing.mode === 'chunked' ? chunkOf(bytes) : bytes)
  }

  end(): void {
    const { mode, tail, withBody } = this.#message.framing
    if (mode === 'chunked' && withBody) this.#write(LAST_CHUNK)
    if (tail.length > 0) this.#write(tail)
  }

  // Bytes that are written in one turn of the event loop are sent together, as with a ServerResponse.
  #write(bytes: Buffer): void {
    if (this.#socket.writableCorked === 0) {
      this.#socket.cork()
      process.nextTick(() => this.#socket.uncork())
    }
    this.#socket.write(bytes)
  }
}
