import { lifecycle } from '../../core/lifecycle.ts'
import type { WebhookType } from '../../core/operation.ts'

/**
 * Every transition of a batch. Rows that the specification shows are `spec`; the others depend on the assumption that they
 * name. Specification: States and transitions / Batch prediction.
 */
export const batchLifecycle = lifecycle([
  { from: 'validating', on: 'start', to: 'in_progress', because: 'U054' },
  { from: 'in_progress', on: 'finish', to: 'finalizing', because: 'U054' },
  { from: 'finalizing', on: 'complete', to: 'completed', because: 'U054' },

  { from: 'validating', on: 'cancel', to: 'cancelling', because: 'spec' },
  { from: 'in_progress', on: 'cancel', to: 'cancelling', because: 'spec' },
  { from: 'cancelling', on: 'cancel', to: 'cancelling', because: 'spec' },
  { from: 'cancelled', on: 'cancel', to: 'cancelled', because: 'spec' },
  { from: 'cancelling', on: 'stop', to: 'cancelled', because: 'U054' },

  { from: 'validating', on: 'fail', to: 'failed', because: 'spec' },
  { from: 'in_progress', on: 'fail', to: 'failed', because: 'spec' },

  { from: 'in_progress', on: 'expire', to: 'expired', because: 'spec' },
  { from: 'validating', on: 'expire', to: 'expired', because: 'T13' },
])

export type BatchAction = (typeof batchLifecycle.arrows)[number]['on']
export type BatchStatus = (typeof batchLifecycle.arrows)[number]['from' | 'to']

/** The eight values of `status`. Specification: Resources and their fields / Batch prediction. */
export const batchStatuses = [
  'validating',
  'failed',
  'in_progress',
  'finalizing',
  'completed',
  'expired',
  'cancelling',
  'cancelled',
] as const satisfies readonly BatchStatus[]

/** True for the four states without a transition to another. */
export function isTerminal(status: BatchStatus): boolean {
  return batchLifecycle.terminal(status)
}

/** The webhooks of batches, one for each terminal state. Specification: Events / Batch prediction webhooks. */
export const batchWebhookTypes: readonly WebhookType[] = batchStatuses
  .filter(isTerminal)
  .map((status) => ({ type: noticeOf(status), description: `A batch prediction has become ${status}.` }))

/** The type of the webhook for a status. */
export function noticeOf(status: BatchStatus): string {
  return `batch_prediction.${status}`
}
