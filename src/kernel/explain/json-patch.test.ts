import fc from 'fast-check'
import { expect, test } from 'vitest'
import { applyPatch } from '../../../test/support/apply-patch.ts'
import type { Json, JsonObject } from '../json.ts'
import type { Row } from '../state/commit.ts'
import { jsonPatch } from './json-patch.ts'

const key = fc.constantFrom('a', 'b', '__proto__', 'constructor', 'x/y', 'm~n', '~1', '', 'status')
const value: fc.Arbitrary<Json> = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom<Json>(null, true, 0, 'text'),
    fc.array(fc.integer(), { maxLength: 3 }),
    tie('object'),
  ),
  object: fc
    .array(fc.tuple(key, tie('value')), { maxLength: 4 })
    .map((entries) => Object.fromEntries(entries)),
})).value as fc.Arbitrary<Json>
const record = fc
  .array(fc.tuple(key, value), { maxLength: 5 })
  .map((entries) => ({ ...Object.fromEntries(entries), id: 'r' }) as Row)

test('applying the patch to the record before gives the record after, whatever the members are called', () => {
  fc.assert(
    fc.property(
      fc.option(record, { nil: undefined }),
      fc.option(record, { nil: undefined }),
      (before, after) => {
        const result = applyPatch(before as unknown as Json | undefined, jsonPatch(before, after))
        expect(JSON.stringify(sorted(result))).toBe(JSON.stringify(sorted(after as unknown as Json)))
      },
    ),
    { numRuns: 1_000 },
  )
})

// Patches say nothing about the order of members.
function sorted(value: Json | undefined): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(sorted)
  return Object.entries(value as JsonObject)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, member]) => [name, sorted(member)])
}

test('a record that comes to be is added whole, and one that goes is removed whole', () => {
  const row = { id: 'r', name: 'x' }
  expect(jsonPatch(undefined, row)).toEqual([{ op: 'add', path: '', value: row }])
  expect(jsonPatch(row, undefined)).toEqual([{ op: 'remove', path: '' }])
  expect(jsonPatch(row, row)).toEqual([])
})

test('a member that was there is replaced, another one added, by escaped pointers', () => {
  const before = { id: 'r', 'a/b': 1, inner: { gone: 1, kept: 2 } }
  const after = { id: 'r', 'a/b': 2, 'm~n': null, inner: { kept: 2 } }
  expect(jsonPatch(before, after)).toEqual([
    { op: 'replace', path: '/a~1b', value: 2 },
    { op: 'add', path: '/m~0n', value: null },
    { op: 'remove', path: '/inner/gone' },
  ])
})
