import { expect, test } from 'vitest'
import { bookOf, subject } from '../../../test/support/fault-book.ts'
import { faultRules } from './rule.ts'

test('a book reports whether it is empty, and keeps the earlier decision in a phase without rules', () => {
  const { book, store } = bookOf({ match: { webhook: '*' }, do: [{ deliver: { drop: true } }] })
  expect([book.isEmpty, bookOf().book.isEmpty]).toEqual([false, true])
  expect([book.decide('head', subject()), book.decide('accept', subject())]).toEqual([undefined, undefined])
  const earlier = book.decide('call', subject())
  expect(book.decide('head', subject(), [], earlier)).toBe(earlier)
  store.transaction('', (tx) => tx.in(faultRules).delete('rule-1'))
  expect([book.isEmpty, book.decide('call', subject())]).toEqual([true, undefined])
})

test('a decision reports once for each request why rules about something else are not evaluated', () => {
  const { book } = bookOf(
    { match: { webhook: '*' }, do: [{ deliver: { drop: true } }] },
    { do: [{ cut: { at: 'accept', how: 'rst' } }] },
    { source: 'header' },
    { source: 'header', do: [{ pace: { no_continue: true } }] },
  )
  const told = (decision: ReturnType<typeof book.decide>) =>
    decision?.decisions.map(({ rule, fired, description }) => [rule.id, fired !== undefined, description])
  const byHeader = 'It applies only to requests that name it in the header X-Emulator-Fault.'
  expect(told(book.decide('call', subject()))).toEqual([
    ['rule-2', false, 'It applies to a connection before its first request.'],
    ['rule-1', false, 'It applies to webhooks, not to requests.'],
    ['rule-4', false, byHeader],
    ['rule-3', false, byHeader],
  ])
  expect(told(book.decide('head', subject(), ['rule-4']))).toEqual([
    ['rule-4', true, 'It fired on match number 1.'],
  ])
})

test.for<[misses: number, others: number, told: number]>([
  [60, 60, 100],
  [150, 10, 100],
  [10, 150, 100],
  [10, 20, 30],
])('of %d rules that do not fit and %d not evaluated, %d are reported', ([misses, others, told]) => {
  const missing = Array.from({ length: misses }, () => ({ match: { method: 'POST' } }))
  const notAsked = Array.from({ length: others }, () => ({ source: 'header' as const }))
  const decisions = bookOf(...missing, ...notAsked).book.decide('call', subject())?.decisions ?? []
  expect(decisions).toHaveLength(told)
  expect(decisions.every(({ fired }) => fired === undefined)).toBe(true)
})

test.for<[then: 'continue' | 'stop', fired: string[]]>([
  ['continue', ['rule-1', 'rule-2']],
  ['stop', ['rule-1']],
])('decisions of an earlier phase come first; when they say %s, those that fire are %j', ([then, fired]) => {
  const { book } = bookOf({ do: [{ pace: { no_continue: true } }], then }, { priority: 9 })
  const call = book.decide('call', subject(), [], book.decide('head', subject()))
  expect(call?.fired.map(({ rule }) => rule.id)).toEqual(fired)
  expect(call?.decisions.map(({ rule }) => rule.id)).toEqual(['rule-1', 'rule-2'])
})
