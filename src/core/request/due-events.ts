import { isStorageFailure } from '../errors.ts'
import type { Poll } from '../operation.ts'
import type { Sandbox } from '../sandboxes/sandbox.ts'
import { advanceTo, nextEventOf, runDueEvents, runEvents } from '../time/run-events.ts'
import type { Exchange } from './exchange.ts'

/** Runs due events before the request is handled. When too many are due, the request gets the time reached. */
export function catchUp(sandbox: Sandbox, exchange: Exchange): void {
  ifWritable(exchange, () => {
    exchange.caughtUp = runDueEvents(sandbox).ran
  })
  exchange.now = sandbox.clock.now
}

/** Notes a poll. Time may pass here, so the target is loaded again: the response shows the sandbox after the poll. */
export function poll(sandbox: Sandbox, exchange: Exchange): void {
  const { poll, find } = exchange.call.operation
  if (poll === undefined) return
  ifWritable(exchange, () => notePoll(sandbox, poll, exchange))
  exchange.now = sandbox.clock.now
  exchange.target = find?.(exchange)
}

// Automatic skipping advances the clock to the next step of the record, but never past a deadline of the record.
function notePoll(sandbox: Sandbox, poll: Poll, exchange: Exchange): void {
  const ref = poll.ref(exchange.params)
  const scope = sandbox.scope(exchange.id)
  poll.progress(scope, ref)
  const commit = sandbox.commit(scope)
  let { ran } = runEvents(sandbox, sandbox.clock.now)
  const next = sandbox.clock.skipsOnPoll ? nextEventOf(sandbox, ref) : undefined
  if (next?.urgency === 'work') {
    const { events, failed } = advanceTo(sandbox, Date.parse(next.due_at), 'Skipping on a poll')
    ran += events.length + failed.length
  }
  exchange.polled = { commit, events: ran }
}

// A read request still gets a response when due events or the poll cannot be written.
function ifWritable({ call }: Exchange, work: () => void): void {
  try {
    work()
  } catch (error) {
    if (call.operation.method !== 'GET' || !isStorageFailure(error)) throw error
  }
}
