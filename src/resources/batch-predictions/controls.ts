import * as z from 'zod'
import { refuse } from '../../core/errors.ts'
import type { JsonObject } from '../../core/json.ts'
import { type Control, refOf, type Scope } from '../../core/operation.ts'
import { formatInstant } from '../../core/time/instant.ts'
import { byDue, eventId, SCHEDULE, type ScheduledEvent } from '../../core/time/scheduler.ts'
import { batches } from './batches.ts'
import { cleanUp, expire, failBatch, isPhase, putBatch, step } from './lifecycle.ts'
import { invalidOutputs } from './outcomes.ts'
import { changePace, type PaceChange } from './pace.ts'
import { shownBatch } from './responses.ts'
import { batchEventKinds } from './schedule.ts'
import { type Batch, type Failure, failureFields, type OutcomeRule, type Plan, planFields } from './schema.ts'
import { isTerminal } from './states.ts'
import { finishedAt, finishedItems } from './work.ts'

const planChange = () => z.strictObject({ ...planFields(), hold: z.boolean().optional() })

export type PlanChange = z.output<ReturnType<typeof planChange>>

/** Fails a batch that is validating or in progress. */
export function failNow(
  scope: Scope,
  batch: Batch,
  { detail = 'The batch was made to fail.', error }: Failure,
): Batch {
  return failBatch(scope, batch, { cause: detail, error })
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
  if (!timed && held === progress.held) return putBatch(scope, replaced)
  const begun = { ...progress, since: scope.at, done: finished, polls: 0, held }
  return putBatch(scope, { ...replaced, _emulator: { ...replaced._emulator, progress: begun } })
}

// A phase whose pace is to hold has no pace to go on at: letting go of it means that it ends.
function releasedPhase({ status, _emulator: { plan } }: Batch): PaceChange {
  return isPhase(status) && plan.pace[status] === 'hold' ? { [status]: 'immediate' } : {}
}

function stagesWith(outcomes: OutcomeRule[], { stages }: Plan, from: number): Plan['stages'] {
  return [...stages.filter((stage) => stage.from < from), { from, outcomes }]
}

const failure = () => z.strictObject(failureFields()).prefault({})

const nothing = (): z.ZodType => z.strictObject({}).prefault({})

/** Interventions that the control API offers on batches. */
export const batchControls: readonly Control[] = [
  {
    name: 'show',
    method: 'GET',
    path: '/batches/{id}',
    summary: 'Show the plan of a batch, its counts now and its future events',
    handle: (scope, { params }) => view(scope, batchOf(scope, params)),
  },
  {
    name: 'change',
    method: 'PATCH',
    path: '/batches/{id}',
    summary: 'Change the pace or the outcomes of unfinished items, hold or release a batch',
    body: planChange,
    handle: (scope, { params, body }) =>
      view(scope, change(scope, batchOf(scope, params), body as PlanChange)),
  },
  {
    name: 'fail',
    method: 'POST',
    path: '/batches/{id}/fail',
    summary: 'Fail a batch that is validating or in progress, with a given detail or error object',
    body: failure,
    handle: (scope, { params, body }) => view(scope, failNow(scope, batchOf(scope, params), body as Failure)),
  },
  {
    name: 'expire',
    method: 'POST',
    path: '/batches/{id}/expire',
    summary: 'End the completion window of a batch that is validating or in progress',
    body: nothing,
    handle: (scope, { params }) => view(scope, expire(scope, batchOf(scope, params))),
  },
  {
    name: 'complete',
    method: 'POST',
    path: '/batches/{id}/complete',
    summary: 'Complete a batch at once, through its remaining phases; it fails if its items do not validate',
    body: nothing,
    handle: (scope, { params }) => view(scope, completeNow(scope, batchOf(scope, params))),
  },
  {
    name: 'cleanup',
    method: 'POST',
    path: '/batches/{id}/cleanup',
    summary: 'Remove the results of a terminal batch, at any age',
    body: nothing,
    handle: (scope, { params }) => {
      const batch = batchOf(scope, params)
      if (isTerminal(batch.status)) return view(scope, cleanUp(scope, batch))
      return refuse('conflict', {
        detail: `The batch is ${batch.status}: it has no results yet that could be removed.`,
        mitigation: 'Let it become terminal first, for instance with POST /batches/{id}/complete.',
      })
    },
  },
]

function batchOf({ tx }: Scope, { id = '' }: Readonly<Record<string, string>>): Batch {
  return tx.in(batches).require(id)
}

function change(scope: Scope, batch: Batch, wanted: PlanChange): Batch {
  if (!isTerminal(batch.status)) return changePlan(scope, batch, wanted)
  return refuse('conflict', {
    detail: `The batch is ${batch.status}, so nothing of its plan is still to come.`,
    mitigation: 'Change the plan of a batch before it is terminal, or the settings that new batches copy.',
  })
}

function view(scope: Scope, batch: Batch): JsonObject {
  const { tx, now } = scope
  const { request, plan, progress, ended } = batch._emulator
  const ref = refOf(batches, batch)
  const ahead = batchEventKinds
    .map((kind) => tx.get(SCHEDULE, eventId(kind, ref)) as ScheduledEvent | undefined)
    .filter((event) => event !== undefined)
    .sort(byDue)
  const allFinishedAt = finishedAt(batch, request.items.length)
  const { items, ...asked } = request
  const shown = {
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
  return shown as unknown as JsonObject
}
