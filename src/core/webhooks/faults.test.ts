import { expect, test } from 'vitest'
import { armRule } from '../../../test/support/faults.ts'
import {
  HOOK,
  type OutboxEmulator,
  outboxEmulator,
  startingState,
  subscription,
} from '../../../test/support/webhook-sandbox.ts'
import type { DeliverFault } from '../faults/deliver.ts'
import type { FaultRule } from '../faults/rule.ts'
import { change } from '../sandboxes/change.ts'
import { beginAttempt, endAttempt, redeliver } from './delivery.ts'
import { DueDeliveries } from './queue.ts'

const SECOND = 1_000

/** Arms a rule about every webhook. */
function arm(emulator: OutboxEmulator, deliver: DeliverFault, rule: Partial<FaultRule> = {}): FaultRule {
  return armRule(emulator.sandbox, { id: 'r', match: { webhook: '*' }, do: [{ deliver }], ...rule })
}

function horizon(emulator: OutboxEmulator) {
  return emulator.sandbox.scheduler
    .horizon()
    .map(({ kind, due_at, ref, description }) => [kind, due_at, ref, description])
}

test('copies are separate deliveries with the same body, and name the first', async () => {
  const emulator = await outboxEmulator({ settings: { 'webhooks.envelope': 'typed' } })
  arm(emulator, { copies: 3 })
  const [first, ...copies] = emulator.tell({ n: 1 })
  expect(first).toMatchObject({ status: 'pending', faults: { rules: ['r'] }, body: { id: first?.id } })
  expect(copies).toHaveLength(2)
  for (const copy of copies) {
    const { id, faults, ...others } = copy
    expect(faults).toEqual({ rules: ['r'], copy_of: first?.id })
    expect({ ...others, id: first?.id, faults: first?.faults }).toEqual(first)
  }
  expect(new Set(emulator.deliveries().map(({ id }) => id)).size).toBe(3)
})

test('a rule decides about each subscriber, by type and url, and counts', async () => {
  const other = { ...subscription, id: 'hook-2', url: 'http://127.0.0.1:9000/other' }
  const emulator = await outboxEmulator({ webhooks: [subscription, other] })
  arm(emulator, { drop: true }, { match: { webhook: 'thing.*', url: '*/other' }, when: { nth: 2 } })
  const told = [emulator.tell(), emulator.tell({}, 'thing.broken'), emulator.tell()]
  expect(told.map((both) => both.map(({ status }) => status))).toEqual([
    ['pending', 'pending'],
    ['pending', 'dropped'],
    ['pending', 'pending'],
  ])
  expect(emulator.sandbox.document().fault_counters).toMatchObject([{ rule: 'r', matched: 3, fired: 1 }])
})

test('a rule about webhooks can count by resource_id', async () => {
  const emulator = await outboxEmulator()
  arm(emulator, { drop: true }, { when: { first: 1, by: 'resource_id' } })
  emulator.tell()
  expect(emulator.sandbox.document().fault_counters).toMatchObject([{ key: null }, { key: '1' }])
})

test('a webhook without a subscriber is not counted by any rule', async () => {
  const emulator = await outboxEmulator({ webhooks: [] })
  arm(emulator, { drop: true })
  emulator.tell()
  expect(emulator.sandbox.document().fault_counters).toEqual([])
})

test('a dropped delivery is a record without attempts, and nothing is due', async () => {
  const emulator = await outboxEmulator()
  arm(emulator, { drop: true, copies: 2 })
  const dropped = emulator.tell()
  expect(dropped).toMatchObject([
    { status: 'dropped', attempts: [], retry_at: null, faults: { rules: ['r'], drop: true } },
  ])
  expect([horizon(emulator), new DueDeliveries(emulator.sandbox.store).next()]).toEqual([[], undefined])
})

test('a delay makes the first attempt wait on the virtual clock, visibly', async () => {
  const emulator = await outboxEmulator()
  arm(emulator, { delay: '90s', copies: 2 })
  const [first, copy] = emulator.tell()
  const ids = [first?.id ?? '', copy?.id ?? '']
  expect(horizon(emulator)).toEqual(
    ids.map((id) => [
      'webhook.release',
      '2026-03-01T12:01:30.000Z',
      `webhook_deliveries/${id}`,
      `Attempt 1 to deliver thing.made to ${HOOK}, held back by r.`,
    ]),
  )
  await emulator.advance(90 * SECOND - 1)
  expect(emulator.delivery(ids[0] ?? '')).toMatchObject({
    status: 'waiting',
    retry_at: '2026-03-01T12:01:30.000Z',
  })
  await emulator.advance(1)
  for (const id of ids) expect(emulator.delivery(id)).toMatchObject({ status: 'pending', retry_at: null })
  expect(horizon(emulator)).toEqual([])
})

test('a delay of 0 does not wait', async () => {
  const emulator = await outboxEmulator()
  arm(emulator, { delay: '0s' })
  expect(emulator.tell()).toMatchObject([{ status: 'pending', retry_at: null }])
})

test('a delivery with after-next is held for at most 60 s, and the next one is not held', async () => {
  const emulator = await outboxEmulator()
  arm(emulator, { order: 'after-next' })
  const [held] = emulator.tell()
  const [next] = emulator.tell()
  expect(held).toMatchObject({ status: 'waiting', retry_at: '2026-03-01T12:01:00.000Z' })
  expect(next).toMatchObject({ status: 'pending', faults: { rules: ['r'] } })
  expect(next?.faults?.order).toBe(undefined)
  expect(horizon(emulator).map(([, , , description]) => description)).toEqual([
    `Attempt 1 to deliver thing.made to ${HOOK}, held back by r; sent earlier if the next webhook to this URL is sent first.`,
  ])
  await emulator.advance(60 * SECOND)
  expect(emulator.delivery(held?.id ?? '').status).toBe('pending')
})

test('a held delivery waits for a later one to the same subscriber', async () => {
  const other = { ...subscription, id: 'hook-2' }
  const emulator = await outboxEmulator({ webhooks: [subscription, other] })
  const [before] = emulator.tell()
  arm(emulator, { order: 'after-next' }, { times: 1 })
  const [held, elsewhere] = emulator.tell()
  const [next] = emulator.tell()
  const due = new DueDeliveries(emulator.sandbox.store)
  const heldFor = (delivery: typeof held) =>
    due.heldFor(delivery as NonNullable<typeof held>).map(({ id }) => id)
  expect([heldFor(before), heldFor(elsewhere), heldFor(held)]).toEqual([[], [], []])
  expect(heldFor(next)).toEqual([held?.id])
})

test('a delivery that is held and delayed waits for the longer of the two', async () => {
  const emulator = await outboxEmulator()
  arm(emulator, { order: 'after-next', delay: '5m' }, { times: 1 })
  arm(emulator, { order: 'after-next', delay: '5s' }, { id: 's' })
  expect([...emulator.tell(), ...emulator.tell({}, 'thing.broken')].map(({ retry_at }) => retry_at)).toEqual([
    '2026-03-01T12:05:00.000Z',
    '2026-03-01T12:00:05.000Z',
  ])
})

test('a rule about retries changes the schedule of its own deliveries only', async () => {
  const emulator = await outboxEmulator({ settings: { 'webhooks.retry': ['1h', '1h'] } })
  arm(emulator, { retries: ['5s'] }, { times: 1 })
  const [faulted] = emulator.tell()
  const [other] = emulator.tell()
  const fail = (id = '') => {
    const sending = change(emulator.sandbox, (scope) => beginAttempt(scope, emulator.delivery(id))).result
    change(emulator.sandbox, (scope) =>
      endAttempt(scope, id, sending.attempts.length, {
        outcome: 'failed',
        status: 500,
        error: 'responded with 500',
      }),
    )
    return emulator.delivery(id)
  }
  expect(fail(faulted?.id).retry_at).toBe('2026-03-01T12:00:05.000Z')
  expect(fail(other?.id).retry_at).toBe('2026-03-01T13:00:00.000Z')
  expect(horizon(emulator).map(([kind]) => kind)).toEqual(['webhook.retry', 'webhook.retry'])
  await emulator.advance(5 * SECOND)
  expect(fail(faulted?.id).status).toBe('failed')
})

test.for<[string, DeliverFault]>([
  ['dropped', { drop: true }],
  ['waiting', { delay: '1h' }],
  ['waiting', { order: 'after-next', sign: 'wrong', timeout_ms: 5, retries: ['1s'], body: { a: 1 } }],
])('a delivery that is %s by %j and sent again by hand is sent like any other', async ([status, deliver]) => {
  const emulator = await outboxEmulator()
  arm(emulator, deliver)
  const [{ id, body } = { id: '', body: {} }] = emulator.tell()
  expect(emulator.delivery(id).status).toBe(status)
  change(emulator.sandbox, (scope) => redeliver(scope, emulator.delivery(id)))
  expect(emulator.delivery(id)).toMatchObject({ status: 'pending', retry_at: null, body })
  expect(emulator.delivery(id).faults).toEqual({ rules: ['r'] })
  expect(emulator.deliveries()).toHaveLength(1)
  expect(horizon(emulator)).toEqual([])
})

test('a copy that is sent again still names the first delivery', async () => {
  const emulator = await outboxEmulator()
  arm(emulator, { copies: 2, delay: '1h' })
  const [first, copy] = emulator.tell()
  const again = change(emulator.sandbox, (scope) =>
    redeliver(scope, emulator.delivery(copy?.id ?? '')),
  ).result
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
] as const)('an impossible delivery with faults is refused at %s: %j', async ([pointer, changes]) => {
  await expect(startingState({ deliveries: [{ ...sample, ...changes }] })).rejects.toThrow(
    `/webhook_deliveries/0${pointer} `,
  )
})

test('deliveries with faults survive a state document: held ones stay scheduled, and dropped ones stay dropped', async () => {
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
  const emulator = await outboxEmulator({ deliveries })
  expect(horizon(emulator)).toMatchObject([
    ['webhook.release', retry_at, 'webhook_deliveries/late', expect.any(String)],
  ])
  expect(JSON.stringify(emulator.delivery('late').faults?.body)).toBe('[{"__proto__":{"x":1},"a":null}]')
  expect([emulator.delivery('gone').status, emulator.delivery('plain').faults]).toEqual(['dropped', null])
})
