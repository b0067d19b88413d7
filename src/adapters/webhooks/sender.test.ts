import { expect, test } from 'vitest'
import {
  HOOK,
  heldSend,
  outboxEmulator,
  promptSend,
  START,
  subscription,
  ticks,
} from '../../../test/support/webhook-sandbox.ts'
import { change } from '../../core/sandboxes/change.ts'
import { setClock } from '../../core/time/run-events.ts'
import { Slots } from './sender.ts'

test('a published event is sent, and its outcome is recorded and reported', async () => {
  const emulator = await outboxEmulator()
  const { send, sent } = promptSend(200)
  const sender = emulator.sender({ send })
  expect(sender.isIdle).toBe(false)
  await sender.whenIdle()
  const [{ id } = { id: '' }] = emulator.tell({ n: 1 })
  expect(sender.isIdle).toBe(false)
  await sender.whenIdle()
  expect(sender.isIdle).toBe(true)
  expect(sent.map(({ body }) => body.toString())).toEqual(['{"n":1}'])
  const at = '2026-03-01T12:00:00.000Z'
  const attempts = [{ attempt: 1, at, outcome: 'delivered', status: 200, error: null }]
  expect(emulator.delivery(id)).toMatchObject({ status: 'delivered', attempts })
  expect(emulator.happened).toEqual([
    {
      ...{ at, kind: 'webhook.delivered', ref: `webhook_deliveries/${id}`, from: 'sending', to: 'delivered' },
      description: `Attempt 1 to deliver thing.made to ${HOOK} succeeded.`,
      caused_by: 'control',
      webhook: { url: HOOK, attempt: 1, status: 200, ms: 0 },
    },
  ])
})

test('a failed attempt reports its cause and the time of the next one, which an advance runs', async () => {
  const emulator = await outboxEmulator({ settings: { 'webhooks.retry': ['10s', '1m'] } })
  const sender = emulator.sender({ send: promptSend(503, 503, 200).send })
  const [{ id } = { id: '' }] = emulator.tell()
  await sender.whenIdle()
  expect(emulator.delivery(id)).toMatchObject({ status: 'waiting', retry_at: '2026-03-01T12:00:10.000Z' })
  await emulator.advance(9_999)
  expect(emulator.delivery(id).attempts).toHaveLength(1)
  await emulator.advance(60_001)
  expect(emulator.delivery(id).attempts.map(({ status }) => status)).toEqual([503, 503, 200])
  expect(emulator.happened.map(({ at, kind, to }) => `${Date.parse(at) - START} ${kind} ${to}`)).toEqual([
    '0 webhook.failed waiting',
    '10000 webhook.retry pending',
    '10000 webhook.failed waiting',
    '70000 webhook.retry pending',
    '70000 webhook.delivered delivered',
  ])
  const cause = 'failed: responded with 503. The next one follows at 2026-03-01T12:00:10.000Z.'
  expect(emulator.happened[0]?.description).toBe(`Attempt 1 to deliver thing.made to ${HOOK} ${cause}`)
})

test('at most 20 requests are in progress at once, across all sandboxes', async () => {
  const slots = new Slots()
  const { send, held } = heldSend()
  for (const emulator of [await outboxEmulator(), await outboxEmulator()]) {
    emulator.sender({ send, slots })
    for (let n = 0; n < 15; n++) emulator.tell({ n })
  }
  await ticks()
  expect(held).toHaveLength(20)
  held[0]?.response(200)
  await ticks()
  expect(held).toHaveLength(21)
})

test('one silent receiver delays at most 20 attempts of its sandbox, and none of other sandboxes', async () => {
  const [emulator, other] = [await outboxEmulator(), await outboxEmulator()]
  const slots = new Slots()
  const { send, held } = heldSend()
  emulator.sender({ send, slots })
  for (let n = 0; n < 40; n++) emulator.tell({ n })
  await ticks()
  for (const request of held.slice(1)) request.response(200)
  await ticks()
  expect(held).toHaveLength(20)
  const prompt = promptSend(200)
  const sender = other.sender({ send: prompt.send, slots })
  for (let n = 0; n < 19; n++) other.tell({ n })
  await sender.whenIdle()
  expect(prompt.sent).toHaveLength(19)
  held[0]?.response(200)
  await ticks()
  expect(held).toHaveLength(40)
})

test('whenIdle() does not wait for a pending delivery that was deleted', async () => {
  const emulator = await outboxEmulator()
  const slots = new Slots(1)
  slots.take(() => {})
  const { send, held } = heldSend()
  const sender = emulator.sender({ send, slots })
  const [{ id } = { id: '' }] = emulator.tell()
  await ticks()
  const settled = sender.whenIdle()
  change(emulator.sandbox, ({ tx }) => tx.delete('webhook_deliveries', id))
  await settled
  expect(held).toEqual([])
})

test('a delivery whose subscription was removed is refused, not sent', async () => {
  const emulator = await outboxEmulator({ settings: { 'webhooks.retry': ['10s'] } })
  const { send, sent } = promptSend(500)
  const sender = emulator.sender({ send })
  const [{ id } = { id: '' }] = emulator.tell()
  await sender.whenIdle()
  change(emulator.sandbox, ({ tx }) => tx.delete('webhooks', subscription.id))
  await emulator.advance(10_000)
  expect(sent).toHaveLength(1)
  const error = 'the subscription was removed before the webhook was sent'
  const attempts = [{ outcome: 'failed' }, { outcome: 'refused', error }]
  expect(emulator.delivery(id)).toMatchObject({ status: 'failed', attempts })
})

test('a delivery is signed with the secret of its subscription, also of one from the settings', async () => {
  const fixed = { url: 'http://127.0.0.1:1/a', secret: 's' }
  const emulator = await outboxEmulator({ webhooks: [], settings: { 'webhooks.subscriptions': [fixed] } })
  const { send, sent } = promptSend(200)
  const sender = emulator.sender({ send })
  emulator.tell()
  await sender.whenIdle()
  expect(sent[0]?.headers['X-Emulator-Signature']).toMatch(/^[0-9a-f]{64}$/)
})

test('an exception while sending is reported as a defect and fails the attempt', async () => {
  const emulator = await outboxEmulator()
  const sender = emulator.sender({ send: () => Promise.reject(new TypeError('oops')) })
  emulator.tell()
  await sender.whenIdle()
  const error = expect.stringContaining('its log has the cause')
  expect(emulator.deliveries()).toMatchObject([{ status: 'failed', attempts: [{ error }] }])
  expect(emulator.defects).toEqual([new TypeError('oops')])
})

test('with a running clock, attempts and outcomes have the instants at which they happen', async () => {
  let host = START
  const settings = { 'webhooks.retry': ['10s'] }
  const emulator = await outboxEmulator({ settings, host: () => host })
  const { send, held } = heldSend()
  const sender = emulator.sender({ send })
  setClock(emulator.sandbox, { rate: 2 })
  emulator.tell()
  host += 1_000
  await ticks()
  host += 500
  held[0]?.response(500)
  await sender.whenIdle()
  expect(emulator.deliveries()).toMatchObject([
    { retry_at: '2026-03-01T12:00:13.000Z', attempts: [{ at: '2026-03-01T12:00:02.000Z' }] },
  ])
  expect(emulator.happened).toMatchObject([{ at: '2026-03-01T12:00:03.000Z', webhook: { ms: 500 } }])
})

test.for(['has no pending work', 'has stopped'])('a woken sender that %s wakes the next one', async (why) => {
  const [first, second] = [await outboxEmulator(), await outboxEmulator()]
  const slots = new Slots(1)
  slots.take(() => {})
  const { send, sent } = promptSend(200)
  const stopped = first.sender({ send, slots })
  const sender = second.sender({ send, slots })
  const [{ id } = { id: '' }] = first.tell()
  second.tell()
  await ticks()
  if (why === 'has no pending work') change(first.sandbox, ({ tx }) => tx.delete('webhook_deliveries', id))
  slots.give()
  if (why === 'has stopped') stopped.stop()
  await sender.whenIdle()
  expect(sent).toHaveLength(1)
})
