import { ask, type Output } from './api.ts'
import type { Span } from './axis.ts'
import { shortId } from './format.ts'
import { sharedLive } from './loaded.tsx'

export type BatchRow = Output<'GET /batches'>['data'][number]

/** The name of a batch: its label, or the end of its id. */
export function batchName({ id, metadata }: Pick<BatchRow, 'id' | 'metadata'>): string {
  const { label, name } = metadata as { label?: unknown; name?: unknown }
  return typeof label === 'string' ? label : typeof name === 'string' ? name : shortId(id)
}

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
