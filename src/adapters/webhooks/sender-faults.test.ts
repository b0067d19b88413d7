import fc from 'fast-check'
import { expect, test } from 'vitest'
import { armDeliver } from '../../../test/support/told-delivery.ts'
import { heldSend, outboxEmulator, promptSend, ticks } from '../../../test/support/webhook-sandbox.ts'
import type { DeliverFault } from '../../core/faults/deliver.ts'

const NEXT: DeliverFault = { order: 'after-next' }

/** A sender under rules that each fire this often. `tell` publishes bodies with these numbers; `arrived` are those that were sent. */
async function sending(times: number | null, ...faults: readonly DeliverFault[]) {
  const emulator = await outboxEmulator()
  for (const [n, deliver] of faults.entries()) armDeliver(emulator, deliver, { id: `r${n}`, times })
  const { send, sent } = promptSend(200)
  const sender = emulator.sender({ send })
  const tell = async (...numbers: readonly number[]) => {
    for (const n of numbers) emulator.tell({ n })
    await sender.whenIdle()
  }
  return { emulator, tell, arrived: () => sent.map(({ body }) => JSON.parse(body.toString()).n) }
}

test('a dropped delivery in a restored state is not reported, even by a new sender', async () => {
  const emulator = await outboxEmulator()
  armDeliver(emulator, { drop: true })
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
  armDeliver(emulator, NEXT, { times: 1 })
  const { send, held } = heldSend()
  const sender = emulator.sender({ send })
  const [late] = emulator.tell()
  await sender.whenIdle()
  const [next] = emulator.tell()
  await ticks()
  const ids = () => held.map(({ message }) => message.headers['X-Emulator-Delivery'])
  expect(ids()).toEqual([next?.id])
  held[0]?.response(500)
  await ticks()
  expect(ids()).toEqual([next?.id, late?.id])
  held[1]?.response(200)
  await sender.whenIdle()
  expect(emulator.sandbox.scheduler.horizon()).toEqual([])
  expect(emulator.deliveries().map(({ status }) => status)).toEqual(['delivered', 'failed'])
})

test('a delivery with order after-next and a delay is sent when both have passed', async () => {
  const { emulator, tell, arrived } = await sending(1, { ...NEXT, delay: '5m' })
  await tell(1, 2)
  await emulator.advance(299_999)
  expect(arrived()).toEqual([2])
  await emulator.advance(1)
  expect(arrived()).toEqual([2, 1])
})

test('a dropped delivery does not release the held one before it', async () => {
  const { tell, arrived } = await sending(1, NEXT, { drop: true })
  await tell(1, 2)
  expect(arrived()).toEqual([])
  await tell(3)
  expect(arrived()).toEqual([3, 1])
})

const fault = fc.oneof(
  fc.record({ copies: fc.integer({ min: 1, max: 4 }) }),
  fc.constant(NEXT),
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
            armDeliver(emulator, deliver, { id: `r${n}`, when: { probability }, then: 'continue' })
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
          const delivered = attempts.filter(({ outcome }) => outcome === 'delivered')
          expect(delivered).toHaveLength(status === 'delivered' ? 1 : 0)
        }
        expect(emulator.sandbox.scheduler.horizon()).toEqual([])
        const dropped = emulator.deliveries().filter(({ status }) => status === 'dropped')
        const told = happened.filter(({ kind }) => kind === 'webhook.dropped')
        expect(told.map(({ ref }) => ref)).toEqual(dropped.map(({ id }) => `webhook_deliveries/${id}`))
        const again = await run()
        expect([again.document, again.sent]).toEqual([document, sent])
        expect(emulator.defects).toEqual([])
      },
    ),
    { numRuns: 60 },
  )
})
