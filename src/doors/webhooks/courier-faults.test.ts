import fc from 'fast-check'
import { expect, test } from 'vitest'
import { armRule } from '../../../test/support/faults.ts'
import {
  heldSend,
  type OutboxWorld,
  outboxWorld,
  promptSend,
  START,
  ticks,
} from '../../../test/support/outbox-world.ts'
import type { DeliverFault } from '../../kernel/faults/actions.ts'
import type { FaultRule } from '../../kernel/faults/rule.ts'
import type { Delivery } from '../../kernel/outbox/records.ts'
import type { Bounds, Send } from './send.ts'

/** Arms a rule about every webhook. */
function arm(world: OutboxWorld, deliver: DeliverFault, rule: Partial<FaultRule> = {}): FaultRule {
  return armRule(world.sandbox, { id: 'r', match: { webhook: '*' }, do: [{ deliver }], ...rule })
}

function idsOf(deliveries: readonly Delivery[]): string[] {
  return deliveries.map(({ id }) => id)
}

function moments(world: OutboxWorld) {
  return world.happened.map(({ at, kind, to }) => [Date.parse(at) - START, kind, to])
}

test('copies arrive with one id and one body, each as a first attempt', async () => {
  const world = await outboxWorld()
  arm(world, { copies: 3 })
  const { send, sent } = promptSend(200)
  const courier = world.courier({ send })
  const [first] = world.tell({ n: 1 })
  await courier.settled()
  const headers = { 'X-Emulator-Delivery': first?.id, 'X-Emulator-Delivery-Attempt': '1' }
  expect(sent).toMatchObject([{ headers }, { headers }, { headers }])
  expect(new Set(sent.map(({ body }) => body.toString()))).toEqual(new Set(['{"n":1}']))
})

test('what is dropped is never sent, and whoever lets time pass is told so before it is over', async () => {
  const world = await outboxWorld()
  arm(world, { drop: true }, { times: 1 })
  const { send, sent } = promptSend(200)
  const courier = world.courier({ send })
  await courier.settled()
  const [dropped] = world.tell()
  expect(courier.isIdle).toBe(false)
  await courier.settled()
  world.tell({ n: 2 })
  await courier.settled()
  await world.advance(86_400_000)
  expect(sent.map(({ body }) => body.toString())).toEqual(['{"n":2}'])
  expect(world.happened).toMatchObject([
    {
      at: '2026-03-01T12:00:00.000Z',
      kind: 'webhook.dropped',
      ref: `webhook_deliveries/${dropped?.id}`,
      says: 'thing.made to http://127.0.0.1:9000/hook was dropped by r: it is never sent.',
      from: 'pending',
      to: 'dropped',
      caused_by: 'control',
    },
    { kind: 'webhook.delivered' },
  ])
  expect(world.happened[0]?.webhook).toBe(undefined)
})

test('a drop is told once: not again after a reset, nor by the next courier', async () => {
  const world = await outboxWorld()
  arm(world, { drop: true })
  const { send } = promptSend(200)
  const first = world.courier({ send })
  await first.settled()
  const kept = world.sandbox.capture()
  world.tell()
  const withDrop = world.sandbox.capture()
  world.sandbox.become(kept)
  await first.settled()
  world.sandbox.become(withDrop)
  await first.settled()
  first.stop()
  await world.courier({ send }).settled()
  expect(world.happened).toEqual([])
})

test('a late one goes when its time has come, and time waits for it', async () => {
  const world = await outboxWorld()
  arm(world, { delay: '10s' }, { times: 1 })
  const { send, sent } = promptSend(200)
  const courier = world.courier({ send })
  world.tell({ n: 1 })
  world.tell({ n: 2 })
  await courier.settled()
  expect(sent.map(({ body }) => body.toString())).toEqual(['{"n":2}'])
  await world.advance(60_000)
  expect(sent.map(({ body }) => body.toString())).toEqual(['{"n":2}', '{"n":1}'])
  expect(moments(world)).toEqual([
    [0, 'webhook.delivered', 'delivered'],
    [10_000, 'webhook.release', 'pending'],
    [10_000, 'webhook.delivered', 'delivered'],
  ])
})

test('one that goes after the next leaves when that one has its answer, not before', async () => {
  const world = await outboxWorld()
  arm(world, { order: 'after-next' }, { times: 1 })
  const { send, held } = heldSend()
  const courier = world.courier({ send })
  const [late] = world.tell()
  await courier.settled()
  const [next] = world.tell()
  await ticks()
  expect(held.map(({ message }) => message.headers['X-Emulator-Delivery'])).toEqual(idsOf([next as Delivery]))
  held[0]?.answer(500)
  await ticks()
  expect(held[1]?.message.headers['X-Emulator-Delivery']).toBe(late?.id)
  held[1]?.answer(200)
  await courier.settled()
  expect(world.sandbox.scheduler.horizon()).toEqual([])
  expect(world.deliveries().map(({ status }) => status)).toEqual(['delivered', 'failed'])
})

test('every two change places under a rule for all of them, and the last leaves after 60 s', async () => {
  const world = await outboxWorld()
  arm(world, { order: 'after-next' })
  const { send, sent } = promptSend(200)
  const courier = world.courier({ send })
  for (let n = 1; n <= 5; n++) {
    world.tell({ n })
    await courier.settled()
  }
  await world.advance(59_999)
  expect(sent).toHaveLength(4)
  await world.advance(1)
  expect(sent.map(({ body }) => JSON.parse(body.toString()).n)).toEqual([2, 1, 4, 3, 5])
})

test('a held one that is late, too, leaves when both are over', async () => {
  const world = await outboxWorld()
  arm(world, { order: 'after-next', delay: '5m' }, { times: 1 })
  const { send, sent } = promptSend(200)
  const courier = world.courier({ send })
  const [late] = world.tell({ n: 1 })
  world.tell({ n: 2 })
  await courier.settled()
  expect(world.delivery(late?.id ?? '')).toMatchObject({
    status: 'waiting',
    retry_at: '2026-03-01T12:05:00.000Z',
    faults: { delay: '5m' },
  })
  await world.advance(300_000)
  expect(sent.map(({ body }) => body.toString())).toEqual(['{"n":2}', '{"n":1}'])
})

test('a next one that is dropped lets nothing go', async () => {
  const world = await outboxWorld()
  arm(world, { order: 'after-next' }, { times: 1 })
  arm(world, { drop: true }, { id: 's', times: 1 })
  const { send, sent } = promptSend(200)
  const courier = world.courier({ send })
  for (let n = 1; n <= 2; n++) world.tell({ n })
  await courier.settled()
  expect(sent).toEqual([])
  world.tell({ n: 3 })
  await courier.settled()
  expect(sent.map(({ body }) => JSON.parse(body.toString()).n)).toEqual([3, 1])
})

test('an attempt may take as long as its rule says', async () => {
  const world = await outboxWorld()
  arm(world, { timeout_ms: 25 }, { times: 1 })
  const bounds: Bounds[] = []
  const { send } = promptSend(200)
  const noting: Send = (message, given) => {
    bounds.push(given)
    return send(message, given)
  }
  const courier = world.courier({ send: noting })
  world.tell()
  world.tell()
  await courier.settled()
  expect(bounds.map(({ timeout }) => timeout)).toEqual([25, 10_000])
})

test('a held delivery is taken over by whoever goes on with the world', async () => {
  const world = await outboxWorld()
  arm(world, { order: 'after-next' }, { times: 1 })
  const { send, sent } = promptSend(200)
  const first = world.courier({ send })
  world.tell({ n: 1 })
  await first.settled()
  first.stop()
  const second = world.courier({ send })
  world.tell({ n: 2 })
  await second.settled()
  expect(sent.map(({ body }) => JSON.parse(body.toString()).n)).toEqual([2, 1])
})

const fault = fc.oneof(
  fc.record({ copies: fc.integer({ min: 1, max: 4 }) }),
  fc.constant<DeliverFault>({ order: 'after-next' }),
  fc.record({ delay: fc.constantFrom('0s', '2s', '2m') }),
  fc.constant<DeliverFault>({ drop: true }),
  fc.record({ retries: fc.constantFrom([], ['1s'], ['0s', '3s']) }),
)

test('the same seed, the same deliveries; each is sent or dropped, and none twice unless it failed', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fault, fc.double({ min: 0, max: 1, noNaN: true })), { minLength: 1, maxLength: 4 }),
      fc.array(fc.constantFrom(0, 1_000, 61_000), { minLength: 1, maxLength: 8 }),
      async (rules, pauses) => {
        const run = async () => {
          const world = await outboxWorld({ settings: { 'webhooks.retry': ['5s'] } })
          for (const [n, [deliver, probability]] of rules.entries())
            arm(world, deliver, { id: `r${n}`, when: { probability }, then: 'continue' })
          const { send, sent } = promptSend(200, 500, 200)
          const courier = world.courier({ send })
          for (const [n, ms] of pauses.entries()) {
            world.tell({ n })
            await courier.settled()
            await world.advance(ms)
          }
          await world.advance(86_400_000)
          return { document: world.sandbox.document(), happened: world.happened, sent, world }
        }
        const { world, document, happened, sent } = await run()
        for (const { status, attempts } of world.deliveries()) {
          expect(['delivered', 'failed', 'dropped']).toContain(status)
          expect(attempts.filter(({ outcome }) => outcome === 'delivered').length).toBe(
            status === 'delivered' ? 1 : 0,
          )
        }
        expect(world.sandbox.scheduler.horizon()).toEqual([])
        const dropped = world.deliveries().filter(({ status }) => status === 'dropped')
        const told = happened.filter(({ kind }) => kind === 'webhook.dropped')
        expect(told.map(({ ref }) => ref)).toEqual(idsOf(dropped).map((id) => `webhook_deliveries/${id}`))
        const again = await run()
        expect([again.document, again.sent]).toEqual([document, sent])
        expect(world.surprises).toEqual([])
      },
    ),
    { numRuns: 60 },
  )
})
