import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { JsonObject } from '../json.ts'
import { diff, patch } from './diff.ts'

const key = fc.oneof(fc.constantFrom('__proto__', 'constructor', 'toString', ''), fc.string({ maxLength: 3 }))
const { object } = fc.letrec<{ object: JsonObject; value: JsonObject[string] }>((tie) => ({
  object: fc.array(fc.tuple(key, tie('value')), { maxLength: 5 }).map((pairs) => Object.fromEntries(pairs)),
  value: fc.oneof(
    { maxDepth: 3 },
    fc.jsonValue({ maxDepth: 1 }) as fc.Arbitrary<JsonObject[string]>,
    tie('object'),
  ),
}))

test('a difference turns the one object into the other, whatever their keys', () => {
  fc.assert(
    fc.property(object, object, (before, after) => {
      const result = patch(before, JSON.parse(JSON.stringify(diff(before, after))))
      expect(sorted(result)).toBe(sorted(JSON.parse(JSON.stringify(after))))
    }),
    { numRuns: 2_000 },
  )
})

test('parts that are the same object are neither looked into nor named', () => {
  const items = Array.from({ length: 5_000 }, (_, n) => ({ custom_id: `item-${n}` }))
  const before = { id: 'b', status: 'validating', _emulator: { items, plan: { seed: 1 } } }
  const after = { ...before, status: 'in_progress' }
  expect(diff(before, after)).toEqual([[['status'], 'in_progress']])
})

test('a patch shares what it does not touch', () => {
  const before = { a: { b: 1 }, c: { d: 2 } }
  const after = patch(before, [[['a', 'b'], 5]])
  expect(after).toEqual({ a: { b: 5 }, c: { d: 2 } })
  expect(after.c).toBe(before.c)
  expect(before.a.b).toBe(1)
})

test('a member named __proto__ is a member and changes no prototype', () => {
  const after = patch({}, [[['__proto__'], { polluted: true }]])
  expect(Object.keys(after)).toEqual(['__proto__'])
  expect(({} as { polluted?: boolean }).polluted).toBeUndefined()
})

function sorted(value: unknown): string {
  return JSON.stringify(value, (_key, each) =>
    typeof each === 'object' && each !== null && !Array.isArray(each)
      ? Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1))
      : each,
  )
}
