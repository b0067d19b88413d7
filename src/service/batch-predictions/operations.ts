import { errorTypeBase, refuse } from '../../core/errors.ts'
import { type Finder, idOf, operation } from '../../core/operation.ts'
import { requireOwn } from '../records.ts'
import { batches } from './batches.ts'
import { notReadyStatus, resultsGone, resultsNotReady } from './errors.ts'
import { cancel, countPoll } from './lifecycle.ts'
import { countsAt } from './outcomes.ts'
import { batchReply, noteBatch, noteRejected, resultLines, shownBatch } from './responses.ts'
import { type Batch, batchResponse, lineResponse } from './schema.ts'
import {
  canceledProblem,
  cancelTerminal,
  cleanup,
  expiredProblem,
  failedItems,
  resultsOrder,
  unsatisfiable,
} from './settings.ts'
import { batchLifecycle, isTerminal } from './states.ts'
import { finishedItems } from './work.ts'

const ID = '{batch_prediction_id}'

/** Specification: Endpoints / Retrieve batch prediction. */
export const retrieveBatch = operation({
  name: 'batch-predictions.retrieve',
  method: 'GET',
  path: `/batch-predictions/${ID}`,
  summary: 'Retrieve a batch prediction',
  section: 'Retrieve batch prediction',
  errorFormat: 'problem',
  output: batchResponse,
  find: visibleBatch,
  poll: {
    ref: ({ batch_prediction_id }) => `${batches.name}/${batch_prediction_id}`,
    progress: (scope, ref) => {
      const batch = scope.tx.in(batches).get(idOf(ref))
      if (batch !== undefined) countPoll(scope, batch)
    },
  },
  handle: (request) => {
    noteBatch(request.target, request)
    return batchReply(request.target, request)
  },
})

/** Specification: Endpoints / Retrieve batch prediction results. */
export const retrieveResults = operation({
  name: 'batch-predictions.results',
  method: 'GET',
  path: `/batch-predictions/${ID}/results`,
  summary: 'Read the results of a batch prediction',
  section: 'Retrieve batch prediction results',
  errorFormat: 'problem',
  refusals: [resultsNotReady, resultsGone],
  media: 'application/x-ndjson',
  results: {
    ref: ({ batch_prediction_id }) => `${batches.name}/${batch_prediction_id}`,
    lost: (record, now) => {
      const batch = record as Batch
      return isTerminal(batch.status) && batch.results_url === null ? finishedItems(batch, now) : 0
    },
  },
  output: lineResponse,
  find: visibleBatch,
  handle: (request) => {
    const { target: batch, now, assume } = request
    if (!isTerminal(batch.status)) {
      refuse(resultsNotReady, {
        detail: `The batch is ${batch.status}; results can be read once it is completed, failed, expired or cancelled.`,
        assumed: [['U040', notReadyStatus]],
      })
    }
    if (batch.results_url === null) {
      refuse(resultsGone, {
        detail: 'The results of the batch were removed; they are kept for 29 days from its creation.',
        mitigation: 'Create the batch again to get new results.',
        assumed: [
          ['U040', cleanup],
          ['U056', cleanup],
        ],
      })
    }
    assume(resultsOrder)
    const { errored, canceled, expired } = countsAt(batch, now)
    if (errored + canceled + expired > 0) assume(errorTypeBase)
    if (canceled > 0) assume(canceledProblem)
    if (expired > 0) assume(expiredProblem)
    if (batch.status === 'failed') assume(failedItems)
    noteRejected(batch, request)
    if (typeof batch._emulator.plan.no_output === 'string') assume(unsatisfiable)
    return { lines: resultLines(batch, request) }
  },
})

/** Specification: Endpoints / Cancel batch prediction. */
export const cancelBatch = operation({
  name: 'batch-predictions.cancel',
  method: 'POST',
  path: `/batch-predictions/${ID}/cancel`,
  summary: 'Cancel a batch prediction',
  section: 'Cancel batch prediction',
  errorFormat: 'problem',
  refusals: ['conflict'],
  output: batchResponse,
  find: visibleBatch,
  handle: (request) => {
    const { target, assume } = request
    const possible = batchLifecycle.next(target.status, 'cancel') !== undefined
    if (!possible && assume(cancelTerminal) === 'reject') {
      refuse('conflict', {
        detail: `The batch is ${target.status}; only one that is validating or in progress can be cancelled.`,
      })
    }
    const batch = possible ? cancel(request, target) : target
    noteBatch(batch, request)
    return { body: shownBatch(batch, request) }
  },
})

function visibleBatch(finder: Finder): Batch {
  return requireOwn(finder, batches, finder.params.batch_prediction_id)
}
