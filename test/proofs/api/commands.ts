import assert from 'node:assert/strict'
import fc from 'fast-check'
import { Refusal } from '../../../src/core/errors.ts'
import { arm, disarm } from '../../../src/core/faults/arm.ts'
import type { FaultDraft } from '../../../src/core/faults/rule.ts'
import { change, loadDocument } from '../../../src/core/sandboxes/change.ts'
import { Sandbox } from '../../../src/core/sandboxes/sandbox.ts'
import type { SandboxState } from '../../../src/core/state/state.ts'
import { formatInstant } from '../../../src/core/time/instant.ts'
import { advanceTo } from '../../../src/core/time/run-events.ts'
import { callBatches } from '../../support/batch-calls.ts'
import { enter, isOver, type ModelBatch, modelBatch, modelCounts } from '../../support/batch-model.ts'
import { aBatch, intervene } from '../../support/batches.ts'
import {
  type Fate,
  keepKey,
  liveKey,
  type Model,
  type ModelFault,
  meetFault,
  passModel,
  resetModel,
  restoreModel,
  saveModel,
} from './model.ts'
import type { Origin } from './starting-sandbox.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const STATES = ['in_progress', 'finalizing', 'completed', 'failed', 'cancelling', 'cancelled', 'expired']

export interface Real {
  readonly origin: Origin
  sandbox: Sandbox
  saved: SandboxState | undefined
  /** Commands run so far, without those that were skipped because their time had not come. */
  ran: number
}

type Work = (model: Model, real: Real) => void

/** One step that runs in the emulator and in the model; throws if they differ afterwards. */
export class Step implements fc.Command<Model, Real> {
  readonly check: (model: Readonly<Model>) => boolean
  readonly toString: () => string
  readonly #work: Work

  constructor(description: string, work: Work, needs: (model: Readonly<Model>) => boolean = () => true) {
    this.toString = () => description
    this.#work = work
    this.check = needs
  }

  run(model: Model, real: Real): void {
    real.ran += 1
    this.#work(model, real)
    assert.equal(real.sandbox.clock.now, model.now, 'the clock')
    const { size } = real.sandbox.store.rows('batch_predictions')
    assert.equal(size, model.batches.size, 'the number of batches')
  }
}

const STATUSES = { 'rate-limited': 429, 'server-error': 500, 'unavailable-with-retry-after': 503, '': 409 }
const REFUSALS: readonly ModelFault[] = Object.entries(STATUSES).map(([preset, status]) => {
  return { kind: 'refuse', preset, status }
})
const LOSSES: readonly ModelFault[] = ['rst-before-headers', 'fin-before-headers', 'cut-mid-body'].map(
  (preset) => ({ kind: 'lose', preset }),
)

const createStep = fc
  .tuple(fc.integer({ min: 1, max: 8 }), fc.constantFrom(undefined, undefined, 'k1', 'k2', 'k3'))
  .map(([n, key]) => new Step(`create ${n} ${key ?? ''}`, (model, real) => create(model, real, n, key)))

const advanceStep = fc
  .oneof(
    fc.constantFrom(0, 1, HOUR / 2, HOUR, 4 * HOUR, 20 * HOUR, DAY - 1, DAY, 5 * DAY, 29 * DAY, 40 * DAY),
    fc.integer({ min: 0, max: 30 * HOUR }),
  )
  .map((ms) => new Step(`advance ${ms}`, (model, real) => advance(model, real, ms)))

const faultStep = fc
  .constantFrom(...REFUSALS, ...LOSSES, 'mask' as const)
  .map((fault) => new Step(`arm ${JSON.stringify(fault)}`, (model, real) => armFault(model, real, fault)))

function onOne(description: string, work: (model: Model, real: Real, id: string, batch: ModelBatch) => void) {
  return fc.nat(11).map((n) => {
    const workOn: Work = (model, real) => {
      const [id, batch] = [...model.batches][n % model.batches.size] ?? []
      if (id !== undefined && batch !== undefined) work(model, real, id, batch)
    }
    return new Step(`${description} ${n}`, workOn, ({ batches }) => batches.size > 0)
  })
}

/** All commands with their weights: a restart costs as much as a hundred requests. */
export const COMMANDS: readonly { readonly weight: number; readonly arbitrary: fc.Arbitrary<Step> }[] = [
  { weight: 200, arbitrary: createStep },
  { weight: 400, arbitrary: advanceStep },
  { weight: 200, arbitrary: onOne('retrieve', checkBatch) },
  { weight: 200, arbitrary: onOne('cancel', cancel) },
  { weight: 200, arbitrary: onOne('results', checkResults) },
  { weight: 70, arbitrary: onOne('fail', end('fail', 'failed')) },
  { weight: 70, arbitrary: onOne('expire', end('expire', 'expired')) },
  { weight: 60, arbitrary: fc.constant(new Step('create, not valid', createInvalid)) },
  { weight: 120, arbitrary: faultStep },
  { weight: 30, arbitrary: fc.constant(new Step('clear faults', clearFaults)) },
  { weight: 30, arbitrary: fc.constant(new Step('save', save)) },
  { weight: 30, arbitrary: fc.constant(new Step('restore', restore, ({ saved }) => saved !== undefined)) },
  { weight: 10, arbitrary: fc.constant(new Step('reset', reset)) },
  { weight: 10, arbitrary: fc.constant(new Step('restart', restart)) },
]

export function checkEnd(model: Model, real: Real): void {
  clearFaults(model, real)
  advance(model, real, 60 * DAY)
  for (const [id, batch] of model.batches) {
    checkBatch(model, real, id, batch)
    checkResults(model, real, id, batch)
  }
}

function create(model: Model, real: Real, items: number, key: string | undefined): void {
  const fate = meetFault(model, 'create', key)
  const sent = { body: aBatch({ items }), ...(key === undefined ? {} : { idempotencyKey: key }) }
  const { status, text, body, wire } = callBatches(real.sandbox, 'create', sent)
  if (isRefused(fate, status)) return
  const live = liveKey(model, key)
  const isConflict = live !== undefined && live.items !== items
  assert.equal(status, fate.status ?? (isConflict ? 409 : 200), `the status of ${text}`)
  assert.equal(wire !== undefined, fate.isLost || fate.status !== undefined, 'whether the response is lost')
  if (isConflict) return
  const isSeen = !fate.isLost && fate.status === undefined
  if (live !== undefined) {
    if (!isSeen) return
    assert.equal(body.id, live.id, 'the batch of the key')
    assert.equal(text, live.text ?? text, 'the answer again')
    live.text = text
    return
  }
  const id = [...real.sandbox.store.rows('batch_predictions').keys()].at(-1) ?? ''
  assert.ok(!model.batches.has(id), 'a batch is made')
  model.batches.set(id, modelBatch(model.now, items))
  if (key !== undefined) keepKey(model, key, { id, items, text: isSeen ? text : undefined })
  if (!isSeen) return
  assert.deepEqual([body.id, body.status, body.request_counts.processing], [id, 'validating', items])
}

function createInvalid(model: Model, real: Real): void {
  const fate = meetFault(model, 'create', undefined)
  const { status } = callBatches(real.sandbox, 'create', { body: aBatch({ items: 0 }) })
  if (!isRefused(fate, status)) assert.equal(status, fate.status ?? 400)
}

// If a fault responds instead of the service, the request has had no effect and nothing more needs a check.
function isRefused({ takesEffect, status: wanted }: Fate, status: number): boolean {
  if (!takesEffect) assert.equal(status, wanted, 'the status of the fault')
  return !takesEffect
}

function advance(model: Model, real: Real, ms: number): void {
  const { failed } = advanceTo(real.sandbox, real.sandbox.clock.now + ms)
  assert.deepEqual(failed, [])
  passModel(model, ms)
}

function checkBatch(model: Model, { sandbox }: Real, id: string, batch: ModelBatch): void {
  const fate = meetFault(model, 'retrieve', undefined)
  const { status, body } = callBatches(sandbox, 'retrieve', { id })
  if (isRefused(fate, status)) return
  assert.equal(status, 200)
  assert.equal(body.status, batch.status)
  for (const state of STATES) {
    const at = batch.reached[state]
    assert.equal(body[`${state}_at`], at === undefined ? null : formatInstant(at), `${state}_at`)
  }
  assert.deepEqual(body.request_counts, modelCounts(batch))
  assert.equal(body.created_at, formatInstant(batch.created))
  assert.equal(body.expires_at, formatInstant(batch.created + DAY))
  assert.equal(body.error === null, !['failed', 'expired', 'cancelled'].includes(batch.status), 'error')
  assert.equal(body.results_url !== null, isOver(batch) && !batch.cleaned, 'results_url')
}

function cancel(model: Model, { sandbox }: Real, id: string, batch: ModelBatch): void {
  const fate = meetFault(model, 'cancel', undefined)
  const { status, body } = callBatches(sandbox, 'cancel', { id })
  if (isRefused(fate, status)) return
  const isPossible = ['validating', 'in_progress'].includes(batch.status)
  const isKnown = ['cancelling', 'cancelled'].includes(batch.status)
  assert.equal(status, isPossible || isKnown ? 200 : 409)
  if (isPossible) enter(batch, 'cancelling', model.now)
  if (status === 200) assert.equal(body.status, batch.status)
}

function checkResults(model: Model, { sandbox }: Real, id: string, batch: ModelBatch): void {
  const fate = meetFault(model, 'results', undefined)
  const { status, lines } = callBatches(sandbox, 'results', { id })
  if (isRefused(fate, status)) return
  assert.equal(status, isOver(batch) ? (batch.cleaned ? 410 : 200) : 409)
  if (status !== 200) return
  const { total, processing: _, ...counts } = modelCounts(batch)
  assert.equal(new Set(lines.map((line) => line.custom_id)).size, total)
  for (const [word, count] of Object.entries(counts))
    assert.equal(lines.filter((line) => line.status === word).length, count, `lines ${word}`)
}

function end(control: string, state: string) {
  return (model: Model, real: Real, id: string, batch: ModelBatch): void => {
    const isPossible = ['validating', 'in_progress'].includes(batch.status)
    try {
      intervene(real, control, id)
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      assert.deepEqual([error.code, isPossible], ['conflict', false])
      return
    }
    assert.ok(isPossible, `${control} is possible`)
    enter(batch, state, model.now)
  }
}

function armFault(model: Model, real: Real, fault: ModelFault | 'mask'): void {
  clearFaults(model, real)
  // Requests that met the fault count only for one arming.
  const armed: ModelFault =
    fault === 'mask' ? { kind: 'mask', preset: 'ambiguous-gateway-5xx', status: 504, met: new Set() } : fault
  change(real.sandbox, (scope) => arm(scope, real.sandbox.service, draftOf(armed), 'control', scope.at))
  model.fault = armed
}

function draftOf(fault: ModelFault): FaultDraft {
  if (fault.kind === 'mask') {
    const when = { nth: 1, by: ['operation', 'idempotency_key'] } as const
    return { preset: fault.preset, match: { operation: 'batch-predictions.create' }, when }
  }
  if (fault.kind === 'lose' || fault.preset !== '') return { preset: fault.preset, times: 1 }
  return { match: 'everything', when: { nth: 1 }, do: [{ respond: { status: fault.status } }] }
}

function clearFaults(model: Model, { sandbox }: Real): void {
  change(sandbox, (scope) => {
    for (const { id } of sandbox.faults.rules) disarm(scope, id)
  })
  sandbox.faults.release()
  model.fault = undefined
}

function save(model: Model, real: Real): void {
  real.saved = real.sandbox.capture()
  saveModel(model)
}

function restore(model: Model, real: Real): void {
  if (real.saved !== undefined) real.sandbox.replaceWith(real.saved)
  restoreModel(model)
}

function reset(model: Model, real: Real): void {
  real.sandbox.replaceWith(real.origin.start)
  resetModel(model, real.sandbox.clock.now)
}

// Another sandbox gets the document of this one.
function restart(_: Model, real: Real): void {
  const next = new Sandbox(real.origin.options, real.origin.start)
  loadDocument(next, JSON.parse(JSON.stringify(real.sandbox.document())))
  real.sandbox = next
}
