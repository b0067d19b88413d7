import { type Beat, beatOf, finishedAfter, timeUntil } from './pace.ts'
import type { Batch, Stragglers } from './schema.ts'

/** The parsed pace of the items. */
export function itemBeat(batch: Batch): Beat {
  const { plan, progress } = batch._emulator
  return progress.held ? { by: 'nothing' } : beatOf(plan.pace.in_progress)
}

/**
 * How many items are finished at an instant (virtual milliseconds): the first ones in the order of work. The number depends on
 * the instant only while items are in flight; it is computed, since single items have no events.
 */
export function finishedItems(batch: Batch, now: number): number {
  const { progress } = batch._emulator
  if (batch.status !== 'in_progress' && batch.status !== 'cancelling') return progress.done
  const elapsed = Math.max(0, now - Date.parse(progress.since))
  const done = progress.done + loadFinishedAfter(itemBeat(batch), loadOf(batch), elapsed, progress.polls)
  return Math.min(done, progress.most ?? done)
}

/**
 * The instant (virtual milliseconds) at which `n` items are finished if nothing intervenes. Undefined if time alone does not
 * finish them: before processing begins, after it has ended, while held, at a pace of polls, and for items that never finish.
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

/** The factor by which a slow item takes longer. */
const SLOWDOWN = 10

/** The numbers of items that are still to be finished, by their speed. */
export interface Load {
  readonly usual: number
  readonly slow: number
}

/** The number of items that can finish: all except those that never do. */
export function finishable({ _emulator: { plan, request } }: Batch): number {
  return request.items.length - (plan.late?.never.length ?? 0)
}

/** The unfinished items that can still finish. */
export function loadOf(batch: Batch): Load {
  const { plan, progress } = batch._emulator
  const left = Math.max(0, finishable(batch) - progress.done)
  const slow = Math.min(left, plan.late?.slow.length ?? 0)
  return { usual: left - slow, slow }
}

/** How many items of a load are finished `elapsed` milliseconds, or `polls` polls, after work on them began. */
export function loadFinishedAfter(beat: Beat, load: Load, elapsed: number, polls: number): number {
  const { usual, slow } = load
  if (slow === 0) return finishedAfter(beat, usual, elapsed, polls)
  const parts = partsOf(beat, load)
  const first = finishedAfter(parts.usual, usual, elapsed, polls)
  if (first < usual) return first
  const begun = timeUntil(parts.usual, usual, usual) ?? 0
  return usual + finishedAfter(parts.slow, slow, elapsed - begun, polls - pollsOf(parts.usual))
}

/** Milliseconds until `n` items of a load are finished; undefined if time alone does not finish them. */
export function timeUntilLoad(beat: Beat, load: Load, n: number): number | undefined {
  const { usual, slow } = load
  if (n > usual + slow) return undefined
  if (slow === 0) return timeUntil(beat, usual, n)
  const parts = partsOf(beat, load)
  if (n <= usual) return timeUntil(parts.usual, usual, n)
  const first = timeUntil(parts.usual, usual, usual)
  const rest = timeUntil(parts.slow, slow, n - usual)
  return first === undefined || rest === undefined ? undefined : first + rest
}

/** The number of polls after which all items are finished; undefined without a pace of polls, or if an item never finishes. */
export function pollsUntilAll(beat: Beat, batch: Batch): number | undefined {
  if (beat.by !== 'polls' || finishable(batch) < batch._emulator.request.items.length) return undefined
  const load = loadOf(batch)
  if (load.slow === 0) return beat.span
  const { usual, slow } = partsOf(beat, load)
  return pollsOf(usual) + pollsOf(slow)
}

// A duration for all items is that of the same number of usual items: each slow item makes the phase longer.
function partsOf(beat: Beat, { usual, slow }: Load): { readonly usual: Beat; readonly slow: Beat } {
  const all = usual + slow
  switch (beat.by) {
    case 'nothing':
      return { usual: beat, slow: beat }
    case 'item':
      return { usual: beat, slow: { ...beat, ms: SLOWDOWN * beat.ms } }
    case 'polls':
    case 'whole': {
      const part = (share: number) => ({ ...beat, span: Math.ceil((beat.span * share) / all) })
      return { usual: part(usual), slow: part(SLOWDOWN * slow) }
    }
  }
}

function pollsOf(beat: Beat): number {
  return beat.by === 'polls' ? beat.span : 0
}

// Cached by stragglers, which never change: every version of a record shares them.
const orders = new WeakMap<Stragglers, Uint16Array>()

/** The indexes of all items in the order in which they finish; undefined if that is the order of submission. */
export function workOrder({ _emulator: { plan, request } }: Batch): Uint16Array | undefined {
  const { late } = plan
  if (late === undefined) return undefined
  const known = orders.get(late)
  if (known !== undefined) return known
  const last = new Set([...late.slow, ...late.never])
  const usual = request.items.flatMap((_, index) => (last.has(index) ? [] : [index]))
  const order = Uint16Array.from([...usual, ...late.slow, ...late.never])
  orders.set(late, order)
  return order
}

/** Whether an item, by its index, is among the first `done` to finish. */
export function amongFirst(batch: Batch, done: number): (index: number) => boolean {
  const order = workOrder(batch)
  if (order === undefined) return (index) => index < done
  const finished = new Set(order.subarray(0, done))
  return (index) => finished.has(index)
}
