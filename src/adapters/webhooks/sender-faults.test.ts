import fc from 'fast-check'
import { expect, test } from 'vitest'
import { armRule } from '../../../test/support/faults.ts'
import {
  heldSend,
  type OutboxEmulator,
  outboxEmulator,
  promptSend,
  ticks,
} from '../../../test/support/webhook-sandbox.ts'
import type { DeliverFault } from '../../core/faults/deliver.ts'
import type { FaultRule } from '../../core/faults/rule.ts'
import type { Delivery } from '../../core/webhooks/records.ts'

/** Arms a rule that matches every webhook. */
function arm(emulator: OutboxEmulator, deliver: DeliverFault, rule: Partial<FaultRule> = {}): FaultRule {
  return armRule(emulator.sandbox, { id: 'r', match: { webhook: '*' }, do: [{ deliver }], ...rule })
}

function idsOf(deliveries: readonly Delivery[]): string[] {
  return deliveries.map(({ id }) => id)
}

test('a dropped delivery in a restored state is not reported, even by a new sender', async () => {
  const emulator = await outboxEmulator()
  arm(emulator, { drop: true })
  const { send } = promptSend(200)
  const first = emulator.sender({ send })
  await first.whenIdle()
  const kept = emulator.sandbox.capture()
  emulator.tell()
  const withDrop = emulator.sandbox.capture()
  emulator.sandbox.replaceWith(kept)
  await first.whenIdle()
  emulator.sandbox.replaceWith(withDrop)
  await first.whenIdle()
  first.stop()
  await emulator.sender({ send }).whenIdle()
  expect(emulator.happened).toEqual([])
})

test('a delivery with order after-next is sent when the next one has its response, not before', async () => {
  const emulator = await outboxEmulator()
  arm(emulator, { order: 'after-next' }, { times: 1 })
  const { send, held } = heldSend()
  const sender = emulator.sender({ send })
  const [late] = emulator.tell()
  await sender.whenIdle()
  const [next] = emulator.tell()
  await ticks()
  expect(held.map(({ message }) => message.headers['X-Emulator-Delivery'])).toEqual(idsOf([next as Delivery]))
  held[0]?.response(500)
  await ticks()
  expect(held[1]?.message.headers['X-Emulator-Delivery']).toBe(late?.id)
  held[1]?.response(200)
  await sender.whenIdle()
  expect(emulator.sandbox.scheduler.horizon()).toEqual([])
  expect(emulator.deliveries().map(({ status }) => status)).toEqual(['delivered', 'failed'])
})

test('a rule with order after-next for all deliveries swaps pairs, and a single last one is sent after 60 s', async () => {
  const emulator = await outboxEmulator()
  arm(emulator, { order: 'after-next' })
  const { send, sent } = promptSend(200)
  const sender = emulator.sender({ send })
  for (let n = 1; n <= 5; n++) {
    emulator.tell({ n })
    await sender.whenIdle()
  }
  await emulator.advance(59_999)
  expect(sent).toHaveLength(4)
  await emulator.advance(1)
  expect(sent.map(({ body }) => JSON.parse(body.toString()).n)).toEqual([2, 1, 4, 3, 5])
})

test('a delivery with order after-next and a delay is sent when both have passed', async () => {
  const emulator = await outboxEmulator()
  arm(emulator, { order: 'after-next', delay: '5m' }, { times: 1 })
  const { send, sent } = promptSend(200)
  const sender = emulator.sender({ send })
  const [late] = emulator.tell({ n: 1 })
  emulator.tell({ n: 2 })
  await sender.whenIdle()
  expect(emulator.delivery(late?.id ?? '')).toMatchObject({
    status: 'waiting',
    retry_at: '2026-03-01T12:05:00.000Z',
    faults: { delay: '5m' },
  })
  await emulator.advance(300_000)
  expect(sent.map(({ body }) => body.toString())).toEqual(['{"n":2}', '{"n":1}'])
})

test('a dropped delivery does not release the held one before it', async () => {
  const emulator = await outboxEmulator()
  arm(emulator, { order: 'after-next' }, { times: 1 })
  arm(emulator, { drop: true }, { id: 's', times: 1 })
  const { send, sent } = promptSend(200)
  const sender = emulator.sender({ send })
  for (let n = 1; n <= 2; n++) emulator.tell({ n })
  await sender.whenIdle()
  expect(sent).toEqual([])
  emulator.tell({ n: 3 })
  await sender.whenIdle()
  expect(sent.map(({ body }) => JSON.parse(body.toString()).n)).toEqual([3, 1])
})

const fault = fc.oneof(
  fc.record({ copies: fc.integer({ min: 1, max: 4 }) }),
  fc.constant<DeliverFault>({ order: 'after-next' }),
  fc.record({ delay: fc.constantFrom('0s', '2s', '2m') }),
  fc.constant<DeliverFault>({ drop: true }),
  fc.record({ retries: fc.constantFrom([], ['1s'], ['0s', '3s']) }),
)

test('the same seed gives the same deliveries, and each is delivered once, failed or dropped', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fault, fc.double({ min: 0, max: 1, noNaN: true })), { minLength: 1, maxLength: 4 }),
      fc.array(fc.constantFrom(0, 1_000, 61_000), { minLength: 1, maxLength: 8 }),
      async (rules, pauses) => {
        const run = async () => {
          const emulator = await outboxEmulator({ settings: { 'webhooks.retry': ['5s'] } })
          for (const [n, [deliver, probability]] of rules.entries())
            arm(emulator, deliver, { id: `r${n}`, when: { probability }, then: 'continue' })
          const { send, sent } = promptSend(200, 500, 200)
          const sender = emulator.sender({ send })
          for (const [n, ms] of pauses.entries()) {
            emulator.tell({ n })
            await sender.whenIdle()
            await emulator.advance(ms)
          }
          await emulator.advance(86_400_000)
          return { document: emulator.sandbox.document(), happened: emulator.happened, sent, emulator }
        }
        const { emulator, document, happened, sent } = await run()
        for (const { status, attempts } of emulator.deliveries()) {
          expect(['delivered', 'failed', 'dropped']).toContain(status)
          expect(attempts.filter(({ outcome }) => outcome === 'delivered').length).toBe(
            status === 'delivered' ? 1 : 0,
          )
        }
        expect(emulator.sandbox.scheduler.horizon()).toEqual([])
        const dropped = emulator.deliveries().filter(({ status }) => status === 'dropped')
        const told = happened.filter(({ kind }) => kind === 'webhook.dropped')
        expect(told.map(({ ref }) => ref)).toEqual(idsOf(dropped).map((id) => `webhook_deliveries/${id}`))
        const again = await run()
        expect([again.document, again.sent]).toEqual([document, sent])
        expect(emulator.defects).toEqual([])
      },
    ),
    { numRuns: 60 },
  )
})
