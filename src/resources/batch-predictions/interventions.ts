import type { JsonObject } from '../../kernel/json.ts'
import type { Scope } from '../../kernel/operation.ts'
import type { Batch, Plan } from './batch.ts'
import { fail, isPhase, put, step } from './lifecycle.ts'
import type { OutcomeRule } from './outcome-rules.ts'
import { changePace, type PaceChange } from './pace.ts'
import { finishedItems } from './plan.ts'

/** What is to be different about what is still to come of a batch. */
export interface PlanChange {
  readonly pace?: PaceChange | undefined
  readonly outcomes?: readonly OutcomeRule[] | undefined
  /** True: the batch stays where it is; false: it goes on. */
  readonly hold?: boolean | undefined
}

/** How a batch is made to fail: a sentence, or the whole error that it shows. */
export interface Failure {
  readonly detail?: string | undefined
  readonly error?: JsonObject | undefined
}

/** Fails a batch that is validating or in progress. */
export function failNow(
  scope: Scope,
  batch: Batch,
  { detail = 'The batch was made to fail.', error }: Failure,
): Batch {
  return fail(scope, batch, { cause: detail, error })
}

/** Takes a batch through the phases that are left: every move is one that it could have made by itself, so that each timestamp is set. */
export function completeNow(scope: Scope, batch: Batch): Batch {
  let moved = step(scope, batch)
  while (isPhase(moved.status)) moved = step(scope, moved)
  return moved
}

/** Changes the plan of a batch that is not terminal. What is finished stays finished; a new pace counts from now on. */
export function changePlan(scope: Scope, batch: Batch, { pace = {}, outcomes, hold }: PlanChange): Batch {
  const { plan, progress } = batch._emulator
  const released = hold === false ? releasedPhase(batch) : {}
  const finished = finishedItems(batch, scope.now)
  const changed: Plan = {
    ...plan,
    pace: changePace(plan.pace, { ...released, ...pace }),
    stages: outcomes === undefined ? plan.stages : stagesWith(outcomes, plan, finished),
  }
  const held = hold ?? progress.held
  const replaced = { ...batch, _emulator: { ...batch._emulator, plan: changed, progress } }
  const timed = isPhase(batch.status) && changed.pace[batch.status] !== plan.pace[batch.status]
  if (!timed && held === progress.held) return put(scope, replaced)
  const begun = { ...progress, since: scope.at, done: finished, polls: 0, held }
  return put(scope, { ...replaced, _emulator: { ...replaced._emulator, progress: begun } })
}

// A phase whose pace is to hold has no pace to go on at: letting go of it means that it ends.
function releasedPhase({ status, _emulator: { plan } }: Batch): PaceChange {
  return isPhase(status) && plan.pace[status] === 'hold' ? { [status]: 'immediate' } : {}
}

function stagesWith(outcomes: readonly OutcomeRule[], { stages }: Plan, from: number): Plan['stages'] {
  return [...stages.filter((stage) => stage.from < from), { from, outcomes }]
}
