import { z } from 'zod'
import { refuse } from '../../core/errors.ts'
import { list, listOf, objectAs, queryInt, type ShapeOf, timestamp } from '../../core/fields.ts'
import { type JsonObject, mergePatch } from '../../core/json.ts'
import { control, refOf, type Scope } from '../../core/operation.ts'
import { formatInstant } from '../../core/time/instant.ts'
import { processorTime } from '../../core/time/real.ts'
import { publish } from '../../core/webhooks/delivery.ts'
import { deliveryFields, webhookTypeName } from '../../core/webhooks/records.ts'
import { batches } from './batches.ts'
import { beatOf, timeUntil } from './pace.ts'
import { lineMaker, shownBatch } from './responses.ts'
import { type Batch, batchResponse } from './schema.ts'
import { batchStatuses, batchWebhookTypes, isTerminal, noticeOf } from './states.ts'
import { amongFirst, finishedAt, finishedItems } from './work.ts'

/** A batch with its progress, and its predicted phases. */
const batchSummary = () =>
  batchResponse().extend({
    teamspace_id: z.string(),
    /** The file of its first item. */
    first_file_id: z.string(),
    /** The beginning of its prompt. */
    prompt: z.string(),
    /** Items that are finished now. */
    finished: z.int(),
    held: z.boolean(),
    /** When the next phases begin if nothing intervenes; null for a past phase, or one that time alone does not reach. */
    predicted: z.strictObject({
      in_progress_at: timestamp().nullable(),
      finalizing_at: timestamp().nullable(),
      completed_at: timestamp().nullable(),
    }),
  })

export type BatchSummary = ShapeOf<typeof batchSummary>

/** A line of the results; before the batch is terminal, the line that its plan predicts. */
const plannedResult = () =>
  z.strictObject({
    custom_id: z.string(),
    status: z.enum(['succeeded', 'errored', 'canceled', 'expired']),
    output: z.unknown(),
    error: z.unknown(),
    /** Whether work on the item is over. */
    finished: z.boolean(),
  })

export type PlannedResult = ShapeOf<typeof plannedResult>

/** Maximum characters of a prompt in a list: it has up to a megabyte. */
const SHOWN = 200

/** The default and the largest number of results in a page. It has fewer if they take long to make: `has_more` says so. */
const [PAGE, LARGEST_PAGE] = [1_000, 10_000]

/** A page of the results of a batch. */
const plannedResults = () => listOf(plannedResult()).extend({ has_more: z.boolean() })

export type PlannedResults = ShapeOf<typeof plannedResults>

/** A webhook that is sent although no batch has changed. */
const webhookTrigger = () =>
  z.strictObject({
    type: webhookTypeName(batchWebhookTypes),
    /** The batch that it is about; absent: the newest one. */
    batch: z.string().optional(),
    /** Merge patch for the object of the batch in it. */
    data: objectAs<JsonObject>().optional(),
  })

export type WebhookTrigger = ShapeOf<typeof webhookTrigger>

/** Routes of the control API that list batches and their results, and that send webhooks about them. */
export const batchOverviews = [
  control({
    name: 'list',
    method: 'GET',
    path: '/batches',
    summary: 'List every batch with its progress and the expected instants of its next phases',
    output: () => listOf(batchSummary()),
    handle: (scope) =>
      list(([...scope.tx.rows(batches.name)] as Batch[]).map((batch) => summaryOf(scope, batch))),
  }),
  control({
    name: 'results',
    method: 'GET',
    path: '/batches/{id}/results',
    summary: `List the results of a batch in the order of its items; before it is terminal, as its plan predicts (default limit: ${PAGE})`,
    input: () => {
      const limit = queryInt(1, LARGEST_PAGE).optional()
      const offset = queryInt(0, Number.MAX_SAFE_INTEGER).optional()
      return { query: z.strictObject({ limit, offset }).prefault({}) }
    },
    output: plannedResults,
    handle: (scope, { params, query: { limit = PAGE, offset = 0 } }) =>
      resultsOf(scope, scope.tx.in(batches).require(params.id), offset, limit),
  }),
  control({
    name: 'trigger-webhook',
    method: 'POST',
    path: '/webhooks/trigger',
    summary:
      'Send a webhook about a batch, the newest one by default, to its subscribers; the batch itself does not change',
    input: () => ({ body: webhookTrigger() }),
    output: () => listOf(deliveryFields(batchWebhookTypes)),
    handle: (scope, { body }) => list(triggered(scope, body)),
  }),
] as const

// The object has the status that the type names, so that receivers can be tested with every type.
function triggered(scope: Scope, { type, batch: id, data = {} }: WebhookTrigger) {
  const table = scope.tx.in(batches)
  const batch = id === undefined ? [...table].at(-1) : table.require(id)
  if (batch === undefined) {
    return refuse('conflict', {
      detail: 'There is no batch that the webhook could be about.',
      mitigation: 'Create a batch first.',
    })
  }
  const status = batchStatuses.find((each) => noticeOf(each) === type)
  return publish(scope, {
    type,
    ref: refOf(batches, batch),
    schema: batchResponse,
    body: () => mergePatch({ ...shownBatch(batch, scope), status } as JsonObject, data) as JsonObject,
  })
}

function summaryOf(scope: Scope, batch: Batch): BatchSummary {
  const { teamspace_id, progress, request } = batch._emulator
  return {
    ...shownBatch(batch, scope),
    teamspace_id,
    first_file_id: request.items[0]?.file_id ?? '',
    prompt: request.prompt.slice(0, SHOWN),
    finished: finishedItems(batch, scope.now),
    held: progress.held,
    predicted: predictedFor(batch),
  }
}

function predictedFor(batch: Batch): BatchSummary['predicted'] {
  const { plan, progress, request } = batch._emulator
  const { pace } = plan
  const since = Date.parse(progress.since)
  const isHeld = progress.held || isTerminal(batch.status) || batch.status === 'cancelling'
  const after = (from: number | undefined, phase: keyof typeof pace, count = 1) => {
    const ms = timeUntil(beatOf(pace[phase]), count, count)
    return from === undefined || ms === undefined || isHeld ? undefined : from + ms
  }
  const begun = batch.status === 'validating' ? after(since, 'validating') : undefined
  const worked =
    batch.status === 'in_progress'
      ? finishedAt(batch, request.items.length)
      : after(begun, 'in_progress', request.items.length)
  const completed = after(batch.status === 'finalizing' ? since : worked, 'finalizing')
  const shown = (instant: number | undefined) => (instant === undefined ? null : formatInstant(instant))
  return { in_progress_at: shown(begun), finalizing_at: shown(worked), completed_at: shown(completed) }
}

/** Milliseconds of the processor after which a page ends early. */
const MAX_PAGE_MS = 100

// One page at a time: all lines of a large batch at once would block other requests.
function resultsOf(scope: Scope, batch: Batch, offset: number, limit: number): PlannedResults {
  const { items } = batch._emulator.request
  const isFinished = amongFirst(batch, finishedItems(batch, scope.now))
  const lineOf = lineMaker(batch, scope, isTerminal(batch.status) ? undefined : items.length)
  const end = processorTime() + MAX_PAGE_MS
  const page: PlannedResult[] = []
  for (let n = offset; n < Math.min(offset + limit, items.length); n++) {
    const line = JSON.parse(lineOf(n)) as Omit<PlannedResult, 'finished'>
    const { custom_id, status, output, error } = line
    page.push({ custom_id, status, output, error, finished: isFinished(n) })
    if (processorTime() > end) break
  }
  return { ...list(page), has_more: offset + page.length < items.length }
}
