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
import { redeliver } from './delivery.ts'
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
