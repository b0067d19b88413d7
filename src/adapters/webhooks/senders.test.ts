import { expect, test } from 'vitest'
import { webhookReceiver } from '../../../test/support/webhook-receiver.ts'
import { outboxEmulator } from '../../../test/support/webhook-sandbox.ts'
import { webhookSenders } from './senders.ts'

async function emulatorFor(url: string) {
  return outboxEmulator({ webhooks: [{ id: 'hook', url, created_at: '2026-01-01T00:00:00.000Z' }] })
}

test('webhooks wait until open() is called and are then sent over real connections', async () => {
  const { url, received } = await webhookReceiver()
  const [early, late] = [await emulatorFor(url), await emulatorFor(url)]
  const senders = webhookSenders({ targets: [], forbiddenPorts: () => [] })
  const stops = [senders.attach(early.sandbox)]
  early.tell({ n: 1 })
  await early.advance(1_000)
  expect([received, early.deliveries()[0]?.status]).toEqual([[], 'pending'])
  senders.open()
  stops.push(senders.attach(late.sandbox))
  late.tell({ n: 2 })
  await Promise.all([early.advance(0), late.advance(0)])
  expect(received.map(({ body }) => body.n).sort()).toEqual([1, 2])
  for (const stop of stops) stop()
  early.tell({ n: 3 })
  await early.advance(1_000)
  expect(received).toHaveLength(2)
})

test('a sender that is stopped before open() sends nothing', async () => {
  const { url, received } = await webhookReceiver()
  const emulator = await emulatorFor(url)
  const senders = webhookSenders({ targets: [], forbiddenPorts: () => [] })
  senders.attach(emulator.sandbox)()
  senders.open()
  emulator.tell()
  await emulator.advance(0)
  expect(received).toEqual([])
})

test('a malformed target is refused at the start', () => {
  expect(() => webhookSenders({ targets: ['http://receiver'], forbiddenPorts: () => [] })).toThrow(RangeError)
})
