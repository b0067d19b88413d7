import fc from 'fast-check'
import { expect, test } from 'vitest'
import { same } from '../../core/json.ts'
import type { Row } from '../../core/state/commit.ts'
import { merge, recordsById } from './merge-edit.ts'

type Table = Readonly<Record<string, unknown>>

function row(id: string, value: unknown): Row {
  return { id, value } as Row
}

function rows(table: Table): Map<string, Row> {
  return new Map(Object.entries(table).map(([id, value]) => [id, row(id, value)]))
}

function merged(base: Table, edited: Table, sandbox: Table) {
  const current = rows(sandbox)
  const raw = (table: Table) => recordsById([...rows(table).values()])
  return merge({
    base: raw(base),
    edited: raw(edited),
    checked: rows(edited),
    current: (id) => current.get(id),
  })
}

const KEPT = { puts: [], deletes: [], replaced: [] }

test.each<[string, Table, Table, Table, object]>([
  ['changed nowhere: kept', { a: 1 }, { a: 1 }, { a: 1 }, KEPT],
  ['changed only in the file: taken', { a: 1 }, { a: 2 }, { a: 1 }, { ...KEPT, puts: [row('a', 2)] }],
  ['added only in the file: taken', {}, { a: 2 }, {}, { ...KEPT, puts: [row('a', 2)] }],
  ['removed only in the file: removed', { a: 1 }, {}, { a: 1 }, { ...KEPT, deletes: ['a'] }],
  ['changed only in the sandbox: kept', { a: 1 }, { a: 1 }, { a: 3 }, KEPT],
  ['added only in the sandbox: kept', {}, {}, { a: 3 }, KEPT],
  ['removed only in the sandbox: stays removed', { a: 1 }, { a: 1 }, {}, KEPT],
  ['changed in both to the same: kept', { a: 1 }, { a: 2 }, { a: 2 }, KEPT],
  ['removed in both: stays removed', { a: 1 }, {}, {}, KEPT],
  [
    'changed in both: the edit wins',
    { a: 1 },
    { a: 2 },
    { a: 3 },
    { puts: [row('a', 2)], deletes: [], replaced: [row('a', 3)] },
  ],
  [
    'added in both: the edit wins',
    {},
    { a: 2 },
    { a: 3 },
    { puts: [row('a', 2)], deletes: [], replaced: [row('a', 3)] },
  ],
  [
    'removed in the file, changed in the sandbox: the edit wins',
    { a: 1 },
    {},
    { a: 3 },
    { puts: [], deletes: ['a'], replaced: [row('a', 3)] },
  ],
  [
    'changed in the file, removed in the sandbox: the edit wins',
    { a: 1 },
    { a: 2 },
    {},
    { ...KEPT, puts: [row('a', 2)] },
  ],
])('a record %s', (_, base, edited, sandbox, expected) => {
  expect(merged(base, edited, sandbox)).toEqual(expected)
})

test('an unedited file changes no sandbox, and an edit of an unchanged sandbox is applied completely', () => {
  const table = fc.dictionary(fc.constantFrom('a', 'b', '__proto__', 'constructor', ''), fc.nat(2))
  fc.assert(
    fc.property(table, table, table, (base, edited, sandbox) => {
      expect(merged(base, base, sandbox)).toEqual(KEPT)
      const { puts, deletes, replaced } = merged(base, edited, base)
      expect(replaced).toEqual([])
      const result = rows(base)
      for (const id of deletes) result.delete(id)
      for (const each of puts) result.set(each.id, each)
      expect(new Map([...result].sort())).toEqual(new Map([...rows(edited)].sort()))
    }),
  )
})

test('two values are the same if their JSON is the same, in any order of the fields', () => {
  const value = fc.jsonValue()
  fc.assert(
    fc.property(value, value, (a, b) => {
      expect(same(a, JSON.parse(JSON.stringify(a)))).toBe(true)
      expect(same({ x: a, y: b, z: undefined }, { y: b, x: a })).toBe(true)
      expect(same({ x: a }, { x: [a] })).toBe(false)
    }),
  )
  expect(same(JSON.parse('{"__proto__": {}}'), {})).toBe(false)
  expect(same(JSON.parse('{"__proto__": 1}'), JSON.parse('{"__proto__": 1}'))).toBe(true)
  expect(same([], {})).toBe(false)
  expect(same({ a: null }, { a: undefined })).toBe(false)
})
