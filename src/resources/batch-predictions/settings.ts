import * as z from 'zod'
import { setting } from '../../kernel/assumptions.ts'
import { intBetween, nonEmptyText } from '../../kernel/fields.ts'
import { requiredFlag } from '../../kernel/open-items.ts'
import type { Cloud } from '../teamspaces/schema.ts'
import { type OutcomeRule, outcomeRulesSchema } from './outcome-rules.ts'
import { type PaceChange, paceChangeSchema, phaseDuration } from './pace.ts'

const TAKEN = ['prompt', 'output_schema', 'model', 'completion_window', 'metadata', 'custom_id', 'page']

function memberName() {
  return z
    .string()
    .regex(/^[A-Za-z][A-Za-z0-9_-]{0,63}$/, { error: 'must be a member name such as items or file_id' })
    .refine((name) => !TAKEN.includes(name), { error: 'is the name of another member' })
    .nullable()
}

export const itemsName = setting<string | null>({
  key: 'batch.names.items',
  item: 'U035',
  says: 'Name of the item list in a request that creates a batch; null: such requests are answered with 501.',
  schema: memberName,
  default: 'items',
  strict: null,
})

export const fileRefName = setting<string | null>({
  key: 'batch.names.file_ref',
  item: 'U035',
  says: 'Name of the file reference in an item; null: requests that create a batch are answered with 501.',
  schema: memberName,
  default: 'file_id',
  strict: null,
})

export const windowRequired = requiredFlag('batch-predictions.create', 'completion_window', false)

export const emptyCustomIds = setting<'reject' | 'accept'>({
  key: 'batch.empty_custom_id',
  item: 'U050',
  says: 'An item whose custom_id is the empty string: refused or accepted.',
  schema: () => z.enum(['reject', 'accept']),
  default: 'reject',
})

/** A model that batches can name. */
export interface Model {
  readonly id: string
  /** The clouds whose teamspaces may use it. */
  readonly clouds: readonly Cloud[]
  /** For a deprecated id: the listed model that runs instead. */
  readonly runs_as?: string | undefined
}

export const models = setting<readonly Model[]>({
  key: 'models',
  item: 'U036',
  says: 'The models and the clouds that have them: [{"id": "...", "clouds": ["cloud_b"], "runs_as": "..."}]; empty: any model id is accepted.',
  schema: () =>
    z
      .array(
        z.strictObject({
          id: nonEmptyText(),
          clouds: z.array(z.enum(['cloud_a', 'cloud_b'])).min(1, { error: 'must name at least one cloud' }),
          runs_as: z.string().optional(),
        }),
      )
      .superRefine((list, context) => {
        const real = list.filter(({ runs_as }) => runs_as === undefined).map(({ id }) => id)
        for (const [index, { id, runs_as }] of list.entries()) {
          const again = list.findIndex((each) => each.id === id) < index
          if (again) context.addIssue({ code: 'custom', path: [index, 'id'], message: 'is listed twice' })
          if (runs_as === undefined || real.includes(runs_as)) continue
          const message = 'must be the id of a listed model that does not itself run as another'
          context.addIssue({ code: 'custom', path: [index, 'runs_as'], message })
        }
      }),
  default: [],
})

export const modelEcho = setting<'requested' | 'effective'>({
  key: 'batch.model.echo',
  item: 'U037',
  says: 'Which model a batch shows whose model id is deprecated: the one that was asked for, or the one that runs.',
  schema: () => z.enum(['requested', 'effective']),
  default: 'requested',
})

export const unknownFiles = setting<'fail' | 'accept'>({
  key: 'batch.unknown_files',
  item: 'U039',
  says: 'Whether validation finds fault with an item whose file this world does not have.',
  schema: () => z.enum(['fail', 'accept']),
  default: 'fail',
})

export const itemValidation = setting<'batch' | 'item'>({
  key: 'batch.validation',
  item: 'U055',
  says: 'An item that does not validate: fails the whole batch, or becomes errored itself.',
  schema: () => z.enum(['batch', 'item']),
  default: 'batch',
})

export const defaultPace = setting<PaceChange>({
  key: 'batch.pace',
  item: 'U054',
  says: 'How long the phases of a batch take. Each is "immediate", "hold", a duration or {"polls": N}; in_progress also {"per_item", "concurrency"}. Phases left out keep 2s, 200ms per item with 50 at a time, and 1s.',
  schema: paceChangeSchema,
  default: {},
})

export const defaultOutcomes = setting<readonly OutcomeRule[]>({
  key: 'batch.outcomes',
  item: 'U054',
  says: 'Outcome rules that a new batch copies: [{"match": {"custom_id": "glob", "index": 0}, "every": N, "probability": p, "status": "succeeded" or "errored", "detail": "...", "output": {...}}]; the first that fits an item decides.',
  schema: outcomeRulesSchema,
  default: [],
})

export const cancelDelay = setting<string>({
  key: 'batch.cancel_delay',
  item: 'T15',
  says: 'How long a batch stays cancelling.',
  schema: phaseDuration,
  default: '1s',
})

export const cancelInFlight = setting<'stop' | 'finish'>({
  key: 'batch.cancel_in_flight',
  item: 'T15',
  says: 'Items being worked on when a cancel arrives: stopped at once, or finished while the batch is cancelling.',
  schema: () => z.enum(['stop', 'finish']),
  default: 'stop',
})

export const cancelTerminal = setting<'reject' | 'unchanged'>({
  key: 'batch.cancel_terminal',
  item: 'U041',
  says: 'A cancel of a batch that is finalizing, completed, failed or expired: refused, or answered with the unchanged batch.',
  schema: () => z.enum(['reject', 'unchanged']),
  default: 'reject',
})

export const expireInValidating = setting<'expire' | 'fail' | 'wait'>({
  key: 'batch.expire_in_validating',
  item: 'T13',
  says: 'A batch that is still validating when its completion window ends: expires, fails, or goes on.',
  schema: () => z.enum(['expire', 'fail', 'wait']),
  default: 'expire',
})

export const failedItems = setting<'errored' | 'canceled'>({
  key: 'batch.failed_items',
  item: 'T17',
  says: 'What the unfinished items of a failed batch become.',
  schema: () => z.enum(['errored', 'canceled']),
  default: 'errored',
})

export const batchError = setting<'problem' | 'empty'>({
  key: 'batch.error',
  item: 'U010',
  says: 'The error of a failed, cancelled or expired batch: problem details, or an empty object.',
  schema: () => z.enum(['problem', 'empty']),
  default: 'problem',
  strict: 'empty',
})

export const cleanup = setting<string>({
  key: 'batch.cleanup',
  item: 'U056',
  says: 'When results that are 29 days old are removed: at_eligibility, manual (only by the control API), or so long after.',
  schema: () =>
    z.union([z.enum(['at_eligibility', 'manual']), phaseDuration()], {
      error: 'must be at_eligibility, manual, or a duration of at most 3650d such as 6h',
    }),
  default: 'at_eligibility',
})

export const resultsUrlBase = setting<'absolute_path' | 'base_relative'>({
  key: 'batch.results_url',
  item: 'U047',
  says: 'What results_url is relative to: the root of the server (with /v1), or the base URL (without).',
  schema: () => z.enum(['absolute_path', 'base_relative']),
  default: 'absolute_path',
})

export const resultsOrder = setting<'submission' | 'shuffled'>({
  key: 'batch.results.order',
  item: 'U048',
  says: 'The order of result lines: that of submission, or one that is drawn under the seed and always the same.',
  schema: () => z.enum(['submission', 'shuffled']),
  default: 'submission',
})

/** The problem of a result line whose item did not finish. */
export interface ItemProblem {
  readonly code: string
  readonly title: string
  readonly status: number
}

export const canceledProblem = itemProblem('canceled', 'Canceled')
export const expiredProblem = itemProblem('expired', 'Expired')

function itemProblem(code: string, title: string) {
  return setting<ItemProblem>({
    key: `errors.item_problem.${code}`,
    item: 'U049',
    says: `Code, title and status of the problem in the result line of an item that is ${code}.`,
    schema: () =>
      z.strictObject({ code: nonEmptyText(), title: nonEmptyText(), status: intBetween(400, 599) }),
    default: { code, title, status: 422 },
  })
}
