import fc from 'fast-check'
import { expect, test } from 'vitest'
import { DEFAULT_LIMIT } from '../core-assumptions.ts'
import { RateLimiter } from './rate-limiter.ts'

const T0 = 1_772_366_400_000

function requests(limiter: RateLimiter, count: number, now: number): number {
  let admitted = 0
  for (let n = 0; n < count; n++) if (limiter.admit('w', DEFAULT_LIMIT, now).admitted) admitted += 1
  return admitted
}

test('reset is the second at which the oldest request has left', { tags: ['R261', 'T05'] }, () => {
  const limiter = new RateLimiter()
  for (const ms of [1, 999, 30_000])
    expect(limiter.admit('w', DEFAULT_LIMIT, T0 + ms).reset).toBe(T0 / 1000 + 61)
  const fresh = { admitted: true, limit: 200, remaining: 200, reset: T0 / 1000 + 60, wait: 60 }
  expect(new RateLimiter().peek('', DEFAULT_LIMIT, T0)).toEqual(fresh)
  const later = { reset: T0 / 1000 + 61, wait: 60 }
  expect(new RateLimiter().peek('', DEFAULT_LIMIT, T0 + 999)).toMatchObject(later)
})

test('a place that is given back is free again, if it was taken', { tags: ['T04'] }, () => {
  const limiter = new RateLimiter()
  const limit = { limit: 2, window: 1_000 }
  for (const now of [0, 10]) limiter.admit('a', limit, now)
  limiter.release('a', 0)
  limiter.release('a', 5)
  limiter.release('b', 10)
  expect(limiter.save()).toEqual([{ id: 'a', hits: [10] }])
})

test('with enforcement off a window keeps only as many requests as it admits', () => {
  const limiter = new RateLimiter()
  for (let n = 1; n <= 250; n++) limiter.admit('w', DEFAULT_LIMIT, T0 + n, false)
  const [window] = limiter.save()
  expect([window?.hits.length, window?.hits[0], window?.hits.at(-1)]).toEqual([200, T0 + 51, T0 + 250])
})

/** Requests to three windows of one limiter; the gaps are shares of its duration. */
const arrivals = fc.array(
  fc.record({ gap: fc.nat({ max: 333 }), key: fc.constantFrom('a', 'b', '__proto__') }),
  { minLength: 1, maxLength: 60 },
)
const rules = fc.record({
  limit: fc.integer({ min: 1, max: 8 }),
  window: fc.constantFrom(1_000, 10_000, 60_000, 3_600_000),
})

// The definition as code: what counts are the requests that were admitted in the last `window` ms.
test('the limiter follows its definition, and Retry-After is the shortest wait', {
  tags: ['R256', 'R260', 'R261', 'R262', 'R263', 'R295', 'T04'],
}, () => {
  fc.assert(
    fc.property(arrivals, rules, (sent, rule) => {
      const limiter = new RateLimiter()
      const admitted = new Map<string, number[]>()
      let now = T0
      for (const { gap, key } of sent) {
        now += (gap * rule.window) / 1_000
        const before = (admitted.get(key) ?? []).filter((at) => at > now - rule.window)
        const free = rule.limit - before.length
        const admission = limiter.admit(key, rule, now)
        expect(admission).toMatchObject({ free, admitted: free > 0, remaining: Math.max(0, free - 1) })
        if (free > 0) admitted.set(key, [...before, now])
        expect(admission.retryAfter).toBe(admission.remaining === 0 ? admission.wait : undefined)
        expect(admission.reset * 1000).toBeGreaterThanOrEqual(now + (admission.wait - 1) * 1000)
        expect(admission.reset).toBeLessThanOrEqual(Math.ceil((now + rule.window) / 1000))
        expect(admission.wait).toBeGreaterThanOrEqual(1)
        expect(admission.wait).toBeLessThanOrEqual(rule.window / 1000)
        if (admission.retryAfter === undefined) continue
        const copy = new RateLimiter()
        copy.load(limiter.save())
        // The wait is the shortest in whole seconds: one second less is too early.
        expect(copy.peek(key, rule, now + (admission.wait - 1) * 1000).admitted).toBe(false)
        expect(copy.peek(key, rule, now + admission.wait * 1000).admitted).toBe(true)
        expect(copy.peek(key, rule, admission.reset * 1000).admitted).toBe(true)
      }
    }),
    { numRuns: 1_000 },
  )
})

test('requests with a later instant, from another clock, do not count', { tags: ['T07'] }, () => {
  const limiter = new RateLimiter()
  requests(limiter, 200, T0 + 1_000_000)
  expect(limiter.admit('w', DEFAULT_LIMIT, T0)).toMatchObject({ admitted: true, remaining: 199 })
})

test('fill removes the oldest requests first, and adds new ones at this instant', () => {
  const rule = { limit: 4, window: 60_000 }
  const limiter = new RateLimiter()
  for (const at of [T0, T0 + 1, T0 + 2]) limiter.admit('w', rule, at)
  limiter.fill('w', rule, T0 + 5, 2)
  expect(limiter.save()).toEqual([{ id: 'w', hits: [T0 + 1, T0 + 2] }])
  limiter.fill('w', rule, T0 + 5, 1)
  expect(limiter.save()).toEqual([{ id: 'w', hits: [T0 + 1, T0 + 2, T0 + 5] }])
})

test('a lowered limit frees a place when fewer requests are in the window', { tags: ['R261'] }, () => {
  const limiter = new RateLimiter()
  for (const at of [T0, T0 + 10_000, T0 + 20_000]) limiter.admit('w', { limit: 3, window: 60_000 }, at)
  const lowered = { limit: 2, window: 60_000 }
  const refused = limiter.peek('w', lowered, T0 + 30_000)
  expect(refused).toMatchObject({ admitted: false, reset: T0 / 1000 + 70, retryAfter: 40 })
  expect(limiter.peek('w', lowered, T0 + 69_999).admitted).toBe(false)
  expect(limiter.peek('w', lowered, T0 + 70_000).admitted).toBe(true)
})

test('a window that was only read with peek is not saved', () => {
  const limiter = new RateLimiter()
  limiter.peek('looked at', DEFAULT_LIMIT, T0)
  limiter.admit('asked', DEFAULT_LIMIT, T0)
  expect(limiter.save()).toEqual([{ id: 'asked', hits: [T0] }])
})

test('10,000 windows are kept; before one more is created, the expired ones are dropped', () => {
  const limiter = new RateLimiter()
  const rule = { limit: 5, window: 60_000 }
  for (let n = 0; n < 9_999; n++) limiter.admit(`w${n}`, rule, n < 5_000 ? T0 : T0 + 1)
  limiter.admit('the last one', rule, T0 + 60_000)
  expect(limiter.save()).toHaveLength(10_000)
  limiter.admit('one more', rule, T0 + 60_000)
  expect(limiter.save()).toHaveLength(10_000 - 5_000 + 1)
  expect(limiter.save()[0]?.id).toBe('w5000')
})
