import type { Ask } from './ask.ts'
import type { BatchFailure, BatchPlanChange, BatchView } from './views/batch.ts'

/** What a test can do to batch predictions beside what the API offers. Each rejects with `conflict` in the wrong state. */
export interface SandboxBatches {
  /** The plan behind a batch, its counts now, and the events ahead of it. */
  show(id: string): Promise<BatchView>
  /** Changes the pace or the outcomes of what is still to come, holds the batch or lets it go on. */
  change(id: string, plan: BatchPlanChange): Promise<BatchView>
  /** Fails a batch that is validating or in progress. */
  fail(id: string, failure?: BatchFailure): Promise<BatchView>
  /** Takes a batch through the phases that are left, at once. */
  complete(id: string): Promise<BatchView>
  /** Ends the completion window of a batch that is validating or in progress. */
  expire(id: string): Promise<BatchView>
  /** Removes the results of a terminal batch, however young they are. */
  cleanup(id: string): Promise<BatchView>
}

export function batchesOver(ask: Ask): SandboxBatches {
  return {
    show: (id) => ask('GET /batches/{id}', { params: { id } }),
    change: (id, plan) => ask('PATCH /batches/{id}', { params: { id }, body: plan }),
    fail: (id, failure) => ask('POST /batches/{id}/fail', { params: { id }, body: failure }),
    complete: (id) => ask('POST /batches/{id}/complete', { params: { id } }),
    expire: (id) => ask('POST /batches/{id}/expire', { params: { id } }),
    cleanup: (id) => ask('POST /batches/{id}/cleanup', { params: { id } }),
  }
}
