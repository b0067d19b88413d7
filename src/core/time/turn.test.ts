import { expect, test, vi } from 'vitest'
import { nextTurn } from './real.ts'
import { joinPendingWork, type PendingWork, Turn } from './turn.ts'

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

/** Work that is pending a number of times; each time it is done, `next` may give work to another. */
function busy(times: number, next: () => void = () => {}): PendingWork & { give(): void } {
  let left = times
  return {
    give: () => {
      left += 1
    },
    get isIdle() {
      return left === 0
    },
    isRequesting: false,
    whenIdle: async () => {
      if (left === 0) return
      left -= 1
      next()
    },
  }
}

test('joined work is idle when both parts are idle', () => {
  expect(joinPendingWork(busy(0), busy(0)).isIdle).toBe(true)
  expect(joinPendingWork(busy(1), busy(0)).isIdle).toBe(false)
  expect(joinPendingWork(busy(0), busy(1)).isIdle).toBe(false)
})

test('joined work is idle when neither part has work for the other', async () => {
  const second = busy(0)
  const first = busy(3, () => second.give())
  const all = joinPendingWork(first, second)
  await all.whenIdle()
  expect([all.isIdle, first.isIdle, second.isIdle]).toEqual([true, true, true])
})

test('joining work with nothing returns the work itself', () => {
  const alone = busy(1)
  expect(joinPendingWork(undefined, alone)).toBe(alone)
})

test('joined work reports a pending request and the error of a part', async () => {
  const broken: PendingWork = {
    isIdle: false,
    isRequesting: true,
    whenIdle: () => Promise.reject(new Error('disk full')),
  }
  const requests = [busy(1), broken].map((each) => joinPendingWork(busy(1), each).isRequesting)
  expect(requests).toEqual([false, true])
  await expect(joinPendingWork(busy(1), broken).whenIdle()).rejects.toThrow('disk full')
})
