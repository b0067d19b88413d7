import type { JsonObject } from '../../kernel/json.ts'
import type { Happening, Script } from '../../kernel/operation.ts'
import { shownBatch } from './answer.ts'
import type { Batch } from './batch.ts'
import { batchControls } from './controls.ts'
import { noticeOf } from './notices.ts'
import { batches } from './schema.ts'
import { defaultOutcomes, defaultPace } from './settings.ts'
import { type BatchStatus, batchStatuses, isTerminal } from './states.ts'

/** Batches as scenarios know them. */
export const batchScript: Script = {
  word: 'batch',
  table: batches.name,
  show: (record, at) => shownBatch(record as Batch, at) as unknown as JsonObject,
  moves: batchControls.filter(({ method }) => method !== 'GET'),
  short: { pace: defaultPace, outcomes: defaultOutcomes },
}

/** What scenarios can have a hook on: each status of a batch, the terminal ones also by the type of their webhook. */
export const batchHappenings: readonly Happening[] = [
  { name: 'batch.created', says: 'A batch prediction has been created.', table: batches.name, status: null },
  ...batchStatuses.filter((status) => status !== 'validating').map((each) => become(`batch.${each}`, each)),
  ...batchStatuses.filter(isTerminal).map((each) => become(noticeOf(each), each)),
]

function become(name: string, status: BatchStatus): Happening {
  return { name, says: `A batch prediction has become ${status}.`, table: batches.name, status }
}
