import { expect, test } from 'vitest'
import { bookOf, ruleOf, subject } from '../../../test/support/fault-book.ts'
import { type FaultRule, faultRules } from './rule.ts'

test('a held connection is released when its rule is removed, but not when the rule or another table changes', () => {
  const { book, store } = bookOf({ do: [{ deliver: { drop: true } }] })
  const decision = book.decide('call', subject())
  const signal = decision && AbortSignal.any([...book.releasesOf(decision)])
  store.transaction('', (tx) => tx.put('others', { id: 'rule-1' }))
  store.transaction('', (tx) => tx.delete('others', 'rule-1'))
  store.transaction('', (tx) => tx.in(faultRules).put(ruleOf('rule-1', { priority: 3 })))
  expect(signal?.aborted).toBe(false)
  store.transaction('', (tx) => tx.in(faultRules).delete('rule-1'))
  expect(signal?.aborted).toBe(true)
})

test.for<[does: FaultRule['do'], holds: boolean]>([
  [[{ respond: { status: 500 } }], false],
  [[{ cut: { at: 'before-head', how: 'rst' } }], false],
  [[{ cut: { at: 'after-head', how: 'rst' } }, { cut: { at: 'end', how: 'pause' } }], true],
  [[{ pace: { before_head_ms: 5 } }], true],
  [[{ deliver: { drop: true } }], true],
])('a rule that does %j holds a connection: %s', ([does, holds]) => {
  const { book, store } = bookOf({ do: does })
  const decision = book.decide('call', subject())
  const signal = decision && AbortSignal.any([...book.releasesOf(decision)])
  store.transaction('', (tx) => tx.in(faultRules).delete('rule-1'))
  expect(signal?.aborted).toBe(holds)
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
