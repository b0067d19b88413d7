import * as z from 'zod'
import { timestamp } from '../../kernel/fields.ts'
import type { Batch } from './batch.ts'
import { resultsPath } from './consistency.ts'
import { MOST_ITEMS } from './items.ts'
import { countsAt, type RequestCounts } from './plan.ts'
import { metadataSchema } from './schema.ts'
import { batchLifecycle, batchStatuses, isTerminal } from './states.ts'

/** A batch as the API shows it. */
export type ShownBatch = Omit<Batch, '_emulator'> & { readonly request_counts: RequestCounts }

/** Where and when a batch is looked at: by a request, or by an event, which has no path. */
export interface Viewpoint {
  /** Virtual milliseconds. */
  readonly now: number
  readonly sandbox: string
  readonly pathPrefix?: string
}

/** The batch as somebody sees it: what retrieve answers. */
export function shownBatch(batch: Batch, at: Viewpoint): ShownBatch {
  const { _emulator, metadata, error, results_url, ...rest } = batch
  return {
    ...rest,
    request_counts: countsAt(batch, at.now),
    metadata,
    error,
    results_url: results_url === null ? null : resultsUrl(batch, results_url, at),
  }
}

// It leads into the world that is looked at: whoever came by a path stays on it, and a fork is not where it came from.
function resultsUrl({ id, _emulator: { prefix } }: Batch, stored: string, at: Viewpoint): string {
  const { sandbox, pathPrefix = '' } = at
  const wanted = pathPrefix === '' && prefix !== '' ? `/@${sandbox}` : pathPrefix
  return wanted !== prefix && stored === resultsPath(prefix, id) ? resultsPath(wanted, id) : stored
}

const count = () => z.number().int().min(0).max(MOST_ITEMS)
const moment = () => timestamp().nullable()

/** Shape of the batch object. Specification: Resources and their fields / Batch prediction. */
export const batchAnswer = () =>
  z.strictObject({
    object: z.literal('batch_prediction'),
    id: z.string(),
    status: z.enum(batchStatuses),
    model: z.string(),
    completion_window: z.literal('24h'),
    created_at: timestamp(),
    expires_at: timestamp(),
    in_progress_at: moment(),
    finalizing_at: moment(),
    completed_at: moment(),
    failed_at: moment(),
    cancelling_at: moment(),
    cancelled_at: moment(),
    expired_at: moment(),
    request_counts: z.strictObject({
      total: count(),
      processing: count(),
      succeeded: count(),
      errored: count(),
      canceled: count(),
      expired: count(),
    }),
    metadata: metadataSchema(),
    error: z.looseObject({}).nullable(),
    results_url: z.string().nullable(),
  })

const problemOfItem = () =>
  z.strictObject({ type: z.string(), title: z.string(), status: z.number().int(), detail: z.string() })

/** Shape of one line of the result stream. Specification: Resources and their fields / Batch prediction result line. */
export const lineAnswer = () =>
  z.strictObject({
    object: z.literal('batch_prediction.result'),
    batch_id: z.string(),
    custom_id: z.string(),
    status: z.enum(['succeeded', 'errored', 'canceled', 'expired']),
    output: z.looseObject({}).nullable(),
    error: problemOfItem().nullable(),
  })

/** Notes what the sight of a batch rests on that the specification leaves open. */
export function noteBatch(batch: Batch, note: (item: string) => void): void {
  const { request, plan } = batch._emulator
  for (const { because, to } of batchLifecycle.arrows) {
    if (to === batch.status && because === 'U054') note(because)
  }
  if (batch.status === 'expired' && batch.in_progress_at === null) note('T13')
  if (batch.error !== null) note('U010')
  if (batch.status === 'failed' && plan.rejected.length > 0)
    for (const item of ['U038', 'U039', 'U055']) note(item)
  if (request.effective_model !== batch.model) note('U037')
  if (isTerminal(batch.status)) note(batch.results_url === null ? 'U056' : 'U047')
}
