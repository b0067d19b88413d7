import { z } from 'zod'
import type { RecordFault, Scope } from '../../core/operation.ts'
import { either, form, membersOf, nameAmong, someOf, together } from '../../core/strict-input.ts'
import { batches } from './batches.ts'
import { changePlan, completeNow, failNow } from './controls.ts'
import { MAX_BATCH_ITEMS } from './items.ts'
import { cancel, cleanUp, expire, finishBatch, isPhase, putBatch, startBatch, stop } from './lifecycle.ts'
import type { Pace } from './pace.ts'
import { type Batch, type Failure, failureFields, planFields } from './schema.ts'
import { batchLifecycle, isTerminal } from './states.ts'
import { finishable, finishedItems } from './work.ts'

/** Moves of a batch that are one word. Each does nothing to a batch that is in the wrong state. */
const ACTS = {
  start: (scope, batch) => (batch.status === 'validating' ? startBatch(scope, batch) : batch),
  finish: (scope, batch) => (batch.status === 'in_progress' ? finishBatch(scope, batch) : batch),
  complete: (scope, batch) => (isPhase(batch.status) ? completeNow(scope, batch) : batch),
  instant: (scope, batch) => (isPhase(batch.status) ? completeNow(scope, batch) : batch),
  fail: (scope, batch, failure) => (may(batch, 'fail') ? failNow(scope, batch, failure) : batch),
  expire: (scope, batch) => (may(batch, 'expire') ? expire(scope, batch) : batch),
  cancel: (scope, batch) => (may(batch, 'cancel') ? cancel(scope, batch) : batch),
  cleanup: cleanedUp,
  hold: (scope, batch) => held(scope, batch, true),
  release: (scope, batch) => held(scope, batch, false),
} as const satisfies Readonly<Record<string, (scope: Scope, batch: Batch, failure: Failure) => Batch>>

type Word = keyof typeof ACTS
const WORDS = Object.keys(ACTS) as Word[]

const PHASES = ['validating', 'in_progress', 'finalizing'] as const satisfies readonly (keyof Pace)[]

/** A change of a batch. The fields are applied in this order. */
const moveFields = () => ({
  ...planFields(),
  /**
   * The items that are finished first: a share between 0 and 1, or a number from 1. Finished items stay finished. A batch that is
   * validating starts first. A batch that then fails, expires or is cancelled keeps one unfinished item.
   */
  finished: z
    .number()
    .refine((value) => value >= 0 && (value < 1 || (Number.isInteger(value) && value <= MAX_BATCH_ITEMS)), {
      error: `must be a share from 0 to less than 1, or a number of items from 1 to ${MAX_BATCH_ITEMS}`,
    })
    .optional(),
  do: nameAmong<Word>(WORDS, 'move of a batch').optional(),
  ...failureFields(),
  /** True and false hold and release the batch, as in the control interface; a phase holds it when it reaches that phase. */
  hold: either<boolean | (typeof PHASES)[number]>(
    `must be true, false, or one of ${PHASES.join(', ')}`,
    { fits: (value) => typeof value === 'boolean', schema: z.boolean() },
    form.text(nameAmong(PHASES, 'phase of a batch')),
  ).optional(),
})

export type BatchMove = z.output<z.ZodObject<ReturnType<typeof moveFields>>>

export const batchMove: RecordFault<Word | BatchMove> = {
  name: 'batch',
  description: `Moves a batch: ${WORDS.join(', ')}, or an object with the number of finished items. The id "latest" is the newest batch.`,
  schema: () => batchMoveSchema(),
  apply: (scope, id, argument) => {
    const batch = batchNamed(scope, id)
    if (batch === undefined) return
    makeMove(scope, batch, typeof argument === 'string' ? { do: argument } : argument)
  },
}

export const cleanupMove: RecordFault<boolean> = {
  name: 'cleanup',
  description: 'Removes the results of a terminal batch, at any age.',
  schema: () => z.boolean(),
  apply: (scope, id, wanted) => {
    const batch = batchNamed(scope, id)
    if (batch !== undefined && wanted) cleanedUp(scope, batch)
  },
}

/** Takes an arrow of the lifecycle, or another move of a batch that is one word. */
export function actOnBatch(scope: Scope, id: string, action: string): void {
  const batch = batchNamed(scope, id)
  if (batch?.status === 'cancelling' && action === 'stop') stop(scope, batch)
  else if (batch !== undefined && Object.hasOwn(ACTS, action)) ACTS[action as Word](scope, batch, {})
}

function batchMoveSchema(): z.ZodType<Word | BatchMove> {
  const consistent = together(someOf(moveFields()), ({ do: word, detail, error, finished }) => {
    const message = 'is for a batch that fails; add "do": "fail", or leave it out'
    return [
      ...(word === 'fail' ? [] : membersOf({ detail, error })).map((name) => ({ path: [name], message })),
      ...(finished === undefined || GOES_ON.includes(word) ? [] : [{ path: ['finished'], message: ENDS }]),
    ]
  })
  return either<Word | BatchMove>(
    `must be one of ${WORDS.join(', ')}, or an object such as {"do": "expire", "finished": 0.5}`,
    form.text(nameAmong(WORDS, 'move of a batch')),
    form.object(consistent),
  )
}

const ENDS_EARLY: readonly (Word | undefined)[] = ['fail', 'expire', 'cancel']
const GOES_ON: readonly (Word | undefined)[] = [undefined, ...ENDS_EARLY, 'hold', 'release']
const ENDS = `is only for a batch that continues or ends early: leave "do" out, or use one of ${ENDS_EARLY.join(', ')}, hold and release`

function makeMove(scope: Scope, batch: Batch, move: BatchMove): void {
  const { pace, outcomes, hold, do: word } = move
  const isNew = (pace ?? outcomes) !== undefined && !isTerminal(batch.status)
  const planned = isNew ? changePlan(scope, batch, { pace, outcomes }) : batch
  const worked = move.finished === undefined ? planned : finishSome(scope, planned, move.finished, word)
  const moved = word === undefined ? worked : ACTS[word](scope, worked, move)
  if (typeof hold === 'boolean') held(scope, moved, hold)
  else if (hold !== undefined && isAhead(moved, hold)) changePlan(scope, moved, { pace: { [hold]: 'hold' } })
}

function finishSome(scope: Scope, batch: Batch, amount: number, word: Word | undefined): Batch {
  const total = batch._emulator.request.items.length
  const wanted = amount < 1 ? Math.round(amount * total) : amount
  const running = batch.status === 'validating' && wanted > 0 ? startBatch(scope, batch) : batch
  if (running.status !== 'in_progress') return running
  if (wanted >= total && !ENDS_EARLY.includes(word)) return finishBatch(scope, running)
  const most = ENDS_EARLY.includes(word) ? Math.min(total - 1, finishable(running)) : finishable(running)
  const done = Math.max(finishedItems(running, scope.now), Math.min(wanted, most))
  const { progress } = running._emulator
  const further = { ...progress, since: scope.at, done, polls: 0 }
  return putBatch(scope, { ...running, _emulator: { ...running._emulator, progress: further } })
}

function held(scope: Scope, batch: Batch, hold: boolean): Batch {
  return isTerminal(batch.status) ? batch : changePlan(scope, batch, { hold })
}

function cleanedUp(scope: Scope, batch: Batch): Batch {
  return isTerminal(batch.status) && batch.results_url !== null ? cleanUp(scope, batch) : batch
}

function may({ status }: Batch, on: 'fail' | 'expire' | 'cancel'): boolean {
  const to = batchLifecycle.next(status, on)
  return to !== undefined && to !== status
}

function isAhead({ status }: Batch, phase: (typeof PHASES)[number]): boolean {
  return isPhase(status) && PHASES.indexOf(phase) >= PHASES.indexOf(status)
}

function batchNamed({ tx }: Scope, id: string | undefined): Batch | undefined {
  if (id === undefined) return undefined
  const known = tx.in(batches).get(id)
  if (known !== undefined || id !== 'latest') return known
  // The last of several batches with the same instant: fixtures can be in any order, but created batches come after them.
  return [...tx.in(batches)].sort((a, b) => Date.parse(a.created_at) - Date.parse(b.created_at)).at(-1)
}
