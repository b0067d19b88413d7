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

/** When a batch ended; undefined while it has not. */
export function endOf(batch: BatchRow): number | undefined {
  const end = batch.completed_at ?? batch.failed_at ?? batch.cancelled_at ?? batch.expired_at
  return end === null ? undefined : Date.parse(end)
}

/** The time of the bar of a batch, as far as it is known, and the instant of its deadline while it is unfinished. */
export function timesOf(batch: BatchRow, now: number): readonly Span[] {
  const from = Date.parse(batch.created_at)
  const predicted = Date.parse(batch.predicted.completed_at ?? '')
  const end = endOf(batch)
  const bar = { from, to: end ?? (predicted || Math.max(now, from)) }
  const deadline = Date.parse(batch.expires_at)
  return end === undefined ? [bar, { from: deadline, to: deadline }] : [bar]
}

/**
 * A batch as it was at an instant; undefined before it was created. Only its phases are known: its items are taken to have been
 * finished one after the other, and without errors.
 */
export function batchAt(batch: BatchRow, at: number, now: number): BatchRow | undefined {
  const end = endOf(batch)
  if (Date.parse(batch.created_at) > at) return undefined
  if (end !== undefined && end <= at) return batch
  const { in_progress_at, finalizing_at, predicted } = batch
  const reached = (instant: string | null) => instant !== null && Date.parse(instant) <= at
  const isCancelled = reached(batch.cancelling_at)
  const [begun, worked] = [Date.parse(in_progress_at ?? ''), Date.parse(finalizing_at ?? '')]
  const share = (at - begun) / Math.max(1, (worked || end || now) - begun)
  const { request_counts, finished } = batch
  return {
    ...batch,
    status: isCancelled
      ? 'cancelling'
      : reached(finalizing_at)
        ? 'finalizing'
        : reached(in_progress_at)
          ? 'in_progress'
          : 'validating',
    held: false,
    finished: reached(in_progress_at) ? Math.floor(finished * Math.min(1, share)) : 0,
    request_counts: {
      total: request_counts.total,
      succeeded: 0,
      errored: 0,
      canceled: 0,
      expired: 0,
      processing: 0,
    },
    ...{ completed_at: null, failed_at: null, cancelled_at: null, expired_at: null },
    predicted: {
      in_progress_at: in_progress_at ?? predicted.in_progress_at,
      finalizing_at: finalizing_at ?? predicted.finalizing_at,
      completed_at: end === undefined ? predicted.completed_at : new Date(end).toISOString(),
    },
  }
}

/** The state of a batch: `held` for an unfinished one that is held, otherwise its status. */
export const stateOf = (batch: BatchRow) => (batch.held && isUnfinished(batch) ? 'held' : batch.status)

/** Its state in lists: `partial` for one that is completed although items have failed. */
export function outcomeOf(batch: BatchRow): string {
  const { errored, expired } = batch.request_counts
  return batch.status === 'completed' && errored + expired > 0 ? 'partial' : stateOf(batch)
}

/** The items of a batch in words: `4 succeeded, 2 errored`; empty before there are any results. */
export function countsInWords({ request_counts: { total: _, ...counts } }: BatchRow): string {
  return Object.entries(counts)
    .filter(([, count]) => count > 0)
    .map(([name, count]) => `${count} ${name}`)
    .join(', ')
}
