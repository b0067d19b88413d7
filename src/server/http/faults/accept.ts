import type { Socket } from 'node:net'
import { Refusal } from '../../../core/errors.ts'
import type { Decision } from '../../../core/faults/decision.ts'
import type { Sent } from '../../../core/log/request-log.ts'
import type { Sandbox } from '../../../core/sandboxes/sandbox.ts'
import { silence } from '../connections.ts'
import { paceOf, stopsOf } from './primitives.ts'
import { stopExchange } from './stop.ts'
import { ExchangeTimeout, type Waits } from './timeout.ts'

/**
 * Applies the fault rules of a sandbox to a new connection, before any byte of it is read.
 * @param id the id of the connection
 */
export function acceptUnderFaults(socket: Socket, id: string, sandbox: Sandbox, waits: Waits): void {
  const decision = decisionOn(id, sandbox)
  const { actions = [] } = decision ?? {}
  const stop = stopsOf(actions).find(({ at }) => at === 'accept')
  if (decision === undefined || stop === undefined) return
  silence(socket)
  const { closing, later } = waits
  const signals = [...sandbox.faults.releasesOf(decision), closing]
  const timeout = new ExchangeTimeout(socket, signals, paceOf(actions).max_ms, later)
  const report = (end: Sent['end']): void => {
    decision.sent = { stage: 'accept', bytes: 0, end }
  }
  stopExchange(stop.how, { socket, timeout, closing, wrote: false, report })
    .finally(() => timeout.end())
    .catch(sandbox.options.onDefect)
}

// No caller catches here: if counters cannot be written, the fault is skipped.
function decisionOn(id: string, { faults, options }: Sandbox): Decision | undefined {
  try {
    return faults.decide('accept', { kind: 'connection', id })
  } catch (error) {
    if (!(error instanceof Refusal)) options.onDefect(error)
    return undefined
  }
}
