import picomatch from 'picomatch'
import * as z from 'zod'
import { intBetween } from '../../kernel/fields.ts'
import { isObject, type JsonObject } from '../../kernel/json.ts'

/** What becomes of the items that it fits. Of several rules the first that fits an item decides. */
export interface OutcomeRule {
  readonly match?:
    | {
        /** A glob over the whole `custom_id`: `invoice-*`. */
        readonly custom_id?: string | undefined
        /** Position in the batch, from 0. */
        readonly index?: number | undefined
      }
    | undefined
  /** Only every N-th of the items that match: the N-th, the 2N-th, ... */
  readonly every?: number | undefined
  /** Only this share of them, 0 to 1, drawn under the seed of the batch. */
  readonly probability?: number | undefined
  /** `succeeded` when left out. */
  readonly status?: 'succeeded' | 'errored' | undefined
  /** What the error of an errored item says. */
  readonly detail?: string | undefined
  /** The output of a succeeded item, instead of a generated one. */
  readonly output?: JsonObject | undefined
}

/** A list of outcome rules, as a setting or the control API gives it. */
export function outcomeRulesSchema(): z.ZodType<readonly OutcomeRule[]> {
  return z.array(outcomeRule())
}

function outcomeRule() {
  return z
    .strictObject({
      match: z
        .strictObject({
          custom_id: z.string().min(1, { error: 'must be a glob such as invoice-*' }).optional(),
          index: intBetween(0, 4_999).optional(),
        })
        .optional(),
      every: intBetween(1, 5_000).optional(),
      probability: z
        .number()
        .refine((value) => value >= 0 && value <= 1, { error: 'must be a number from 0 to 1' })
        .optional(),
      status: z.enum(['succeeded', 'errored']).optional(),
      detail: z.string().optional(),
      output: z.custom<JsonObject>(isObject, { error: 'must be an object' }).optional(),
    })
    .superRefine(({ status, detail, output }, context) => {
      if (status === 'errored' && output !== undefined) {
        context.addIssue({
          code: 'custom',
          path: ['output'],
          message: 'an errored item has no output; leave output or status out',
        })
      }
      if (status !== 'errored' && detail !== undefined) {
        context.addIssue({
          code: 'custom',
          path: ['detail'],
          message: 'only an errored item has a detail; add "status": "errored"',
        })
      }
    })
}

/** Whether a rule's `match` fits an item. A glob is compiled once. */
export function matcherOf({ match }: OutcomeRule): (customId: string, index: number) => boolean {
  if (match === undefined) return () => true
  const { custom_id, index } = match
  // `bash` lets a star cross slashes, `s` lets it cross line breaks: custom ids are no paths.
  const glob =
    custom_id === undefined ? undefined : picomatch(custom_id, { dot: true, bash: true, flags: 's' })
  return (id, at) => (index === undefined || at === index) && (glob === undefined || glob(id))
}
