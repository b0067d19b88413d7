import { expect, test } from 'vitest'
import {
  aBatch,
  batchEmulator,
  bring,
  cancel,
  createBatch,
  expectProblem,
  refusedProblem,
} from '../../support/batches.ts'
import type { TestEmulator, TestResponse } from '../../support/emulator.ts'

const CREATE = '/batch-predictions'

function post(emulator: TestEmulator, items = 3, key: 'KU' | 'K2' | 'KO' = 'KU') {
  return emulator.post(CREATE, aBatch({ items }), { key, headers: { 'idempotency-key': 'key-1' } })
}

/** The headers that describe the policy, with the reset in seconds from now. */
function quota(emulator: TestEmulator, { headers }: TestResponse): (string | number | null)[] {
  const names = ['ratelimit-policy', 'ratelimit', 'x-ratelimit-limit', 'x-ratelimit-remaining']
  const reset = Number(headers.get('x-ratelimit-reset')) - emulator.now() / 1000
  return [...names.map((name) => headers.get(name)), reset, headers.get('retry-after')]
}

const BUSY = 'q=1;qu="concurrent-requests"'

const policies = [
  ['concurrency', { limit: 1, retry_after_s: 40 }, 'org-concurrency', BUSY, 'r=0;t=40'],
  ['enqueued_items', 10, 'org-enqueued-items', 'q=10', 'r=2;t=30'],
  ['create_rate', { limit: 1, window_s: 600 }, 'org-create-rate', 'q=1;w=600', 'r=0;t=600'],
  ['global_capacity', 1, 'global-capacity', BUSY, 'r=0;t=30'],
] as const

test.for(policies)(
  'the policy %s of %j refuses a creation, its headers describe it, and nothing is consumed',
  { tags: ['R265', 'R266', 'R252', 'U064'] },
  async ([key, value, name, policy, state]) => {
    const emulator = await batchEmulator({
      [`limits.admission.${key}`]: value,
      'batch.pace': { in_progress: 'hold' },
    })
    const { id } = await createBatch(emulator, { items: 8 })
    const response = await refusedProblem(emulator, () => post(emulator), 429, 'rate_limit_exceeded')
    expect(response.body.title).toBe('Rate Limit Exceeded')
    const limit = name === 'org-enqueued-items' ? '10' : '1'
    const wait = Number(state.split('t=')[1])
    const fields = [`"${name}";${policy}`, `"${name}";${state}`]
    expect(quota(emulator, response)).toEqual([...fields, limit, '0', wait, `${wait}`])
    expect(emulator.state('batch_predictions')).toHaveLength(1)

    await cancel(emulator, id)
    emulator.advance(`${wait - 1}s`)
    if (name === 'org-create-rate') await refusedProblem(emulator, () => post(emulator), 429)
    emulator.advance('1s')
    const accepted = await post(emulator)
    expect([accepted.status, (await post(emulator)).text]).toEqual([200, accepted.text])
    expect(emulator.state('batch_predictions')).toHaveLength(2)
  },
)

test('a creation that a policy refuses takes no place in the rate window', {
  tags: ['R263', 'R266', 'R267', 'T04'],
}, async () => {
  const emulator = await batchEmulator({
    'limits.admission.concurrency': 1,
    'limits.overrides': [{ operation: 'batch-predictions.create', limit: 2, window_s: 60 }],
  })
  const { id } = await createBatch(emulator)
  for (let n = 0; n < 3; n++) {
    const refused = await post(emulator)
    expectProblem(refused, 429)
    const id = refused.headers.get('x-emulator-request-id')
    const { limiter } = (await emulator.control('GET', `/explain/${id}`)).body
    expect([limiter.before, limiter.after.remaining]).toEqual([{ remaining: 1 }, 1])
  }
  await bring(emulator, id, 'completed')
  expect((await post(emulator)).status).toBe(200)
})

test('a batch larger than the limit may be tried again', {
  tags: ['R260', 'R262', 'R265', 'R266'],
}, async () => {
  const emulator = await batchEmulator({ 'limits.admission.enqueued_items': 10 })
  const response = await refusedProblem(emulator, () => post(emulator, 11), 429, 'rate_limit_exceeded')
  const fields = ['"org-enqueued-items";q=10', '"org-enqueued-items";r=10;t=30']
  expect(quota(emulator, response)).toEqual([...fields, '10', '0', 30, '30'])
  const said =
    /0 unfinished items and requests 11 more; the maximum is 10\..*split it into batches of at most 10/
  expect(response.body.detail).toMatch(said)
  await emulator.control('PATCH', '/settings', { 'limits.admission.enqueued_items': 11 })
  expect((await post(emulator, 11)).status).toBe(200)
})

test('three policies count one organization, the fourth counts all', { tags: ['R266'] }, async () => {
  for (const [key, value] of policies.slice(0, 3)) {
    const pace = { 'batch.pace': { validating: 'hold' } }
    const emulator = await batchEmulator({ [`limits.admission.${key}`]: value, ...pace })
    await createBatch(emulator, { items: 8 })
    expectProblem(await post(emulator, 3, 'K2'), 429)
    expect((await post(emulator, 3, 'KO')).status).toBe(200)
  }
  const emulator = await batchEmulator({ 'limits.admission.global_capacity': 1 })
  await createBatch(emulator)
  expectProblem(await post(emulator, 3, 'KO'), 429)
})

test('a temporary shortage of capacity ends at its instant', { tags: ['R266'] }, async () => {
  const until = '2026-03-01T12:10:00.000Z'
  const emulator = await batchEmulator({ 'limits.admission.global_capacity': { limit: 0, until } })
  const response = await refusedProblem(emulator, () => post(emulator), 429)
  expect(response.headers.get('retry-after')).toBe('600')
  emulator.advance('599s')
  expectProblem(await post(emulator), 429)
  emulator.advance('1s')
  expect((await post(emulator)).status).toBe(200)
})

test('replays and refused creations do not count for the create rate', {
  tags: ['R266'],
}, async () => {
  const emulator = await batchEmulator({ 'limits.admission.create_rate': 2 })
  await post(emulator)
  await post(emulator)
  expectProblem(await emulator.post(CREATE, {}), 400)
  await createBatch(emulator)
  expectProblem(await emulator.post(CREATE, aBatch()), 429)
  emulator.advance('60s')
  await createBatch(emulator)
})
