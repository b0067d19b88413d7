import { expect, test } from 'vitest'
import type { PendingWork } from '../time/turn.ts'
import { Deliveries } from './deliveries.ts'

/** Work that is pending a number of times; each time it is done, `next` may give work to another. */
class Busy implements PendingWork {
  readonly isRequesting = false
  times: number
  readonly #next: () => void

  constructor(times: number, next = () => {}) {
    this.times = times
    this.#next = next
  }

  get isIdle() {
    return this.times === 0
  }

  async whenIdle() {
    if (this.times === 0) return
    this.times -= 1
    this.#next()
  }
}
const busy = (times: number, next?: () => void) => new Busy(times, next)

function joined(...works: readonly PendingWork[]): Deliveries {
  const deliveries = new Deliveries()
  for (const work of works) deliveries.add(work)
  return deliveries
}

test('joined work is idle when both parts are idle', () => {
  const idle = [joined(busy(0), busy(0)), joined(busy(1), busy(0)), joined(busy(0), busy(1))]
  expect(idle.map(({ isIdle }) => isIdle)).toEqual([true, false, false])
})

test('joined work is idle when neither part has work for the other', async () => {
  const second = busy(0)
  const first = busy(3, () => (second.times += 1))
  const all = joined(first, second)
  await all.whenIdle()
  expect([all.isIdle, first.isIdle, second.isIdle]).toEqual([true, true, true])
})

test('joined work reports a pending request and the error of a part', async () => {
  const whenIdle = () => Promise.reject(new Error('disk full'))
  const broken: PendingWork = { isIdle: false, isRequesting: true, whenIdle }
  const requests = [busy(1), broken].map((each) => joined(busy(1), each).isRequesting)
  expect(requests).toEqual([false, true])
  await expect(joined(busy(1), broken).whenIdle()).rejects.toThrow('disk full')
})

test('work that was removed is not waited for', () => {
  const deliveries = new Deliveries()
  const remove = deliveries.add(busy(1))
  expect(deliveries.isIdle).toBe(false)
  remove()
  expect(deliveries.isIdle).toBe(true)
})
