import * as z from 'zod'
import { nonEmptyText, timestamp } from '../../kernel/fields.ts'
import { isObject, type JsonObject } from '../../kernel/json.ts'
import { collection } from '../../kernel/state/collection.ts'
import { REQUIRED } from '../../kernel/zod-issues.ts'
import { missing } from '../missing.ts'
import { teamspaces } from '../teamspaces/schema.ts'
import type { Batch, BatchRequest, End, Plan, Progress } from './batch.ts'
import { checked, complainAll } from './checked.ts'
import { checkConsistency, withDefaults } from './consistency.ts'
import { generateBatch } from './generate.ts'
import { type Complain, MOST_ITEMS, readItems } from './items.ts'
import { checkMetadata, LONGEST_KEY, LONGEST_VALUE, type Metadata, MOST_METADATA } from './metadata.ts'
import { outcomeRulesSchema } from './outcome-rules.ts'
import { checkOutputSchema } from './output-schema.ts'
import { DEFAULT_PACE, paceSchema } from './pace.ts'
import { batchStatuses } from './states.ts'

export type { Batch } from './batch.ts'

const count = () => z.number().int().min(0)
const moment = () => timestamp().nullable().default(null)

/** `metadata` of a request or a record; `also` complains of what else is wrong. Specification: Limits / Batch predictions. */
export function metadataSchema(also: (metadata: Metadata, complain: Complain) => void = () => {}) {
  const check = (value: unknown, complain: Complain): Metadata => {
    if (!checkMetadata(value, complain)) return {}
    also(value, complain)
    return value
  }
  return checked(check, {
    type: 'object',
    maxProperties: MOST_METADATA,
    propertyNames: { maxLength: LONGEST_KEY },
    additionalProperties: { type: 'string', maxLength: LONGEST_VALUE },
  })
}

/** `output_schema` of a request or a record. Specification: Limits / Batch predictions. */
export function outputSchemaSchema() {
  const check = (value: unknown, complain: Complain): JsonObject => {
    if (value === undefined) complain([], REQUIRED)
    else complainAll(checkOutputSchema(value, ''), complain)
    return isObject(value) ? value : {}
  }
  return checked(check, { type: 'object', properties: { type: { const: 'object' } }, required: ['type'] })
}

function storedItems() {
  const form = { file: 'file_id', emptyIds: true, refuseUnknown: true }
  return checked((value, complain) => readItems(value, form, complain), {
    type: 'array',
    minItems: 1,
    maxItems: MOST_ITEMS,
  })
}

const requestRecord = (): z.ZodType<BatchRequest> =>
  z.strictObject({
    prompt: z.string(),
    output_schema: outputSchemaSchema(),
    items: storedItems(),
    effective_model: nonEmptyText(),
  })

const planRecord = (): z.ZodType<Plan> =>
  z.strictObject({
    seed: z.number().int().default(0),
    pace: paceSchema().default(DEFAULT_PACE),
    stages: z
      .array(z.strictObject({ from: count(), outcomes: outcomeRulesSchema() }))
      .default([{ from: 0, outcomes: [] }]),
    rejected: z.array(z.strictObject({ index: count(), detail: z.string() })).default([]),
    late: z.strictObject({ slow: z.array(count()), never: z.array(count()) }).optional(),
  })

const progressRecord = (): z.ZodType<Progress> =>
  z.strictObject({
    since: timestamp(),
    done: count(),
    most: count().nullable().default(null),
    polls: count().default(0),
    held: z.boolean().default(false),
  })

const endRecord = (): z.ZodType<End> =>
  z.strictObject({ rest: z.enum(['errored', 'canceled', 'expired']), cause: z.string() })

const batchRecord = () =>
  z.strictObject({
    object: z.literal('batch_prediction').default('batch_prediction'),
    id: nonEmptyText(),
    status: z.enum(batchStatuses),
    model: nonEmptyText(),
    completion_window: z.literal('24h').default('24h'),
    created_at: timestamp(),
    expires_at: timestamp(),
    in_progress_at: moment(),
    finalizing_at: moment(),
    completed_at: moment(),
    failed_at: moment(),
    cancelling_at: moment(),
    cancelled_at: moment(),
    expired_at: moment(),
    request_counts: z.never({ error: 'follows from the items and the plan; leave it out' }).optional(),
    metadata: metadataSchema().default({}),
    error: z.custom<JsonObject>(isObject, { error: 'must be an object or null' }).nullable(),
    results_url: z.string().nullable(),
    _emulator: z.strictObject({
      teamspace_id: z.string(),
      organization_id: z.string(),
      prefix: z.string().default(''),
      request: requestRecord(),
      plan: planRecord(),
      progress: progressRecord(),
      ended: endRecord().nullable(),
    }),
  })

/** Batches. What a record leaves out and what follows from the rest is filled in; what contradicts itself is refused. */
export const batches = collection<Batch>({
  name: 'batch_predictions',
  label: 'batch prediction',
  generate: generateBatch,
  schema: (): z.ZodType<Batch> =>
    z.preprocess(
      withDefaults,
      batchRecord().superRefine((batch, context) => {
        checkConsistency(batch, (path, message) =>
          context.addIssue({ code: 'custom', path: [...path], message }),
        )
      }),
    ),
  check: ({ _emulator: { teamspace_id } }, tx) =>
    missing(tx, teamspaces, teamspace_id, '_emulator', 'teamspace_id'),
})
