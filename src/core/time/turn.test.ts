import { expect, test, vi } from 'vitest'
import { nextTurn } from './real.ts'
import { Turn } from './turn.ts'

test('a turn is over after 10 ms, and the next one starts again after a round of the event loop', async () => {
  const clock = { elapsed: 0 }
  const turn = new Turn(() => clock.elapsed)
  clock.elapsed = 9
  expect(turn.isOver).toBe(false)
  clock.elapsed = 10
  expect(turn.isOver).toBe(true)
  const order: string[] = []
  setImmediate(() => order.push('other work'))
  await turn.next().then(() => order.push('next turn'))
  expect(order).toEqual(['other work', 'next turn'])
  expect(turn.isOver).toBe(false)
})

test('a turn begins even if a test has replaced the timers', async () => {
  vi.useFakeTimers()
  try {
    await nextTurn()
  } finally {
    vi.useRealTimers()
  }
})
