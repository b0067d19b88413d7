import { z } from 'zod'
import { choice, type RecordedExchange, setting } from '../../core/assumptions.ts'
import { requiredFlag } from '../../core/core-assumptions.ts'
import { intBetween, nonEmptyText } from '../../core/fields.ts'
import { isObject, type Json, valueAt } from '../../core/json.ts'
import { paceChangeSchema, phaseDuration } from './pace.ts'
import { outcomeRulesSchema } from './schema.ts'

const TAKEN = ['prompt', 'output_schema', 'model', 'completion_window', 'metadata', 'custom_id', 'page']

function memberName() {
  return z
    .string()
    .regex(/^[A-Za-z][A-Za-z0-9_-]{0,63}$/, { error: 'must be a field name such as items or file_id' })
    .refine((name) => !TAKEN.includes(name), { error: 'is the name of another field' })
    .nullable()
}

/** The name and the items of the only list in a request that has created a batch. */
function listIn({
  operation,
  status,
  sent,
}: RecordedExchange): readonly [string, readonly Json[]] | undefined {
  if (operation !== 'batch-predictions.create' || status >= 300 || !isObject(sent)) return undefined
  const lists = Object.entries(sent).flatMap(([name, value]) =>
    Array.isArray(value) ? [[name, value] as const] : [],
  )
  return lists.length === 1 ? lists[0] : undefined
}

export const itemsName = setting({
  key: 'batch.names.items',
  item: 'U035',
  description:
    'Sets the name of the item list in a request that creates a batch; null: such requests get 501.',
  schema: memberName,
  default: 'items',
  strict: null,
  observe: (exchange) => listIn(exchange)?.[0],
})

export const fileRefName = setting({
  key: 'batch.names.file_ref',
  item: 'U035',
  description: 'Sets the name of the file reference in an item; null: requests that create a batch get 501.',
  schema: memberName,
  default: 'file_id',
  strict: null,
  observe: (exchange) => {
    const [one] = listIn(exchange)?.[1] ?? []
    const names = isObject(one) ? Object.keys(one).filter((name) => !TAKEN.includes(name)) : []
    return names.length === 1 ? names[0] : undefined
  },
})

export const windowRequired = requiredFlag('batch-predictions.create', 'completion_window', false)

const model = () =>
  z.strictObject({
    id: nonEmptyText(),
    /** The clouds whose teamspaces may use it. */
    clouds: z.array(z.enum(['cloud_a', 'cloud_b'])).min(1, { error: 'must name at least one cloud' }),
    /** For a deprecated id: the listed model that runs instead. */
    runs_as: z.string().optional(),
  })

export type Model = z.output<ReturnType<typeof model>>

export const models = setting({
  key: 'models',
  item: 'U036',
  description:
    'Sets the models and the clouds that have them: [{"id": "...", "clouds": ["cloud_b"], "runs_as": "..."}]; empty: any model id is accepted.',
  schema: () =>
    z.array(model()).superRefine((list, context) => {
      const issue = (index: number, field: string, message: string) =>
        context.addIssue({ code: 'custom', path: [index, field], message })
      const real = list.filter(({ runs_as }) => runs_as === undefined).map(({ id }) => id)
      for (const [index, { id, runs_as }] of list.entries()) {
        if (list.findIndex((each) => each.id === id) < index) issue(index, 'id', 'is listed twice')
        if (runs_as !== undefined && !real.includes(runs_as))
          issue(index, 'runs_as', 'must be the id of a listed model that does not itself run as another')
      }
    }),
  default: [],
})

export const modelEcho = choice({
  key: 'batch.model.echo',
  item: 'U037',
  description:
    'Sets the model that a batch with a deprecated model id shows: the requested one, or the one that runs.',
  values: ['requested', 'effective'],
})

export const unknownFiles = choice({
  key: 'batch.unknown_files',
  item: 'U039',
  description: 'Decides whether validation rejects an item whose file this sandbox does not have.',
  values: ['fail', 'accept'],
})

export const itemValidation = choice({
  key: 'batch.validation',
  item: 'U055',
  description: 'Decides what happens to an invalid item: the whole batch fails, or only the item is errored.',
  values: ['batch', 'item'],
})

export const defaultPace = setting({
  key: 'batch.pace',
  item: 'U054',
  description:
    'Decides how long the phases of a batch take. Each is "immediate", "hold", a duration or {"polls": N}; in_progress also {"per_item", "concurrency"}. Phases left out keep 2s, 200ms per item with 50 at a time, and 1s.',
  schema: paceChangeSchema,
  default: {},
})

export const defaultOutcomes = setting({
  key: 'batch.outcomes',
  item: 'U054',
  description:
    'Sets the outcome rules that a new batch copies: [{"match": {"custom_id": "glob", "index": 0}, "every": N, "probability": p, "status": "succeeded" or "errored", "detail": "...", "output": {...}}]; the first that fits an item decides.',
  schema: outcomeRulesSchema,
  default: [],
})

export const cancelDelay = setting({
  key: 'batch.cancel_delay',
  item: 'T15',
  description: 'Decides how long a batch stays cancelling.',
  schema: phaseDuration,
  default: '1s',
})

export const cancelInFlight = choice({
  key: 'batch.cancel_in_flight',
  item: 'T15',
  description:
    'Decides what happens to items in progress when a cancel arrives: stopped at once, or finished if batch.cancel_delay leaves time for it.',
  values: ['stop', 'finish'],
})

export const cancelTerminal = choice({
  key: 'batch.cancel_terminal',
  item: 'U041',
  description:
    'Decides what happens to a cancel of a batch that is finalizing, completed, failed or expired: refused, or returns the unchanged batch.',
  values: ['reject', 'unchanged'],
  observe: ({ operation, status, received }) => {
    if (operation !== 'batch-predictions.cancel') return undefined
    if (status === 409) return 'reject'
    const state = valueAt(received, '/status')
    return ['finalizing', 'completed', 'failed', 'expired'].includes(`${state}`) ? 'unchanged' : undefined
  },
})

export const expireInValidating = choice({
  key: 'batch.expire_in_validating',
  item: 'T13',
  description:
    'Decides what happens to a batch that is still validating when its completion window ends: expires, fails, or continues.',
  values: ['expire', 'fail', 'wait'],
})

export const failedItems = choice({
  key: 'batch.failed_items',
  item: 'T17',
  description: 'Sets the status of the unfinished items of a failed batch.',
  values: ['errored', 'canceled'],
})

export const batchError = choice({
  key: 'batch.error',
  item: 'U010',
  description: 'Sets the error of a failed, cancelled or expired batch: problem details, or an empty object.',
  values: ['problem', 'empty'],
  strict: 'empty',
  observe: ({ operation, received }) => {
    const error = operation.startsWith('batch-predictions.') ? valueAt(received, '/error') : undefined
    if (!isObject(error)) return undefined
    return Object.keys(error).length === 0 ? 'empty' : 'problem'
  },
})

export const unsatisfiable = choice({
  key: 'batch.unsatisfiable',
  item: 'U079',
  description:
    'Decides what happens to a batch for whose output_schema no output exists or is found: it is accepted and its items are errored, or its creation is refused (if the schema is small enough to be checked at once).',
  values: ['errored', 'refuse'],
})

export const cleanup = setting({
  key: 'batch.cleanup',
  item: 'U056',
  description:
    'Decides when results that are 29 days old are removed: at_eligibility, manual (only by the control API), or this duration after.',
  schema: () =>
    z.union([z.enum(['at_eligibility', 'manual']), phaseDuration()], {
      error: 'must be at_eligibility, manual, or a duration of at most 3650d such as 6h',
    }),
  default: 'at_eligibility',
})

export const resultsUrlBase = choice({
  key: 'batch.results_url',
  item: 'U047',
  description:
    'Decides what results_url is relative to: the root of the server (with /v1), or the base URL (without).',
  values: ['absolute_path', 'base_relative'],
  observe: ({ received }) => {
    const url = valueAt(received, '/results_url')
    if (typeof url !== 'string' || !url.startsWith('/')) return undefined
    return url.includes('/v1/') ? 'absolute_path' : 'base_relative'
  },
})

export const resultsOrder = choice({
  key: 'batch.results.order',
  item: 'U048',
  description:
    'Sets the order of result lines: that of submission, or a shuffle that is the same for the same seed.',
  values: ['submission', 'shuffled'],
})

export const canceledProblem = itemProblem('canceled', 'Canceled')
export const expiredProblem = itemProblem('expired', 'Expired')

function itemProblem(code: string, title: string) {
  return setting({
    key: `errors.item_problem.${code}`,
    item: 'U049',
    description: `Sets code, title and status of the problem in the result line of an item that is ${code}.`,
    schema: () =>
      z.strictObject({ code: nonEmptyText(), title: nonEmptyText(), status: intBetween(400, 599) }),
    default: { code, title, status: 422 },
  })
}
