import type { Notice } from '../../kernel/operation.ts'
import { type BatchStatus, batchStatuses, isTerminal } from './states.ts'

/** The webhooks of batches, one for each terminal state. Specification: Events / Batch prediction webhooks. */
export const batchNotices: readonly Notice[] = batchStatuses
  .filter(isTerminal)
  .map((status) => ({ type: noticeOf(status), says: `A batch prediction has become ${status}.` }))

/** The type of the webhook that says that a batch has reached a state. */
export function noticeOf(status: BatchStatus): string {
  return `batch_prediction.${status}`
}
