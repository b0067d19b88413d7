import type { Socket } from 'node:net'
import { silence } from '../connections.ts'
import { Vigil } from './vigil.ts'

/** How long a client has to close its side of a connection whose other side has ended. Milliseconds. */
const LINGER = 1_000

/**
 * How long bytes are given to reach the client before a reset, which would overtake them: one turn of the event loop is
 * enough on some platforms. Milliseconds.
 */
export const SETTLE = 20

/**
 * Ends a connection: with a FIN behind all that was written, or with a RST. No request that is still on it is answered.
 * @param closing ends the waiting for the client's own FIN
 */
export function cut(socket: Socket, how: 'fin' | 'rst', closing: AbortSignal): void {
  silence(socket)
  if (how === 'rst') {
    if (!socket.destroyed) socket.resetAndDestroy()
    return
  }
  // A socket that is closed with unread bytes sends a RST instead, and one that was written to loses what is on its way.
  const vigil = new Vigil(socket, [closing], LINGER)
  socket.end()
  void vigil.hold().then(() => {
    vigil.end()
    socket.destroy()
  })
}

/** Resolves when everything that was written to a socket has been handed to the system. */
export function flushed(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    if (socket.destroyed || !socket.writable) resolve()
    else socket.write('', () => resolve())
  })
}
