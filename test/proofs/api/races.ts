import assert from 'node:assert/strict'
import type { JsonObject } from '../../../src/core/json.ts'
import { Chance } from '../../../src/core/random.ts'
import { advanceTo } from '../../../src/core/time/run-events.ts'
import type { RunningEmulator } from '../../../src/emulator/emulator.ts'
import { KEYS } from '../../support/base-state.ts'
import { callBatches } from '../../support/batch-calls.ts'
import { interveneBy } from '../../support/intervene.ts'
import { batchBody } from '../../support/sample-calls.ts'
import { atLeast, type Figure, none } from '../proof.ts'
import { Connection, type RawResponse } from './connection.ts'
import { interleave, requestStrand, type Strand } from './interleave.ts'
import { type Sent, toBytes } from './request-wire.ts'
import { proofEmulator } from './sandbox.ts'

const DAY = 86_400_000

type Stage = Pick<RunningEmulator, 'connect' | 'port' | 'sandbox'>

interface Race {
  readonly name: string
  /** Runs one interleaving; throws unless it has exactly one outcome. @returns the interleaving, and the outcome */
  readonly run: (stage: Stage, seed: number) => Promise<readonly [mixture: string, outcome: string]>
  /** The least number of different outcomes, so that the draws are varied enough. */
  readonly outcomes: number
}

const RACES: readonly Race[] = [
  { name: 'claim', run: claims, outcomes: 3 },
  { name: 'idempotency', run: sameKeys, outcomes: 2 },
  { name: 'cancel against expiry', run: cancels, outcomes: 2 },
  { name: 'PATCH against PATCH', run: patches, outcomes: 6 },
]

export async function runRaces(count: number, seed: number, say: (line: string) => void): Promise<Figure[]> {
  const { emulator, defects } = await proofEmulator({
    limits: false,
    settings: { 'batch.cancel_delay': '1s' },
  })
  const { sandbox } = emulator
  const start = sandbox.capture()
  const figures: Figure[] = []
  try {
    for (const { name, run, outcomes } of RACES) {
      const mixtures = new Set<string>()
      const seen = new Set<string>()
      let wrong = 0
      for (let n = 0; n < count; n++) {
        sandbox.replaceWith(start)
        try {
          const [mixture, outcome] = await run(emulator, seed + n)
          mixtures.add(mixture)
          seen.add(outcome)
        } catch (error) {
          wrong += 1
          if (wrong <= 5) say(`F3: race ${name}, seed ${seed + n}: ${String(error)}`)
        }
      }
      figures.push(
        atLeast(`${name}: different interleavings`, mixtures.size, Math.floor(count / 4)),
        atLeast(`${name}: outcomes that occurred`, seen.size, outcomes),
        none(`${name}: interleavings without exactly one outcome`, wrong),
      )
    }
    figures.push(none('races: internal errors reported by the emulator', defects.length))
    return figures
  } finally {
    await emulator.close()
  }
}

type Headers = readonly (readonly [string, string])[]

function sentOf({ port }: Stage, method: string, path: string, json?: object, more: Headers = []): Sent {
  const body = json === undefined ? undefined : Buffer.from(JSON.stringify(json))
  const about: Headers = [
    ['Content-Type', 'application/json'],
    ['Content-Length', String(body?.length)],
  ]
  const headers: Headers = [
    ['Host', `127.0.0.1:${port}`],
    ['Authorization', `Bearer ${KEYS.KU}`],
    ...(body === undefined ? [] : about),
    ...more,
  ]
  return { method, target: `/v1${path}`, headers, body }
}

async function race(
  { connect }: Stage,
  seed: number,
  requests: readonly Sent[],
  others: readonly Strand[] = [],
): Promise<{ readonly mixture: string; readonly responses: readonly RawResponse[] }> {
  const connections = requests.map((_, n) => new Connection(async () => (await connect(`race-${n}`)).socket))
  const running = await Promise.all(connections.map((connection) => connection.begin()))
  const strands = running.map((arriving, n) => requestStrand(arriving, toBytes(requests[n] as Sent), 3))
  const mixture = await interleave([...strands, ...others], seed)
  const responses = await Promise.all(running.map(({ response }) => response))
  for (const connection of connections) connection.close()
  return { mixture, responses: responses.filter((response) => typeof response !== 'string') }
}

/** Three callers present one claim token: it is redeemed exactly once. */
async function claims(stage: Stage, seed: number) {
  const sent = sentOf(stage, 'POST', '/agents/claim', { claim_token: 'claim-10' })
  const { mixture, responses } = await race(stage, seed, [sent, sent, sent])
  const statuses = responses.map(({ status }) => status)
  const winner = statuses.indexOf(200)
  assert.equal(statuses.filter((status) => status === 200).length, 1, statuses.join(' '))
  assert.equal(statuses.filter((status) => status >= 400 && status < 500).length, 2, statuses.join(' '))
  return [mixture, String(winner)] as const
}

/** Four creations under one key, one with another body: one batch is created, and all responses name it or the conflict. */
async function sameKeys(stage: Stage, seed: number) {
  const key = [['Idempotency-Key', 'race']] as const
  const same = sentOf(stage, 'POST', '/batch-predictions', batchBody(2), key)
  const other = sentOf(stage, 'POST', '/batch-predictions', batchBody(3), key)
  const { mixture, responses } = await race(stage, seed, [same, other, same, same])
  const accepted = responses.filter(({ status }) => status === 200)
  const isOther = responses[1]?.status === 200
  assert.equal(stage.sandbox.store.rows('batch_predictions').size, 1, 'one batch')
  assert.equal(accepted.length, isOther ? 1 : 3)
  assert.equal(new Set(accepted.map(({ text }) => text)).size, 1, 'one answer')
  const others = responses.filter(({ status }) => status !== 200)
  assert.ok(others.every(({ status, text }) => status === 409 && text.includes('idempotency_key_reused')))
  return [mixture, isOther ? 'other' : 'same'] as const
}

/** Two cancels while the completion window ends: the batch is cancelled or expired, and every response agrees with it. */
async function cancels(stage: Stage, seed: number) {
  const { sandbox } = stage
  const chance = new Chance(seed, 'cancel')
  const { id } = callBatches(sandbox, 'create', { body: batchBody(2) }).body
  const pace = { validating: '2s', in_progress: '40h', finalizing: 'immediate' }
  interveneBy(sandbox, 'PATCH /batches/{id}', { id }, { pace })
  const end = sandbox.clock.now + DAY
  const ticks = [end - 2, end - 1, end, end + 1].slice(chance.int(0, 2))
  const time: Strand = ticks.map((instant) => () => void advanceTo(sandbox, instant))
  const cancel = sentOf(stage, 'POST', `/batch-predictions/${id}/cancel`)
  const retrieve = sentOf(stage, 'GET', `/batch-predictions/${id}`)
  const { mixture, responses } = await race(stage, seed, [cancel, cancel, retrieve], [time])
  advanceTo(sandbox, end + DAY)
  const last = callBatches(sandbox, 'retrieve', { id }).body
  const taken = responses.slice(0, 2).filter(({ status }) => status === 200)
  const refused = responses.slice(0, 2).filter(({ status }) => status === 409)
  assert.equal(taken.length + refused.length, 2, responses.map(({ status }) => status).join(' '))
  assert.equal(last.status, taken.length > 0 ? 'cancelled' : 'expired')
  assert.ok(taken.length === 0 || refused.length === 0, 'a cancel was taken and another refused')
  assert.equal(last.expired_at === null, last.status === 'cancelled')
  assert.equal(last.cancelled_at === null, last.status === 'expired')
  assert.equal(callBatches(sandbox, 'results', { id }).lines.length, 2)
  return [mixture, String(last.status)] as const
}

/** Three changes of one teamspace: each response is the record after the change, and no change undoes another. */
async function patches(stage: Stage, seed: number) {
  const changes: readonly JsonObject[] = [
    { name: 'first' },
    { access: 'open' },
    { name: 'third', access: 'closed' },
  ]
  const path = '/organization/teamspaces/ts-a'
  const sent = changes.map((change) => sentOf(stage, 'PATCH', path, change))
  const { mixture, responses } = await race(stage, seed, sent)
  const idOf = ({ headers }: RawResponse) => headers.get('x-emulator-request-id') ?? ''
  const order = responses
    .map((response, n) => ({ response, change: changes[n], n }))
    .sort((a, b) => (idOf(a.response) < idOf(b.response) ? -1 : 1))
  let expected: JsonObject | undefined
  for (const { response, change } of order) {
    assert.equal(response.status, 200)
    const shown = JSON.parse(response.text) as JsonObject
    // The fields of the first change are also checked, on top of the record that it changes.
    expected = { ...(expected ?? shown), ...change }
    assert.deepEqual(shown, expected)
  }
  const { name, access } = stage.sandbox.store.get('teamspaces', 'ts-a') as unknown as JsonObject
  assert.deepEqual([name, access], [expected?.name, expected?.access])
  return [mixture, order.map(({ n }) => n).join('')] as const
}
