import fc from 'fast-check'
import { expect, test } from 'vitest'
import { bookOf, firedNumbers, fires, ruleOf, subject } from '../../../test/support/fault-book.ts'
import { type FaultCounter, type FaultRule, faultCounters, faultRules, type When } from './rule.ts'

const tagged = (tag: string) => subject({ headers: { 'x-emulator-tag': tag } })

test.for<[when: When, fired: number[]]>([
  [{ first: 5, every: 2 }, [2, 4]],
  [{ after: 1, until: { calls: 3 } }, [2, 3]],
  [{ probability: 0 }, []],
  [{ probability: 1 }, [1, 2, 3, 4, 5, 6]],
])('a rule with %j fires on %j of six requests', ([when, fired]) => {
  expect(firedNumbers(bookOf({ when }).book, 6)).toEqual(fired)
})

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

test('a rule has one counter for each key and one for the total', () => {
  const { book, store } = bookOf({ when: { nth: 2, by: 'tag' } })
  const fired = fires(book, ['a', 'b', 'a', 'a', 'b'].map(tagged))
  expect(fired).toEqual([[], [], ['rule-1'], [], ['rule-1']])
  const counters = [...store.rows(faultCounters.name).values()] as FaultCounter[]
  expect(counters.map(({ key, matched, fired }) => [key, matched, fired])).toEqual([
    [null, 5, 2],
    ['a', 3, 1],
    ['b', 2, 1],
  ])
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
  const { decisions } = book.decide('call', tagged('y')) ?? { decisions: [] }
  const told = decisions.map(({ rule, fired, description }) => [rule.id, fired !== undefined, description])
  expect(told).toEqual([
    ['rule-1', false, 'The method is "GET", not "POST".'],
    ['rule-2', false, 'This is match number 1; it fires on number 2.'],
    ['rule-3', false, 'It has fired 1 time, its maximum.'],
    ['rule-4', true, 'It fired on match number 2.'],
    ['rule-5', false, 'The rule rule-4 fired first and stops the evaluation of later rules.'],
  ])
  expect(decisions[1]?.counter).toEqual({ n: 1, key: 'y' })
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
