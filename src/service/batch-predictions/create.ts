import { z } from 'zod'
import type { Settings } from '../../core/assumptions.ts'
import { requiredIf, unknownFields } from '../../core/core-assumptions.ts'
import { didYouMean } from '../../core/did-you-mean.ts'
import { refuse, refuseInvalid } from '../../core/errors.ts'
import { type FieldKit, nonEmptyText } from '../../core/fields.ts'
import { operation, type Request, type Scope } from '../../core/operation.ts'
import { hash } from '../../core/random.ts'
import { formatInstant } from '../../core/time/instant.ts'
import { REQUIRED } from '../../core/zod-issues.ts'
import { teamspaces } from '../teamspaces/schema.ts'
import { admitBatch } from './admission.ts'
import { batches, WINDOW } from './batches.ts'
import {
  type BatchItem,
  type Complain,
  checkedBy,
  emptyCustomIds,
  MAX_BATCH_ITEMS,
  readItems,
} from './items.ts'
import { askedByItems, checkItemForms, checkScript } from './magic.ts'
import { whyNoneAtOnce } from './output-schema.ts'
import { changePace, DEFAULT_PACE } from './pace.ts'
import { noteBatch, shownBatch } from './responses.ts'
import { scheduleBatch } from './schedule.ts'
import { type Batch, batchResponse, givenFields, outputSchemaSchema, type Plan } from './schema.ts'
import {
  defaultOutcomes,
  defaultPace,
  fileRefName,
  itemsName,
  modelEcho,
  models,
  unsatisfiable,
  windowRequired,
} from './settings.ts'

/** 100 MiB of the decoded body. Specification: Limits / Batch predictions. */
export const BODY_LIMIT = 104_857_600

/** Creates a batch of 1 to 5,000 items, which is then validated. Specification: Endpoints / Create batch prediction. */
export const createBatch = operation({
  name: 'batch-predictions.create',
  method: 'POST',
  path: '/batch-predictions',
  summary: 'Create a batch prediction',
  section: 'Create batch prediction',
  errorFormat: 'problem',
  bodyLimit: BODY_LIMIT,
  idempotent: true,
  output: batchResponse,
  input: (fields, settings) => ({ body: createBody(fields, settings) }),
  find: ({ assume }) => {
    // The specification does not show the two names, and with --strict none is invented.
    const missing = [itemsName, fileRefName].filter((name) => assume(name) === null).map(({ key }) => key)
    if (missing.length === 0) return
    refuse('emulator_contract_unspecified', {
      detail: 'The specification shows neither the name of the item list nor that of the file reference.',
      mitigation: `Give them in the settings: ${missing.map((key) => `"${key}"`).join(' and ')}.`,
    })
  },
  handle: (request) => {
    const { tx, body, caller, newId, now, at, assume, pathPrefix } = request
    const { prompt, output_schema, model: modelId, completion_window: _, items, ...given } = body
    // The type makes the compiler reject a given field that the record does not keep.
    const kept: Pick<Batch, keyof typeof given> = given
    if (body.completion_window === undefined) assume(windowRequired)
    const model = chooseModel(modelId, request)
    admitBatch(request, items.length)
    const id = newId()
    const batch = tx.in(batches).insert({
      object: 'batch_prediction',
      id,
      status: 'validating',
      model: model.shown,
      completion_window: '24h',
      created_at: at,
      expires_at: formatInstant(now + WINDOW),
      in_progress_at: null,
      finalizing_at: null,
      completed_at: null,
      failed_at: null,
      cancelling_at: null,
      cancelled_at: null,
      expired_at: null,
      ...kept,
      error: null,
      results_url: null,
      _emulator: {
        teamspace_id: caller.teamspace_id,
        organization_id: caller.organization_id,
        prefix: pathPrefix,
        request: { prompt: excerpt(prompt), output_schema, items, effective_model: model.effective },
        plan: newPlan(request, id, items),
        progress: { since: at, done: 0, most: null, polls: 0, held: false },
        ended: null,
      },
    })
    scheduleBatch(request, batch)
    noteBatch(batch, request)
    return { body: shownBatch(batch, request) }
  },
})

// Pace and outcome rules are copied, so that a later change of the settings does not affect existing batches.
function newPlan(
  { settings, seed }: Pick<Scope, 'settings' | 'seed'>,
  id: string,
  items: readonly BatchItem[],
): Plan {
  const { outcomes, ...late } = askedByItems(settings.strict ? [] : items)
  return {
    seed: hash(seed, 'batch', id),
    pace: changePace(DEFAULT_PACE, settings.get(defaultPace)),
    stages: [{ from: 0, outcomes: [...outcomes, ...settings.get(defaultOutcomes)] }],
    rejected: [],
    ...late,
  }
}

// The fields of a creation whose names are fixed.
const bodyFields = (settings: Settings) => ({
  prompt: z.string(),
  output_schema: outputSchemaSchema(settings.get(unsatisfiable) === 'refuse' ? whyNoneAtOnce : undefined),
  model: modelId(settings),
  completion_window: requiredIf(
    settings.get(windowRequired),
    z.literal('24h', {
      error: ({ input }) => (input === undefined ? REQUIRED : 'must be "24h", the only window'),
    }),
  ),
  ...givenFields(settings.strict ? undefined : checkScript),
})

type BodyFields = z.ZodObject<ReturnType<typeof bodyFields>>

type Given = { readonly [K in keyof z.input<BodyFields>]: NonNullable<z.output<BodyFields>[K]> }

/** Body of `POST /batch-predictions` with the default names. Specification: Endpoints / Create batch prediction. */
export type BatchBody = Omit<Given, 'completion_window'> &
  Partial<Pick<Given, 'completion_window'>> & { readonly items: readonly BatchItem[] }

/**
 * The body of a creation. It checks everything that depends only on the request, and reports all issues at once (T12). The
 * validation phase of the batch checks files. Specification: Endpoints / Create batch prediction.
 */
function createBody({ object }: FieldKit, settings: Settings) {
  const list = settings.get(itemsName) ?? 'items'
  const body = object({ ...bodyFields(settings), [list]: itemList(settings) })
  // A setting names the list in requests; after the transform it is `items`.
  return body.transform((given: Record<string, unknown>) => {
    const { [list]: items, ...fields } = given
    return { ...fields, items } as z.output<BodyFields> & { readonly items: BatchItem[] }
  })
}

// Without a list of models there is a model of any id (U036).
function modelId(settings: Settings) {
  const known = settings.get(models).map(({ id }) => id)
  return nonEmptyText().refine((id) => known.length === 0 || known.includes(id), {
    error: ({ input: id }) => `there is no model with the id "${id}"${didYouMean(String(id), known)}`,
  })
}

function itemList(settings: Settings) {
  const file = settings.get(fileRefName) ?? 'file_id'
  const form = {
    file,
    emptyIds: settings.get(emptyCustomIds) === 'accept',
    refuseUnknown: settings.get(unknownFields) === 'reject',
  }
  const item = {
    title: 'batch_prediction_item',
    type: 'object',
    properties: {
      custom_id: { type: 'string', minLength: form.emptyIds ? 0 : 1, maxLength: 128 },
      [file]: { type: 'string', minLength: 1 },
      page: { type: 'integer', minimum: 1 },
    },
    required: ['custom_id', file],
  }
  const read = (value: unknown, complain: Complain): BatchItem[] => {
    const items = readItems(value, form, complain)
    if (!settings.strict) checkItemForms(items, complain)
    return items
  }
  return checkedBy(read, {
    type: 'array',
    minItems: 1,
    maxItems: MAX_BATCH_ITEMS,
    items: item,
  })
}

/**
 * The model that a batch of the caller's teamspace shows, and the one that is run. Refuses a model that the cloud of the teamspace does not have. A deprecated
 * id is accepted, and runs as another model. Specification: Endpoints / Create batch prediction.
 */
function chooseModel(
  id: string,
  { tx, caller, assume }: Pick<Request<object, unknown>, 'tx' | 'caller' | 'assume'>,
): { readonly shown: string; readonly effective: string } {
  const listed = assume(models).find((model) => model.id === id)
  if (listed === undefined) return { shown: id, effective: id }
  const cloud = tx.in(teamspaces).get(caller.teamspace_id)?.cloud_provider
  if (cloud !== undefined && !listed.clouds.includes(cloud)) {
    const detail =
      cloud === 'cloud_a'
        ? `the model "${id}" is not served natively by the cloud of this teamspace`
        : `the model "${id}" is exclusive to a cloud other than that of this teamspace`
    refuseInvalid([{ pointer: '/model', detail }])
  }
  if (listed.runs_as === undefined) return { shown: id, effective: id }
  return { shown: assume(modelEcho) === 'effective' ? listed.runs_as : id, effective: listed.runs_as }
}

/** UTF-16 units; a longer prompt is kept as an excerpt of this length and a note of its whole length. */
export const MAX_KEPT_PROMPT_LENGTH = 65_536

/**
 * The part of its prompt that a batch keeps. No model reads it and no response shows it, so a prompt of 100 MiB need not be in
 * memory, in the state file and in its log.
 */
export function excerpt(prompt: string): string {
  if (prompt.length <= MAX_KEPT_PROMPT_LENGTH) return prompt
  // A slice alone would keep the whole prompt in memory.
  const start = Buffer.from(prompt.slice(0, MAX_KEPT_PROMPT_LENGTH), 'utf16le').toString('utf16le')
  return `${start}... (${prompt.length} characters)`
}
