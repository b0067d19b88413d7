import type { Socket } from 'node:net'
import type { Sent } from '../../../core/log/request-log.ts'
import { silence } from '../connections.ts'
import { type BodyPosition, offsetOf, type Stop } from './stage.ts'
import { ExchangeTimeout } from './timeout.ts'

/** The stage at which a response stops, and how many bytes of its body are sent before that. */
export interface ResponseStop {
  readonly stop: Stop
  readonly stage: (typeof ORDER)[number]
  readonly offset: number
}

const ORDER = ['before', 'before-head', 'after-head', 'body', 'end', 'idle'] as const

/** The stop that a response reaches first; undefined when it is sent completely. */
export function firstStop(stops: readonly Stop[], body: Buffer, chunked: boolean): ResponseStop | undefined {
  const reached = stops.flatMap((stop) => responseStop(stop, body, chunked) ?? [])
  const rank = ({ stage }: ResponseStop) => ORDER.indexOf(stage)
  return reached.toSorted((a, b) => rank(a) - rank(b) || a.offset - b.offset)[0]
}

function responseStop(stop: Stop, body: Buffer, chunked: boolean): ResponseStop | undefined {
  const { at } = stop
  if (typeof at !== 'string') {
    // The request body was shorter than that, so this stop was not reached.
    if ('request_bytes' in at) return undefined
    return { stop, stage: 'body', offset: offsetOf(at as BodyPosition, body) }
  }
  // Without chunks, the last byte ends the body.
  if (at === 'before-last-chunk') {
    return { stop, stage: 'body', offset: chunked ? body.length : Math.max(0, body.length - 1) }
  }
  if (at === 'before-head' || at === 'after-head' || at === 'end' || at === 'idle')
    return { stop, stage: at, offset: 0 }
  // Stages up to after-handler. An earlier one was not reached when the request had no handler: stop before the response.
  return at === 'accept' ? undefined : { stop, stage: 'before', offset: 0 }
}

/** The context in which an exchange is stopped. */
export interface StopContext {
  readonly socket: Socket
  readonly timeout: ExchangeTimeout
  /** Ends the waiting for a client that does not close its side. */
  readonly closing: AbortSignal
  /** Whether bytes of a response were written, which the client must get first. */
  readonly wrote: boolean
  /** Reports how it ended. A connection that is held open is reported when the hold begins. */
  readonly report: (end: Sent['end']) => void
}

/** Stops an exchange. Resolves when the connection is closed or closing; a pause lasts until the client or emulator closes it. */
export async function stopExchange(
  how: Stop['how'],
  { socket, timeout, closing, wrote, report }: StopContext,
): Promise<void> {
  if (wrote && !(await timeout.until(flushed(socket)))) return report(lost(timeout))
  if (how === 'pause' || how === 'stall') {
    silence(socket)
    report('held')
    if (how === 'pause') await timeout.holdForever()
    else if (await timeout.hold()) endConnection(socket, 'fin', closing)
    return
  }
  if (wrote && !(await timeout.drained(SETTLE))) return report(lost(timeout))
  endConnection(socket, how, closing)
  report('cut')
}

/** The logged end of an exchange whose timeout is over. */
export function lost({ over }: ExchangeTimeout): Sent['end'] {
  return over === 'left' ? 'left' : 'cut'
}

/** Milliseconds in which a client must close its side of a connection after the emulator has ended its own. */
const LINGER = 1_000

/**
 * Milliseconds between the last bytes and a reset, which would otherwise overtake them. On some platforms one turn of the
 * event loop is enough.
 */
export const SETTLE = 20

/**
 * Ends a connection: with a FIN after all written bytes, or with a RST. Requests that still arrive on it get no response.
 * @param closing ends the wait for the FIN of the client
 */
export function endConnection(socket: Socket, how: 'fin' | 'rst', closing: AbortSignal): void {
  silence(socket)
  if (how === 'rst') {
    if (!socket.destroyed) socket.resetAndDestroy()
    return
  }
  // Closing a socket with unread bytes would send a RST, and bytes that have not arrived would be lost.
  const timeout = new ExchangeTimeout(socket, [closing], LINGER)
  socket.end()
  void timeout.hold().then(() => {
    timeout.end()
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
