import fc from 'fast-check'
import { expect, test } from 'vitest'
import { running, START } from '../../../test/support/running-batch.ts'
import { countsAt } from './outcomes.ts'
import { beatOf, type ItemPace } from './pace.ts'
import {
  amongFirst,
  finishedAt,
  finishedItems,
  loadFinishedAfter,
  pollsUntilAll,
  timeUntilLoad,
  workOrder,
} from './work.ts'

/** The instants (milliseconds) at which one, two and three items of a load are finished. */
function instants(pace: ItemPace, load = { usual: 2, slow: 1 }) {
  return [1, 2, 3].map((n) => timeUntilLoad(beatOf(pace), load, n))
}

test.for([
  [{ per_item: '1s' }, [1_000, 2_000, 12_000]],
  [{ per_item: '1s', concurrency: 50 }, [1_000, 1_000, 11_000]],
  ['30s', [10_000, 20_000, 120_000]],
  ['immediate', [0, 0, 0]],
  ['hold', [undefined, undefined, undefined]],
  [{ polls: 3 }, [undefined, undefined, undefined]],
] as const)('at the pace %o a slow item comes last and takes ten times as long', ([pace, expected]) => {
  expect(instants(pace)).toEqual(expected)
})

test('slow items take ten times as long', () => {
  expect(instants({ per_item: '1s' }, { usual: 0, slow: 3 })).toEqual([10_000, 20_000, 30_000])
})

test('a slow item at a pace of polls takes ten times its share of polls', () => {
  const batch = running(3, { pace: pace({ polls: 3 }), late: { slow: [0], never: [] } })
  const beat = beatOf({ polls: 3 })
  expect(pollsUntilAll(beat, batch)).toBe(12)
  const finished = [0, 1, 2, 11, 12].map((polls) => loadFinishedAfter(beat, { usual: 2, slow: 1 }, 0, polls))
  expect(finished).toEqual([0, 1, 2, 2, 3])
})

test('no number of polls finishes an item that never finishes', () => {
  const batch = running(3, { late: { slow: [], never: [1] } })
  expect(pollsUntilAll(beatOf({ polls: 3 }), batch)).toBeUndefined()
})

test('usual items are processed first in order, then slow ones, and the others never', () => {
  const batch = running(5, { late: { slow: [3, 0], never: [1] } })
  expect([...(workOrder(batch) ?? [])]).toEqual([2, 4, 3, 0, 1])
  expect([0, 1, 2, 3, 4].map(amongFirst(batch, 3))).toEqual([false, false, true, true, true])
})

test('a batch without stragglers has the order of submission, and stores no order', () => {
  const batch = running(3)
  expect(workOrder(batch)).toBeUndefined()
  expect([0, 1, 2].map(amongFirst(batch, 2))).toEqual([true, true, false])
})

test('every version of a batch shares its order', () => {
  const batch = running(3, { late: { slow: [0], never: [] } })
  const later = { ...batch, _emulator: { ...batch._emulator, plan: { ...batch._emulator.plan, seed: 7 } } }
  expect(workOrder(later)).toBe(workOrder(batch))
})

test.for([[{ slow: [3], never: [] }], [{ slow: [1], never: [1] }], [{ slow: [1, 1], never: [] }]])(
  'a record whose stragglers are not its items is refused: %o',
  ([late]) => {
    expect(() => running(3, { late })).toThrow(/must have the index of each item/)
  },
)

function pace(in_progress: ItemPace) {
  return { validating: '1s', in_progress, finalizing: '1s' }
}

const anyPace = fc.oneof(
  fc.constant('immediate'),
  fc.integer({ min: 0, max: 100_000 }).map((ms) => `${ms}ms`),
  fc
    .record({ ms: fc.integer({ min: 0, max: 5_000 }), concurrency: fc.integer({ min: 1, max: 60 }) })
    .map(({ ms, concurrency }) => ({ per_item: `${ms}ms`, concurrency })),
)

const stragglers = fc.integer({ min: 1, max: 30 }).chain((items) =>
  fc
    .tuple(
      fc.constant(items),
      fc.array(fc.constantFrom('usual', 'slow', 'never'), { minLength: items, maxLength: items }),
    )
    .map(([total, kinds]) => {
      const of = (kind: string) => kinds.flatMap((each, index) => (each === kind ? [index] : []))
      return { total, late: { slow: of('slow'), never: of('never') } }
    }),
)

test('an item is finished exactly from its instant on, and counts always add up', () => {
  fc.assert(
    fc.property(
      stragglers,
      anyPace,
      fc.integer({ min: 0, max: 30 }),
      ({ total, late }, in_progress, done) => {
        const most = total - late.never.length
        const batch = running(total, { pace: pace(in_progress), late }, { done: Math.min(done, most) })
        for (let n = 1; n <= total; n++) {
          const instant = finishedAt(batch, n)
          expect(instant === undefined).toBe(n > most)
          if (instant === undefined) continue
          expect(Number.isInteger(instant)).toBe(true)
          expect(finishedItems(batch, instant)).toBeGreaterThanOrEqual(n)
          if (instant > START) expect(finishedItems(batch, instant - 1)).toBeLessThan(n)
          const { total: sum, ...parts } = countsAt(batch, instant)
          expect(Object.values(parts).reduce((all, each) => all + each, 0)).toBe(sum)
        }
        expect(finishedItems(batch, START + 1e12)).toBe(most)
      },
    ),
  )
})
