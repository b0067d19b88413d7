import { expect, test } from 'vitest'
import { clockwork, event, START } from '../../../test/support/clockwork.ts'

test('events that were moved leave nothing behind for good, and the order stays that of due and seq', async () => {
  const world = await clockwork()
  for (let round = 100; round > 0; round--) {
    world.change(({ schedule }) => {
      for (let n = 0; n < 50; n++) schedule(event('tick', `r/${n}`, START + round * 1_000 + (n % 7)))
    })
  }
  expect(world.scheduler.length).toBeLessThan(1_200)
  const { events } = await world.advance({ to: () => START + 2_000 })
  const order = Array.from({ length: 50 }, (_, n) => n).sort((a, b) => (a % 7) - (b % 7) || a - b)
  expect(events.map(({ ref }) => ref)).toEqual(order.map((n) => `r/${n}`))
})
