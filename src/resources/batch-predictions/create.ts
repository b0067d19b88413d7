import { refuse } from '../../kernel/errors.ts'
import { successCreate } from '../../kernel/open-items.ts'
import { type Finder, operation, type Scope } from '../../kernel/operation.ts'
import { hash } from '../../kernel/random.ts'
import { formatInstant } from '../../kernel/time/instant.ts'
import { admitBatch } from './admission.ts'
import { batchAnswer, noteBatch, shownBatch } from './answer.ts'
import type { Plan } from './batch.ts'
import { WINDOW } from './consistency.ts'
import { createBody } from './create-input.ts'
import type { BatchItem } from './items.ts'
import { put } from './lifecycle.ts'
import { askedByItems, NOTHING_ASKED } from './magic.ts'
import { chooseModel } from './models.ts'
import { changePace, DEFAULT_PACE } from './pace.ts'
import { excerpt } from './prompt.ts'
import { defaultOutcomes, defaultPace, fileRefName, itemsName } from './settings.ts'

/** 100 MiB of the decoded body. Specification: Limits / Batch predictions. */
export const BODY_LIMIT = 104_857_600

/** Creates a batch of 1 to 5,000 items, which is then validated. Specification: Endpoints / Create batch prediction. */
export const createBatch = operation({
  name: 'batch-predictions.create',
  method: 'POST',
  path: '/batch-predictions',
  summary: 'Create a batch prediction',
  section: 'Create batch prediction',
  dialect: 'problem',
  contract: true,
  bodyLimit: BODY_LIMIT,
  idempotent: true,
  success: successCreate,
  answer: batchAnswer,
  input: (fields, settings) => ({ body: createBody(fields, settings) }),
  find: requireNames,
  handle: (request) => {
    const { body, caller, newId, now, at, note, pathPrefix } = request
    const { prompt, output_schema, items, metadata = {} } = body
    const model = chooseModel(body.model, request)
    admitBatch(request, items.length)
    const id = newId()
    const batch = put(request, {
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
      metadata,
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
    noteBatch(batch, note)
    return { body: shownBatch(batch, request) }
  },
})

// Pace and outcome rules are copied: a later change of the settings leaves the batches that exist alone.
function newPlan(
  { settings, seed }: Pick<Scope, 'settings' | 'seed'>,
  id: string,
  items: readonly BatchItem[],
): Plan {
  const asked = settings.strict ? NOTHING_ASKED : askedByItems(items)
  return {
    seed: hash(seed, 'batch', id),
    pace: changePace(DEFAULT_PACE, settings.get(defaultPace)),
    stages: [{ from: 0, outcomes: [...asked.outcomes, ...settings.get(defaultOutcomes)] }],
    rejected: [],
    ...(asked.late && { late: asked.late }),
  }
}

// The specification does not show the two names, and under --strict none is made up.
function requireNames({ assume }: Finder): void {
  const missing = [itemsName, fileRefName].filter((name) => assume(name) === null).map(({ key }) => key)
  if (missing.length === 0) return
  refuse('emulator_contract_unspecified', {
    detail: 'The specification shows neither the name of the item list nor that of the file reference.',
    mitigation: `Give them in the settings: ${missing.map((key) => `"${key}"`).join(' and ')}.`,
  })
}
