import fc from 'fast-check'
import { expect, test } from 'vitest'
import { forAll } from '../../../test/support/for-all.ts'
import { contents, NOW, storeWith, type Thing, things } from '../../../test/support/things.ts'
import { Store } from './store.ts'
import type { Transaction } from './transaction.ts'

test('an index is built once and updated only by writes to its table', () => {
  let asked = 0
  const counting = {
    keyOf: ({ value }: Thing) => {
      asked += 1
      return String(value)
    },
  }
  const store = storeWith({ id: 'a', value: 1 })
  const look = () => store.begin().in(things).where(counting, '1').length
  look()
  const once = asked
  store.transaction(NOW, (tx) => tx.put('others', { id: 'x' }))
  expect([look(), asked]).toEqual([1, once])
  store.transaction(NOW, (tx) => tx.in(things).put({ id: 'b', value: 1 }))
  expect([look(), asked]).toEqual([2, once + 1])
})

test('an index finds, counts and orders the same records as a filter over all records, after any writes', () => {
  const byParity = { keyOf: ({ value }: Thing) => (value % 2 === 0 ? 'even' : 'odd') }
  const write = fc.record({ id: fc.constantFrom('a', 'b', 'c', 'd', 'e'), value: fc.option(fc.nat(3)) })
  const work = fc.array(fc.record({ writes: fc.array(write, { maxLength: 4 }), restored: fc.boolean() }))
  forAll(work, (transactions) => {
    const start = storeWith({ id: 'a', value: 1 }, { id: 'b', value: 2 })
    const store = Store.from(start)
    const agree = (tx: Transaction) => {
      const all = [...tx.rows('things')] as Thing[]
      for (const key of ['even', 'odd']) {
        const wanted = all.filter((each) => byParity.keyOf(each) === key)
        expect(tx.in(things).where(byParity, key)).toEqual(wanted)
        expect(tx.in(things).count(byParity, key)).toBe(wanted.length)
      }
      expect(tx.in(things).size).toBe(all.length)
    }
    for (const { writes, restored } of transactions) {
      const tx = store.begin()
      for (const { id, value } of writes) {
        if (value === null) tx.in(things).delete(id)
        else tx.in(things).put({ id, value })
        agree(tx)
      }
      store.commit(tx, NOW)
      if (restored) store.replaceAll(start, NOW)
      agree(store.begin())
    }
  })
})

test('the version of a table grows with each change of that table only', () => {
  const store = new Store()
  const versions = () => [store.version('things'), store.version('others')]
  expect(versions()).toEqual([0, 0])
  store.transaction(NOW, (tx) => tx.in(things).put({ id: 'a', value: 1 }))
  store.transaction(NOW, (tx) => tx.in(things).delete('a'))
  expect(versions()).toEqual([2, 0])
})

test('a commit contains the order only of tables whose order a replay would lose', () => {
  const rows = ['a', 'b', 'c'].map((id, n) => ({ id, value: n + 1 }))
  const orderOf = (change: (store: Store) => void) => {
    const start = storeWith(...rows)
    start.load('others', [{ id: 'x' }])
    const store = Store.from(start)
    change(store)
    return store.replaceAll(start, NOW)?.order
  }
  const without = (id: string) => (store: Store) => store.transaction(NOW, (tx) => tx.in(things).delete(id))
  const changed = (store: Store) => store.transaction(NOW, (tx) => tx.in(things).put({ id: 'b', value: 9 }))
  expect(orderOf(without('a'))).toEqual([['things', ['a', 'b', 'c']]])
  for (const change of [without('c'), changed, () => {}]) expect(orderOf(change)).toBeUndefined()
})

test('a replacement by equal contents makes no commit, except for the rows in besides', () => {
  const start = storeWith({ id: 'a', value: 1 })
  const store = Store.from(start)
  expect(store.replaceAll(start, NOW)).toBeUndefined()
  const besides = { id: 'clock' }
  const commit = store.replaceAll(start, NOW, [['sandbox', besides]])
  expect(commit?.changes).toEqual([{ table: 'sandbox', id: 'clock', before: undefined, after: besides }])
  expect([store.get('sandbox', 'clock'), start.get('sandbox', 'clock')]).toEqual([besides, undefined])
})

test('a replay ignores missing records in the order of a table', () => {
  const store = storeWith({ id: 'a', value: 1 }, { id: 'b', value: 2 })
  store.replay({ revision: 4, at: NOW, changes: [], order: [['things', ['b', 'gone', 'a']]] })
  expect(contents(store).map(({ id }) => id)).toEqual(['b', 'a'])
  expect(store.revision).toBe(4)
})

test('a store created from another has its revision, and startAt sets another one', () => {
  const store = storeWith({ id: 'a', value: 1 })
  store.transaction(NOW, (tx) => tx.in(things).put({ id: 'a', value: 2 }))
  expect(Store.from(store).revision).toBe(1)
  store.revision = 70
  store.transaction(NOW, (tx) => tx.in(things).put({ id: 'a', value: 3 }))
  expect(store.revision).toBe(71)
})

test('a derived value is computed once, again after a write to its table, and apart in a transaction that has written', () => {
  let made = 0
  const count = () => {
    made += 1
    return made
  }
  const store = storeWith({ id: 'a', value: 1 })
  const look = (tx = store.begin()) => tx.derived('key', [things], count)
  expect([look(), look()]).toEqual([1, 1])
  store.transaction(NOW, (tx) => tx.put('others', { id: 'x' }))
  expect(look()).toBe(1)
  const tx = store.begin()
  tx.in(things).put({ id: 'b', value: 2 })
  expect([look(tx), look()]).toEqual([2, 1])
  store.commit(tx, NOW)
  expect([look(), look()]).toEqual([3, 3])
})
