import { expect, test } from 'vitest'
import type { AdvanceResult } from '../core/time/scheduler.ts'
import { advanceToTarget, type TargetOf } from './clock.ts'

type Target = TargetOf<{ readonly batch: string }>

const NOON = '2026-03-01T12:00:00.000Z'
const ONE = '2026-03-01T13:00:00.000Z'
const TWO = '2026-03-01T14:00:00.000Z'

function event(kind: string, n: number) {
  return { at: NOON, kind, ref: `r/${n}`, description: kind, caused_by: 'control' }
}

function result(from: string, to: string, rest: Partial<AdvanceResult> = {}): AdvanceResult {
  return { from, to, events: [], failed: [], ...rest }
}

/** Responds to each call with the next result, and keeps the targets. */
function responding(...results: readonly AdvanceResult[]) {
  const asked: Target[] = []
  const call = async (target: Target) => {
    asked.push(target)
    return results[asked.length - 1] ?? result(NOON, NOON)
  }
  return { asked, call }
}

const stopped = 'limit'

test.for<[Target, Target]>([
  [{ by: '2h' }, { to: TWO }],
  [{ to: TWO }, { to: TWO }],
  [{ until: { batch: 'b1' } }, { until: { batch: 'b1' } }],
])('an advance to %j continues with %j until the target is reached', async ([target, next]) => {
  const first = result(NOON, NOON, { stopped })
  const { asked, call } = responding(first, result(NOON, ONE, { stopped }), result(ONE, TWO))
  expect(await advanceToTarget(call, target)).toEqual(result(NOON, TWO))
  expect(asked).toEqual([target, next, next])
})

test('an advance of more than 100,000 steps makes several calls', async () => {
  const { asked, call } = responding(result(NOON, ONE), result(ONE, TWO), result(TWO, TWO))
  expect(await advanceToTarget(call, { steps: 250_000 })).toEqual(result(NOON, TWO))
  expect(asked).toEqual([{ steps: 100_000 }, { steps: 100_000 }, { steps: 50_000 }])
})

test('an advance with max_events makes one call and returns its result', async () => {
  const first = result(NOON, ONE, { stopped })
  const { asked, call } = responding(first)
  expect(await advanceToTarget(call, { by: '2h', max_events: 5 })).toBe(first)
  expect(asked).toEqual([{ by: '2h', max_events: 5 }])
})

test('the results of several calls are joined: the first 1,000 events are listed, the others are counted by kind', async () => {
  const list = (kind: string, count: number) => Array.from({ length: count }, (_, n) => event(kind, n))
  const { call } = responding(
    result(NOON, ONE, { stopped, events: list('a', 800), failed: [{ ...event('x', 0), error: 'no' }] }),
    result(ONE, TWO, { stopped, events: list('b', 300), omitted: { a: 7 } }),
    result(TWO, TWO, { events: list('a', 2), omitted: { b: 1, c: 5 } }),
  )
  const joined = await advanceToTarget(call, { to: TWO })
  expect(joined).toMatchObject({ from: NOON, to: TWO, omitted: { a: 9, b: 101, c: 5 } })
  expect(joined.events).toEqual([...list('a', 800), ...list('b', 200)])
  expect(joined.failed).toHaveLength(1)
  expect(joined).not.toHaveProperty('stopped')
})
