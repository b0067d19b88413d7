import type { Socket } from 'node:net'
import type { Sent } from '../../../core/faults/decision.ts'
import type { Stop } from '../../../core/faults/stops.ts'
import { silence } from '../connections.ts'
import { cut, flushed, SETTLE } from './cut.ts'
import type { Vigil } from './vigil.ts'

/** What it takes to stop an exchange. */
export interface Halting {
  readonly socket: Socket
  readonly vigil: Vigil
  /** Ends the waiting for a client that does not close its side. */
  readonly closing: AbortSignal
  /** Whether the client has to get bytes of an answer first. */
  readonly wrote: boolean
  /** Told what becomes of it: for what is held open, when the holding begins. */
  readonly tell: (end: Sent['end']) => void
}

/** Stops an exchange. Resolves when the connection is over or ending: for a pause, once somebody else has ended it. */
export async function halt(
  how: Stop['how'],
  { socket, vigil, closing, wrote, tell }: Halting,
): Promise<void> {
  if (wrote && !(await vigil.until(flushed(socket)))) return tell(lost(vigil))
  if (how === 'pause' || how === 'stall') {
    silence(socket)
    tell('held')
    if (how === 'pause') await vigil.holdForever()
    else if (await vigil.hold()) cut(socket, 'fin', closing)
    return
  }
  if (wrote && !(await vigil.drained(SETTLE))) return tell(lost(vigil))
  cut(socket, how, closing)
  tell('cut')
}

/** How an exchange ended whose vigil is over. */
export function lost({ over }: Vigil): Sent['end'] {
  return over === 'left' ? 'left' : 'cut'
}
