import { type Issue, isObject, type JsonObject } from '../../core/json.ts'
import { fitsGlob } from '../../core/log/glob.ts'
import { chanceOf, type Label } from '../../core/random.ts'
import { validateOutput, whyNoOutput } from './output-schema.ts'
import type { Batch, OutcomeRule, Plan, RequestCounts } from './schema.ts'
import { finishedItems, workOrder } from './work.ts'

/** The outcome of one item when it finishes. */
export type Outcome =
  | { readonly status: 'succeeded'; readonly output: JsonObject | 'generated' }
  | { readonly status: 'errored'; readonly detail: string }

/** The outcomes of all items of a batch, computed once. */
export interface Outcomes {
  of(index: number): Outcome
  /** How many of the first `n` items in the order of work are errored. */
  erroredAmong(n: number): number
}

const GENERATED: Outcome = { status: 'succeeded', output: 'generated' }

const ALL_SUCCEED: Outcomes = { of: () => GENERATED, erroredAmong: () => 0 }

const DEFAULT_DETAIL = 'The model could not process the item.'

// A plan belongs to one batch and is replaced when it changes, so its outcomes can be cached by the plan object.
const decided = new WeakMap<Plan, Outcomes>()

/** The outcomes that follow from plan and items. Without rules no item is read, with rules each item once per plan. */
export function outcomesOf(batch: Batch): Outcomes {
  const { plan, request } = batch._emulator
  // The schema of an imported record may not have been examined yet.
  const why = plan.no_output === undefined ? whyNoOutput(request.output_schema) : plan.no_output
  const usual: Outcome = why === null ? GENERATED : { status: 'errored', detail: why }
  if (
    usual === GENERATED &&
    plan.rejected.length === 0 &&
    plan.stages.every(({ outcomes }) => outcomes.length === 0)
  )
    return ALL_SUCCEED
  const outcomes = decided.get(plan) ?? tabulated(decide(batch, usual), usual, workOrder(batch))
  decided.set(plan, outcomes)
  return outcomes
}

function tabulated(
  exceptions: readonly (Outcome | undefined)[],
  usual: Outcome,
  order: Uint16Array | undefined,
): Outcomes {
  const errored = new Uint16Array(exceptions.length + 1)
  for (let n = 0; n < exceptions.length; n++) {
    errored[n + 1] = (errored[n] ?? 0) + ((exceptions[order?.[n] ?? n] ?? usual).status === 'errored' ? 1 : 0)
  }
  return {
    of: (index) => exceptions[index] ?? usual,
    erroredAmong: (n) => errored[Math.min(n, exceptions.length)] ?? 0,
  }
}

function decide(batch: Batch, usual: Outcome): (Outcome | undefined)[] {
  const { plan, request } = batch._emulator
  const exceptions = new Array<Outcome | undefined>(request.items.length).fill(undefined)
  const order = workOrder(batch)
  for (const [number, { from, outcomes }] of plan.stages.entries()) {
    const deciders = outcomes.map((rule, position) => ({
      fits: matcherOf(rule, plan.seed, 'outcome', from, position),
      outcome: outcomeOf(rule, position, request.output_schema, usual),
    }))
    const end = plan.stages[number + 1]?.from ?? request.items.length
    for (let n = from; n < end; n++) {
      const index = order?.[n] ?? n
      const id = request.items[index]?.custom_id ?? ''
      exceptions[index] = deciders.find((each) => each.fits(id, index))?.outcome
    }
  }
  for (const { index, detail } of plan.rejected) exceptions[index] = { status: 'errored', detail }
  return exceptions
}

/**
 * A test whether a rule applies to an item. `every` counts matches, so the test must get the items of a stage in order, each
 * once. `labels` are those of the draws for `probability`.
 */
function matcherOf(
  { match = {}, every = 1, probability = 1 }: OutcomeRule,
  seed: number,
  ...labels: Label[]
) {
  let matched = 0
  return (id: string, index: number): boolean => {
    if (match.index !== undefined && match.index !== index) return false
    if (match.custom_id !== undefined && !fitsGlob(match.custom_id, id)) return false
    matched += 1
    if (matched % every !== 0) return false
    return probability >= 1 || chanceOf(seed, ...labels, index) < probability
  }
}

/** @param usual the outcome of an item that succeeds without a given output */
function outcomeOf(rule: OutcomeRule, position: number, schema: JsonObject, usual: Outcome): Outcome {
  if (rule.status === 'errored') return { status: 'errored', detail: rule.detail ?? DEFAULT_DETAIL }
  if (rule.output === undefined) return usual
  const [fault] = validateOutput(schema, rule.output)
  if (fault === undefined) return { status: 'succeeded', output: rule.output }
  const place = fault.pointer === '' ? 'as a whole' : `at ${fault.pointer}`
  const detail = `The output that outcome rule ${position} gives does not satisfy output_schema ${place}: ${fault.detail}. The item is errored instead of sending it; correct the rule or the schema.`
  return { status: 'errored', detail }
}

/** The counts at an instant (virtual milliseconds). The last five add up to `total` at every instant. */
export function countsAt(batch: Batch, now: number): RequestCounts {
  const total = batch._emulator.request.items.length
  const finished = finishedItems(batch, now)
  // The outcomes are not needed before an item is finished.
  const failures = finished === 0 ? 0 : outcomesOf(batch).erroredAmong(finished)
  const rest = total - finished
  const become = batch._emulator.ended?.rest
  return {
    total,
    processing: become === undefined ? rest : 0,
    succeeded: finished - failures,
    errored: failures + (become === 'errored' ? rest : 0),
    canceled: become === 'canceled' ? rest : 0,
    expired: become === 'expired' ? rest : 0,
  }
}

/** Outputs of rules that do not satisfy the batch's schema: they are never sent (R100). */
export function invalidOutputs(batch: Batch): { stage: number; rule: number; errors: readonly Issue[] }[] {
  const { plan, request } = batch._emulator
  return plan.stages.flatMap(({ outcomes }, stage) =>
    outcomes.flatMap(({ output }, rule) => {
      const errors = isObject(output) ? validateOutput(request.output_schema, output) : []
      return errors.length === 0 ? [] : [{ stage, rule, errors }]
    }),
  )
}
