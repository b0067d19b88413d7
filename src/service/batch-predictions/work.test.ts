import fc from 'fast-check'
import { expect, test } from 'vitest'
import { at, running, START } from '../../../test/support/running-batch.ts'
import { countsAt } from './outcomes.ts'
import type { Batch } from './schema.ts'
import { finishedAt, finishedItems } from './work.ts'

const pace = fc.oneof(
  fc.constant('immediate'),
  fc.constant('hold'),
  fc.integer({ min: 0, max: 100_000 }).map((ms) => `${ms}ms`),
  fc
    .record({ ms: fc.integer({ min: 0, max: 5_000 }), concurrency: fc.integer({ min: 1, max: 60 }) })
    .map(({ ms, concurrency }) => ({ per_item: `${ms}ms`, concurrency })),
)

const rule = fc.record(
  {
    every: fc.integer({ min: 1, max: 4 }),
    probability: fc.double({ min: 0, max: 1, noNaN: true }),
    match: fc.constantFrom({ custom_id: 'item-1*' }, { custom_id: 'item-?' }, { index: 3 }),
    status: fc.constantFrom('succeeded', 'errored'),
  },
  { requiredKeys: [] },
)

const batch = fc
  .record({
    items: fc.integer({ min: 1, max: 60 }),
    pace,
    rules: fc.array(rule, { maxLength: 4 }),
    seed: fc.integer({ min: 0, max: 1_000 }),
  })
  .map(({ items, pace: in_progress, rules, seed }) =>
    running(items, {
      seed,
      pace: { validating: '2s', in_progress, finalizing: '1s' },
      stages: [{ from: 0, outcomes: rules }],
    }),
  )

const instants = fc.array(fc.integer({ min: 0, max: 400_000 }), { minLength: 1, maxLength: 20 })

test('counts add up at every instant, and never decrease with time', {
  tags: ['R086', 'R087', 'R088'],
}, () => {
  fc.assert(
    fc.property(batch, instants, (record, list) => {
      let before = countsAt(record, START)
      for (const ms of list.sort((a, b) => a - b)) {
        const now = countsAt(record, START + ms)
        const { total, processing, succeeded, errored, canceled, expired } = now
        expect(processing + succeeded + errored + canceled + expired).toBe(total)
        expect(total).toBe(record._emulator.request.items.length)
        expect(Math.min(processing, succeeded, errored)).toBeGreaterThanOrEqual(0)
        expect([succeeded >= before.succeeded, errored >= before.errored]).toEqual([true, true])
        expect(processing <= before.processing).toBe(true)
        before = now
      }
    }),
  )
})

test('the predicted instant for n items is the first at which n items are finished', () => {
  fc.assert(
    fc.property(batch, fc.integer({ min: 1, max: 60 }), (record, n) => {
      const instant = finishedAt(record, n)
      if (n > record._emulator.request.items.length || record._emulator.plan.pace.in_progress === 'hold') {
        expect(instant).toBeUndefined()
        return
      }
      expect(instant).toBeDefined()
      expect(finishedItems(record, instant ?? 0)).toBeGreaterThanOrEqual(n)
      if ((instant ?? 0) > START) expect(finishedItems(record, (instant ?? 0) - 1)).toBeLessThan(n)
    }),
  )
})

test('items that were finished before the current pace began stay finished', () => {
  const plan = { pace: { validating: '1s', in_progress: { per_item: '1s' }, finalizing: '1s' } }
  const record = running(10, plan, { since: at(5_000), done: 4 })
  expect([0, 5_999, 6_000, 10_999, 11_000, 99_000].map((ms) => finishedItems(record, START + ms))).toEqual([
    4, 4, 5, 9, 10, 10,
  ])
  expect(finishedAt(record, 4)).toBe(START + 5_000)
  expect(finishedAt(record, 6)).toBe(START + 7_000)
})

test('a held batch finishes no items and predicts no instant', () => {
  const record = running(10, {}, { held: true, done: 2 })
  expect([finishedItems(record, START + 1e9), finishedAt(record, 3)]).toEqual([2, undefined])
})

test('a batch whose processing has not begun predicts no instant', () => {
  const record: Batch = { ...running(3), status: 'validating', in_progress_at: null }
  expect([finishedItems(record, START + 1e9), finishedAt(record, 1)]).toEqual([0, undefined])
})

test('without outcome rules no item is read', () => {
  const record = running(5_000)
  const { request } = record._emulator
  const untouchable = new Proxy(request.items, {
    get: (list, key) => {
      if (key !== 'length') throw new Error(`looked at ${String(key)}`)
      return list.length
    },
  })
  const watched: Batch = {
    ...record,
    _emulator: { ...record._emulator, request: { ...request, items: untouchable } },
  }
  expect(countsAt(watched, START + 1_000)).toMatchObject({ total: 5_000, succeeded: 250 })
  expect(finishedAt(watched, 5_000)).toBe(START + 20_000)
})

const SLOWLY = { pace: { validating: '1s', in_progress: { per_item: '1s' }, finalizing: '1s' } }

/** A batch of ten that ended after four items, of which item-1 is errored. */
function ended(rest: 'errored' | 'canceled' | 'expired'): Batch {
  const plan = { stages: [{ from: 0, outcomes: [{ match: { index: 1 }, status: 'errored' }] }] }
  const status = rest === 'canceled' ? 'cancelled' : rest === 'expired' ? 'expired' : 'failed'
  const record = running(10, plan, { done: 4 })
  return { ...record, status, _emulator: { ...record._emulator, ended: { rest, cause: '' } } }
}

test.for([
  ['errored', { succeeded: 3, errored: 7, canceled: 0, expired: 0 }],
  ['canceled', { succeeded: 3, errored: 1, canceled: 6, expired: 0 }],
  ['expired', { succeeded: 3, errored: 1, canceled: 0, expired: 6 }],
] as const)(
  'of a batch that ended early the unfinished items have become %s',
  { tags: ['R089'] },
  ([rest, counts]) => {
    expect(countsAt(ended(rest), START + 1e9)).toEqual({ total: 10, processing: 0, ...counts })
  },
)

test('a cancelling batch finishes only the items that were in flight', { tags: ['R104'] }, () => {
  const record = running(10, SLOWLY, { most: 3 })
  const cancelling: Batch = { ...record, status: 'cancelling', cancelling_at: at(2_500) }
  expect([0, 1_999, 2_000, 3_000, 9_000].map((ms) => finishedItems(cancelling, START + ms))).toEqual([
    0, 1, 2, 3, 3,
  ])
  expect([3, 4].map((n) => finishedAt(cancelling, n))).toEqual([START + 3_000, undefined])
})

test('the instant of items that are already finished is the start of the current phase, in every state', () => {
  const record: Batch = { ...running(10, SLOWLY, { done: 10, since: at(7_000) }), status: 'finalizing' }
  expect([0, 10, 11].map((n) => finishedAt(record, n))).toEqual([START + 7_000, START + 7_000, undefined])
  expect(finishedAt(running(10, SLOWLY), 11)).toBeUndefined()
})
