import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  type HeldRequest,
  heldSend,
  type OutboxEmulator,
  outboxEmulator,
  outcomeOf,
  ticks,
} from '../../../test/support/webhook-sandbox.ts'
import { change } from '../../core/sandboxes/change.ts'
import { runDueEvents } from '../../core/time/run-events.ts'
import { type AttemptResult, redeliver } from '../../core/webhooks/delivery.ts'
import type { Send } from './send.ts'
import { Slots } from './sender.ts'

const ACTS = ['tell', 'answer', 'advance', 'redeliver', 'restart'] as const
const weighted = ACTS.map((act, n) => ({ weight: [4, 6, 2, 1, 1][n] ?? 1, arbitrary: fc.constant(act) }))
const step = fc.record({
  act: fc.oneof(...weighted),
  which: fc.nat(30),
  status: fc.constantFrom(200, 204, 302, 500),
  ms: fc.constantFrom(0, 1_000, 5_000, 60_000),
})

test('every attempt has one outcome and a delivery ends like its last attempt, in any order of steps', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const emulator = await outboxEmulator({ settings: { 'webhooks.retry': ['1s', '0s', '5s'] } })
      const slots = new Slots(3)
      const { send, held } = heldSend()
      const open = new Set<HeldRequest>()
      let most = 0
      const counted: Send = async (message, bounds) => {
        const outcome = send(message, bounds)
        const request = held.at(-1) as HeldRequest
        open.add(request)
        most = Math.max(most, open.size)
        bounds.signal.addEventListener('abort', () => request.response(500))
        return outcome.finally(() => open.delete(request))
      }
      let sender = emulator.sender({ send: counted, slots })
      for (const { act, which, status, ms } of steps) {
        const known = emulator.deliveries()
        if (act === 'tell') emulator.tell({ n: known.length })
        if (act === 'answer') [...open][which % Math.max(1, open.size)]?.response(status)
        if (act === 'redeliver') redeliverOne(emulator, which)
        if (act === 'advance') emulator.sandbox.clock.moveTo(emulator.sandbox.clock.now + ms)
        if (act === 'advance') runDueEvents(emulator.sandbox)
        if (act === 'restart') {
          sender.stop()
          sender = emulator.sender({ send: counted, slots })
        }
        await ticks()
      }
      while (!sender.isIdle) {
        for (const request of open) request.response(200)
        await ticks()
      }
      expect(most).toBeLessThanOrEqual(3)
      for (const [n, delivery] of emulator.deliveries().entries()) {
        const { id, status, attempts, body } = delivery
        expect(['delivered', 'failed', 'waiting']).toContain(status)
        expect(attempts.map(({ attempt }) => attempt)).toEqual(attempts.map((_, index) => index + 1))
        const outcomes = attempts.map(({ outcome }) => outcome)
        expect(outcomes).not.toContain(null)
        expect(outcomes.at(-1)).toBe(status === 'delivered' ? 'delivered' : 'failed')
        expect(body).toEqual({ n })
        const told = emulator.happened.filter(({ ref, webhook }) => webhook && ref.endsWith(id))
        const ended = attempts.filter(({ outcome }) => outcome !== 'interrupted')
        expect(told.map(({ webhook }) => webhook?.attempt)).toEqual(ended.map(({ attempt }) => attempt))
      }
      sender.stop()
    }),
    { numRuns: 60 },
  )
})

function redeliverOne(emulator: OutboxEmulator, which: number): void {
  const ended = emulator.deliveries().filter(({ status }) => status === 'delivered' || status === 'failed')
  const chosen = ended[which % Math.max(1, ended.length)]
  if (chosen !== undefined) change(emulator.sandbox, (scope) => redeliver(scope, chosen))
}

test('the order of responses does not change the sandbox', async () => {
  const run = async (order: readonly number[]) => {
    const emulator = await outboxEmulator({ settings: { 'webhooks.retry': ['1s'] } })
    const { send, held } = heldSend()
    const sender = emulator.sender({ send })
    for (let n = 0; n < 8; n++) emulator.tell({ n })
    await ticks()
    const responses: AttemptResult[] = held.map((_, n) => outcomeOf(n % 3 === 0 ? 500 : 200))
    for (const n of order) {
      held[n]?.end(responses[n] as AttemptResult)
      await ticks()
    }
    await sender.whenIdle()
    return emulator.sandbox.document()
  }
  const straight = await run([0, 1, 2, 3, 4, 5, 6, 7])
  await fc.assert(
    fc.asyncProperty(fc.shuffledSubarray([0, 1, 2, 3, 4, 5, 6, 7], { minLength: 8 }), async (order) => {
      expect(await run(order)).toEqual(straight)
    }),
    { numRuns: 25 },
  )
})
