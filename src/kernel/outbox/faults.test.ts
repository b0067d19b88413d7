import { expect, test } from 'vitest'
import { armRule } from '../../../test/support/faults.ts'
import {
  HOOK,
  type OutboxWorld,
  outboxWorld,
  startingWorld,
  subscription,
} from '../../../test/support/outbox-world.ts'
import type { DeliverFault } from '../faults/actions.ts'
import type { FaultRule } from '../faults/rule.ts'
import { begin, conclude, redeliver } from './delivery.ts'
import { DueDeliveries } from './queue.ts'

const SECOND = 1_000

/** Arms a rule about every webhook. */
function arm(world: OutboxWorld, deliver: DeliverFault, rule: Partial<FaultRule> = {}): FaultRule {
  return armRule(world.sandbox, { id: 'r', match: { webhook: '*' }, do: [{ deliver }], ...rule })
}

function horizon(world: OutboxWorld) {
  return world.sandbox.scheduler.horizon().map(({ kind, due_at, ref, says }) => [kind, due_at, ref, says])
}

test('copies are deliveries of their own with one body, and name the first', async () => {
  const world = await outboxWorld({ settings: { 'webhooks.envelope': 'typed' } })
  arm(world, { copies: 3 })
  const [first, ...copies] = world.tell({ n: 1 })
  expect(first).toMatchObject({ status: 'pending', faults: { rules: ['r'] }, body: { id: first?.id } })
  expect(copies).toHaveLength(2)
  for (const copy of copies) {
    const { id, faults, ...others } = copy
    expect(faults).toEqual({ rules: ['r'], copy_of: first?.id })
    expect({ ...others, id: first?.id, faults: first?.faults }).toEqual(first)
  }
  expect(new Set(world.deliveries().map(({ id }) => id)).size).toBe(3)
})

test('a rule decides about each subscriber, by type and url, and counts', async () => {
  const other = { ...subscription, id: 'hook-2', url: 'http://127.0.0.1:9000/other' }
  const world = await outboxWorld({ webhooks: [subscription, other] })
  arm(world, { drop: true }, { match: { webhook: 'thing.*', url: '*/other' }, when: { nth: 2 } })
  const told = [world.tell(), world.tell({}, 'thing.broken'), world.tell()]
  expect(told.map((both) => both.map(({ status }) => status))).toEqual([
    ['pending', 'pending'],
    ['pending', 'dropped'],
    ['pending', 'pending'],
  ])
  expect(world.sandbox.document().fault_counters).toMatchObject([{ rule: 'r', matched: 3, fired: 1 }])
})

test('rules about the record: counters by resource', async () => {
  const world = await outboxWorld()
  arm(world, { drop: true }, { when: { first: 1, by: 'resource_id' } })
  world.tell()
  expect(world.sandbox.document().fault_counters).toMatchObject([{ key: null }, { key: '1' }])
})

test('without a subscriber nothing is decided', async () => {
  const world = await outboxWorld({ webhooks: [] })
  arm(world, { drop: true })
  world.tell()
  expect(world.sandbox.document().fault_counters).toEqual([])
})

test('a dropped delivery is a record without attempts, and nothing is due', async () => {
  const world = await outboxWorld()
  arm(world, { drop: true, copies: 2 })
  const dropped = world.tell()
  expect(dropped).toMatchObject([
    { status: 'dropped', attempts: [], retry_at: null, faults: { rules: ['r'], drop: true } },
  ])
  expect([horizon(world), new DueDeliveries(world.sandbox.store).next()]).toEqual([[], undefined])
})

test('a delay makes the first attempt wait on the virtual clock, visibly', async () => {
  const world = await outboxWorld()
  arm(world, { delay: '90s', copies: 2 })
  const [first, copy] = world.tell()
  const ids = [first?.id ?? '', copy?.id ?? '']
  expect(horizon(world)).toEqual(
    ids.map((id) => [
      'webhook.release',
      '2026-03-01T12:01:30.000Z',
      `webhook_deliveries/${id}`,
      `Attempt 1 to deliver thing.made to ${HOOK}, held back by r.`,
    ]),
  )
  await world.advance(90 * SECOND - 1)
  expect(world.delivery(ids[0] ?? '')).toMatchObject({
    status: 'waiting',
    retry_at: '2026-03-01T12:01:30.000Z',
  })
  await world.advance(1)
  for (const id of ids) expect(world.delivery(id)).toMatchObject({ status: 'pending', retry_at: null })
  expect(horizon(world)).toEqual([])
})

test('no delay is none, and one without end lies at the last instant', async () => {
  const world = await outboxWorld()
  arm(world, { delay: '0s' }, { times: 1 })
  arm(world, { delay: '99999999d' }, { id: 's' })
  expect(world.tell()).toMatchObject([{ status: 'pending', retry_at: null }])
  expect(world.tell()).toMatchObject([{ status: 'waiting', retry_at: '9998-12-31T23:59:59.999Z' }])
})

test('one that goes after the next is held, at most 60 s, and the next is not', async () => {
  const world = await outboxWorld()
  arm(world, { order: 'after-next' })
  const [held] = world.tell()
  const [next] = world.tell()
  expect(held).toMatchObject({ status: 'waiting', retry_at: '2026-03-01T12:01:00.000Z' })
  expect(next).toMatchObject({ status: 'pending', faults: { rules: ['r'] } })
  expect(next?.faults?.order).toBe(undefined)
  expect(horizon(world).map(([, , , says]) => says)).toEqual([
    `Attempt 1 to deliver thing.made to ${HOOK}, held back by r, or once the next webhook has gone there.`,
  ])
  await world.advance(60 * SECOND)
  expect(world.delivery(held?.id ?? '').status).toBe('pending')
})

test('what is held waits for a later one to its own subscriber', async () => {
  const other = { ...subscription, id: 'hook-2' }
  const world = await outboxWorld({ webhooks: [subscription, other] })
  const [before] = world.tell()
  arm(world, { order: 'after-next' }, { times: 1 })
  const [held, elsewhere] = world.tell()
  const [next] = world.tell()
  const due = new DueDeliveries(world.sandbox.store)
  const heldFor = (delivery: typeof held) =>
    due.heldFor(delivery as NonNullable<typeof held>).map(({ id }) => id)
  expect([heldFor(before), heldFor(elsewhere), heldFor(held)]).toEqual([[], [], []])
  expect(heldFor(next)).toEqual([held?.id])
})

test('held and late: whichever lasts longer', async () => {
  const world = await outboxWorld()
  arm(world, { order: 'after-next', delay: '5m' }, { times: 1 })
  arm(world, { order: 'after-next', delay: '5s' }, { id: 's' })
  expect([...world.tell(), ...world.tell({}, 'thing.broken')].map(({ retry_at }) => retry_at)).toEqual([
    '2026-03-01T12:05:00.000Z',
    '2026-03-01T12:00:05.000Z',
  ])
})

test('a rule about retries is the schedule of its deliveries alone', async () => {
  const world = await outboxWorld({ settings: { 'webhooks.retry': ['1h', '1h'] } })
  arm(world, { retries: ['5s'] }, { times: 1 })
  const [faulted] = world.tell()
  const [other] = world.tell()
  const fail = (id = '') => {
    const sending = world.sandbox.change((scope) => begin(scope, world.delivery(id))).result
    world.sandbox.change((scope) =>
      conclude(scope, id, sending.attempts.length, { outcome: 'failed', status: 500, error: 'answered 500' }),
    )
    return world.delivery(id)
  }
  expect(fail(faulted?.id).retry_at).toBe('2026-03-01T12:00:05.000Z')
  expect(fail(other?.id).retry_at).toBe('2026-03-01T13:00:00.000Z')
  expect(horizon(world).map(([kind]) => kind)).toEqual(['webhook.retry', 'webhook.retry'])
  await world.advance(5 * SECOND)
  expect(fail(faulted?.id).status).toBe('failed')
})

test.for<[string, DeliverFault]>([
  ['dropped', { drop: true }],
  ['waiting', { delay: '1h' }],
  ['waiting', { order: 'after-next', sign: 'wrong', timeout_ms: 5, retries: ['1s'], body: { a: 1 } }],
])('sent again by hand, one that is %s by %j is sent as any other', async ([status, deliver]) => {
  const world = await outboxWorld()
  arm(world, deliver)
  const [{ id, body } = { id: '', body: {} }] = world.tell()
  expect(world.delivery(id).status).toBe(status)
  world.sandbox.change((scope) => redeliver(scope, world.delivery(id)))
  expect(world.delivery(id)).toMatchObject({ status: 'pending', retry_at: null, body })
  expect(world.delivery(id).faults).toEqual({ rules: ['r'] })
  expect(world.deliveries()).toHaveLength(1)
  expect(horizon(world)).toEqual([])
})

test('a copy that is sent again stays the notice that it is', async () => {
  const world = await outboxWorld()
  arm(world, { copies: 2, delay: '1h' })
  const [first, copy] = world.tell()
  const again = world.sandbox.change((scope) => redeliver(scope, world.delivery(copy?.id ?? ''))).result
  expect(again.faults).toEqual({ rules: ['r'], copy_of: first?.id })
})

const sample = {
  id: 'd1',
  webhook_id: 'hook-1',
  url: HOOK,
  type: 'thing.made',
  ref: 'things/1',
  body: { n: 1 },
  created_at: '2026-03-01T11:00:00.000Z',
}
const faults = { rules: ['r'] }
const retry_at = '2026-03-01T13:00:00.000Z'

test.for([
  ['/faults/rules', { status: 'pending', faults: { rules: [] } }],
  ['/faults/drip', { status: 'pending', faults: { ...faults, drip: true } }],
  ['/faults/delay', { status: 'pending', faults: { ...faults, delay: 'soon' } }],
  ['/faults/copy_of', { status: 'pending', faults: { ...faults, copy_of: 'a\r\nX-Evil: 1' } }],
  ['/attempts', { status: 'dropped' }],
  ['/attempts', { status: 'waiting', retry_at }],
  ['/retry_at', { status: 'waiting', faults }],
  ['/retry_at', { status: 'dropped', retry_at, faults }],
] as const)('a faulted delivery that cannot be is refused at %s: %j', async ([pointer, changes]) => {
  await expect(startingWorld({ deliveries: [{ ...sample, ...changes }] })).rejects.toThrow(
    `/webhook_deliveries/0${pointer} `,
  )
})

test('faulted deliveries survive their document: what is held stays scheduled, what was dropped stays so', async () => {
  const parsed = JSON.parse('{"__proto__":{"x":1},"a":null}')
  const deliveries = [
    {
      ...sample,
      id: 'late',
      status: 'waiting',
      retry_at,
      faults: { ...faults, delay: '2h', body: [parsed] },
    },
    { ...sample, id: 'gone', status: 'dropped', faults: { ...faults, drop: true } },
    { ...sample, id: 'plain', status: 'pending' },
  ]
  const world = await outboxWorld({ deliveries })
  expect(horizon(world)).toMatchObject([
    ['webhook.release', retry_at, 'webhook_deliveries/late', expect.any(String)],
  ])
  expect(JSON.stringify(world.delivery('late').faults?.body)).toBe('[{"__proto__":{"x":1},"a":null}]')
  expect([world.delivery('gone').status, world.delivery('plain').faults]).toEqual(['dropped', null])
})
