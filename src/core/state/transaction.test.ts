import { expect, test } from 'vitest'
import { NOW, storeWith, things } from '../../../test/support/things.ts'

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

test('find returns the first match and filter returns all matches, in the order of writing', () => {
  const records = storeWith({ id: 'b', value: 1 }, { id: 'a', value: 2 }, { id: 'c', value: 2 })
    .begin()
    .in(things)
  expect(records.find(({ value }) => value === 2)?.id).toBe('a')
  expect(records.find(({ value }) => value === 3)).toBeUndefined()
  expect(records.filter(({ value }) => value === 2).map(({ id }) => id)).toEqual(['a', 'c'])
})
