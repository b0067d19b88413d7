import { expect, test } from 'vitest'
import { contents, NOW, storeWith, things } from '../../../test/support/things.ts'

test('a removed listener is not called again', () => {
  const store = storeWith({ id: 'a', value: 1 })
  const heard: number[] = []
  const leave = store.onCommit(({ revision }) => heard.push(revision))
  store.transaction(NOW, (tx) => tx.in(things).put({ id: 'a', value: 2 }))
  leave()
  store.transaction(NOW, (tx) => tx.in(things).put({ id: 'a', value: 3 }))
  expect(heard).toEqual([1])
})

test('a write that is undone in the same transaction makes no commit', () => {
  const same = { id: 'a', value: 1 }
  const store = storeWith(same)
  const tx = store.begin()
  tx.in(things).put({ id: 'a', value: 2 })
  tx.in(things).put(same)
  tx.in(things).put({ id: 'b', value: 2 })
  tx.in(things).delete('b')
  expect([tx.changes(), store.commit(tx, NOW)]).toEqual([[], undefined])
})

test('a transaction reads its own writes and removals, and otherwise the store', () => {
  const store = storeWith({ id: 'a', value: 1 }, { id: 'b', value: 2 })
  const tx = store.begin()
  const records = tx.in(things)
  expect(records.put({ id: 'c', value: 3 })).toEqual({ id: 'c', value: 3 })
  records.delete('b')
  const numberOf = (id: string) => records.get(id)?.value
  expect(['a', 'b', 'c', 'd'].map(numberOf)).toEqual([1, undefined, 3, undefined])
  records.delete('c')
  expect([...records].map(({ id }) => id)).toEqual(['a'])
  expect(records.filter(({ value }) => value > 0)).toEqual([{ id: 'a', value: 1 }])
  expect(contents(store).map(({ id }) => id)).toEqual(['a', 'b'])
  store.commit(tx, NOW)
  expect(contents(store).map(({ id }) => id)).toEqual(['a'])
})
