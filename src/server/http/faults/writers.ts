import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { headBytes } from './draft.ts'
import type { ResponseMessage } from './message.ts'

/** Writes a message piece by piece: its functions are called in their order. */
export type Writer = ReturnType<typeof responseWriter>

/** Writes through Node's ServerResponse: the connection stays usable after it. */
export function responseWriter(res: ServerResponse, { head }: ResponseMessage) {
  return {
    head: (): void => {
      if (head === undefined) return
      // Our own Date is among the headers, unless a fault has removed it.
      res.sendDate = false
      res.writeHead(head.status, head.reason, head.headers.flat())
    },
    /** Sends the bytes written so far, even a head without a body. */
    flush: () => res.flushHeaders(),
    piece: (bytes: Buffer) => void res.write(bytes),
    end: () => void res.end(),
  }
}

/** Writes to the socket, for messages that Node refuses to write. The connection must be closed after it. */
export function socketWriter(socket: Socket, { head, framing }: ResponseMessage): Writer {
  const { mode, tail, withBody } = framing
  // Bytes that are written in one turn of the event loop are sent together, as with a ServerResponse.
  const write = (...parts: readonly (Buffer | string)[]): void => {
    if (socket.writableCorked === 0) {
      socket.cork()
      process.nextTick(() => socket.uncork())
    }
    for (const part of parts) socket.write(part)
  }
  return {
    head: () => head && write(headBytes(head)),
    flush: () => {},
    piece: (bytes) => {
      if (mode === 'chunked') write(`${bytes.length.toString(16)}\r\n`, bytes, '\r\n')
      else write(bytes)
    },
    end: () => {
      if (mode === 'chunked' && withBody) write(LAST_CHUNK)
      if (tail.length > 0) write(tail)
    },
  }
}

const LAST_CHUNK = '0\r\n\r\n'
