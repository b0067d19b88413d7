import { type EventHandler, idOf, type Scope } from '../../kernel/operation.ts'
import type { Batch } from './batch.ts'
import { cleanUp, complete, expire, finish, start, stop } from './lifecycle.ts'
import type { BatchEventKind } from './schedule.ts'
import { batches } from './schema.ts'
import type { BatchStatus } from './states.ts'

/** What happens to batches when time passes. */
export const batchEvents: readonly EventHandler[] = [
  event('batch.start', 'Validation of a batch ends: it starts to process its items, or fails.', start, [
    'validating',
  ]),
  event('batch.finalize', 'The last item of a batch is finished, and the batch is finalized.', finish, [
    'in_progress',
  ]),
  event('batch.complete', 'Finalizing ends, and the batch is completed.', complete, ['finalizing']),
  event('batch.cancelled', 'Cancelling ends, and the batch is cancelled.', stop, ['cancelling']),
  event('batch.expire', 'The completion window of a batch ends while items are unfinished.', expire, [
    'validating',
    'in_progress',
  ]),
  event('batch.cleanup', 'The results of a batch are removed.', cleanUp, [
    'completed',
    'failed',
    'expired',
    'cancelled',
  ]),
]

// A record that was deleted or edited by hand since the event was scheduled is left alone.
function event(
  kind: BatchEventKind,
  says: string,
  handle: (scope: Scope, batch: Batch) => Batch,
  from: readonly BatchStatus[],
): EventHandler {
  return {
    kind,
    says,
    handle: (scope, { ref }) => {
      const batch = scope.tx.in(batches).get(idOf(ref))
      if (batch !== undefined && from.includes(batch.status)) handle(scope, batch)
    },
  }
}
