import { z } from 'zod'
import { codePoints, intBetween, nonEmptyText, objectAs, timestamp } from '../../core/fields.ts'
import { isObject, type JsonObject, keysOf } from '../../core/json.ts'
import { REQUIRED } from '../../core/zod-issues.ts'
import { type Complain, checkedBy, MAX_BATCH_ITEMS, readItems } from './items.ts'
import { checkOutputSchema, UNSUPPORTED } from './output-schema.ts'
import { DEFAULT_PACE, paceChangeSchema, paceSchema } from './pace.ts'
import { batchStatuses } from './states.ts'

/** Specification: Limits / Batch predictions. */
const MAX_METADATA = 16
const MAX_KEY_LENGTH = 64
const MAX_VALUE_LENGTH = 512

/** Data that a client stores with a batch. Any key is valid, also `__proto__`. */
export type Metadata = Readonly<Record<string, string>>

/** `metadata` of a request or a record; `also` has further checks of a request. Specification: Limits / Batch predictions. */
export function metadataSchema(also: (metadata: Metadata, complain: Complain) => void = () => {}) {
  const check = (value: unknown, complain: Complain): Metadata => {
    if (!isObject(value)) {
      complain([], 'must be an object whose values are strings')
      return {}
    }
    const entries = Object.entries(value)
    if (entries.length > MAX_METADATA)
      complain([], `must have at most ${MAX_METADATA} entries, and has ${entries.length}`)
    for (const [key, text] of entries) {
      if (codePoints(key) > MAX_KEY_LENGTH)
        complain([key], `the key must have at most ${MAX_KEY_LENGTH} characters (Unicode code points)`)
      if (typeof text !== 'string') complain([key], 'must be a string')
      else if (codePoints(text) > MAX_VALUE_LENGTH)
        complain([key], `must have at most ${MAX_VALUE_LENGTH} characters (Unicode code points)`)
    }
    also(value as Metadata, complain)
    return value as Metadata
  }
  return checkedBy(check, {
    title: 'batch_metadata',
    type: 'object',
    maxProperties: MAX_METADATA,
    propertyNames: { maxLength: MAX_KEY_LENGTH },
    additionalProperties: { type: 'string', maxLength: MAX_VALUE_LENGTH },
  })
}

/** `output_schema` of a request or a record. Specification: Limits / Batch predictions. */
export function outputSchemaSchema(also: (schema: JsonObject) => string | null = () => null) {
  const check = (value: unknown, complain: Complain): JsonObject => {
    if (value === undefined) complain([], REQUIRED)
    else {
      const issues = checkOutputSchema(value, '')
      for (const { pointer, detail } of issues) complain(keysOf(pointer), detail)
      const more = issues.length === 0 && isObject(value) ? also(value) : null
      if (more !== null) complain([], more)
    }
    return isObject(value) ? value : {}
  }
  const unsupported = [...UNSUPPORTED.keys()]
  return checkedBy(check, {
    title: 'output_schema',
    description: `A JSON Schema (Draft 2020-12). ${unsupported.join(', ')} are unsupported.`,
    type: 'object',
    properties: { type: { type: 'string', enum: ['object'] } },
    required: ['type'],
    additionalProperties: true,
    propertyNames: { not: { enum: unsupported } },
  })
}

/** The outcome of matching items. The first rule that matches an item applies to it. */
const outcomeRule = () =>
  z
    .strictObject({
      match: z
        .strictObject({
          /** A glob for the whole `custom_id`: `invoice-*`. */
          custom_id: z.string().min(1, { error: 'must be a glob such as invoice-*' }).optional(),
          /** Position in the batch, from 0. */
          index: intBetween(0, MAX_BATCH_ITEMS - 1).optional(),
        })
        .optional(),
      /** Only every N-th of the items that match: the N-th, the 2N-th, ... */
      every: intBetween(1, MAX_BATCH_ITEMS).optional(),
      /** Only this share of the matching items, 0 to 1, chosen by the seed of the batch. */
      probability: z
        .number()
        .refine((value) => value >= 0 && value <= 1, { error: 'must be a number from 0 to 1' })
        .optional(),
      /** Default `succeeded`. */
      status: z.enum(['succeeded', 'errored']).optional(),
      /** The detail of the error of an errored item. */
      detail: z.string().optional(),
      /** The output of a succeeded item, instead of a generated one. */
      output: objectAs<JsonObject>().optional(),
    })
    .superRefine(({ status, detail, output }, context) => {
      const issue = (path: string, message: string) =>
        context.addIssue({ code: 'custom', path: [path], message })
      if (status === 'errored' && output !== undefined)
        issue('output', 'an errored item has no output; leave output or status out')
      if (status !== 'errored' && detail !== undefined)
        issue('detail', 'only an errored item has a detail; add "status": "errored"')
    })

/** A list of outcome rules in a setting, a plan or a request of the control API. */
export const outcomeRulesSchema = () => z.array(outcomeRule())

export type OutcomeRule = z.output<ReturnType<typeof outcomeRule>>

/** Changes of the pace or the outcomes of a batch, in the control interface and in fault rules. */
export const planFields = () => ({
  pace: paceChangeSchema().optional(),
  outcomes: outcomeRulesSchema().optional(),
})

/** The error of a batch that is failed on request: its cause in one sentence, or the whole error object. */
export const failureFields = () => ({
  detail: z.string().optional(),
  error: objectAs<JsonObject>().optional(),
})

export type Failure = z.output<z.ZodObject<ReturnType<typeof failureFields>>>

const count = () => z.number().int().min(0)
const moment = () => timestamp().nullable().default(null)

/** The submitted request. It never changes: every later version of the record shares this object. */
const submitted = () =>
  z.strictObject({
    /** An excerpt, for people only: no model reads it, and a prompt may have 100 MiB. */
    prompt: z.string(),
    output_schema: outputSchemaSchema(),
    items: checkedBy(
      (value, complain) =>
        readItems(value, { file: 'file_id', emptyIds: true, refuseUnknown: true }, complain),
      { type: 'array', minItems: 1, maxItems: MAX_BATCH_ITEMS },
    ),
    /** The model that is run; it differs from the requested one if that is deprecated. */
    effective_model: nonEmptyText(),
  })

/** The data besides the request that determines counts and results. */
const planRecord = () =>
  z.strictObject({
    seed: z.number().int().default(0),
    pace: paceSchema().default(DEFAULT_PACE),
    /** Stages of outcome rules, each in force from an item on, ascending; the first stage begins at item 0. */
    stages: z
      .array(z.strictObject({ from: count(), outcomes: outcomeRulesSchema() }))
      .default([{ from: 0, outcomes: [] }]),
    /** Items that failed validation, ascending, each with the reason. `pages`: whether it depends on the pages of a file (U038). */
    rejected: z
      .array(z.strictObject({ index: count(), detail: z.string(), pages: z.boolean().default(false) }))
      .default([]),
    /**
     * Indexes of items that finish late; absent: all finish in the order of submission. `slow` items start after all others are
     * finished, and take ten times as long; `never` items end with the completion window.
     */
    late: z.strictObject({ slow: z.array(count()), never: z.array(count()) }).optional(),
    /** Why items without an output of a rule are errored; null: outputs are generated. Decided when processing begins. */
    no_output: z.string().nullable().optional(),
  })

export type Plan = z.output<ReturnType<typeof planRecord>>
export type Stragglers = NonNullable<Plan['late']>

/** The progress of a batch. Items finish in one order, so a number determines which are finished. */
const progressRecord = () =>
  z.strictObject({
    /** The instant from which the pace of the present phase counts. */
    since: timestamp(),
    /** The number of items that were finished at that instant. */
    done: count(),
    /** The number of items that may finish; null for all. Cancelling sets it. */
    most: count().nullable().default(null),
    /** Polls in the present phase. */
    polls: count().default(0),
    /** True while the control API holds the batch. */
    held: z.boolean().default(false),
  })

export type Progress = z.output<ReturnType<typeof progressRecord>>

/** The end of a batch that did not complete: the status of its unfinished items, and the cause in one sentence. */
const endRecord = () =>
  z.strictObject({ rest: z.enum(['errored', 'canceled', 'expired']), cause: z.string() })

export type End = z.output<ReturnType<typeof endRecord>>

/** Fields that a client gives at creation, records keep and responses repeat. A new field needs only one line here. */
export const givenFields = (checkMetadata?: (metadata: Metadata, complain: Complain) => void) => ({
  metadata: metadataSchema(checkMetadata).default({}),
})

const batchErrorObject = () =>
  z.custom<JsonObject>(isObject, { error: 'must be an object or null' }).meta({
    title: 'batch_error',
    description:
      'Why the batch failed, expired or was cancelled. The specification does not show its fields.',
    type: 'object',
    additionalProperties: true,
  })

/** A batch as it is stored. Specification: Resources and their fields / Batch prediction. */
export const batchRecord = () =>
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
    ...givenFields(),
    error: batchErrorObject().nullable(),
    results_url: z.string().nullable(),
    _emulator: z.strictObject({
      teamspace_id: z.string(),
      organization_id: z.string(),
      /** The part of the creating request's path before `/v1`; `results_url` repeats it. */
      prefix: z.string().default(''),
      request: submitted(),
      plan: planRecord(),
      progress: progressRecord(),
      /** Null until the batch ends without completing. */
      ended: endRecord().nullable(),
    }),
  })

export type Batch = z.output<ReturnType<typeof batchRecord>>

const itemCount = () => count().max(MAX_BATCH_ITEMS)

const requestCounts = () =>
  z.strictObject({
    total: itemCount(),
    processing: itemCount(),
    succeeded: itemCount(),
    errored: itemCount(),
    canceled: itemCount(),
    expired: itemCount(),
  })

export type RequestCounts = z.output<ReturnType<typeof requestCounts>>

/** The batch object of responses. Specification: Resources and their fields / Batch prediction. */
export const batchResponse = () =>
  batchRecord().omit({ _emulator: true }).extend({ request_counts: requestCounts() })

export type ShownBatch = z.output<ReturnType<typeof batchResponse>>

/** One line of the result stream. Specification: Resources and their fields / Batch prediction result line. */
export const lineResponse = () =>
  z.strictObject({
    object: z.literal('batch_prediction.result'),
    batch_id: z.string(),
    custom_id: z.string(),
    status: z.enum(['succeeded', ...endRecord().shape.rest.options]),
    output: z.looseObject({}).nullable(),
    error: z
      .strictObject({ type: z.string(), title: z.string(), status: z.number().int(), detail: z.string() })
      .nullable(),
  })
