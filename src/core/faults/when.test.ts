import { expect, test } from 'vitest'
import { ruleOf } from '../../../test/support/fault-book.ts'
import type { CountedBy, FaultRule, When } from './rule.ts'
import { countedBy, type Occasion, retired, timing } from './when.ts'

const NOW = Date.parse('2026-03-01T12:00:00.000Z')

function at(n: number, when: When, over: Partial<Occasion> = {}) {
  return timing({ rule: ruleOf('r', { when }), n, key: null, now: NOW, wall: NOW, seed: 1, ...over })
}

test.for<[by: When['by'], counted: readonly CountedBy[]]>([
  [undefined, []],
  ['rule', []],
  ['tag', ['tag']],
  [['rule', 'tag'], ['tag']],
])('a rule that says by: %j counts by %j', ([by, counted]) => {
  expect(countedBy({ by })).toEqual(counted)
})

test.for<[rule: Partial<FaultRule>, fired: number, ms: number, description: string | undefined]>([
  [{}, 1_000, 10 ** 12, undefined],
  [{ times: 2 }, 1, 0, undefined],
  [{ times: 2 }, 2, 0, 'It has fired 2 times, its maximum.'],
  [{ times: 2 }, 3, 0, 'It has fired 3 times, its maximum.'],
  [{ times: 0 }, 0, 0, 'It has fired 0 times, its maximum.'],
  [{ ttl: '1m' }, 0, 59_999, undefined],
  [{ ttl: '1m' }, 0, 60_000, 'Its time to live of 1m is over.'],
])('a rule with %j that fired %d times, %d ms after its arming: %s', ([rule, fired, ms, description]) => {
  expect(retired(ruleOf('r', rule), fired, NOW + ms)).toBe(description)
})

test.for<[when: When, n: number, description: string]>([
  [{}, 3, 'It fired on match number 3.'],
  [{ nth: 3 }, 3, 'It fired on match number 3.'],
  [{ first: 3 }, 3, 'It fired on match number 3.'],
  [{ after: 3 }, 4, 'It fired on match number 4.'],
  [{ every: 3, first: 6 }, 6, 'It fired on match number 6.'],
  [{ until: { calls: 3 } }, 3, 'It fired on match number 3.'],
  [{ probability: 1 }, 3, 'It fired on match number 3.'],
  [{ from: '2026-03-01T12:00:00.000Z' }, 1, 'It fired on match number 1.'],
  [{ until: { virtual_time: '2026-03-01T12:00:00.001Z', wall_ms: 1 } }, 1, 'It fired on match number 1.'],
  [{ sequence: ['pass', 'fail'] }, 2, 'It fired on match number 2, for which its sequence contains "fail".'],
  [{ sequence: ['pass', 'fail'] }, 9, 'It fired on match number 9, for which its sequence contains "fail".'],
])('a rule with %j fires on match %d', ([when, n, description]) => {
  expect(at(n, when)).toMatchObject({ fires: true, description })
})

test.for<[when: When, n: number, description: string]>([
  [{ nth: 3 }, 2, 'This is match number 2; it fires on number 3.'],
  [{ nth: 3 }, 4, 'This is match number 4; it fires on number 3.'],
  [{ first: 3 }, 4, 'This is match number 4; it fires on the first 3.'],
  [{ after: 3 }, 3, 'This is match number 3; it fires after the first 3.'],
  [{ every: 3 }, 4, 'This is match number 4; it fires on every multiple of 3.'],
  [{ every: 3, first: 5 }, 6, 'This is match number 6; it fires on the first 5.'],
  [{ after: 1, until: { calls: 3 } }, 1, 'This is match number 1; it fires after the first 1.'],
  [{ until: { calls: 1 } }, 2, 'This is match number 2; it fires only up to number 1.'],
  [{ until: { virtual_time: '2026-03-01T12:00:00.000Z' } }, 1, 'It fired until 2026-03-01T12:00:00.000Z.'],
  [{ until: { wall_ms: 0 } }, 1, 'It fired for 0 ms after it was armed.'],
  [{ from: '2026-03-01T12:00:00.001Z' }, 1, 'It fires from 2026-03-01T12:00:00.001Z on.'],
  [{ sequence: ['pass', 'fail'] }, 1, 'On match number 1 its sequence contains "pass".'],
  [{ sequence: [] }, 1, 'On match number 1 its sequence contains "pass".'],
])('a rule with %j does not fire on match %d', ([when, n, description]) => {
  expect(at(n, when)).toEqual({ fires: false, description })
})

test('only the first reason not to fire is reported', () => {
  const from = '2026-03-01T13:00:00.000Z'
  const virtual_time = '2026-03-01T11:00:00.000Z'
  expect(at(2, { from, until: { virtual_time }, nth: 1 }).description).toContain('It fires from')
  expect(at(2, { until: { virtual_time }, nth: 1 }).description).toContain('It fired until')
  expect(at(2, { nth: 1, probability: 0 }).description).toContain('it fires on number 1')
  expect(at(2, { sequence: ['fail'], probability: 0 }).description).toContain('The draw')
})

test('a draw is reported with its probability, and is below it exactly when the rule fires', () => {
  for (let n = 1; n <= 50; n++) {
    const { fires, description } = at(n, { probability: 0.3 })
    const told =
      /^(It fired\. )?The draw for match number (\d+) was (0\.\d{4}) against a probability of 0\.3\.$/
    const [, fired, number, draw] = told.exec(description) ?? []
    expect([fired !== undefined, Number(number)]).toEqual([fires, n])
    if (draw !== '0.3000') expect(Number(draw) < 0.3).toBe(fires)
  }
})

test('each key has its own draws', () => {
  const draws = (key: string | null) =>
    Array.from({ length: 30 }, (_, n) => at(n + 1, { probability: 0.5 }, { key }).fires)
  expect(draws('a')).not.toEqual(draws('b'))
  expect(draws(null)).toEqual(draws(''))
})
