import { z } from 'zod'
import { refuse, refuseInvalid } from '../../core/errors.ts'
import { type InputOf, issue, type ShapeOf, timestamp } from '../../core/fields.ts'
import { control, refOf, type Scope } from '../../core/operation.ts'
import { withMatchTime } from '../../core/regex.ts'
import { formatInstant } from '../../core/time/instant.ts'
import { byDue, eventId, futureEvent, SCHEDULE, type ScheduledEvent } from '../../core/time/scheduler.ts'
import { batches } from './batches.ts'
import { cleanUp, expire, failBatch, isPhase, putBatch, step } from './lifecycle.ts'
import { invalidOutputs } from './outcomes.ts'
import { outcomeIssues } from './output-schema.ts'
import { changePace, type PaceChange } from './pace.ts'
import { shownBatch } from './responses.ts'
import { batchEventKinds } from './schedule.ts'
import {
  type Batch,
  batchRecord,
  batchResponse,
  type Failure,
  failureFields,
  type Plan,
  planFields,
} from './schema.ts'
import { isTerminal } from './states.ts'
import { finishedAt, finishedItems } from './work.ts'

const planChange = () => z.strictObject({ ...planFields(), hold: z.boolean().optional() })

type PlanChange = z.output<ReturnType<typeof planChange>>

export type BatchPlanChange = InputOf<typeof planChange>

/** Fails a batch that is validating or in progress. */
export function failNow(
  scope: Scope,
  batch: Batch,
  { detail = 'The batch was failed on request.', error }: Failure,
): Batch {
  return failBatch(scope, batch, { cause: detail, error })
}

/** Completes a batch through its remaining phases. Each is a normal move, so that each timestamp is set. */
export function completeNow(scope: Scope, batch: Batch): Batch {
  let moved = step(scope, batch)
  while (isPhase(moved.status)) moved = step(scope, moved)
  return moved
}

/** Changes the plan of a batch that is not terminal. Finished items stay finished; a new pace counts from now on. */
export function changePlan(scope: Scope, batch: Batch, { pace = {}, outcomes, hold }: PlanChange): Batch {
  const { plan, progress } = batch._emulator
  // A phase with the pace `hold` has no other pace to continue with, so releasing the batch ends the phase.
  const isStuck = isPhase(batch.status) && plan.pace[batch.status] === 'hold'
  const released: PaceChange = isStuck && hold === false ? { [batch.status]: 'immediate' } : {}
  const finished = finishedItems(batch, scope.now)
  const earlier = plan.stages.filter(({ from }) => from < finished)
  const changed: Plan = {
    ...plan,
    pace: changePace(plan.pace, { ...released, ...pace }),
    stages: outcomes === undefined ? plan.stages : [...earlier, { from: finished, outcomes }],
  }
  const held = hold ?? progress.held
  const replaced = { ...batch, _emulator: { ...batch._emulator, plan: changed, progress } }
  const timed = isPhase(batch.status) && changed.pace[batch.status] !== plan.pace[batch.status]
  if (!timed && held === progress.held) return putBatch(scope, replaced)
  const begun = { ...progress, since: scope.at, done: finished, polls: 0, held }
  return putBatch(scope, { ...replaced, _emulator: { ...replaced._emulator, progress: begun } })
}

const failure = () => z.strictObject(failureFields()).prefault({})

export type BatchFailure = NonNullable<InputOf<typeof failure>>

const facts = () => batchRecord().shape._emulator.shape

/** The plan of a batch, its progress, and its future events. */
const batchView = () =>
  z.strictObject({
    batch: batchResponse(),
    request: facts().request.extend({
      /** The number of items. */
      items: z.int(),
    }),
    plan: facts().plan,
    progress: facts().progress.extend({
      /** Items that are finished now. */
      finished: z.int(),
      /** Null if time alone does not finish them. */
      all_finished_at: timestamp().nullable(),
    }),
    /** How it ended, if it did not complete; null otherwise. */
    ended: facts().ended,
    /** Outcome rules whose output does not satisfy the output schema of the batch. */
    invalid_outputs: z.array(z.strictObject({ stage: z.int(), rule: z.int(), errors: z.array(issue()) })),
    ahead: z.array(futureEvent().omit({ at: true, ref: true }).extend({ due_at: timestamp() })),
  })

export type BatchView = ShapeOf<typeof batchView>

/** Routes of the control API for batches. */
export const batchControls = [
  control({
    name: 'show',
    method: 'GET',
    path: '/batches/{id}',
    summary: 'Show the plan of a batch, its counts now and its future events',
    output: batchView,
    handle: (scope, { params }) => view(scope, batchOf(scope, params)),
  }),
  control({
    name: 'change',
    method: 'PATCH',
    path: '/batches/{id}',
    summary: 'Change the pace or the outcomes of unfinished items, hold or release a batch',
    input: () => ({ body: planChange() }),
    output: batchView,
    handle: (scope, { params, body }) => view(scope, change(scope, batchOf(scope, params), body)),
  }),
  control({
    name: 'fail',
    method: 'POST',
    path: '/batches/{id}/fail',
    summary: 'Fail a batch that is validating or in progress, with a given detail or error object',
    input: () => ({ body: failure() }),
    output: batchView,
    handle: (scope, { params, body }) => view(scope, failNow(scope, batchOf(scope, params), body)),
  }),
  control({
    name: 'expire',
    method: 'POST',
    path: '/batches/{id}/expire',
    summary: 'End the completion window of a batch that is validating or in progress',
    output: batchView,
    handle: (scope, { params }) => view(scope, expire(scope, batchOf(scope, params))),
  }),
  control({
    name: 'complete',
    method: 'POST',
    path: '/batches/{id}/complete',
    summary: 'Complete a batch at once, through its remaining phases; it fails if its items are invalid',
    output: batchView,
    handle: (scope, { params }) => view(scope, completeNow(scope, batchOf(scope, params))),
  }),
  control({
    name: 'cleanup',
    method: 'POST',
    path: '/batches/{id}/cleanup',
    summary: 'Remove the results of a terminal batch, at any age',
    output: batchView,
    handle: (scope, { params }) => {
      const batch = batchOf(scope, params)
      if (isTerminal(batch.status)) return view(scope, cleanUp(scope, batch))
      return refuse('conflict', {
        detail: `The batch is ${batch.status}: it has no results yet that could be removed.`,
        mitigation: 'Let it become terminal first, for instance with POST /batches/{id}/complete.',
      })
    },
  }),
] as const

function batchOf({ tx }: Scope, { id }: { readonly id: string }): Batch {
  return tx.in(batches).require(id)
}

function change(scope: Scope, batch: Batch, wanted: PlanChange): Batch {
  if (!isTerminal(batch.status)) {
    const { output_schema } = batch._emulator.request
    refuseInvalid(withMatchTime(200, () => outcomeIssues(output_schema, wanted.outcomes ?? [])))
    return changePlan(scope, batch, wanted)
  }
  return refuse('conflict', {
    detail: `The batch is ${batch.status}, so its plan has no future events.`,
    mitigation: 'Change the plan of a batch before it is terminal, or the settings that new batches copy.',
  })
}

function view(scope: Scope, batch: Batch): BatchView {
  const { tx, now } = scope
  const { request, plan, progress, ended } = batch._emulator
  const ref = refOf(batches, batch)
  const ahead = batchEventKinds
    .map((kind) => tx.get(SCHEDULE, eventId(kind, ref)) as ScheduledEvent | undefined)
    .filter((event) => event !== undefined)
    .sort(byDue)
  const allFinishedAt = finishedAt(batch, request.items.length)
  const { items, ...asked } = request
  return {
    batch: shownBatch(batch, scope),
    request: { ...asked, items: items.length },
    plan,
    progress: {
      ...progress,
      finished: finishedItems(batch, now),
      all_finished_at: allFinishedAt === undefined ? null : formatInstant(allFinishedAt),
    },
    ended,
    invalid_outputs: invalidOutputs(batch),
    ahead: ahead.map(({ kind, due_at, urgency, description }) => ({ kind, due_at, urgency, description })),
  }
}
