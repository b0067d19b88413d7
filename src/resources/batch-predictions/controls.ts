import * as z from 'zod'
import { refuse } from '../../kernel/errors.ts'
import { isObject, type JsonObject } from '../../kernel/json.ts'
import { type Control, refOf, type Scope } from '../../kernel/operation.ts'
import { formatInstant } from '../../kernel/time/instant.ts'
import { byDue, eventId, SCHEDULE, type ScheduledEvent } from '../../kernel/time/scheduler.ts'
import { shownBatch } from './answer.ts'
import type { Batch } from './batch.ts'
import { changePlan, completeNow, type Failure, failNow, type PlanChange } from './interventions.ts'
import { cleanUp, expire } from './lifecycle.ts'
import { outcomeRulesSchema } from './outcome-rules.ts'
import { invalidOutputs } from './outcomes.ts'
import { paceChangeSchema } from './pace.ts'
import { finishedAt, finishedItems } from './plan.ts'
import { batchEventKinds } from './schedule.ts'
import { batches } from './schema.ts'
import { isTerminal } from './states.ts'

const planChange = (): z.ZodType<PlanChange> =>
  z.strictObject({
    pace: paceChangeSchema().optional(),
    outcomes: outcomeRulesSchema().optional(),
    hold: z.boolean().optional(),
  })

const failure = (): z.ZodType<Failure> =>
  z
    .strictObject({
      detail: z.string().optional(),
      error: z.custom<JsonObject>(isObject, { error: 'must be an object' }).optional(),
    })
    .prefault({})

const nothing = (): z.ZodType => z.strictObject({}).prefault({})

/** Interventions that the control API offers on batches. */
export const batchControls: readonly Control[] = [
  {
    name: 'show',
    method: 'GET',
    path: '/batches/{id}',
    summary: 'Show the plan behind a batch, its counts now and the events ahead of it',
    handle: (scope, { params }) => view(scope, batchOf(scope, params)),
  },
  {
    name: 'change',
    method: 'PATCH',
    path: '/batches/{id}',
    summary: 'Change the pace or the outcomes of what is still to come, hold a batch or let it go on',
    body: planChange,
    handle: (scope, { params, body }) =>
      view(scope, change(scope, batchOf(scope, params), body as PlanChange)),
  },
  {
    name: 'fail',
    method: 'POST',
    path: '/batches/{id}/fail',
    summary: 'Fail a batch that is validating or in progress, with a detail or an error object of your own',
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
    summary: 'Take a batch through the phases that are left, at once; it fails if its items do not validate',
    body: nothing,
    handle: (scope, { params }) => view(scope, completeNow(scope, batchOf(scope, params))),
  },
  {
    name: 'cleanup',
    method: 'POST',
    path: '/batches/{id}/cleanup',
    summary: 'Remove the results of a terminal batch, however young they are',
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
    ahead: ahead.map(({ kind, due_at, urgency, says }) => ({ kind, due_at, urgency, says })),
  }
  return shown as unknown as JsonObject
}
