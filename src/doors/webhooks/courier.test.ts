import { expect, test } from 'vitest'
import {
  type HeldRequest,
  heldSend,
  type OutboxWorld,
  outboxWorld,
  outcomeOf,
  promptSend,
  START,
  subscription,
  ticks,
} from '../../../test/support/outbox-world.ts'
import type { Delivery } from '../../kernel/outbox/records.ts'
import type { Send } from './send.ts'
import { Slots } from './slots.ts'

function statuses(world: OutboxWorld): string[] {
  return world.deliveries().map(({ status }) => status)
}

function attemptsOf({ attempts }: Delivery) {
  return attempts.map(({ attempt, outcome, status }) => [attempt, outcome, status])
}

function idOf({ message }: HeldRequest): string {
  return message.headers['X-Emulator-Delivery'] ?? ''
}

test('what is published is sent, and its outcome noted and told', async () => {
  const world = await outboxWorld()
  const { send, sent } = promptSend(200)
  const courier = world.courier({ send })
  expect(courier.isIdle).toBe(false)
  await courier.settled()
  const [{ id } = { id: '' }] = world.tell({ n: 1 })
  expect(courier.isIdle).toBe(false)
  await courier.settled()
  expect(courier.isIdle).toBe(true)
  expect(sent.map(({ body }) => body.toString())).toEqual(['{"n":1}'])
  expect(world.delivery(id)).toMatchObject({
    status: 'delivered',
    attempts: [
      { attempt: 1, at: '2026-03-01T12:00:00.000Z', outcome: 'delivered', status: 200, error: null },
    ],
  })
  expect(world.happened).toEqual([
    {
      at: '2026-03-01T12:00:00.000Z',
      kind: 'webhook.delivered',
      ref: `webhook_deliveries/${id}`,
      says: 'Attempt 1 to deliver thing.made to http://127.0.0.1:9000/hook succeeded.',
      from: 'sending',
      to: 'delivered',
      caused_by: 'control',
      webhook: { url: 'http://127.0.0.1:9000/hook', attempt: 1, status: 200, ms: 0 },
    },
  ])
})

test('the attempt is a record before the request leaves', async () => {
  const world = await outboxWorld()
  const seen: unknown[] = []
  const send: Send = async ({ headers }) => {
    seen.push(world.delivery(headers['X-Emulator-Delivery'] ?? ''))
    return outcomeOf(200)
  }
  const courier = world.courier({ send })
  world.tell()
  await courier.settled()
  expect(seen).toMatchObject([{ status: 'sending', attempts: [{ attempt: 1, outcome: null }] }])
})

test('a failed attempt says why and when the next follows; time brings it', async () => {
  const world = await outboxWorld({ settings: { 'webhooks.retry': ['10s', '1m'] } })
  const courier = world.courier({ send: promptSend(503, 503, 200).send })
  const [{ id } = { id: '' }] = world.tell()
  await courier.settled()
  expect(world.delivery(id).status).toBe('waiting')
  await world.advance(9_999)
  expect(world.delivery(id).attempts).toHaveLength(1)
  await world.advance(60_001)
  expect(attemptsOf(world.delivery(id))).toEqual([
    [1, 'failed', 503],
    [2, 'failed', 503],
    [3, 'delivered', 200],
  ])
  expect(world.happened.map(({ at, kind, to }) => [Date.parse(at) - START, kind, to])).toEqual([
    [0, 'webhook.failed', 'waiting'],
    [10_000, 'webhook.retry', 'pending'],
    [10_000, 'webhook.failed', 'waiting'],
    [70_000, 'webhook.retry', 'pending'],
    [70_000, 'webhook.delivered', 'delivered'],
  ])
  expect(world.happened[0]?.says).toBe(
    'Attempt 1 to deliver thing.made to http://127.0.0.1:9000/hook failed: answered 503. The next one follows at 2026-03-01T12:00:10.000Z.',
  )
})

test('at most 20 requests are under way at once, across worlds', async () => {
  const [first, second] = [await outboxWorld(), await outboxWorld()]
  const slots = new Slots()
  const { send, held } = heldSend()
  const couriers = [first, second].map((world) => world.courier({ send, slots }))
  for (let n = 0; n < 30; n++) for (const world of [first, second]) world.tell({ n })
  await ticks()
  expect(held).toHaveLength(20)
  for (let answered = 0; answered < 60; answered++) {
    held[answered]?.answer(200)
    await ticks()
    expect(held.length - answered - 1).toBe(Math.min(20, 60 - answered - 1))
  }
  await Promise.all(couriers.map((courier) => courier.settled()))
  expect([...new Set([...statuses(first), ...statuses(second)])]).toEqual(['delivered'])
})

test('outcomes are noted in the order in which the attempts began, whatever the order of the answers', async () => {
  const world = await outboxWorld()
  const { send, held } = heldSend()
  const courier = world.courier({ send })
  const ids = ['a', 'b', 'c'].flatMap((n) => world.tell({ n }).map(({ id }) => id))
  await ticks()
  expect(held.map(idOf)).toEqual(ids)
  held[2]?.answer(200)
  held[1]?.answer(500)
  await ticks()
  expect(statuses(world)).toEqual(['sending', 'sending', 'sending'])
  held[0]?.answer(200)
  await courier.settled()
  expect(statuses(world)).toEqual(['delivered', 'failed', 'delivered'])
  expect(world.happened.map(({ ref }) => ref)).toEqual(ids.map((id) => `webhook_deliveries/${id}`))
})

test('one silent receiver holds up the outcomes of 20 attempts and no more requests of other worlds', async () => {
  const [world, other] = [await outboxWorld(), await outboxWorld()]
  const slots = new Slots(20)
  const { send, held } = heldSend()
  world.courier({ send, slots })
  for (let n = 0; n < 40; n++) world.tell({ n })
  await ticks()
  for (const request of held.slice(1)) request.answer(200)
  await ticks()
  expect(held).toHaveLength(20)
  const prompt = promptSend(200)
  const courier = other.courier({ send: prompt.send, slots })
  for (let n = 0; n < 19; n++) other.tell({ n })
  await courier.settled()
  expect(prompt.sent).toHaveLength(19)
  held[0]?.answer(200)
  await ticks()
  expect(held).toHaveLength(40)
})

test('a pending delivery that is deleted before its turn is not waited for', async () => {
  const world = await outboxWorld()
  const slots = new Slots(1)
  slots.take(() => {})
  const { send, held } = heldSend()
  const courier = world.courier({ send, slots })
  const [{ id } = { id: '' }] = world.tell()
  await ticks()
  const settled = courier.settled()
  world.sandbox.change(({ tx }) => tx.delete('webhook_deliveries', id))
  await settled
  expect(held).toEqual([])
})

test('what nobody subscribes to any more is refused, not sent', async () => {
  const world = await outboxWorld({ settings: { 'webhooks.retry': ['10s'] } })
  const { send, sent } = promptSend(500)
  const courier = world.courier({ send })
  const [{ id } = { id: '' }] = world.tell()
  await courier.settled()
  world.sandbox.change(({ tx }) => tx.delete('webhooks', subscription.id))
  await world.advance(10_000)
  expect(sent).toHaveLength(1)
  expect(world.delivery(id)).toMatchObject({
    status: 'failed',
    attempts: [
      { outcome: 'failed' },
      { outcome: 'refused', error: 'its subscription was removed before it was sent' },
    ],
  })
})

test('the secret of the subscription signs; one of the settings is found by its URL', async () => {
  const fixed = { url: 'http://127.0.0.1:1/a', secret: 's' }
  const world = await outboxWorld({ webhooks: [], settings: { 'webhooks.subscriptions': [fixed] } })
  const { send, sent } = promptSend(200)
  const courier = world.courier({ send })
  world.tell()
  await courier.settled()
  expect(sent[0]?.headers['X-Emulator-Signature']).toMatch(/^[0-9a-f]{64}$/)
})

test('a way to send that fails by itself is our defect, and a failed attempt', async () => {
  const world = await outboxWorld()
  const courier = world.courier({
    send: () => {
      throw new TypeError('oops')
    },
  })
  world.tell()
  await courier.settled()
  expect(world.deliveries()).toMatchObject([
    { status: 'failed', attempts: [{ error: expect.stringContaining('its log has the cause') }] },
  ])
  expect(world.surprises).toEqual([new TypeError('oops')])
})

test('while the clock runs, attempts and outcomes have the instants at which they are made', async () => {
  let host = START
  const settings = { 'webhooks.retry': ['10s'] }
  const world = await outboxWorld({ settings, host: () => host })
  const { send, held } = heldSend()
  const courier = world.courier({ send })
  world.sandbox.setClock({ rate: 2 })
  world.tell()
  host += 1_000
  await ticks()
  host += 500
  held[0]?.answer(500)
  await courier.settled()
  expect(world.deliveries()).toMatchObject([
    { retry_at: '2026-03-01T12:00:13.000Z', attempts: [{ at: '2026-03-01T12:00:02.000Z' }] },
  ])
  expect(world.happened).toMatchObject([{ at: '2026-03-01T12:00:03.000Z', webhook: { ms: 500 } }])
})

test('a courier that is woken in vain wakes the next', async () => {
  const [first, second] = [await outboxWorld(), await outboxWorld()]
  const slots = new Slots(1)
  slots.take(() => {})
  const { send, sent } = promptSend(200)
  first.courier({ send, slots })
  const courier = second.courier({ send, slots })
  const [{ id } = { id: '' }] = first.tell()
  second.tell()
  await ticks()
  first.sandbox.change(({ tx }) => tx.delete('webhook_deliveries', id))
  slots.give()
  await courier.settled()
  expect(sent).toHaveLength(1)
})
