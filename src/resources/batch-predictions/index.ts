import type { Resource } from '../../kernel/operation.ts'
import { batchAssumptions } from './assumptions.ts'
import type { Batch } from './batch.ts'
import { batchControls } from './controls.ts'
import { createBatch } from './create.ts'
import { batchEvents } from './events.ts'
import { batchMagic } from './magic.ts'
import { batchMilestone } from './milestone.ts'
import { batchMoves } from './moves.ts'
import { batchNotices } from './notices.ts'
import { cancelBatch, retrieveBatch, retrieveResults } from './operations.ts'
import { batchPresets } from './presets/index.ts'
import { batchProblems } from './problems.ts'
import { arm } from './schedule.ts'
import { batches } from './schema.ts'
import { batchHappenings, batchScript } from './script.ts'

/** Batch predictions: creation, a lifecycle in virtual time, results and cancelling. */
export const batchPredictionsRoom: Resource = {
  name: 'batch-predictions',
  operations: [createBatch, retrieveBatch, retrieveResults, cancelBatch],
  collections: [batches],
  events: batchEvents,
  controls: batchControls,
  assumptions: batchAssumptions,
  problems: batchProblems,
  milestones: [batchMilestone],
  notices: batchNotices,
  moves: batchMoves,
  magic: batchMagic,
  presets: batchPresets,
  happenings: batchHappenings,
  script: batchScript,
  arm: (scope, table, record) => {
    if (table === batches.name) arm(scope, record as Batch)
  },
}
