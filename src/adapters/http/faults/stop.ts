import type { Socket } from 'node:net'
import type { Sent } from '../../../core/log/request-log.ts'
import { silence } from '../connections.ts'
import { type BodyPlace, offsetOf, type Stop } from './stage.ts'
import { ExchangeTimeout } from './timeout.ts'

/** How far a response gets: the stage at which it stops, and the bytes of its body that are sent before. */
export interface ResponseStop {
  readonly stop: Stop
  readonly stage: 'before' | 'before-head' | 'after-head' | 'body' | 'end' | 'idle'
  readonly offset: number
}

const ORDER: readonly ResponseStop['stage'][] = ['before', 'before-head', 'after-head', 'body', 'end', 'idle']

/** Of all stops, the one that a response reaches first; undefined when it goes out whole. */
export function firstStop(stops: readonly Stop[], body: Buffer, chunked: boolean): ResponseStop | undefined {
  const reached = stops.flatMap((stop) => responseStop(stop, body, chunked) ?? [])
  return reached.toSorted((a, b) => rank(a) - rank(b) || a.offset - b.offset)[0]
}

function rank({ stage }: ResponseStop): number {
  return ORDER.indexOf(stage)
}

function responseStop(stop: Stop, body: Buffer, chunked: boolean): ResponseStop | undefined {
  const { at } = stop
  if (typeof at !== 'string') {
    // A body that was shorter than that has not been stopped.
    if ('request_bytes' in at) return undefined
    return { stop, stage: 'body', offset: offsetOf(at as BodyPlace, body) }
  }
  // Without chunks it is the last byte that ends the body.
  if (at === 'before-last-chunk') {
    return { stop, stage: 'body', offset: chunked ? body.length : Math.max(0, body.length - 1) }
  }
  if (at === 'before-head' || at === 'after-head' || at === 'end' || at === 'idle')
    return { stop, stage: at, offset: 0 }
  // What should have happened by now, and could not: the request met no handler.
  return at === 'accept' ? undefined : { stop, stage: 'before', offset: 0 }
}

/** What it takes to stop an exchange. */
export interface StopContext {
  readonly socket: Socket
  readonly timeout: ExchangeTimeout
  /** Ends the waiting for a client that does not close its side. */
  readonly closing: AbortSignal
  /** Whether the client has to get bytes of a response first. */
  readonly wrote: boolean
  /** Reports how it ended: for what is held open, when the holding begins. */
  readonly report: (end: Sent['end']) => void
}

/** Stops an exchange. Resolves when the connection is over or ending: for a pause, once the client or the emulator has ended it. */
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

/** How an exchange ended whose timeout is over. */
export function lost({ over }: ExchangeTimeout): Sent['end'] {
  return over === 'left' ? 'left' : 'cut'
}

/** How long a client has to close its side of a connection whose other side has ended. Milliseconds. */
const LINGER = 1_000

/**
 * How long bytes are given to reach the client before a reset, which would overtake them: one turn of the event loop is
 * enough on some platforms. Milliseconds.
 */
export const SETTLE = 20

/**
 * Ends a connection: with a FIN after all that was written, or with a RST. No request that is still on it is answered.
 * @param closing ends the waiting for the client's own FIN
 */
export function endConnection(socket: Socket, how: 'fin' | 'rst', closing: AbortSignal): void {
  silence(socket)
  if (how === 'rst') {
    if (!socket.destroyed) socket.resetAndDestroy()
    return
  }
  // A socket that is closed with unread bytes sends a RST instead, and one that was written to loses what has not arrived.
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
