import { z } from 'zod'
import { refuse } from '../../core/errors.ts'
import { intBetween, nonEmptyText, type ShapeOf } from '../../core/fields.ts'
import type { Milestone, Scope } from '../../core/operation.ts'
import { counted } from '../../core/words.ts'
import { batches } from './batches.ts'
import { MAX_BATCH_ITEMS } from './items.ts'
import type { Batch } from './schema.ts'
import { type BatchStatus, batchLifecycle, batchStatuses, isTerminal } from './states.ts'
import { finishedAt, finishedItems } from './work.ts'

/** The goal of an advance: a status of a batch (default `terminal`), or a number of its finished items. */
const goal = () =>
  z
    .strictObject({
      batch: nonEmptyText(),
      status: z.enum(['terminal', ...batchStatuses]).optional(),
      finished_items: intBetween(1, MAX_BATCH_ITEMS).optional(),
    })
    .refine(({ status, finished_items }) => status === undefined || finished_items === undefined, {
      error: 'must have status or finished_items, not both; without either, the batch becomes terminal',
    })

export type BatchGoal = ShapeOf<typeof goal>

/** Advances until a batch has a status (default `terminal`), or a number of its items are finished. */
export const batchMilestone: Milestone<BatchGoal> = {
  name: 'batch',
  schema: goal,
  ref: ({ batch }) => `${batches.name}/${batch}`,
  reachedAt: (scope, goal) => {
    const batch = scope.tx.in(batches).require(goal.batch)
    const { status: wanted = 'terminal', finished_items } = goal
    if (finished_items !== undefined) return itemsReachedAt(scope, batch, finished_items)
    const { status } = batch
    if (status === wanted || (wanted === 'terminal' && isTerminal(status))) return scope.now
    if (wanted !== 'terminal' && !isAhead(status, wanted)) never(batch, wanted)
    return undefined
  },
}

function itemsReachedAt(scope: Scope, batch: Batch, wanted: number): number | undefined {
  const total = batch._emulator.request.items.length
  if (wanted > total) never(batch, `${wanted} finished items (it has ${counted(total, 'item')})`)
  const at = finishedAt(batch, wanted)
  if (at !== undefined) return at
  if (finishedItems(batch, scope.now) >= wanted) return scope.now
  if (isTerminal(batch.status)) never(batch, `${wanted} finished items`)
  return undefined
}

/** Whether moves lead from one status to another. */
function isAhead(status: BatchStatus, wanted: BatchStatus): boolean {
  const ahead = new Set<BatchStatus>([status])
  // The loop also visits the statuses that are added to the set during it.
  for (const from of ahead) {
    for (const arrow of batchLifecycle.arrows) if (arrow.from === from) ahead.add(arrow.to)
  }
  return ahead.has(wanted)
}

function never({ id, status, _emulator }: Batch, what: string): never {
  const held = _emulator.progress.held ? ' and held' : ''
  return refuse('conflict', {
    detail: `The batch ${id} does not reach ${what} as time passes: it is ${status}${held}.`,
    mitigation: `"workspace-emulator batch show ${id}" shows its plan and its future events.`,
  })
}
