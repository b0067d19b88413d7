import { z } from 'zod'
import { isObject, type Json, type JsonObject, valueAt } from '../../core/json.ts'
import { collection, type RecordMaker } from '../../core/state/collection.ts'
import { formatInstant, HOUR, parseInstant, SECOND } from '../../core/time/instant.ts'
import { files } from '../files.ts'
import { refersTo } from '../records.ts'
import { teamspaces } from '../teamspaces/schema.ts'
import type { Complain } from './items.ts'
import { type Batch, batchRecord, type End } from './schema.ts'
import { type BatchStatus, batchStatuses, isTerminal } from './states.ts'

/** The completion window of a batch in milliseconds. Specification: Limits / Batch predictions, `completion_window`. */
export const WINDOW = 24 * HOUR

type Stamp = `${Exclude<BatchStatus, 'validating'>}_at`

/** The timestamps of a batch in each state; `may`: one that depends on the earlier states. */
const STAMPS: Readonly<Record<BatchStatus, { readonly set: readonly Stamp[]; readonly may?: Stamp }>> = {
  validating: { set: [] },
  in_progress: { set: ['in_progress_at'] },
  finalizing: { set: ['in_progress_at', 'finalizing_at'] },
  completed: { set: ['in_progress_at', 'finalizing_at', 'completed_at'] },
  failed: { set: ['failed_at'], may: 'in_progress_at' },
  expired: { set: ['expired_at'], may: 'in_progress_at' },
  cancelling: { set: ['cancelling_at'], may: 'in_progress_at' },
  cancelled: { set: ['cancelling_at', 'cancelled_at'], may: 'in_progress_at' },
}

const ORDER = ['created_at', 'in_progress_at', 'finalizing_at', 'completed_at'] as const

const ENDS: Readonly<Partial<Record<BatchStatus, End>>> = {
  failed: { rest: 'errored', cause: 'The batch failed.' },
  expired: { rest: 'expired', cause: 'The completion window ended before the item was finished.' },
  cancelled: { rest: 'canceled', cause: 'The batch was cancelled before the item was finished.' },
}

/** Fills in fields of a batch from a fixture or a hand edit that were left out and follow from the others. */
function withDefaults(raw: unknown): unknown {
  if (!isObject(raw) || !isObject(raw._emulator)) return raw
  const status = batchStatuses.find((each) => each === raw.status) ?? 'validating'
  const { _emulator: facts, created_at } = raw
  const created = typeof created_at === 'string' ? parseInstant(created_at) : undefined
  const end = ENDS[status] ?? null
  const items = valueAt(facts, '/request/items')
  const isDone = ['finalizing', 'completed'].includes(status)
  return {
    ...(created === undefined ? {} : { expires_at: formatInstant(created.ms + WINDOW) }),
    error: end === null ? null : {},
    results_url: isTerminal(status) ? resultsPath(String(facts.prefix ?? ''), String(raw.id)) : null,
    ...raw,
    _emulator: {
      plan: {},
      ended: end === null ? null : { ...end },
      ...facts,
      request: filled(facts.request, { effective_model: raw.model ?? '' }),
      progress: filled(facts.progress ?? {}, {
        since: raw.finalizing_at ?? raw.in_progress_at ?? created_at ?? null,
        done: isDone && Array.isArray(items) ? items.length : 0,
      }),
    },
  }
}

function filled(value: Json | undefined, defaults: JsonObject): Json | undefined {
  return isObject(value) ? { ...defaults, ...value } : value
}

/** The path of the result stream from the root of the server (T29). */
export function resultsPath(prefix: string, id: string): string {
  return `${prefix}/v1/batch-predictions/${encodeURIComponent(id)}/results`
}

/** Reports fields of a batch that contradict each other: no sequence of moves leads to such a record. */
function checkConsistency(batch: Batch, complain: Complain): void {
  const { plan, progress, ended, request } = batch._emulator
  if (Date.parse(batch.expires_at) !== Date.parse(batch.created_at) + WINDOW)
    complain(['expires_at'], 'must be 24 hours after created_at')
  checkStamps(batch, complain)
  const end = ENDS[batch.status]
  if ((end === undefined) !== (batch.error === null))
    complain(['error'], `must be ${end === undefined ? 'null' : 'an object'} while ${batch.status}`)
  if ((end === undefined) !== (ended === null))
    complain(['_emulator', 'ended'], `must be ${end === undefined ? 'null' : 'given'} while ${batch.status}`)
  if (batch.results_url !== null && !isTerminal(batch.status))
    complain(['results_url'], `must be null while ${batch.status}`)
  const total = request.items.length
  const all = ['finalizing', 'completed'].includes(batch.status)
  if (progress.done > total || (all && progress.done < total))
    complain(
      ['_emulator', 'progress', 'done'],
      all ? `must be ${total}, the number of items` : `must be at most ${total}`,
    )
  const froms = plan.stages.map(({ from }) => from)
  if (froms[0] !== 0 || froms.some((from, n) => n > 0 && from <= (froms[n - 1] ?? 0)))
    complain(['_emulator', 'plan', 'stages'], 'must begin with a stage from 0 and ascend')
  const { slow = [], never = [] } = plan.late ?? {}
  const seen = new Set([...slow, ...never])
  const isTwice = seen.size < slow.length + never.length
  if (isTwice || [...seen].some((index) => index >= total))
    complain(['_emulator', 'plan', 'late'], 'must have the index of each item, from 0, at most once')
}

function checkStamps(batch: Batch, complain: Complain): void {
  const { set, may } = STAMPS[batch.status]
  for (const status of batchStatuses) {
    if (status === 'validating') continue
    const stamp: Stamp = `${status}_at`
    if (set.includes(stamp) && batch[stamp] === null) complain([stamp], `must be set while ${batch.status}`)
    if (!set.includes(stamp) && stamp !== may && batch[stamp] !== null)
      complain([stamp], `must be null while ${batch.status}`)
  }
  const instants = ORDER.map((stamp) => batch[stamp]).filter((instant) => instant !== null)
  const ascends = instants.every(
    (each, n) => n === 0 || Date.parse(each) >= Date.parse(instants[n - 1] ?? ''),
  )
  if (!ascends) complain(['in_progress_at'], `must not be out of order among ${ORDER.join(', ')}`)
}

/** Generates a batch of the last four weeks that has completed; its results can still be read. */
function generateBatch({ faker, chance, n, start, newId, any }: RecordMaker) {
  const id = newId()
  const file = any(files)
  const teamspace = any(teamspaces, (each) => each.id === file.teamspace_id)
  const created = start - chance.int(2, 28 * 24) * HOUR
  const after = (seconds: number) => formatInstant(created + seconds * SECOND)
  const items = Array.from({ length: chance.int(1, 20) }, (_, index) => ({
    custom_id: `document-${index}`,
    file_id: file.id,
  }))
  return {
    id,
    status: 'completed' as const,
    model: 'standard',
    created_at: formatInstant(created),
    in_progress_at: after(2),
    finalizing_at: after(60),
    completed_at: after(61),
    metadata: { project: faker.company.name() },
    _emulator: {
      teamspace_id: teamspace.id,
      organization_id: teamspace._emulator.organization_id,
      request: {
        prompt: 'Extract the title and the total.',
        output_schema: {
          type: 'object',
          properties: { title: { type: 'string' }, total: { type: 'number', minimum: 0 } },
          required: ['title', 'total'],
        },
        items,
      },
      plan: { seed: n },
      progress: { since: after(61), most: items.length },
    },
  }
}

/** Batches. Fields that follow from others are filled in; a record that contradicts itself is refused. */
export const batches = collection<Batch>({
  name: 'batch_predictions',
  label: 'batch prediction',
  generate: generateBatch,
  schema: () =>
    z.preprocess(
      withDefaults,
      batchRecord().superRefine((batch, context) => {
        checkConsistency(batch, (path, message) =>
          context.addIssue({ code: 'custom', path: [...path], message }),
        )
      }),
    ),
  check: refersTo(teamspaces, '_emulator', 'teamspace_id'),
})
