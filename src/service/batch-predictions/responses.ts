import type { Settings } from '../../core/assumptions.ts'
import { type ErrorTarget, errorTypeBase, problem, problemType } from '../../core/errors.ts'
import type { EmbeddedProblem, Request } from '../../core/operation.ts'
import { Chance } from '../../core/random.ts'
import { sharedMatchTime } from '../../core/regex.ts'
import { mountIn } from '../../core/sandboxes/name.ts'
import { resultsPath } from './batches.ts'
import { countsAt, type Outcome, outcomesOf } from './outcomes.ts'
import { outputsOf, whyNoOutput } from './output-schema.ts'
import type { Batch, End, RequestCounts, ShownBatch } from './schema.ts'
import {
  batchError,
  canceledProblem,
  cleanup,
  defaultOutcomes,
  defaultPace,
  expiredProblem,
  expireInValidating,
  failedItems,
  itemValidation,
  modelEcho,
  resultsOrder,
  resultsUrlBase,
  unknownFiles,
  unsatisfiable,
} from './settings.ts'
import { batchLifecycle, isTerminal } from './states.ts'
import { amongFirst } from './work.ts'

/** Where and when a batch is shown: to a request, or to an event, which has no path. */
interface Viewpoint extends ErrorTarget {
  /** Virtual milliseconds. */
  readonly now: number
  readonly sandbox: string
  readonly pathPrefix?: string
}

/** The batch object of responses, as it is at this instant. */
export function shownBatch(batch: Batch, at: Viewpoint): ShownBatch {
  const { _emulator, metadata, error, results_url, ...rest } = batch
  return {
    ...rest,
    request_counts: countsAt(batch, at.now),
    metadata,
    // A record has only the code of a problem of the emulator, since the URL depends on the request.
    error:
      error && STORED_CODES.has(error.type) ? { ...error, type: problemType(at, String(error.type)) } : error,
    results_url: results_url === null ? null : resultsUrl(batch, results_url, at),
  }
}

/** The last response for a batch, and the values that it depends on besides the record. */
interface LastView {
  readonly counts: RequestCounts
  readonly sandbox: string
  readonly pathPrefix: string | undefined
  readonly reply: { readonly body: ShownBatch; readonly text: string }
}

const lastViews = new WeakMap<Batch, LastView>()

/** The batch object as a reply. Clients poll a batch often, so an unchanged one is not serialized again. */
export function batchReply(batch: Batch, at: Viewpoint): LastView['reply'] {
  const { sandbox, pathPrefix } = at
  const last = lastViews.get(batch)
  if (last !== undefined && last.sandbox === sandbox && last.pathPrefix === pathPrefix) {
    const { processing, succeeded, errored } = countsAt(batch, at.now)
    const { counts } = last
    // The other counts depend only on the record.
    if (counts.processing === processing && counts.succeeded === succeeded && counts.errored === errored)
      return last.reply
  }
  const body = shownBatch(batch, at)
  const reply = { body, text: JSON.stringify(body) }
  // The URL in an error depends on settings, too.
  if (batch.error === null) lastViews.set(batch, { counts: body.request_counts, sandbox, pathPrefix, reply })
  return reply
}

// The URL has the sandbox of the request: a client that uses a path keeps it, and a fork has its own name. Without a request,
// it leads to the path at which the batch was created.
function resultsUrl({ id, _emulator: { prefix } }: Batch, stored: string, at: Viewpoint): string {
  const { sandbox, pathPrefix = prefix } = at
  const mount = mountIn(pathPrefix)
  const isNamed = mount !== pathPrefix || mountIn(prefix) !== prefix
  const wanted = isNamed ? `${mount}/@${sandbox}` : mount
  return wanted !== prefix && stored === resultsPath(prefix, id) ? resultsPath(wanted, id) : stored
}

type Notes = Pick<Request<object, unknown>, 'assume' | 'note'>

/** Notes the assumptions that the outcome of the validation of a batch depends on, from when an item was rejected. */
export function noteRejected({ _emulator: { plan } }: Batch, { assume, note }: Notes): void {
  if (plan.rejected.length === 0) return
  if (plan.rejected.some(({ pages }) => pages)) note('U038')
  assume(unknownFiles)
  assume(itemValidation)
}

/** Notes the assumptions that a shown batch depends on. */
export function noteBatch(batch: Batch, { assume, note }: Notes): void {
  const { request, plan } = batch._emulator
  for (const { because, to } of batchLifecycle.arrows) {
    if (to === batch.status && because === 'U054') note(because, defaultPace, defaultOutcomes)
  }
  if (batch.status === 'expired' && batch.in_progress_at === null) assume(expireInValidating)
  if (batch.error !== null) assume(batchError)
  if (batch.error !== null && 'type' in batch.error) assume(errorTypeBase)
  if (batch.status === 'failed') assume(failedItems)
  noteRejected(batch, { assume, note })
  if (typeof plan.no_output === 'string') assume(unsatisfiable)
  if (request.effective_model !== batch.model) assume(modelEcho)
  if (!isTerminal(batch.status)) return
  if (batch.results_url === null) return void assume(cleanup)
  assume(resultsUrlBase)
  note('T29', resultsUrlBase)
}

/**
 * The result stream of a terminal batch: one line for each item, with its line break, generated when it is read. The same
 * batch and settings give the same bytes. Specification: Endpoints / Retrieve batch prediction results.
 */
export function* resultLines(batch: Batch, at: ErrorTarget): Generator<string, void> {
  const total = batch._emulator.request.items.length
  const lineOf = lineMaker(batch, at)
  const order = at.settings.get(resultsOrder) === 'shuffled' ? shuffled(total, batch) : undefined
  for (let n = 0; n < total; n++) yield lineOf(order?.[n] ?? n)
}

/** Milliseconds for the patterns of all lines of a reader. Later lines get the first output that was found for the schema. */
const MAX_SEARCH_MS = 2_000

/** The lines of items by their index. @param done how many are finished */
export function lineMaker(
  batch: Batch,
  at: ErrorTarget,
  done = batch._emulator.progress.done,
): (index: number) => string {
  const { request, plan, ended } = batch._emulator
  const isFinished = amongFirst(batch, done)
  const outcomes = outcomesOf(batch)
  const outputs = outputsOf(request.output_schema)
  const inTime = sharedMatchTime(MAX_SEARCH_MS)
  const created = Date.parse(batch.created_at)
  const head = `{"object":"batch_prediction.result","batch_id":${JSON.stringify(batch.id)},"custom_id":`
  const withoutOutput = (rest: End['rest'], kind: Omit<EmbeddedProblem, 'description'>, detail: string) => {
    const error = problem(at, kind.code, kind.title, kind.status, detail)
    return `,"status":"${rest}","output":null,"error":${JSON.stringify(error)}}\n`
  }
  const failure = (detail: string) => withoutOutput('errored', PREDICTION_FAILED, detail)
  const tailOf = (outcome: Outcome, index: number): string => {
    if (outcome.status === 'errored') return failure(outcome.detail)
    const { output } = outcome
    const made =
      output === 'generated'
        ? inTime(() => outputs.text(new Chance(plan.seed, 'output', index), created))
        : JSON.stringify(output)
    // Found when the batch started, perhaps by a faster process.
    if (made === undefined) return failure(whyNoOutput(request.output_schema) ?? '')
    return `,"status":"succeeded","output":${made},"error":null}\n`
  }
  // The end of a line is the same for all unfinished items.
  const unfinished =
    ended === null || ended.rest === 'errored'
      ? failure(ended?.cause ?? '')
      : withoutOutput(ended.rest, at.settings.get(RESTS[ended.rest]), ended.cause)
  const reasons = new Map(plan.rejected.map(({ index, detail }) => [index, detail]))
  return (index) => {
    const id = JSON.stringify(request.items[index]?.custom_id)
    if (isFinished(index)) return head + id + tailOf(outcomes.of(index), index)
    const reason = ended?.rest === 'errored' ? reasons.get(index) : undefined
    return head + id + (reason === undefined ? unfinished : failure(reason))
  }
}

const RESTS = { canceled: canceledProblem, expired: expiredProblem }

// A Fisher-Yates shuffle: every order is equally likely, and the seed determines it.
function shuffled(total: number, batch: Batch): Uint16Array {
  const order = Uint16Array.from({ length: total }, (_, index) => index)
  const chance = new Chance(batch._emulator.plan.seed, 'order')
  for (let last = total - 1; last > 0; last--) {
    const other = chance.int(0, last)
    const index = order[last] ?? last
    order[last] = order[other] ?? other
    order[other] = index
  }
  return order
}

const unprocessable = (code: string, title: string, description: string): EmbeddedProblem => ({
  code,
  title,
  status: 422,
  description,
})

/** The problem of an errored item. Specification: Errors / Conditions. */
const PREDICTION_FAILED = unprocessable(
  'prediction_failed',
  'Prediction Failed',
  'The prediction of one item failed; it is the error of a result line, never of a response.',
)

/** The problems that a batch itself shows as its error (U010). */
export const BATCH_FAILED = unprocessable(
  'batch_failed',
  'Batch Failed',
  'The error of a batch that could not complete normally.',
)

export const BATCH_EXPIRED = unprocessable(
  'batch_expired',
  'Batch Expired',
  'The error of a batch whose completion window ended before all its items were finished.',
)

export const BATCH_CANCELLED = unprocessable(
  'batch_cancelled',
  'Batch Cancelled',
  'The error of a batch that was cancelled.',
)

const STORED_CODES: ReadonlySet<unknown> = new Set(
  [BATCH_FAILED, BATCH_EXPIRED, BATCH_CANCELLED].map(({ code }) => code),
)

/** Every problem inside a response. */
export function batchProblems(settings: Settings): readonly EmbeddedProblem[] {
  const description = (what: string) => `The item of a result line ${what} before it was finished.`
  return [
    PREDICTION_FAILED,
    BATCH_FAILED,
    BATCH_EXPIRED,
    BATCH_CANCELLED,
    { ...settings.get(canceledProblem), description: description('was canceled') },
    { ...settings.get(expiredProblem), description: description('expired') },
  ]
}
