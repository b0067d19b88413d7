import fc from 'fast-check'
import { expect, test, vi } from 'vitest'
import { forAll } from '../../../test/support/for-all.ts'
import { contents, NOW, storeWith, type Thing, things } from '../../../test/support/things.ts'
import { type Commit, type Journal, logged } from './commit.ts'
import { Store } from './store.ts'
import type { Transaction } from './transaction.ts'

test('an index is built once and updated only by writes to its table', () => {
  const byValue = { keyOf: vi.fn(({ value }: Thing) => String(value)) }
  const store = storeWith({ id: 'a', value: 1 })
  const look = () => store.begin().in(things).where(byValue, '1').length
  look()
  const once = byValue.keyOf.mock.calls.length
  store.transaction(NOW, (tx) => tx.put('others', { id: 'x' }))
  expect([look(), byValue.keyOf.mock.calls.length]).toEqual([1, once])
  store.transaction(NOW, (tx) => tx.in(things).put({ id: 'b', value: 1 }))
  expect([look(), byValue.keyOf.mock.calls.length]).toEqual([2, once + 1])
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

const START = ['a', 'b'].map((id, n) => ({ id, value: n + 1 }))

class MemoryJournal implements Journal {
  /** The commits of each write that succeeded, as JSON. */
  readonly writes: string[][] = []
  /** Whether each write fails, in order; later ones succeed. */
  readonly #fails: boolean[]
  #held: string[] = []

  constructor(...fails: boolean[]) {
    this.#fails = fails
  }

  append(commit: Commit, isHeld = false): void {
    const line = JSON.stringify(logged(commit))
    if (isHeld) this.#held.push(line)
    else this.#write(line)
  }

  flush(): void {
    this.#write()
  }

  #write(...more: string[]): void {
    const lines = [...this.#held, ...more]
    this.#held = []
    if (this.#fails.shift() === true) throw new Error('disk full')
    this.writes.push(lines)
  }
}

const put = (store: Store, id: string, value: number) =>
  store.transaction(NOW, (tx) => tx.in(things).put({ id, value }))
const remove = (store: Store, id: string) => store.transaction(NOW, (tx) => tx.in(things).delete(id))

const unexpected = (_: unknown, error: unknown): never => {
  throw error
}

/** A store with the journal of its writes, which fail as planned. */
function journaled(rows: readonly Thing[], ...fails: boolean[]) {
  const store = storeWith(...rows)
  const journal = new MemoryJournal(...fails)
  store.journal = journal
  return { store, sizes: () => journal.writes.map((lines) => lines.length), journal }
}

test('a group whose write fails has changed nothing, and its commits are given once with the error', () => {
  const { store } = journaled(START, true)
  const [told, errors]: [Commit[], unknown[]] = [[], []]
  const followed: unknown[] = []
  store.onCommit((commit) => told.push(commit))
  store.follow(({ revision, changes }) => followed.push([revision, changes.map(({ after }) => after)]))
  const work = () => {
    put(store, 'a', 7)
    put(store, 'c', 3)
  }
  store.group(work, (undone, error) => errors.push([undone.length, error]))
  expect([contents(store), store.revision, told]).toEqual([START, 0, []])
  expect(errors).toEqual([[2, new Error('disk full')]])
  expect(followed).toEqual([
    [1, [{ id: 'a', value: 7 }]],
    [2, [{ id: 'c', value: 3 }]],
    [1, [undefined]],
    [0, [{ id: 'a', value: 1 }]],
  ])
  put(store, 'd', 4)
  expect(store.revision).toBe(1)
})

test('a removal is written at once, with the commits before it', () => {
  const { store, sizes } = journaled([{ id: 'a', value: 1 }])
  store.group(() => {
    put(store, 'b', 2)
    remove(store, 'a')
    expect(sizes()).toEqual([2])
    put(store, 'c', 3)
  }, unexpected)
  expect(sizes()).toEqual([2, 1])
})

test('a group whose work throws keeps its commits', () => {
  const { store, sizes } = journaled([])
  const work = () => {
    put(store, 'a', 1)
    throw new Error('a defect')
  }
  expect(() => store.group(work, unexpected)).toThrow('a defect')
  expect(sizes()).toEqual([1])
})

test('whichever writes fail, the store has exactly what its journal has, and listeners were told exactly that', () => {
  const byParity = { keyOf: ({ value }: Thing) => String(value % 2) }
  const write = fc.record({ id: fc.constantFrom('a', 'b', 'c', 'd', 'e'), value: fc.option(fc.nat(9)) })
  const groups = fc.array(fc.array(fc.array(write, { minLength: 1, maxLength: 3 }), { maxLength: 4 }))
  forAll(groups, fc.array(fc.boolean()), (all, fails) => {
    const { store, journal } = journaled(START, ...fails)
    const other = storeWith(...START)
    const told: string[] = []
    store.onCommit((commit) => told.push(JSON.stringify(logged(commit))))
    // An index that is there must follow each write, and each one that is undone.
    const look = () => store.begin().in(things).where(byParity, '0')
    for (const group of all) {
      const work = (): void => {
        for (const writes of group) {
          const tx = store.begin()
          for (const { id, value } of writes) {
            if (value === null) tx.in(things).delete(id)
            else tx.in(things).put({ id, value })
          }
          try {
            store.commit(tx, NOW)
          } catch {
            // A write that was planned to fail.
          }
          look()
        }
      }
      store.group(work, () => {})
    }
    const lines = journal.writes.flat()
    for (const line of lines) other.replay(JSON.parse(line))
    expect(contents(store)).toEqual(contents(other))
    expect([store.revision, told]).toEqual([other.revision, lines])
    for (const key of ['0', '1']) {
      const wanted = (contents(store) as Thing[]).filter((thing) => byParity.keyOf(thing) === key)
      expect(store.begin().in(things).where(byParity, key)).toEqual(wanted)
    }
  })
})
