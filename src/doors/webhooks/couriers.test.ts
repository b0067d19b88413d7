import { expect, test } from 'vitest'
import { outboxWorld } from '../../../test/support/outbox-world.ts'
import { webhookReceiver } from '../../../test/support/webhook-receiver.ts'
import { Couriers } from './couriers.ts'

async function worldFor(url: string) {
  return outboxWorld({ webhooks: [{ id: 'hook', url, created_at: '2026-01-01T00:00:00.000Z' }] })
}

test('nothing is sent before the emulator answers, and then everything, over real connections', async () => {
  const { url, received } = await webhookReceiver()
  const [early, late] = [await worldFor(url), await worldFor(url)]
  const couriers = new Couriers({ targets: [], forbiddenPorts: () => [] })
  const stops = [couriers.attach(early.sandbox)]
  early.tell({ n: 1 })
  await early.advance(1_000)
  expect([received, early.deliveries()[0]?.status]).toEqual([[], 'pending'])
  couriers.open()
  stops.push(couriers.attach(late.sandbox))
  late.tell({ n: 2 })
  await Promise.all([early.advance(0), late.advance(0)])
  expect(received.map(({ body }) => body.n).sort()).toEqual([1, 2])
  for (const stop of stops) stop()
  early.tell({ n: 3 })
  await early.advance(1_000)
  expect(received).toHaveLength(2)
})

test('a world whose courier has stopped before the start is left alone', async () => {
  const { url, received } = await webhookReceiver()
  const world = await worldFor(url)
  const couriers = new Couriers({ targets: [], forbiddenPorts: () => [] })
  couriers.attach(world.sandbox)()
  couriers.open()
  world.tell()
  await world.advance(0)
  expect(received).toEqual([])
})

test('a target that is none is refused at the start', () => {
  expect(() => new Couriers({ targets: ['http://receiver'], forbiddenPorts: () => [] })).toThrow(RangeError)
})
