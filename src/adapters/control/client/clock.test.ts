import { expect, test } from 'vitest'
import type { AdvanceResult } from '../../../core/time/scheduler.ts'
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

/** Answers each call with the next result, and keeps what was asked. */
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
])('%j goes on as %j until it is reached', async ([target, next]) => {
  const { asked, call } = responding(
    result(NOON, NOON, { stopped }),
    result(NOON, ONE, { stopped }),
    result(ONE, TWO),
  )
  expect(await advanceToTarget(call, target)).toEqual(result(NOON, TWO))
  expect(asked).toEqual([target, next, next])
})

test('more steps than one call makes are several calls', async () => {
  const { asked, call } = responding(result(NOON, ONE), result(ONE, TWO), result(TWO, TWO))
  expect(await advanceToTarget(call, { steps: 250_000 })).toEqual(result(NOON, TWO))
  expect(asked).toEqual([{ steps: 100_000 }, { steps: 100_000 }, { steps: 50_000 }])
})

test('a limit that the caller has set is one call, with what it answers', async () => {
  const first = result(NOON, ONE, { stopped })
  const { asked, call } = responding(first)
  expect(await advanceToTarget(call, { by: '2h', max_events: 5 })).toBe(first)
  expect(asked).toEqual([{ by: '2h', max_events: 5 }])
})

test('the results of all calls are one: the first thousand of each list, and the others by kind', async () => {
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
