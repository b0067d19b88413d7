import type { JsonObject } from '../../core/json.ts'
import type { RecordEvent } from '../../core/operation.ts'
import type { Resource } from '../../core/service.ts'
import { batchAssumptions } from './assumptions.ts'
import { batches } from './batches.ts'
import { batchControls } from './controls.ts'
import { createBatch } from './create.ts'
import { batchEvents } from './lifecycle.ts'
import { batchMagic } from './magic.ts'
import { batchMilestone } from './milestone.ts'
import { actOnBatch, batchMove, cleanupMove } from './moves.ts'
import { cancelBatch, retrieveBatch, retrieveResults } from './operations.ts'
import { batchOverviews } from './overview.ts'
import { batchProblems, shownBatch } from './responses.ts'
import { scheduleBatch } from './schedule.ts'
import type { Batch } from './schema.ts'
import { defaultOutcomes, defaultPace } from './settings.ts'
import {
  type BatchStatus,
  batchLifecycle,
  batchStatuses,
  batchWebhookTypes,
  isTerminal,
  noticeOf,
} from './states.ts'

/** Batch predictions: creation, a lifecycle in virtual time, results and cancelling. */
export const batchPredictionsResource: Resource = {
  name: 'batch-predictions',
  operations: [createBatch, retrieveBatch, retrieveResults, cancelBatch],
  collections: [batches],
  events: batchEvents,
  controls: [...batchOverviews, ...batchControls],
  assumptions: batchAssumptions,
  problems: batchProblems,
  milestones: [batchMilestone],
  webhookTypes: batchWebhookTypes,
  recordFaults: [batchMove, cleanupMove],
  magic: batchMagic,
  recordEvents: [
    {
      name: 'batch.created',
      description: 'A batch prediction has been created.',
      table: batches.name,
      status: null,
    },
    ...batchStatuses.filter((status) => status !== 'validating').map((each) => become(`batch.${each}`, each)),
    ...batchStatuses.filter(isTerminal).map((each) => become(noticeOf(each), each)),
  ],
  lifecycles: [{ table: batches.name, arrows: batchLifecycle.arrows, act: actOnBatch }],
  script: {
    table: batches.name,
    show: (record, at) => shownBatch(record as Batch, at) as unknown as JsonObject,
    moves: batchControls.filter(({ method }) => method !== 'GET'),
    settingAliases: { pace: defaultPace, outcomes: defaultOutcomes },
  },
  arm: (scope, table, record) => {
    if (table === batches.name) scheduleBatch(scope, record as Batch)
  },
}

function become(name: string, status: BatchStatus): RecordEvent {
  return { name, description: `A batch prediction has become ${status}.`, table: batches.name, status }
}
