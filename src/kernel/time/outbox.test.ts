import { expect, test } from 'vitest'
import { both, type Outbox } from './outbox.ts'

/** Something to do, so many times; each time it is done gives the other something to do. */
function busy(times: number, next: () => void = () => {}): Outbox & { give(): void } {
  let left = times
  return {
    give: () => {
      left += 1
    },
    get isIdle() {
      return left === 0
    },
    settled: async () => {
      if (left === 0) return
      left -= 1
      next()
    },
  }
}

test('two are idle when both are', () => {
  expect(both(busy(0), busy(0)).isIdle).toBe(true)
  expect(both(busy(1), busy(0)).isIdle).toBe(false)
  expect(both(busy(0), busy(1)).isIdle).toBe(false)
})

test('two have settled when neither has given the other anything to do any more', async () => {
  const second = busy(0)
  const first = busy(3, () => second.give())
  const all = both(first, second)
  await all.settled()
  expect([all.isIdle, first.isIdle, second.isIdle]).toEqual([true, true, true])
})

test('one alone needs no company', () => {
  const alone = busy(1)
  expect(both(undefined, alone)).toBe(alone)
})

test('what keeps one from settling is told', async () => {
  const broken: Outbox = { isIdle: false, settled: () => Promise.reject(new Error('disk full')) }
  await expect(both(busy(1), broken).settled()).rejects.toThrow('disk full')
})
