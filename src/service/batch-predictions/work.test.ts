import fc from 'fast-check'
import { expect, test } from 'vitest'
import { forAll } from '../../../test/support/for-all.ts'
import { at, running, START } from '../../../test/support/running-batch.ts'
import { countsAt } from './outcomes.ts'
import { beatOf, type ItemPace } from './pace.ts'
import type { Batch } from './schema.ts'
import {
  amongFirst,
  finishedAt,
  finishedItems,
  loadFinishedAfter,
  pollsUntilAll,
  timeUntilLoad,
  workOrder,
} from './work.ts'

const paced = (in_progress: ItemPace) => ({ validating: '1s', in_progress, finalizing: '1s' })

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

/** Items of each kind, of which the slow and the endless ones are stragglers. */
const kinds = fc.array(fc.constantFrom('usual', 'usual', 'slow', 'never'), { minLength: 1, maxLength: 60 })

const batch = fc
  .record({ kinds, pace, rules: fc.array(rule, { maxLength: 4 }), seed: fc.nat(1_000), done: fc.nat(30) })
  .map(({ kinds, pace: in_progress, rules, seed, done }) => {
    const of = (kind: string) => kinds.flatMap((each, index) => (each === kind ? [index] : []))
    const late = { slow: of('slow'), never: of('never') }
    const most = kinds.length - late.never.length
    const plan = { seed, pace: paced(in_progress), stages: [{ from: 0, outcomes: rules }], late }
    return { record: running(kinds.length, plan, { done: Math.min(done, most) }), most }
  })

const instants = fc.array(fc.integer({ min: 0, max: 400_000 }), { minLength: 1, maxLength: 20 })

test('counts add up at every instant, and never decrease', { tags: ['R086', 'R087', 'R088'] }, () =>
  forAll(batch, instants, ({ record }, list) => {
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

test('an item is finished exactly from its predicted instant on, and an item that never finishes has none', () =>
  forAll(batch, ({ record, most }) => {
    const { plan, progress, request } = record._emulator
    const last = plan.pace.in_progress === 'hold' ? progress.done : most
    for (let n = 1; n <= request.items.length + 1; n++) {
      const instant = finishedAt(record, n)
      expect(instant === undefined).toBe(n > last)
      if (instant === undefined) continue
      expect(Number.isInteger(instant)).toBe(true)
      expect(finishedItems(record, instant)).toBeGreaterThanOrEqual(n)
      if (instant > START) expect(finishedItems(record, instant - 1)).toBeLessThan(n)
    }
    expect(finishedItems(record, START + 1e12)).toBe(last)
  }))

test('items that were finished before the current pace began stay finished', () => {
  const record = running(10, { pace: paced({ per_item: '1s' }) }, { since: at(5_000), done: 4 })
  const seen = [0, 5_999, 6_000, 10_999, 11_000, 99_000].map((ms) => finishedItems(record, START + ms))
  expect(seen).toEqual([4, 4, 5, 9, 10, 10])
  expect([finishedAt(record, 4), finishedAt(record, 6)]).toEqual([START + 5_000, START + 7_000])
})

test('a held batch, and one whose processing has not begun, finish no items and predict no instant', () => {
  const held = running(10, {}, { held: true, done: 2 })
  expect([finishedItems(held, START + 1e9), finishedAt(held, 3)]).toEqual([2, undefined])
  const early: Batch = { ...running(3), status: 'validating', in_progress_at: null }
  expect([finishedItems(early, START + 1e9), finishedAt(early, 1)]).toEqual([0, undefined])
})

test('without outcome rules no item is read', () => {
  const record = running(5_000)
  const { request } = record._emulator
  const items = new Proxy(request.items, {
    get: (list, key) => {
      if (key !== 'length') throw new Error(`looked at ${String(key)}`)
      return list.length
    },
  })
  const watched: Batch = { ...record, _emulator: { ...record._emulator, request: { ...request, items } } }
  expect(countsAt(watched, START + 1_000)).toMatchObject({ total: 5_000, succeeded: 250 })
  expect(finishedAt(watched, 5_000)).toBe(START + 20_000)
})

test('a cancelling batch predicts an instant only for the items that it finishes', { tags: ['R104'] }, () => {
  const record = running(10, { pace: paced({ per_item: '1s' }) }, { most: 3 })
  const cancelling: Batch = { ...record, status: 'cancelling', cancelling_at: at(2_500) }
  expect([3, 4].map((n) => finishedAt(cancelling, n))).toEqual([START + 3_000, undefined])
})

test('the instant of items that are already finished is the start of the current phase', () => {
  const record: Batch = { ...running(10, {}, { done: 10, since: at(7_000) }), status: 'finalizing' }
  expect([0, 10, 11].map((n) => finishedAt(record, n))).toEqual([START + 7_000, START + 7_000, undefined])
})

test.for([
  [{ per_item: '1s' }, [1_000, 2_000, 12_000]],
  [{ per_item: '1s', concurrency: 50 }, [1_000, 1_000, 11_000]],
  ['30s', [10_000, 20_000, 120_000]],
  ['immediate', [0, 0, 0]],
  ['hold', [undefined, undefined, undefined]],
  [{ polls: 3 }, [undefined, undefined, undefined]],
] as const)('at the pace %o a slow item comes last and takes ten times as long', ([pace, expected]) => {
  const load = { usual: 2, slow: 1 }
  expect([1, 2, 3].map((n) => timeUntilLoad(beatOf(pace), load, n))).toEqual(expected)
})

test('a slow item takes ten times its share of polls, and no number of polls finishes an endless one', () => {
  const beat = beatOf({ polls: 3 })
  expect(pollsUntilAll(beat, running(3, { late: { slow: [0], never: [] } }))).toBe(12)
  const finished = [0, 1, 2, 11, 12].map((polls) => loadFinishedAfter(beat, { usual: 2, slow: 1 }, 0, polls))
  expect(finished).toEqual([0, 1, 2, 2, 3])
  expect(pollsUntilAll(beat, running(3, { late: { slow: [], never: [1] } }))).toBeUndefined()
})

test('usual items are processed first in order, then slow ones, and the others never', () => {
  const batch = running(5, { late: { slow: [3, 0], never: [1] } })
  expect([...(workOrder(batch) ?? [])]).toEqual([2, 4, 3, 0, 1])
  expect([0, 1, 2, 3, 4].map(amongFirst(batch, 3))).toEqual([false, false, true, true, true])
  const later = { ...batch, _emulator: { ...batch._emulator, plan: { ...batch._emulator.plan, seed: 7 } } }
  expect(workOrder(later)).toBe(workOrder(batch))
})

test('a batch without stragglers has the order of submission, and stores no order', () => {
  const batch = running(3)
  expect(workOrder(batch)).toBeUndefined()
  expect([0, 1, 2].map(amongFirst(batch, 2))).toEqual([true, true, false])
})

test.for([
  { slow: [3], never: [] },
  { slow: [1], never: [1] },
  { slow: [1, 1], never: [] },
])('a record cannot have the stragglers %o', (late) => {
  expect(() => running(3, { late })).toThrow(/must have the index of each item/)
})
