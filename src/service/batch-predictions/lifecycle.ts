import { type JsonObject, pointer } from '../../core/json.ts'
import { type EmbeddedProblem, type EventHandler, idOf, refOf, type Scope } from '../../core/operation.ts'
import { publish } from '../../core/webhooks/delivery.ts'
import { counted } from '../../core/words.ts'
import { type File, files } from '../files.ts'
import { batches, resultsPath } from './batches.ts'
import type { BatchItem } from './items.ts'
import { whyNoOutput } from './output-schema.ts'
import { beatOf, inFlight } from './pace.ts'
import { BATCH_CANCELLED, BATCH_EXPIRED, BATCH_FAILED, shownBatch } from './responses.ts'
import { type BatchEventKind, scheduleBatch } from './schedule.ts'
import { type Batch, batchResponse, type End, type Plan, type Progress } from './schema.ts'
import {
  batchError,
  cancelInFlight,
  expireInValidating,
  failedItems,
  itemValidation,
  resultsUrlBase,
  unknownFiles,
} from './settings.ts'
import {
  type BatchAction,
  type BatchStatus,
  batchLifecycle,
  batchStatuses,
  isTerminal,
  noticeOf,
} from './states.ts'
import { finishedItems, itemBeat, pollsUntilAll } from './work.ts'

/** Validates the items, then starts to process them or fails. */
export function startBatch(scope: Scope, batch: Batch): Batch {
  const rejected = rejectedItems(scope, batch)
  const { plan, request } = batch._emulator
  const no_output = whyNoOutput(request.output_schema)
  const judgedPlan = rejected.length === 0 ? { ...plan, no_output } : { ...plan, rejected, no_output }
  const judged = { ...batch, _emulator: { ...batch._emulator, plan: judgedPlan } }
  if (rejected.length === 0) return move(scope, judged, 'start')
  if (scope.settings.get(itemValidation) === 'item') return move(scope, judged, 'start')
  return failBatch(scope, judged, { cause: causeOf(batch, rejected) })
}

/** Ends the work on items; the batch begins to finalize. */
export function finishBatch(scope: Scope, batch: Batch): Batch {
  return move(scope, batch, 'finish', { done: batch._emulator.request.items.length })
}

export function complete(scope: Scope, batch: Batch): Batch {
  return terminate(scope, batch, 'complete', null)
}

/** Accepts a cancel. A batch that is cancelling or cancelled is returned unchanged. */
export function cancel(scope: Scope, batch: Batch): Batch {
  if (batchLifecycle.move(batch.status, 'cancel') === batch.status) return batch
  const finished = finishedItems(batch, scope.now)
  const { progress, request } = batch._emulator
  if (batch.status === 'in_progress' && scope.settings.get(cancelInFlight) === 'finish') {
    const most = Math.min(request.items.length, finished + inFlight(itemBeat(batch)))
    return move(scope, batch, 'cancel', { ...progress, most })
  }
  return move(scope, batch, 'cancel', { done: finished, most: finished })
}

/** Ends cancelling: the batch is cancelled. */
export function stop(scope: Scope, batch: Batch): Batch {
  const cause = `The batch was cancelled${before(scope, batch)}.`
  return terminate(scope, batch, 'stop', { rest: 'canceled', cause }, BATCH_CANCELLED)
}

/** Fails a batch. It shows `error`, or else a problem with the cause. */
export function failBatch(
  scope: Scope,
  batch: Batch,
  { cause, error }: { readonly cause: string; readonly error?: JsonObject | undefined },
): Batch {
  const ended = { rest: scope.settings.get(failedItems), cause }
  return terminate(scope, batch, 'fail', ended, BATCH_FAILED, error)
}

/** Ends the completion window. */
export function expire(scope: Scope, batch: Batch): Batch {
  const cause = `The completion window ended${before(scope, batch)}.`
  if (batch.status === 'validating' && scope.settings.get(expireInValidating) === 'fail')
    return failBatch(scope, batch, { cause })
  return terminate(scope, batch, 'expire', { rest: 'expired', cause }, BATCH_EXPIRED)
}

/** Removes the results of a terminal batch: `results_url` becomes null, and reading them returns 410. */
export function cleanUp(scope: Scope, batch: Batch): Batch {
  return putBatch(scope, { ...batch, results_url: null })
}

/** Performs the next normal move to completion, at any time. */
export function step(scope: Scope, batch: Batch): Batch {
  if (batch.status === 'validating') return startBatch(scope, batch)
  return batch.status === 'in_progress' ? finishBatch(scope, batch) : complete(scope, batch)
}

/** Counts a poll if the present phase has a pace of polls; the last poll moves the batch to the next phase. */
export function countPoll(scope: Scope, batch: Batch): void {
  const { plan, progress } = batch._emulator
  if (progress.held || !isPhase(batch.status)) return
  const beat = beatOf(plan.pace[batch.status])
  if (beat.by !== 'polls') return
  const polls = progress.polls + 1
  const polled = { ...batch, _emulator: { ...batch._emulator, progress: { ...progress, polls } } }
  const last = batch.status === 'in_progress' ? pollsUntilAll(beat, batch) : beat.span
  if (last !== undefined && polls >= last) step(scope, polled)
  else scope.tx.in(batches).put(polled)
}

/** True for the three states that have a pace. */
export function isPhase(status: string): status is 'validating' | 'in_progress' | 'finalizing' {
  return status === 'validating' || status === 'in_progress' || status === 'finalizing'
}

/** Writes a batch and updates its scheduled events. */
export function putBatch(scope: Scope, batch: Batch): Batch {
  scope.tx.in(batches).put(batch)
  scheduleBatch(scope, batch)
  return batch
}

// The only function in which a batch becomes terminal, and which sends its webhook.
function terminate(
  scope: Scope,
  batch: Batch,
  on: BatchAction,
  ended: End | null,
  problem?: EmbeddedProblem,
  given?: JsonObject,
): Batch {
  const { prefix } = batch._emulator
  const error = ended && problem ? (given ?? errorOf(scope, problem, ended.cause)) : null
  const results_url =
    scope.settings.get(resultsUrlBase) === 'absolute_path'
      ? resultsPath(prefix, batch.id)
      : resultsPath('', batch.id).slice('/v1'.length)
  const finished = finishedItems(batch, scope.now)
  const progress = { done: finished, most: finished }
  const moved = move(scope, { ...batch, error, results_url }, on, progress, ended)
  publish(scope, {
    type: noticeOf(moved.status),
    ref: refOf(batches, moved),
    schema: batchResponse,
    body: () => shownBatch(moved, scope),
  })
  return moved
}

function move(
  scope: Scope,
  batch: Batch,
  on: BatchAction,
  progress: Partial<Progress> = {},
  ended: End | null = null,
): Batch {
  const status = batchLifecycle.move(batch.status, on)
  const { done } = batch._emulator.progress
  const begun = { since: scope.at, done, most: null, polls: 0, held: false, ...progress }
  const _emulator = { ...batch._emulator, progress: begun, ended }
  return putBatch(scope, { ...batch, status, [`${status}_at`]: scope.at, _emulator })
}

function errorOf({ settings }: Scope, { code, title, status }: EmbeddedProblem, detail: string): JsonObject {
  // Only the code is stored: a response builds the URL of the type.
  return settings.get(batchError) === 'empty' ? {} : { type: code, title, status, detail }
}

function before({ now }: Scope, batch: Batch): string {
  const total = batch._emulator.request.items.length
  const left = total - finishedItems(batch, now)
  return left === 0
    ? ''
    : ` before ${left} of ${counted(total, 'item')} ${total === 1 ? 'was' : 'were'} finished`
}

/** An item that failed validation. */
type Rejected = Plan['rejected'][number]

/**
 * The items whose file or page is invalid, which the request alone cannot show (T12).
 * Specification: States and transitions / Batch prediction.
 */
function rejectedItems({ tx, settings }: Pick<Scope, 'tx' | 'settings'>, batch: Batch): Rejected[] {
  const { request, teamspace_id } = batch._emulator
  const acceptUnknown = settings.get(unknownFiles) === 'accept'
  const known = tx.in(files)
  return request.items.flatMap((item, index) => {
    const file = known.get(item.file_id)
    const fault = faultOf(item, file?.teamspace_id === teamspace_id ? file : undefined, acceptUnknown)
    return fault === undefined ? [] : [{ index, ...fault }]
  })
}

// A file of another teamspace gets the message of one that does not exist.
function faultOf(
  { file_id, page }: BatchItem,
  file: File | undefined,
  acceptUnknown: boolean,
): Omit<Rejected, 'index'> | undefined {
  const unusable = (detail: string) => ({ detail, pages: false })
  if (file === undefined)
    return acceptUnknown ? undefined : unusable(`There is no file with the id "${file_id}".`)
  if (!file.readable) return unusable(`The file "${file_id}" cannot be accessed.`)
  const kind = `The file "${file_id}" is of the type ${file.kind}`
  if (!file.supported) return unusable(`${kind}, which batches do not accept.`)
  if (page === undefined) return undefined
  if (file.pages === null) return { detail: `${kind}, which has no pages; leave page out.`, pages: true }
  if (page <= file.pages) return undefined
  return { detail: `The file "${file_id}" has ${counted(file.pages, 'page')}, not ${page}.`, pages: true }
}

/** The cause of a batch that fails because its items do not validate. */
function causeOf(batch: Batch, rejected: readonly Rejected[]): string {
  const [first] = rejected
  if (first === undefined) return 'The items are invalid.'
  const { items } = batch._emulator.request
  const place = `${pointer('items', first.index)} (custom_id "${items[first.index]?.custom_id}")`
  const count =
    rejected.length === 1 ? '1 item is' : `${rejected.length} of the batch's ${items.length} items are`
  const rest = rejected.length === 1 ? '' : ' The result lines name the others.'
  return `${count} invalid: ${place}: ${first.detail}${rest}`
}

/** The events of batches on the virtual clock. */
export const batchEvents: readonly EventHandler[] = [
  event(
    'batch.start',
    'Validation of a batch ends: it starts to process its items, or fails.',
    startBatch,
    ['validating'],
    'Validation has ended.',
  ),
  event(
    'batch.finalize',
    'The last item of a batch is finished, and finalizing begins.',
    finishBatch,
    ['in_progress'],
    'All items are finished: finalizing begins.',
  ),
  event(
    'batch.complete',
    'Finalizing ends, and the batch is completed.',
    complete,
    ['finalizing'],
    'Finalizing has ended: the batch is completed.',
  ),
  event(
    'batch.cancelled',
    'Cancelling ends, and the batch is cancelled.',
    stop,
    ['cancelling'],
    'Cancelling has ended: the batch is cancelled, and its unfinished items are canceled.',
  ),
  event(
    'batch.expire',
    'The completion window of a batch ends while items are unfinished.',
    expire,
    ['validating', 'in_progress'],
    'The completion window has ended before all items were finished.',
  ),
  event('batch.cleanup', 'The results of a batch are removed.', cleanUp, batchStatuses.filter(isTerminal)),
]

// A record that was deleted, or edited by hand, since the event was scheduled stays unchanged.
function event(
  kind: BatchEventKind,
  description: string,
  handle: (scope: Scope, batch: Batch) => Batch,
  from: readonly BatchStatus[],
  outcome?: string,
): EventHandler {
  return {
    kind,
    description,
    ...(outcome && { outcome }),
    handle: (scope, { ref }) => {
      const batch = scope.tx.in(batches).get(idOf(ref))
      if (batch !== undefined && from.includes(batch.status)) handle(scope, batch)
    },
  }
}
