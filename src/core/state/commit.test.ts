import fc from 'fast-check'
import { expect, test } from 'vitest'
import { forAll } from '../../../test/support/for-all.ts'
import { contents, NOW, storeWith, type Thing } from '../../../test/support/things.ts'
import type { JsonObject } from '../json.ts'
import { diff, type LoggedCommit, logged, patch, replayed } from './commit.ts'

const key = fc.oneof(fc.constantFrom('__proto__', 'constructor', 'toString', ''), fc.string({ maxLength: 3 }))
const leaf = fc.jsonValue({ maxDepth: 1 }) as fc.Arbitrary<JsonObject[string]>
const { object } = fc.letrec<{ object: JsonObject; value: JsonObject[string] }>((tie) => ({
  object: fc.array(fc.tuple(key, tie('value')), { maxLength: 5 }).map((pairs) => Object.fromEntries(pairs)),
  value: fc.oneof({ maxDepth: 3 }, leaf, tie('object')),
}))

test('a patch with the difference of two objects turns the first into the second, with any keys', () => {
  fc.assert(
    fc.property(object, object, (before, after) => {
      const result = patch(before, JSON.parse(JSON.stringify(diff(before, after))))
      expect(sorted(result)).toBe(sorted(JSON.parse(JSON.stringify(after))))
    }),
    { numRuns: 1_000 },
  )
})

test('a logged change gives the record again with the order of its fields', () => {
  fc.assert(
    fc.property(object, object, (a, b) => {
      const [before, after] = [a, b].map((each) => JSON.parse(JSON.stringify({ ...each, id: 'x' })))
      const change = { table: 'things', id: 'x', before, after }
      const [line] = logged({ revision: 1, at: NOW, changes: [change] }).changes
      expect(JSON.stringify(line && replayed(line, before))).toBe(JSON.stringify(after))
    }),
    { numRuns: 1_000 },
  )
})

test('a difference skips parts that are the same object', () => {
  const items = Array.from({ length: 5_000 }, (_, n) => ({ custom_id: `item-${n}` }))
  const before = { id: 'b', status: 'validating', _emulator: { items, plan: { seed: 1 } } }
  const after = { ...before, status: 'in_progress' }
  expect(diff(before, after)).toEqual([[['status'], 'in_progress']])
})

test('a patch shares unchanged parts with the original', () => {
  const before = { a: { b: 1 }, c: { d: 2 } }
  const after = patch(before, [[['a', 'b'], 5]])
  expect(after).toEqual({ a: { b: 5 }, c: { d: 2 } })
  expect(after.c).toBe(before.c)
  expect(before.a.b).toBe(1)
})

function sorted(value: unknown): string {
  return JSON.stringify(value, (_key, each) =>
    typeof each === 'object' && each !== null && !Array.isArray(each)
      ? Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1))
      : each,
  )
}

const some = (count: number, value: number): Thing[] =>
  Array.from({ length: count }, (_, n) => ({ id: `t${n}`, value }))

/** Replaces one store by another. Returns the commit, its log line, the records, and those after a replay of the line. */
function replaced(before: readonly Thing[], after: readonly Thing[]) {
  const store = storeWith(...before)
  const commit = store.replaceAll(storeWith(...after), NOW)
  const line = commit && (JSON.parse(JSON.stringify(logged(commit))) as LoggedCommit)
  const replay = storeWith(...before)
  if (line !== undefined) replay.replay(line)
  return { commit, line, left: contents(store), replayed: contents(replay) }
}

test.each([
  ['emptied', some(3_000, 1), []],
  ['filled', [], some(3_000, 1)],
  ['changed in every record', some(3_000, 1), some(3_000, 2)],
  ['replaced by others', some(3_000, 1), some(3_000, 1).map((each) => ({ ...each, id: `x${each.id}` }))],
])('a large table that is %s is in the log as a whole', (_what, before, after) => {
  const { commit, line, left, replayed } = replaced(before, after)
  expect(left).toEqual(after)
  expect(replayed).toEqual(after)
  expect(line?.tables).toEqual([['things', after]])
  expect([line?.changes, line?.order]).toEqual([[], undefined])
  // Listeners still get a change for each record.
  expect(commit?.changes.length).toBeGreaterThanOrEqual(3_000)
})

test('a large table of which less than half has changed is in the log as its changes', () => {
  const after = some(3_000, 1).map((each, n) => (n < 1_200 ? { ...each, value: 2 } : each))
  const { line, replayed } = replaced(some(3_000, 1), after)
  expect(replayed).toEqual(after)
  expect([line?.changes.length, line?.tables]).toEqual([1_200, undefined])
})

test('a row in besides is in the log, also when all other rows of its table change', () => {
  const store = storeWith(...some(3_000, 1))
  const besides = { id: 't7', value: 7 } as Thing
  const commit = store.replaceAll(storeWith(), NOW, [['things', besides]])
  const replay = storeWith(...some(3_000, 1))
  if (commit !== undefined) replay.replay(JSON.parse(JSON.stringify(logged(commit))))
  expect([contents(store), contents(replay)]).toEqual([[besides], [besides]])
})

test('a replay of any replacement leaves the same records in the same order', () => {
  const thing = fc.record({ id: fc.constantFrom(...'0123456789'), value: fc.nat(1) })
  const rows = fc.uniqueArray(thing, { selector: ({ id }) => id, maxLength: 10 })
  forAll(rows, rows, (before, after) => {
    const { commit, left, replayed } = replaced(before, after)
    expect(commit === undefined).toBe(JSON.stringify(before) === JSON.stringify(after))
    expect(left).toEqual(after)
    expect(replayed).toEqual(after)
  })
})

test('a replacement changes the version of a table that the other store does not have', () => {
  const store = storeWith({ id: 'a', value: 1 })
  store.load('others', [{ id: 'x' }])
  const version = store.version('others')
  store.replaceAll(storeWith({ id: 'a', value: 1 }), NOW)
  expect(store.version('others')).toBeGreaterThan(version)
})
