import type { Settings } from '../../kernel/assumptions.ts'
import type { EmbeddedProblem } from '../../kernel/operation.ts'
import { canceledProblem, expiredProblem } from './settings.ts'

/** The problem of an errored item. Specification: Errors / Conditions. */
export const PREDICTION_FAILED: EmbeddedProblem = {
  code: 'prediction_failed',
  title: 'Prediction Failed',
  status: 422,
  says: 'The prediction of one item failed; it is the error of a result line, never of an answer.',
}

/** The problems that a batch itself shows as its error (U010). */
export const BATCH_FAILED: EmbeddedProblem = {
  code: 'batch_failed',
  title: 'Batch Failed',
  status: 422,
  says: 'The error of a batch that could not complete normally.',
}

export const BATCH_EXPIRED: EmbeddedProblem = {
  code: 'batch_expired',
  title: 'Batch Expired',
  status: 422,
  says: 'The error of a batch whose completion window ended before all its items were finished.',
}

export const BATCH_CANCELLED: EmbeddedProblem = {
  code: 'batch_cancelled',
  title: 'Batch Cancelled',
  status: 422,
  says: 'The error of a batch that was cancelled.',
}

/** Every problem that stands inside an answer rather than being one. */
export function batchProblems(settings: Settings): readonly EmbeddedProblem[] {
  const says = (what: string) => `The item of a result line ${what} before it was finished.`
  return [
    PREDICTION_FAILED,
    BATCH_FAILED,
    BATCH_EXPIRED,
    BATCH_CANCELLED,
    { ...settings.get(canceledProblem), says: says('was canceled') },
    { ...settings.get(expiredProblem), says: says('expired') },
  ]
}
