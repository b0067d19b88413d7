import { expect, test } from 'vitest'
import { LAST_NUMBER, objectId, uuid } from '../random.ts'
import { countPast, nextId, nextNumber } from './counters.ts'
import { COUNTERS, type CountersRow, SANDBOX_TABLE } from './state.ts'
import { Store } from './store.ts'

const SEED = 7
const NOW = '2026-03-01T12:00:00.000Z'

function storeAt(counters: Partial<CountersRow>, ...ids: readonly string[]): Store {
  const store = new Store()
  store.load(SANDBOX_TABLE, [{ id: COUNTERS, ids: 0, uuids: 0, events: 0, ...counters } as CountersRow])
  const things = ids.map((id) => ({ id }))
  store.load('things', things)
  return store
}

const ids = (...numbers: readonly number[]): string[] => numbers.map((n) => objectId(SEED, n))
const range = (from: number, length: number): number[] => Array.from({ length }, (_, n) => from + n)
const countersOf = (store: Store) => store.get(SANDBOX_TABLE, COUNTERS)

test('an insert with an existing id throws and changes nothing, whether the id is committed or not', () => {
  const store = storeAt({}, 'a')
  const tx = store.begin()
  expect(() => tx.insert('things', { id: 'a' })).toThrow('things already has a record with the id "a"')
  tx.insert('things', { id: 'b' })
  expect(() => tx.insert('things', { id: 'b' })).toThrow('an insert cannot replace it')
  expect(tx.changes().map(({ id }) => id)).toEqual(['b'])
  tx.delete('things', 'a')
  expect(() => tx.insert('things', { id: 'a' })).not.toThrow()
})

test('D9 new ids skip those of records in any table, and those that the transaction has written or deleted', () => {
  const store = storeAt({ ids: 5 }, ...ids(6, 8))
  store.load('others', [{ id: objectId(SEED, 9) }])
  const tx = store.begin()
  expect(nextId(tx, SEED, 'ids')).toBe(objectId(SEED, 7))
  tx.put('things', { id: objectId(SEED, 10) })
  tx.delete('others', objectId(SEED, 9))
  expect(nextId(tx, SEED, 'ids')).toBe(objectId(SEED, 11))
  store.commit(tx, NOW)
  expect(countersOf(store)).toMatchObject({ ids: 11 })
})

test('a transaction without a commit uses up no numbers', { tags: ['R012'] }, () => {
  const store = storeAt({ ids: 5 }, ...ids(6, 7))
  const next = () => nextId(store.begin(), SEED, 'ids')
  expect([next(), next()]).toEqual(ids(8, 8))
  expect(countersOf(store)).toMatchObject({ ids: 5 })
})

test('countPast moves the counters past existing ids, and a second call writes nothing', () => {
  const store = storeAt({ ids: 5 }, ...ids(...range(6, 1_000)), uuid(SEED, 1))
  store.transaction(NOW, (tx) => countPast(tx, SEED))
  expect(countersOf(store)).toEqual({ id: COUNTERS, ids: 1_005, uuids: 1, events: 0 })
  const before = store.revision
  store.transaction(NOW, (tx) => countPast(tx, SEED))
  expect(store.revision).toBe(before)
})

test('countPast moves the counters past the ids that the same transaction has written too', () => {
  const store = storeAt({})
  const tx = store.begin()
  for (const id of ids(...range(1, 50_000))) tx.insert('things', { id })
  countPast(tx, SEED)
  expect(tx.get(SANDBOX_TABLE, COUNTERS)).toMatchObject({ ids: 50_000 })
})

test('a counter at its last number refuses, with a message that names the counter', () => {
  const store = storeAt({ ids: LAST_NUMBER - 1, events: LAST_NUMBER })
  const tx = store.begin()
  expect(nextId(tx, SEED, 'ids')).toMatch(/f{12}$/)
  expect(() => nextId(tx, SEED, 'ids')).toThrow(/"ids" of this sandbox is at 281474976710655/)
  expect(() => nextNumber(tx, 'events')).toThrow(/"events"/)
  expect(countersOf(store)).toMatchObject({ ids: LAST_NUMBER - 1 })
})
