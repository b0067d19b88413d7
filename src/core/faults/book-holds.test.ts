import { expect, test } from 'vitest'
import { bookOf, ruleOf, subject } from '../../../test/support/fault-book.ts'
import { type FaultRule, faultRules } from './rule.ts'

/** A connection under these rules; `isReleased` tells whether they hold it no longer. */
function connection(...rules: readonly Partial<FaultRule>[]) {
  const { book, store } = bookOf(...rules)
  const decision = book.decide('call', subject())
  const signal = decision && AbortSignal.any([...book.releasesOf(decision)])
  const remove = (id: string) => store.transaction('', (tx) => tx.in(faultRules).delete(id))
  return { store, remove, isReleased: () => signal?.aborted }
}

test('a held connection is released when its rule is removed, but not when the rule or another table changes', () => {
  const { store, remove, isReleased } = connection({ do: [{ deliver: { drop: true } }] })
  store.transaction('', (tx) => tx.put('others', { id: 'rule-1' }))
  store.transaction('', (tx) => tx.delete('others', 'rule-1'))
  store.transaction('', (tx) => tx.in(faultRules).put(ruleOf('rule-1', { priority: 3 })))
  expect(isReleased()).toBe(false)
  remove('rule-1')
  expect(isReleased()).toBe(true)
})

test.for<[does: FaultRule['do'], holds: boolean]>([
  [[{ respond: { status: 500 } }], false],
  [[{ cut: { at: 'before-head', how: 'rst' } }], false],
  [[{ cut: { at: 'after-head', how: 'rst' } }, { cut: { at: 'end', how: 'pause' } }], true],
  [[{ pace: { before_head_ms: 5 } }], true],
  [[{ deliver: { drop: true } }], true],
])('a rule that does %j holds a connection: %s', ([does, holds]) => {
  const { remove, isReleased } = connection({ do: does })
  remove('rule-1')
  expect(isReleased()).toBe(holds)
})

test.for(['rule-1', 'rule-2'])('a connection that two rules hold is released when %s is removed', (id) => {
  const pause = { cut: { at: 'before-head', how: 'pause' } } as const
  const waits = { do: [{ pace: { before_head_ms: 5 } }], then: 'continue' } as const
  const { remove, isReleased } = connection(waits, { do: [pause] })
  remove(id)
  expect(isReleased()).toBe(true)
})

test('a connection that no stored rule holds is released only with all others', () => {
  const { book, store } = bookOf({ do: [{ pace: { before_head_ms: 5 } }] })
  const decision = book.decide('call', subject())
  store.transaction('', (tx) => tx.in(faultRules).delete('rule-1'))
  const [signal, ...removals] = (decision && book.releasesOf(decision)) ?? []
  expect([signal, removals]).toEqual([book.released, []])
  expect(signal?.aborted).toBe(false)
  book.release()
  expect(signal?.aborted).toBe(true)
  expect(book.released).not.toBe(signal)
})
