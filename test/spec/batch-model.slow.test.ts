import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Refusal } from '../../src/core/errors.ts'
import type { JsonObject } from '../../src/core/json.ts'
import { loadDocument } from '../../src/core/sandboxes/change.ts'
import { Sandbox } from '../../src/core/sandboxes/sandbox.ts'
import { formatInstant } from '../../src/core/time/instant.ts'
import { advanceTo } from '../../src/core/time/run-events.ts'
import { batchLifecycle } from '../../src/resources/batch-predictions/states.ts'
import { callBatches } from '../support/batch-calls.ts'
import {
  enter,
  isOver,
  MODEL_CANCEL_DELAY,
  MODEL_PACE,
  type ModelBatch,
  modelBatch,
  modelCounts,
  passTime,
} from '../support/batch-model.ts'
import { aBatch, batchEmulator, intervene } from '../support/batches.ts'

const HOUR = 3_600_000
const STATES = ['in_progress', 'finalizing', 'completed', 'failed', 'cancelling', 'cancelled', 'expired']

/** The emulator and the model side by side. */
interface Pair {
  sandbox: Sandbox
  readonly batches: Map<string, ModelBatch>
  /** The first use of each idempotency key. */
  readonly keys: Map<string, { id: string; text: string; items: number; until: number }>
}

type Step = (pair: Pair) => void
type Work = (pair: Pair, id: string, model: ModelBatch) => void

interface Command {
  readonly description: string
  readonly run: Step
}

const command = (description: string, run: Step): Command => ({ description, run })

const createCommand = fc
  .record({ items: fc.integer({ min: 1, max: 8 }), key: fc.constantFrom(undefined, undefined, 'k1', 'k2') })
  .map(({ items, key }) => command(`create ${items} ${key ?? ''}`, (pair) => create(pair, items, key)))

const advanceCommand = fc
  .oneof(
    fc.constantFrom(0, 1, HOUR / 2, HOUR, 4 * HOUR, 20 * HOUR, 24 * HOUR, 5 * 24 * HOUR, 40 * 24 * HOUR),
    fc.integer({ min: 0, max: 30 * HOUR }),
  )
  .map((ms) => command(`advance ${ms}`, (pair) => advance(pair, ms)))

const onOne = (description: string, work: Work) =>
  fc.nat(3).map((n) => command(`${description} ${n}`, (pair) => onBatch(pair, n, work)))

// A restart reads the whole state again, which takes as long as a hundred requests.
const commands: fc.Arbitrary<Command> = fc.oneof(
  { weight: 10, arbitrary: createCommand },
  { weight: 20, arbitrary: advanceCommand },
  { weight: 10, arbitrary: onOne('retrieve', checkBatch) },
  { weight: 10, arbitrary: onOne('cancel', cancel) },
  { weight: 10, arbitrary: onOne('results', checkResults) },
  { weight: 5, arbitrary: onOne('fail', end('fail', 'failed')) },
  { weight: 5, arbitrary: onOne('expire', end('expire', 'expired')) },
  { weight: 5, arbitrary: fc.constant(command('create, not valid', createInvalid)) },
  { weight: 1, arbitrary: fc.constant(command('restart', restart)) },
)

function create(pair: Pair, items: number, key: string | undefined): void {
  const now = pair.sandbox.clock.now
  const known = key === undefined ? undefined : pair.keys.get(key)
  const live = known !== undefined && now < known.until ? known : undefined
  const options = key === undefined ? {} : { idempotencyKey: key }
  const { status, text, body } = callBatches(pair.sandbox, 'create', { body: aBatch({ items }), ...options })
  passAll(pair, now)
  if (live !== undefined && live.items !== items) {
    expect(status).toBe(409)
    return
  }
  expect(status).toBe(200)
  if (live !== undefined) {
    expect(text).toBe(live.text)
    return
  }
  expect(pair.batches.has(body.id)).toBe(false)
  expect([body.status, body.request_counts.processing]).toEqual(['validating', items])
  pair.batches.set(body.id, modelBatch(now, items))
  if (key !== undefined) pair.keys.set(key, { id: body.id, text, items, until: now + 24 * HOUR })
}

function createInvalid(pair: Pair): void {
  expect(callBatches(pair.sandbox, 'create', { body: aBatch({ items: 0 }) }).status).toBe(400)
  passAll(pair, pair.sandbox.clock.now)
}

function advance(pair: Pair, ms: number): void {
  const { failed } = advanceTo(pair.sandbox, pair.sandbox.clock.now + ms)
  expect(failed).toEqual([])
  passAll(pair, pair.sandbox.clock.now)
}

function passAll({ batches }: Pair, now: number): void {
  for (const batch of batches.values()) passTime(batch, now)
}

function onBatch(pair: Pair, n: number, work: Work): void {
  const entry = [...pair.batches][n]
  if (entry === undefined) return
  passAll(pair, pair.sandbox.clock.now)
  work(pair, ...entry)
}

function checkBatch({ sandbox }: Pair, id: string, model: ModelBatch): void {
  const { status, body } = callBatches(sandbox, 'retrieve', { id })
  expect(status).toBe(200)
  expect(body.status).toBe(model.status)
  const stamps = Object.fromEntries(STATES.map((state) => [`${state}_at`, model.reached[state]]))
  for (const [stamp, at] of Object.entries(stamps)) {
    expect([stamp, body[stamp]]).toEqual([stamp, at === undefined ? null : formatInstant(at)])
  }
  expect(body.request_counts).toEqual(modelCounts(model))
  expect([body.created_at, body.expires_at]).toEqual(
    [model.created, model.created + 24 * HOUR].map((at) => formatInstant(at)),
  )
  expect(body.error === null).toBe(!['failed', 'expired', 'cancelled'].includes(model.status))
  expect(body.results_url !== null).toBe(isOver(model) && !model.cleaned)
}

function cancel(pair: Pair, id: string, model: ModelBatch): void {
  const { status, body } = callBatches(pair.sandbox, 'cancel', { id })
  const possible = ['validating', 'in_progress'].includes(model.status)
  const known = ['cancelling', 'cancelled'].includes(model.status)
  expect(status).toBe(possible || known ? 200 : 409)
  if (possible) enter(model, 'cancelling', pair.sandbox.clock.now)
  if (status === 200) expect(body.status).toBe(model.status)
}

function checkResults({ sandbox }: Pair, id: string, model: ModelBatch): void {
  const { status, lines } = callBatches(sandbox, 'results', { id })
  expect(status).toBe(isOver(model) ? (model.cleaned ? 410 : 200) : 409)
  if (status !== 200) return
  const { total, processing: _, ...counts } = modelCounts(model)
  expect(new Set(lines.map((line) => line.custom_id)).size).toBe(total)
  for (const [word, count] of Object.entries(counts)) {
    expect(lines.filter((line) => line.status === word)).toHaveLength(count)
  }
}

function end(control: string, state: string) {
  return (pair: Pair, id: string, model: ModelBatch): void => {
    const possible = ['validating', 'in_progress'].includes(model.status)
    try {
      intervene(pair, control, id)
      expect(possible).toBe(true)
      enter(model, state, pair.sandbox.clock.now)
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      expect([error.code, possible]).toEqual(['conflict', false])
    }
  }
}

function restart(pair: Pair): void {
  const document = JSON.parse(JSON.stringify(pair.sandbox.document())) as JsonObject
  const next = new Sandbox(pair.sandbox.options, { store: pair.sandbox.store, limits: [] })
  loadDocument(next, document)
  pair.sandbox = next
}

const MOVES = new Set(batchLifecycle.arrows.map(({ from, to }) => `${from} ${to}`))

test('the emulator agrees with the model after any sequence of requests, interventions, time and restarts', {
  tags: ['R083', 'R114', 'R115', 'R295'],
}, async () => {
  const settings = { 'batch.pace': MODEL_PACE, 'batch.cancel_delay': MODEL_CANCEL_DELAY }
  const { sandbox } = await batchEmulator(settings, { limits: false })
  const seen = new Set<string>()
  fc.assert(
    fc.property(fc.array(commands, { minLength: 5, maxLength: 60, size: 'max' }), (script) => {
      const fresh = new Sandbox(sandbox.options, { store: sandbox.store, limits: [] })
      const pair: Pair = { sandbox: fresh, batches: new Map(), keys: new Map() }
      for (const { run } of script) run(pair)
      advance(pair, 60 * 24 * HOUR)
      for (const [id, model] of pair.batches) {
        checkBatch(pair, id, model)
        for (const [n, state] of model.path.entries()) {
          if (n > 0) seen.add(`${model.path[n - 1]} ${state}`)
        }
      }
    }),
    { numRuns: 150, seed: 7 },
  )
  // The scripts prove something only if they make every transition of the table. They make no other.
  const loops = ['cancelling cancelling', 'cancelled cancelled']
  expect([...seen].sort()).toEqual([...MOVES].filter((move) => !loops.includes(move)).sort())
})
