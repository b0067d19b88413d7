import { ask, type Output } from './api.ts'
import type { Span } from './axis.ts'
import { shortId } from './format.ts'
import { sharedLive } from './loaded.tsx'

export type BatchRow = Output<'GET /batches'>['data'][number]

function labelOf({ metadata }: Pick<BatchRow, 'metadata'>): string | undefined {
  const { label, name } = metadata as { label?: unknown; name?: unknown }
  return [label, name].find((each) => typeof each === 'string')
}

/** The name of a batch: its label, or the end of its id. */
export const batchName = (batch: Pick<BatchRow, 'id' | 'metadata'>) => labelOf(batch) ?? shortId(batch.id)

/** What a batch is about, where there is room for it: its label, or its prompt. */
export const batchTitle = (batch: BatchRow) => labelOf(batch) ?? (batch.prompt || shortId(batch.id))

const TERMINAL: readonly string[] = ['completed', 'failed', 'cancelled', 'expired']

export const isUnfinished = ({ status }: { readonly status: string }) => !TERMINAL.includes(status)

/** All batches: first the unfinished ones, then the others; each group with the newest first. */
async function loadBatches(): Promise<readonly BatchRow[]> {
  const { data } = await ask('GET /batches')
  return [...data].sort(
    (a, b) =>
      Number(isUnfinished(b)) - Number(isUnfinished(a)) ||
      Date.parse(b.created_at) - Date.parse(a.created_at) ||
      (a.id < b.id ? 1 : -1),
  )
}

/** {@link loadBatches} for every part of the page that shows batches. */
export const useBatches = sharedLive(loadBatches, ['transition', 'event', 'write', 'clock'])

/** When a batch ended; null while it has not. */
export const endOf = (batch: BatchRow) =>
  batch.completed_at ?? batch.failed_at ?? batch.cancelled_at ?? batch.expired_at

/** The time of the bar of a batch, as far as it is known. */
export function timeOf(batch: BatchRow, now: number): Span {
  const from = Date.parse(batch.created_at)
  return { from, to: Date.parse(endOf(batch) ?? batch.predicted.completed_at ?? '') || Math.max(now, from) }
}

/**
 * A batch as it was at an instant; undefined before it was created. Only its phases are known: its items are taken to have been
 * finished one after the other. Its counts by result are those of now.
 */
export function batchAt(batch: BatchRow, at: number, now: number): BatchRow | undefined {
  const { in_progress_at, finalizing_at, predicted } = batch
  const end = endOf(batch)
  const reached = (instant: string | null) => instant !== null && Date.parse(instant) <= at
  if (!reached(batch.created_at)) return undefined
  if (reached(end)) return batch
  const working = reached(finalizing_at) ? 'finalizing' : 'in_progress'
  const status = reached(in_progress_at) ? working : 'validating'
  const begun = Date.parse(in_progress_at ?? '')
  const worked = Date.parse(finalizing_at ?? end ?? '') || now
  const share = Math.min(1, (at - begun) / Math.max(1, worked - begun))
  return {
    ...batch,
    status: reached(batch.cancelling_at) ? 'cancelling' : status,
    held: false,
    finished: status === 'validating' ? 0 : Math.floor(batch.finished * share),
    ...{ completed_at: null, failed_at: null, cancelled_at: null, expired_at: null },
    predicted: { ...predicted, completed_at: end ?? predicted.completed_at },
  }
}

/** The state of a batch: `held` for an unfinished one that is held, otherwise its status. */
export const stateOf = (batch: BatchRow) => (batch.held && isUnfinished(batch) ? 'held' : batch.status)
