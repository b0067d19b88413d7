import type { Batch } from './batch.ts'
import { outcomesOf } from './outcomes.ts'
import { type Beat, beatOf } from './pace.ts'
import { loadFinishedAfter, loadOf, timeUntilLoad } from './stragglers.ts'

/** `request_counts` of the API. Specification: Resources and their fields / Batch prediction. */
export interface RequestCounts {
  readonly total: number
  readonly processing: number
  readonly succeeded: number
  readonly errored: number
  readonly canceled: number
  readonly expired: number
}

/** The pace of the items, read. */
export function itemBeat(batch: Batch): Beat {
  const { plan, progress } = batch._emulator
  return progress.held ? { by: 'nothing' } : beatOf(plan.pace.in_progress)
}

/**
 * How many items are finished at an instant (virtual milliseconds): the first so many in the order of work. Only while work is under way does the number depend on the instant; no event stands behind a single item.
 */
export function finishedItems(batch: Batch, now: number): number {
  const { progress } = batch._emulator
  if (batch.status !== 'in_progress' && batch.status !== 'cancelling') return progress.done
  const elapsed = Math.max(0, now - Date.parse(progress.since))
  const done = progress.done + loadFinishedAfter(itemBeat(batch), loadOf(batch), elapsed, progress.polls)
  return Math.min(done, progress.most ?? done)
}

/**
 * The instant (virtual milliseconds) at which `n` items are finished, given that nothing intervenes. Undefined when time
 * alone does not bring it about: before processing begins, after it has ended, while held, at a pace of polls, and for items
 * that never finish.
 */
export function finishedAt(batch: Batch, n: number): number | undefined {
  const { progress, request } = batch._emulator
  const since = Date.parse(progress.since)
  if (n <= progress.done) return since
  if (batch.status !== 'in_progress' && batch.status !== 'cancelling') return undefined
  if (n > (progress.most ?? request.items.length)) return undefined
  const after = timeUntilLoad(itemBeat(batch), loadOf(batch), n - progress.done)
  return after === undefined ? undefined : since + after
}

/** The counts at an instant (virtual milliseconds). The last five add up to `total` at every instant. */
export function countsAt(batch: Batch, now: number): RequestCounts {
  const total = batch._emulator.request.items.length
  const finished = finishedItems(batch, now)
  const failures = outcomesOf(batch).erroredAmong(finished)
  const rest = total - finished
  const become = batch._emulator.ended?.rest
  return {
    total,
    processing: become === undefined ? rest : 0,
    succeeded: finished - failures,
    errored: failures + (become === 'errored' ? rest : 0),
    canceled: become === 'canceled' ? rest : 0,
    expired: become === 'expired' ? rest : 0,
  }
}
