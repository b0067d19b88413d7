import fc from 'fast-check'
import { expect, test } from 'vitest'
import { forAll } from '../../../test/support/for-all.ts'
import { contents, NOW, storeWith, type Thing, things } from '../../../test/support/things.ts'
import { type Commit, type Journal, logged } from './commit.ts'
import type { Store } from './store.ts'

const START = ['a', 'b'].map((id, n) => ({ id, value: n + 1 }))

/** A journal in memory whose writes fail as planned. */
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

function put(store: Store, id: string, value: number): Commit | undefined {
  const tx = store.begin()
  tx.in(things).put({ id, value })
  return store.commit(tx, NOW)
}

function remove(store: Store, id: string): void {
  store.transaction(NOW, (tx) => tx.in(things).delete(id))
}

const unexpected = (_: unknown, error: unknown): never => {
  throw error
}

test('the commits of a group are one write, and are told after it', () => {
  const store = storeWith({ id: 'a', value: 1 })
  const journal = new MemoryJournal()
  store.journal = journal
  const told: number[] = []
  store.onCommit(({ revision }) => told.push(revision))
  store.group(() => {
    put(store, 'a', 2)
    put(store, 'b', 3)
    expect([store.get('things', 'b'), told, journal.writes]).toEqual([{ id: 'b', value: 3 }, [], []])
  }, unexpected)
  expect([told, journal.writes.map((lines) => lines.length)]).toEqual([[1, 2], [2]])
})

test('a group whose write fails has changed nothing, and its commits are given once with the error', () => {
  const store = storeWith(...START)
  store.journal = new MemoryJournal(true)
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
  const store = storeWith({ id: 'a', value: 1 })
  const journal = new MemoryJournal()
  store.journal = journal
  store.group(() => {
    put(store, 'b', 2)
    remove(store, 'a')
    expect(journal.writes.map((lines) => lines.length)).toEqual([2])
    put(store, 'c', 3)
  }, unexpected)
  expect(journal.writes.map((lines) => lines.length)).toEqual([2, 1])
})

test('a removal that cannot be written throws, and the commits before it are undone', () => {
  const store = storeWith({ id: 'a', value: 1 })
  store.journal = new MemoryJournal(true)
  const errors: unknown[] = []
  const work = () => {
    put(store, 'b', 2)
    expect(() => remove(store, 'a')).toThrow('disk full')
    put(store, 'c', 3)
  }
  store.group(work, (undone, error) => errors.push([undone.length, error]))
  expect([contents(store).map(({ id }) => id), errors]).toEqual([['a', 'c'], [[1, new Error('disk full')]]])
})

test('a group whose work throws keeps its commits', () => {
  const store = storeWith()
  const journal = new MemoryJournal()
  store.journal = journal
  const work = () => {
    put(store, 'a', 1)
    throw new Error('a defect')
  }
  expect(() => store.group(work, unexpected)).toThrow('a defect')
  expect(journal.writes.length).toBe(1)
})

test('whichever writes fail, the store has exactly what its journal has, and listeners were told exactly that', () => {
  const byParity = { keyOf: ({ value }: Thing) => String(value % 2) }
  const write = fc.record({ id: fc.constantFrom('a', 'b', 'c', 'd', 'e'), value: fc.option(fc.nat(9)) })
  const groups = fc.array(fc.array(fc.array(write, { minLength: 1, maxLength: 3 }), { maxLength: 4 }))
  forAll(groups, fc.array(fc.boolean()), (all, fails) => {
    const [store, other] = [storeWith(...START), storeWith(...START)]
    const journal = new MemoryJournal(...fails)
    store.journal = journal
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
    for (const key of ['0', '1'])
      expect(store.begin().in(things).where(byParity, key)).toEqual(
        (contents(store) as Thing[]).filter((thing) => byParity.keyOf(thing) === key),
      )
  })
})
