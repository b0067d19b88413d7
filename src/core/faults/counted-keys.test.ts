import { expect, test } from 'vitest'
import { Store } from '../state/store.ts'
import { CountedKeys } from './counted-keys.ts'
import { type FaultCounter, faultCounters } from './rule.ts'

function counter(rule: string, key: string | null): FaultCounter {
  return { id: key === null ? rule : `${rule} ${key}`, rule, key, matched: 1, fired: 0, last_at: '' }
}

function storeOf(...counters: readonly FaultCounter[]): Store {
  const store = new Store()
  store.load(faultCounters.name, counters)
  return store
}

function put(store: Store, ...counters: readonly FaultCounter[]): void {
  store.transaction('', (tx) => {
    for (const each of counters) tx.put(faultCounters.name, each)
  })
}

test('the keys of a rule are those of its counters, oldest first, without the total of the rule', () => {
  const store = storeOf(counter('r', 'b'), counter('r', null), counter('other', 'x'), counter('r', 'a'))
  const keys = new CountedKeys(store)
  expect([...keys.of('r')]).toEqual(['r b', 'r a'])
  expect([...keys.of('other')]).toEqual(['other x'])
  expect([...keys.of('unknown')]).toEqual([])
})

test.for([true, false])('keys follow counters that are added and removed, read before: %s', (asked) => {
  const store = storeOf(counter('r', 'a'))
  const keys = new CountedKeys(store)
  if (asked) keys.of('r')
  put(store, counter('r', 'b'), counter('new', 'n'), counter('r', null), counter('r', 'a'))
  store.transaction('', (tx) => {
    tx.delete(faultCounters.name, 'r a')
    tx.delete(faultCounters.name, 'never there')
  })
  expect([[...keys.of('r')], [...keys.of('new')]]).toEqual([['r b'], ['new n']])
})

test('rows of other tables are ignored', () => {
  const store = storeOf(counter('r', 'a'))
  const keys = new CountedKeys(store)
  keys.of('r')
  store.transaction('', (tx) => tx.put('others', counter('r', 'b')))
  store.transaction('', (tx) => tx.delete('others', 'r b'))
  expect([...keys.of('r')]).toEqual(['r a'])
})

test('the counter of a rule without keys can be removed', () => {
  const store = storeOf(counter('quiet', null), counter('r', 'a'))
  const keys = new CountedKeys(store)
  keys.of('r')
  store.transaction('', (tx) => tx.delete(faultCounters.name, 'quiet'))
  expect([...keys.of('quiet')]).toEqual([])
})

test('a sandbox that replaces another has its own order of keys', () => {
  const store = storeOf(counter('r', 'a'), counter('r', 'b'))
  const before = Store.from(store)
  const keys = new CountedKeys(store)
  store.transaction('', (tx) => tx.delete(faultCounters.name, 'r a'))
  put(store, counter('r', 'a'))
  expect([...keys.of('r')]).toEqual(['r b', 'r a'])
  store.transaction('', (tx) => tx.delete(faultCounters.name, 'r a'))
  store.replaceAll(before, '')
  expect([...keys.of('r')]).toEqual(['r a', 'r b'])
})
