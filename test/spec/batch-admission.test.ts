import { expect, test } from 'vitest'
import type { JsonObject } from '../../src/kernel/json.ts'
import {
  aBatch,
  batchWorld,
  bring,
  cancel,
  createBatch,
  expectProblem,
  intervene,
  refusedProblem,
} from '../support/batches.ts'
import type { TestAnswer, TestWorld } from '../support/world.ts'

const CREATE = '/batch-predictions'

function post(world: TestWorld, items = 3, key: 'KU' | 'K2' | 'KO' = 'KU') {
  return world.post(CREATE, aBatch({ items }), { key, headers: { 'idempotency-key': 'key-1' } })
}

const HEADERS = [
  'ratelimit-policy',
  'ratelimit',
  'x-ratelimit-limit',
  'x-ratelimit-remaining',
  'x-ratelimit-reset',
  'retry-after',
]

/** The headers that describe the rule, the reset in seconds from now. */
function quota(world: TestWorld, { headers }: TestAnswer): (string | number | null)[] {
  return HEADERS.map((name) => {
    const value = headers.get(name)
    return name === 'x-ratelimit-reset' ? Number(value) - world.now() / 1000 : value
  })
}

const policies: readonly [string, JsonObject, string, string, number, number, number][] = [
  [
    'org-concurrency',
    { 'limits.admission.concurrency': { limit: 1, retry_after_s: 40 } },
    '"org-concurrency";q=1',
    '"org-concurrency";r=0;t=40',
    1,
    0,
    40,
  ],
  [
    'org-enqueued-items',
    { 'limits.admission.enqueued_items': 10 },
    '"org-enqueued-items";q=10',
    '"org-enqueued-items";r=2;t=30',
    10,
    2,
    30,
  ],
  [
    'org-create-rate',
    { 'limits.admission.create_rate': { limit: 1, window_s: 600 } },
    '"org-create-rate";q=1;w=600',
    '"org-create-rate";r=0;t=600',
    1,
    0,
    600,
  ],
  [
    'global-capacity',
    { 'limits.admission.global_capacity': 1 },
    '"global-capacity";q=1',
    '"global-capacity";r=0;t=30',
    1,
    0,
    30,
  ],
]

test.for(policies)(
  'R265 R266 R252 U064 the policy %s refuses a creation, its headers describe it, and nothing is consumed',
  async ([, settings, policy, state, limit, remaining, wait]) => {
    const world = await batchWorld({ ...settings, 'batch.pace': { in_progress: 'hold' } })
    const { id } = await createBatch(world, { items: 8 })
    const answer = await refusedProblem(world, () => post(world), 429, 'rate_limit_exceeded')
    expect(answer.body.title).toBe('Rate Limit Exceeded')
    expect(quota(world, answer)).toEqual([policy, state, `${limit}`, `${remaining}`, wait, `${wait}`])
    expect(answer.assumed).toContain('U064')
    expect(world.state('batch_predictions')).toHaveLength(1)

    await cancel(world, id)
    world.advance(`${wait - 1}s`)
    if (policy.includes('rate')) await refusedProblem(world, () => post(world), 429)
    world.advance('1s')
    const accepted = await post(world)
    expect(accepted.status).toBe(200)
    expect((await post(world)).text).toBe(accepted.text)
    expect(world.state('batch_predictions')).toHaveLength(2)
  },
)

test('R266 a batch frees its place when it ends', async () => {
  const world = await batchWorld({ 'limits.admission.concurrency': 1, 'limits.admission.enqueued_items': 4 })
  const { id } = await createBatch(world)
  expectProblem(await post(world), 429)
  await bring(world, id, 'completed')
  expect((await post(world)).status).toBe(200)
})

test('R266 enqueued items are those that are not finished yet', async () => {
  const world = await batchWorld({
    'limits.admission.enqueued_items': 10,
    'batch.pace': { validating: 'immediate', in_progress: { per_item: '1s', concurrency: 2 } },
  })
  await createBatch(world, { items: 8 })
  expectProblem(await post(world, 4), 429)
  world.advance('1s')
  expect((await post(world, 4)).status).toBe(200)
})

test('R266 a batch that is larger than the bound is told that waiting does not help', async () => {
  const world = await batchWorld({ 'limits.admission.enqueued_items': 10 })
  const answer = await refusedProblem(world, () => post(world, 11), 429)
  expect(answer.body.detail).toContain('Waiting does not help')
})

test('R266 three policies count an organization, the fourth counts everybody', async () => {
  for (const [, settings] of policies.slice(0, 3)) {
    const world = await batchWorld({ ...settings, 'batch.pace': { validating: 'hold' } })
    await createBatch(world, { items: 8 })
    expectProblem(await post(world, 3, 'K2'), 429)
    expect((await post(world, 3, 'KO')).status).toBe(200)
  }
  const world = await batchWorld({ 'limits.admission.global_capacity': 1 })
  await createBatch(world)
  expectProblem(await post(world, 3, 'KO'), 429)
})

test('R266 a temporary shortage of capacity ends at its instant', async () => {
  const until = '2026-03-01T12:10:00.000Z'
  const world = await batchWorld({ 'limits.admission.global_capacity': { limit: 0, until } })
  const answer = await refusedProblem(world, () => post(world), 429)
  expect(answer.headers.get('retry-after')).toBe('600')
  world.advance('599s')
  expectProblem(await post(world), 429)
  world.advance('1s')
  expect((await post(world)).status).toBe(200)
})

test('R266 replays and refused creations take no place of the create rate', async () => {
  const world = await batchWorld({ 'limits.admission.create_rate': 2 })
  await post(world)
  await post(world)
  expectProblem(await world.post(CREATE, {}), 400)
  await createBatch(world)
  expectProblem(await world.post(CREATE, aBatch()), 429)
  world.advance('60s')
  await createBatch(world)
})

test('U064 without settings no policy is in force', async () => {
  const world = await batchWorld({ 'batch.pace': { validating: 'hold' } })
  for (let n = 0; n < 50; n++) await createBatch(world)
  intervene(world, 'complete', world.state('batch_predictions')[0].id)
})
