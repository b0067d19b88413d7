import type { Settings } from '../../core/assumptions.ts'
import { refOf, type Scope } from '../../core/operation.ts'
import { DAY, parseDuration } from '../../core/time/instant.ts'
import { eventId, type NewEvent, SCHEDULE, type ScheduledEvent } from '../../core/time/scheduler.ts'
import { counted } from '../../core/words.ts'
import { batches } from './batches.ts'
import { beatOf, type PhasePace, timeUntil } from './pace.ts'
import type { Batch } from './schema.ts'
import { cancelDelay, cleanup, expireInValidating } from './settings.ts'
import { itemBeat, loadOf, timeUntilLoad } from './work.ts'

/** Milliseconds from creation until results are removed. Specification: Limits / Batch predictions, result retention. */
const RETENTION = 29 * DAY

/** The kinds of events of a batch. At most one of each kind is scheduled. */
export const batchEventKinds = [
  'batch.start',
  'batch.finalize',
  'batch.complete',
  'batch.cancelled',
  'batch.expire',
  'batch.cleanup',
] as const

export type BatchEventKind = (typeof batchEventKinds)[number]

/**
 * Updates the schedule of a batch to exactly the events that follow from its record. A deadline at the same instant as new
 * work is scheduled after it, so that the last instant of the window still counts for work (T14).
 */
export function scheduleBatch(scope: Scope, batch: Batch): void {
  const ref = refOf(batches, batch)
  const wanted = [...workAhead(batch, ref, scope.settings), ...deadlinesAhead(batch, ref, scope.settings)]
  scope.unschedule(
    ref,
    batchEventKinds.filter((kind) => !wanted.some((event) => event.kind === kind)),
  )
  const fresh = new Set<number>()
  for (const event of wanted) {
    const present = scope.tx.get(SCHEDULE, eventId(event.kind, ref)) as ScheduledEvent | undefined
    if (present && Date.parse(present.due_at) === event.due && !fresh.has(event.due)) continue
    scope.schedule(event)
    fresh.add(event.due)
  }
}

function workAhead(batch: Batch, ref: string, settings: Settings): NewEvent[] {
  const { plan, progress, request } = batch._emulator
  const since = Date.parse(progress.since)
  const total = request.items.length
  const work = (kind: BatchEventKind, after: number | undefined, description: string): NewEvent[] =>
    after === undefined ? [] : [{ kind, ref, due: since + after, urgency: 'work', description }]
  switch (batch.status) {
    case 'validating': {
      const description = `Validation ends: processing of ${counted(total, 'item')} begins, or the batch fails if an item is invalid.`
      return work('batch.start', phaseTime(plan.pace.validating, progress.held), description)
    }
    case 'in_progress': {
      const left = total - progress.done
      const after = timeUntilLoad(itemBeat(batch), loadOf(batch), left)
      const last = total === 1 ? 'The only item' : `The last of ${total} items`
      const description = `${last} is finished: the batch is finalized.`
      return work('batch.finalize', after, description)
    }
    case 'finalizing':
      return work(
        'batch.complete',
        phaseTime(plan.pace.finalizing, progress.held),
        'Finalizing ends: the batch is completed.',
      )
    case 'cancelling': {
      const begun = Math.max(Date.parse(batch.cancelling_at ?? progress.since), since)
      const delay = progress.held ? undefined : (parseDuration(settings.get(cancelDelay)) ?? 0)
      const description = 'Cancelling ends: the batch is cancelled, and its unfinished items are canceled.'
      return work('batch.cancelled', delay === undefined ? undefined : begun - since + delay, description)
    }
    default:
      return []
  }
}

function deadlinesAhead(batch: Batch, ref: string, settings: Settings): NewEvent[] {
  const deadline = (kind: BatchEventKind, due: number, description: string): NewEvent[] => [
    { kind, ref, due, urgency: 'deadline', description },
  ]
  const { status } = batch
  // A finalizing batch has done all work, and a cancelling one has stopped it, so neither can expire (T13).
  const mayExpire =
    status === 'in_progress' || (status === 'validating' && settings.get(expireInValidating) !== 'wait')
  if (mayExpire) {
    const due = Math.max(Date.parse(batch.expires_at), Date.parse(batch._emulator.progress.since))
    return deadline('batch.expire', due, 'The completion window ends: a batch with unfinished items expires.')
  }
  const delay = settings.get(cleanup)
  if (batch.results_url === null || delay === 'manual') return []
  const after = delay === 'at_eligibility' ? 0 : (parseDuration(delay) ?? 0)
  return deadline(
    'batch.cleanup',
    Date.parse(batch.created_at) + RETENTION + after,
    'The results of the batch are removed: it was created at least 29 days ago.',
  )
}

function phaseTime(pace: PhasePace, held: boolean): number | undefined {
  return held ? undefined : timeUntil(beatOf(pace), 1, 1)
}
