import fc from 'fast-check'
import { expect, test } from 'vitest'
import { bookOf, firedNumbers, fires, ruleOf, subject } from '../../../test/support/fault-book.ts'
import type { FaultBook } from './book.ts'
import { type FaultCounter, type FaultRule, faultCounters, faultRules } from './rule.ts'

const told = (decision: ReturnType<FaultBook['decide']>) =>
  decision?.decisions.map(({ rule, fired, description }) => [rule.id, fired !== undefined, description])
const tagged = (tag: string) => subject({ headers: { 'x-emulator-tag': tag } })

test('a sequence names the actions of each match, and its last entry repeats', () => {
  const when = { sequence: ['limit', 'pass', 'fail'] }
  const actions = { limit: [{ respond: { status: 429 } }], fail: [{ respond: { status: 500 } }] }
  const { book } = bookOf({ when, do: [], actions })
  const decided = Array.from({ length: 5 }, () => book.decide('call', subject()))
  const { limit, fail } = actions
  expect(decided.map((each) => each?.actions)).toEqual([limit, [], fail, fail, fail])
})

test('a probability applies before a sequence, which goes on by the number of matches', () => {
  const when = { sequence: ['a', 'b', 'c', 'd', 'pass'], probability: 0.5 }
  const { book } = bookOf({ when, do: [], actions: { a: [], b: [], c: [], d: [] } })
  const plain = firedNumbers(bookOf({ when: { probability: 0.5 } }).book, 4)
  expect(firedNumbers(book, 10)).toEqual(plain)
  expect(plain.length).toBeLessThan(4)
})

test('a sequence may use names that every object has', () => {
  const { book } = bookOf({ when: { sequence: ['toString'] }, do: [] })
  expect(book.decide('call', subject())?.actions).toEqual([])
})

test('counters count every match, even if it does not fire, and nothing else', () => {
  const { book, store } = bookOf({ when: { nth: 3 }, match: { method: 'GET' } })
  for (const method of ['GET', 'POST', 'GET', 'POST', 'GET', 'GET']) book.decide('call', subject({ method }))
  expect(store.get(faultCounters.name, 'rule-1')).toMatchObject({ key: null, matched: 4, fired: 1 })
})

test('a counter that a document begins with its last number stays there, and the rule still counts', () => {
  const { book, store } = bookOf({})
  const id = 'rule-1'
  const last = { matched: Number.MAX_SAFE_INTEGER, fired: Number.MAX_SAFE_INTEGER - 1 }
  const row = { id, rule: id, key: null, last_at: '2026-03-01T12:00:00.000Z', ...last }
  store.transaction('', (tx) => tx.put(faultCounters.name, row))
  expect(fires(book, [subject(), subject()])).toEqual([[id], [id]])
  expect(store.get(faultCounters.name, id)).toMatchObject({ ...last, fired: Number.MAX_SAFE_INTEGER })
})

test('a rule has one counter for each key and one for the total', () => {
  const { book, store } = bookOf({ when: { nth: 2, by: 'tag' } })
  const fired = fires(book, ['a', 'b', 'a', 'a', 'b'].map(tagged))
  expect(fired).toEqual([[], [], ['rule-1'], [], ['rule-1']])
  const counters = [...store.rows(faultCounters.name).values()] as FaultCounter[]
  const counts = counters.map(({ key, matched, fired }) => `${key} ${matched} ${fired}`)
  expect(counts).toEqual(['null 5 2', 'a 3 1', 'b 2 1'])
})

test('times limits the fires of all keys together', () => {
  const { book } = bookOf({ when: { by: 'tag' }, times: 2 })
  expect(fires(book, [tagged('a'), tagged('b'), tagged('c')])).toEqual([['rule-1'], ['rule-1'], []])
})

test('from and until follow the virtual clock, and wall_ms the real one', () => {
  const from = '2026-03-01T12:01:00.000Z'
  const until = { virtual_time: '2026-03-01T12:02:00.000Z', wall_ms: 1_000 }
  const { book, facts, began } = bookOf({ when: { from, until } })
  const at = (virtual: number, wall: number): number[] => {
    facts.now = began.now + virtual
    facts.wall = began.wall + wall
    return firedNumbers(book, 1)
  }
  const fired = [at(59_999, 0), at(60_000, 0), at(60_000, 999), at(60_000, 1_000), at(120_000, 0)]
  expect(fired).toEqual([[], [1], [1], [], []])
})

test('rules are evaluated by priority, then in the order of arming, until one fires that does not say continue', () => {
  const early = { priority: 1, then: 'continue' } as const
  const { book } = bookOf({}, early, { ...early, when: { nth: 1 } }, { priority: -1 })
  expect(book.rules.map(({ id }) => id)).toEqual(['rule-2', 'rule-3', 'rule-1', 'rule-4'])
  const fired = fires(book, [subject(), subject()])
  expect(fired.map((ids) => ids.join())).toEqual(['rule-2,rule-3,rule-1', 'rule-2,rule-1'])
})

test('a decision reports why each rule did not fire, with the counter of its match', () => {
  const { book } = bookOf(
    { match: { method: 'POST' } },
    { when: { nth: 2, by: 'tag' }, then: 'continue' },
    { times: 1, then: 'continue' },
    {},
    {},
  )
  book.decide('call', tagged('x'))
  const decision = book.decide('call', tagged('y'))
  expect(told(decision)).toEqual([
    ['rule-1', false, 'The method is "GET", not "POST".'],
    ['rule-2', false, 'This is match number 1; it fires on number 2.'],
    ['rule-3', false, 'It has fired 1 time, its maximum.'],
    ['rule-4', true, 'It fired on match number 2.'],
    ['rule-5', false, 'The rule rule-4 fired first and stops the evaluation of later rules.'],
  ])
  expect(decision?.decisions[1]?.counter).toEqual({ n: 1, key: 'y' })
})

test('a rule keeps its keys even if another rule counts by ten thousand', () => {
  const { book } = bookOf(
    { id: 'busy', when: { by: 'tag', nth: 2 }, then: 'continue' },
    { id: 'quiet', match: { method: 'POST' }, when: { by: 'idempotency_key', nth: 2 } },
  )
  for (let n = 0; n < 10_001; n++) book.decide('call', tagged(`t${n}`))
  const post = (key: string) => subject({ method: 'POST', headers: { 'idempotency-key': key } })
  const [, , third, fourth] = fires(book, [post('a'), post('b'), post('a'), post('b')])
  expect([third, fourth]).toEqual([['quiet'], ['quiet']])
})

test('a new key replaces the oldest of ten thousand', () => {
  const { book, store } = bookOf({ when: { first: 1, by: 'tag' } })
  for (let n = 0; n < 10_001; n++) book.decide('call', tagged(`t${n}`))
  expect(store.rows(faultCounters.name).size).toBeLessThanOrEqual(10_001)
  expect(fires(book, [tagged('t10000'), tagged('t0')])).toEqual([[], ['rule-1']])
})

test('the same seed gives the same draws for each key in any interleaving, and another seed gives others', () => {
  const keys = [...'abcdefgh']
  const CALLS = 12
  const rule: Partial<FaultRule> = { when: { probability: 0.4, by: 'tag' } }
  const decisionsOf = (order: readonly string[], seed: number) => {
    const { book, facts } = bookOf(rule)
    facts.seed = seed
    const decided = Object.fromEntries(keys.map((key) => [key, [] as boolean[]]))
    for (const key of order) decided[key]?.push(book.decide('call', tagged(key))?.fired.length === 1)
    return decided
  }
  const inTurn = keys.flatMap((key) => Array<string>(CALLS).fill(key))
  const expected = decisionsOf(inTurn, 7)
  expect(decisionsOf(inTurn, 8)).not.toEqual(expected)
  expect(Object.values(expected).flat().filter(Boolean).length).toBeGreaterThan(20)
  const order = fc.shuffledSubarray([...inTurn.keys()], { minLength: inTurn.length })
  const check = (places: readonly number[]) => {
    const interleaved = places.map((place) => inTurn[place] ?? '')
    expect(decisionsOf(interleaved, 7)).toEqual(expected)
  }
  fc.assert(fc.property(order, check), { numRuns: 50 })
})

test('each rule has its own draws, by its id', () => {
  const draws = (id: string) => {
    const { book, store } = bookOf()
    store.transaction('', (tx) => tx.in(faultRules).put(ruleOf(id, { when: { probability: 0.5 } })))
    return firedNumbers(book, 20)
  }
  expect(draws('one')).not.toEqual(draws('two'))
})

test('random parameters of an action are drawn for each match, and are the same for the same seed', () => {
  const rule: Partial<FaultRule> = { do: [{ pace: { before_head_ms: 300, jitter_ms: 500 } }] }
  const delaysOf = (seed: number) => {
    const { book, facts } = bookOf(rule)
    facts.seed = seed
    return Array.from({ length: 8 }, () => {
      const [action] = book.decide('call', subject())?.actions ?? []
      return action !== undefined && 'pace' in action ? (action.pace.before_head_ms ?? 0) : 0
    })
  }
  const delays = delaysOf(1)
  expect(delays.every((ms) => ms >= 300 && ms <= 800)).toBe(true)
  expect(new Set(delays).size).toBeGreaterThan(4)
  expect(delaysOf(1)).toEqual(delays)
  expect(delaysOf(2)).not.toEqual(delays)
})

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
