import { refuse } from '../../errors.ts'
import type { Scope } from '../../operation.ts'
import type { Exchange } from '../../request/exchange.ts'
import type { Sandbox } from '../../sandboxes/sandbox.ts'
import { runEvents } from '../../time/run-events.ts'
import { allOf, type StateFault } from '../actions.ts'
import type { Decision } from '../decision.ts'
import { noteMoved } from './moved.ts'
import { idMeant, idNamed } from './record-ref.ts'
import { deleteRow, insertRows } from './rows.ts'

type StateStage = 'before-handler' | 'after-handler'

/**
 * Carries out what fired `state` actions say about one stage, in order and in a transaction of its own; what is due because
 * of that happens at once. A record or a state that a move does not fit is left as it is. Then refuses with `not_found` a
 * request for a record that is not to be seen yet.
 */
export function moveSandbox(sandbox: Sandbox, exchange: Exchange, at: StateStage): void {
  const { decision } = exchange
  if (decision === undefined) return
  const wanted = wantedAt(exchange, decision, at)
  if (wanted.length === 0) return
  const scope = sandbox.scope(exchange.id)
  for (const { fault } of wanted) move(sandbox, scope, exchange, at, fault)
  const commit = sandbox.commit(scope)
  if (commit !== undefined) {
    noteMoved(decision, { step: at === 'before-handler' ? 'faultsBefore' : 'faultsAfter', commit })
    const { events, failed } = runEvents(sandbox, sandbox.clock.now)
    exchange.caughtUp += events.length + failed.length
  }
  for (const { fault, n } of wanted) {
    if (n <= (fault.visible_after_reads ?? 0)) refuseUnseen(sandbox, exchange, idFor(fault, exchange, at))
  }
}

interface Wanted {
  readonly fault: StateFault
  /** Number of the match, from 1. */
  readonly n: number
}

function wantedAt({ idempotency }: Exchange, { fired }: Decision, at: StateStage): Wanted[] {
  return fired.flatMap(({ rule, actions, n }) => {
    // A request that asks for a turn itself means what it creates, and a repetition of it creates nothing.
    if (rule.source === 'magic' && idempotency === 'replay') return []
    return allOf(actions, 'state')
      .filter((fault) => (fault.at ?? 'before-handler') === at)
      .map((fault) => ({ fault, n }))
  })
}

function move(
  { service }: Sandbox,
  scope: Scope,
  exchange: Exchange,
  at: StateStage,
  fault: StateFault,
): void {
  const { delete: gone, insert_rows: rows } = fault
  const id = idFor(fault, exchange, at)
  if (gone !== undefined) {
    const named = gone.id === undefined ? id : idNamed(gone.id, exchange)
    deleteRow(scope, service, gone.collection, named)
  }
  if (rows !== undefined) insertRows(scope, service, exchange, rows)
  for (const { name, apply } of service.moves.values()) {
    if (Object.hasOwn(fault, name) && fault[name] !== undefined) apply(scope, id, fault[name])
  }
}

function idFor({ id }: StateFault, exchange: Exchange, at: StateStage): string | undefined {
  return id === undefined ? idMeant(exchange, at) : idNamed(id, exchange)
}

// The operation itself is asked in a sandbox without the record, so that it answers in the very words of an unknown id.
function refuseUnseen(sandbox: Sandbox, exchange: Exchange, id: string | undefined): never {
  const { params, caller, now, assume, note, settings, call } = exchange
  const { tx } = sandbox.scope(exchange.id)
  for (const table of sandbox.service.collections.keys()) if (id !== undefined) tx.delete(table, id)
  call.operation.find?.({ params, caller, now, assume, note, settings, tx })
  return refuse('not_found', { detail: `There is no object with the id "${id ?? ''}".` })
}
