import type { Socket } from 'node:net'
import { allOf } from '../../../core/faults/actions.ts'
import type { Decision } from '../../../core/faults/decision.ts'
import { stopsOf } from '../../../core/faults/stops.ts'
import { halt } from './halt.ts'
import { longest, paceOf } from './pace.ts'
import { Vigil } from './vigil.ts'

/** Carries out what the rules say of a new connection, before a byte of it was read. */
export async function cutAccepted(
  socket: Socket,
  decision: Decision,
  signals: { readonly released: AbortSignal; readonly closing: AbortSignal },
): Promise<void> {
  const { actions } = decision
  const stop = stopsOf(actions).find(({ at }) => at === 'accept')
  if (stop === undefined) return
  const { released, closing } = signals
  const vigil = new Vigil(socket, [released, closing], longest(paceOf(allOf(actions, 'pace'))))
  const tell = (end: 'whole' | 'cut' | 'held' | 'left'): void => {
    decision.sent = { stage: 'accept', bytes: 0, end }
  }
  try {
    await halt(stop.how, { socket, vigil, closing, wrote: false, tell })
  } finally {
    vigil.end()
  }
}
