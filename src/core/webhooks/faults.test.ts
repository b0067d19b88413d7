import { expect, test } from 'vitest'
import { armDeliver, toldDelivery } from '../../../test/support/told-delivery.ts'
import { HOOK, outboxEmulator, subscription } from '../../../test/support/webhook-sandbox.ts'
import type { DeliverFault } from '../faults/deliver.ts'
import { change } from '../sandboxes/change.ts'
import { redeliver } from './delivery.ts'
import { DueDeliveries } from './queue.ts'
import type { Delivery } from './records.ts'

const SECOND = 1_000

test('a rule decides about each subscriber, by type and url, and counts', async () => {
  const other = { ...subscription, id: 'hook-2', url: 'http://127.0.0.1:9000/other' }
  const emulator = await outboxEmulator({ webhooks: [subscription, other] })
  armDeliver(emulator, { drop: true }, { match: { webhook: 'thing.*', url: '*/other' }, when: { nth: 2 } })
  const told = [emulator.tell(), emulator.tell({}, 'thing.broken'), emulator.tell()]
  const statuses = told.map((both) => both.map(({ status }) => status).join())
  expect(statuses).toEqual(['pending,pending', 'pending,dropped', 'pending,pending'])
  expect(emulator.sandbox.document().fault_counters).toMatchObject([{ rule: 'r', matched: 3, fired: 1 }])
})

test('a rule about webhooks can count by resource_id', async () => {
  const emulator = await outboxEmulator()
  armDeliver(emulator, { drop: true }, { when: { first: 1, by: 'resource_id' } })
  emulator.tell()
  expect(emulator.sandbox.document().fault_counters).toMatchObject([{ key: null }, { key: '1' }])
})

test('a webhook without a subscriber writes nothing, and is not counted by any rule', async () => {
  const emulator = await outboxEmulator({ webhooks: [] })
  armDeliver(emulator, { drop: true })
  const { revision } = emulator.sandbox.store
  expect(emulator.tell()).toEqual([])
  expect(emulator.sandbox.document().fault_counters).toEqual([])
  expect(emulator.sandbox.store.revision).toBe(revision)
})

test('a delay of 0 does not wait', async () => {
  expect((await toldDelivery({}, { delay: '0s' })).first).toMatchObject({ status: 'pending', retry_at: null })
})

test('a delivery with after-next is held for at most 60 s, and the next one is not held', async () => {
  const { emulator, first, now } = await toldDelivery({}, { order: 'after-next' })
  expect(first).toMatchObject({ status: 'waiting', retry_at: '2026-03-01T12:01:00.000Z' })
  expect(emulator.tell()).toMatchObject([{ status: 'pending', faults: { rules: ['r'] } }])
  expect(emulator.sandbox.scheduler.horizon().map(({ description }) => description)).toEqual([
    `Attempt 1 to deliver thing.made to ${HOOK}, held back by r; sent earlier if the next webhook to this URL is sent first.`,
  ])
  await emulator.advance(60 * SECOND)
  expect(now().status).toBe('pending')
})

test('a held delivery waits for a later one to the same subscriber', async () => {
  const other = { ...subscription, id: 'hook-2' }
  const emulator = await outboxEmulator({ webhooks: [subscription, other] })
  const [before] = emulator.tell()
  armDeliver(emulator, { order: 'after-next' }, { times: 1 })
  const [held, elsewhere] = emulator.tell()
  const [next] = emulator.tell()
  const due = new DueDeliveries(emulator.sandbox.store)
  const all = [before, elsewhere, held, next] as Delivery[]
  expect(all.map((each) => due.heldFor(each).map(({ id }) => id))).toEqual([[], [], [], [held?.id]])
})

test.for<[string, DeliverFault]>([
  ['dropped', { drop: true }],
  ['waiting', { delay: '1h' }],
  ['waiting', { order: 'after-next', sign: 'wrong', timeout_ms: 5, retries: ['1s'], body: { a: 1 } }],
])('a delivery that is %s by %j and sent again by hand is sent like any other', async ([status, deliver]) => {
  const { emulator, first } = await toldDelivery({}, deliver)
  expect(first.status).toBe(status)
  change(emulator.sandbox, (scope) => redeliver(scope, first))
  const plain = { status: 'pending', retry_at: null, faults: { rules: ['r'] } }
  expect(emulator.deliveries()).toEqual([{ ...first, ...plain }])
  expect(emulator.sandbox.scheduler.horizon()).toEqual([])
})

test('a copy that is sent again still names the first delivery', async () => {
  const { emulator, id } = await toldDelivery({}, { copies: 2, delay: '1h' })
  const [, copy] = emulator.deliveries() as [Delivery, Delivery]
  const again = change(emulator.sandbox, (scope) => redeliver(scope, copy)).result
  expect(again.faults).toEqual({ rules: ['r'], copy_of: id })
})
