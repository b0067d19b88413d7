import { expect, test } from 'vitest'
import { journalOf } from '../../../test/support/journal.ts'
import { contents, NOW, storeWith, type Thing, things } from '../../../test/support/things.ts'
import type { Commit } from './commit.ts'
import { logged } from './commit.ts'
import { Store } from './store.ts'

test('a transaction sees its own writes; the store has them after the commit', () => {
  const store = storeWith({ id: 'a', value: 1 }, { id: 'b', value: 2 })
  const tx = store.begin()
  tx.in(things).put({ id: 'a', value: 10 })
  tx.in(things).put({ id: 'c', value: 3 })
  tx.in(things).delete('b')
  expect([...tx.in(things)].map(({ id, value }) => [id, value])).toEqual([
    ['a', 10],
    ['c', 3],
  ])
  expect(contents(store)).toEqual([
    { id: 'a', value: 1 },
    { id: 'b', value: 2 },
  ])
  store.commit(tx, NOW)
  expect(contents(store)).toEqual([
    { id: 'a', value: 10 },
    { id: 'c', value: 3 },
  ])
})

test('a transaction whose work throws changes nothing', { tags: ['R123'] }, () => {
  const store = storeWith({ id: 'a', value: 1 })
  const commits: Commit[] = []
  store.onCommit((commit) => commits.push(commit))
  const work = () =>
    store.transaction(NOW, (tx) => {
      tx.in(things).put({ id: 'a', value: 2 })
      throw new Error('no')
    })
  expect(work).toThrow('no')
  expect(contents(store)).toEqual([{ id: 'a', value: 1 }])
  expect([store.revision, commits]).toEqual([0, []])
})

test('a commit that the journal cannot append changes nothing', () => {
  const store = storeWith({ id: 'a', value: 1 })
  store.journal = journalOf(() => {
    throw new Error('disk full')
  })
  expect(() => store.transaction(NOW, (tx) => tx.in(things).put({ id: 'a', value: 2 }))).toThrow('disk full')
  expect(contents(store)).toEqual([{ id: 'a', value: 1 }])
  expect(store.revision).toBe(0)
})

test('a transaction that writes only the same objects makes no commit', () => {
  const same = { id: 'a', value: 1 }
  const store = storeWith(same)
  store.transaction(NOW, (tx) => tx.in(things).put(same))
  expect(store.revision).toBe(0)
})

test('a replay of the log of a store makes another store equal, also with ids such as __proto__', () => {
  const store = storeWith({ id: '__proto__', value: 1 }, { id: 'constructor', value: 2 })
  const lines: string[] = []
  store.onCommit((commit) => lines.push(JSON.stringify(logged(commit))))
  store.transaction(NOW, (tx) => tx.in(things).put({ id: '__proto__', value: 5 }))
  store.transaction(NOW, (tx) => tx.in(things).delete('constructor'))
  store.transaction(NOW, (tx) => tx.in(things).put({ id: 'toString', value: 7 }))
  const other = storeWith({ id: '__proto__', value: 1 }, { id: 'constructor', value: 2 })
  for (const line of lines) other.replay(JSON.parse(line))
  expect(contents(other)).toEqual(contents(store))
  expect(other.revision).toBe(3)
})

test('a log that does not belong to the state is refused', () => {
  const store = new Store()
  const leftover = { revision: 1, at: NOW, changes: [['patch', 'things', 'a', [[['value'], 1]]]] } as const
  expect(() => store.replay(leftover)).toThrow('things/a')
})

test('a copy shares records until one side writes', () => {
  const store = storeWith({ id: 'a', value: 1 }, { id: 'b', value: 2 })
  const copy = Store.from(store)
  copy.transaction(NOW, (tx) => tx.in(things).put({ id: 'a', value: 9 }))
  store.transaction(NOW, (tx) => tx.in(things).delete('b'))
  expect(contents(store)).toEqual([{ id: 'a', value: 1 }])
  expect(contents(copy)).toEqual([
    { id: 'a', value: 9 },
    { id: 'b', value: 2 },
  ])
})

test('a replacement by another store commits only the records that differ', () => {
  const start = storeWith({ id: 'a', value: 1 }, { id: 'b', value: 2 })
  const store = Store.from(start)
  store.transaction(NOW, (tx) => tx.in(things).put({ id: 'a', value: 9 }))
  store.transaction(NOW, (tx) => tx.in(things).put({ id: 'c', value: 3 }))
  const commit = store.replaceAll(start, NOW)
  expect(commit?.changes.map(({ id }) => id)).toEqual(['c', 'a'])
  expect(contents(store)).toEqual(contents(start))
})

test('a replay of a replacement by another store keeps the records in their order', () => {
  const rows = [
    { id: 'a', value: 1 },
    { id: 'b', value: 2 },
    { id: 'c', value: 3 },
  ]
  const start = storeWith(...rows)
  const store = Store.from(start)
  const lines: string[] = []
  store.onCommit((commit) => lines.push(JSON.stringify(logged(commit))))
  store.transaction(NOW, (tx) => tx.in(things).delete('a'))
  store.replaceAll(start, NOW)
  const replayed = storeWith(...rows)
  for (const line of lines) replayed.replay(JSON.parse(line))
  expect(contents(store)).toEqual(rows)
  expect(contents(replayed)).toEqual(rows)
})

test('an index finds the same records as a filter, in a transaction and after it', () => {
  const byParity = { keyOf: ({ value }: Thing) => (value % 2 === 0 ? 'even' : 'odd') }
  const store = storeWith({ id: 'a', value: 1 }, { id: 'b', value: 2 }, { id: 'c', value: 3 })
  const odd = () =>
    store
      .begin()
      .in(things)
      .where(byParity, 'odd')
      .map(({ id }) => id)
  expect(odd()).toEqual(['a', 'c'])
  const tx = store.begin()
  tx.in(things).put({ id: 'b', value: 5 })
  tx.in(things).delete('a')
  expect(
    tx
      .in(things)
      .where(byParity, 'odd')
      .map(({ id }) => id),
  ).toEqual(['b', 'c'])
  expect(odd()).toEqual(['a', 'c'])
  store.commit(tx, NOW)
  expect(odd()).toEqual(['b', 'c'])
})

test('require refuses a missing record and names its id', () => {
  expect(() => new Store().begin().in(things).require('x')).toThrow('There is no thing with the id "x".')
})
