import { expect, test, vi } from 'vitest'
import { joinPendingWork, type PendingWork, TURN, Turn } from './turn.ts'

test('each round of the event loop has one turn, even if several wait', async () => {
  const order: string[] = []
  const work = async (name: string) => {
    for (let n = 0; n < 3; n++) {
      await TURN.next()
      order.push(name)
    }
  }
  let isOver = false
  const rounds = (async () => {
    while (!isOver) {
      await new Promise(setImmediate)
      order.push('-')
    }
  })()
  await Promise.all([work('a'), work('b')])
  isOver = true
  await rounds
  // There is a round of the loop between any two turns.
  expect(order.join('')).toMatch(/^-*(a-+b-+|b-+a-+){3}$/)
})

test('a turn is over after its events or its time, and the next one starts again', async () => {
  let elapsed = 0
  const turn = new Turn({ events: 2, ms: 10, next: async () => {} }, () => elapsed)
  expect([turn.isOver, turn.count(), turn.count()]).toEqual([false, false, true])
  await turn.next()
  expect(turn.isOver).toBe(false)
  elapsed = 10
  expect(turn.isOver).toBe(true)
  await turn.next()
  expect(turn.count()).toBe(false)
})

test('a turn begins even if a test has replaced the timers', async () => {
  vi.useFakeTimers()
  try {
    await TURN.next()
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
