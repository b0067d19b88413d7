import { expect, test } from 'vitest'
import { START } from '../../../test/support/base-state.ts'
import { bookOf, firedNumbers, ruleOf, subject } from '../../../test/support/fault-book.ts'
import { serviceFacts } from '../../emulator/service.ts'
import { Refusal } from '../errors.ts'
import type { Scope } from '../operation.ts'
import { service } from '../service.ts'
import { arm, disarm, MAX_RULES, rearm } from './arm.ts'
import type { Preset } from './preset.ts'
import type { FaultDraft, FaultRule } from './rule.ts'
import { standingOf } from './standing.ts'

const fail: FaultDraft = { match: 'everything', do: [{ respond: { status: 500 } }] }
const once: Preset = {
  ...{ name: 'one-failure', family: 'retry', description: 'One failure.', do: fail.do ?? [] },
  ...{ match: { method: 'GET', headers: { accept: '*' } }, when: { nth: 1 }, then: 'continue', times: 3 },
}
const all = service([{ name: 'none', operations: [], collections: [] }], { ...serviceFacts, presets: [once] })

function armory() {
  const { book, store, facts } = bookOf()
  store.transaction(START, (tx) => disarm({ tx } as Scope, 'rule-1'))
  const change = <T>(work: (scope: Scope) => T): T =>
    store.transaction(START, (tx) => work({ tx, at: START } as Scope))
  return {
    book,
    facts,
    change,
    arm: (...drafts: FaultDraft[]) =>
      change((scope) => drafts.map((draft) => arm(scope, all, draft, 'control', START))),
    standing: (rule: FaultRule) => standingOf(store, rule, facts),
  }
}

test('an armed rule has a default for everything that its draft leaves out', () => {
  expect(armory().arm(fail)).toEqual([ruleOf('fault', { do: fail.do ?? [] })])
})

test('a draft overrides its preset, and its match is merged field by field', () => {
  const match = { headers: { 'x-try': '1' } }
  const more: FaultDraft = { when: { nth: 2, by: 'tag' }, times: 1, then: 'stop', priority: 5 }
  const [plain, changed, wide] = armory().arm(
    { preset: 'one-failure' },
    { preset: 'one-failure', match, ...more },
    { preset: 'one-failure', match: 'everything' },
  )
  const { match: own, when, times, then } = once
  expect(plain).toMatchObject({ id: 'one-failure', preset: 'one-failure', match: own, when, times, then })
  expect(changed).toMatchObject({ ...more, id: 'one-failure-2', match: { method: 'GET', ...match } })
  expect(wide?.match).toBe('everything')
})

test('rules without an id get the lowest free number', () => {
  const { arm, change } = armory()
  expect(arm(fail, fail, fail).map(({ id }) => id)).toEqual(['fault', 'fault-2', 'fault-3'])
  change((scope) => disarm(scope, 'fault-2'))
  expect(arm(fail, fail).map(({ id }) => id)).toEqual(['fault-2', 'fault-4'])
})

test('an id that is taken is a conflict, and so is a rule beyond the maximum of a sandbox', () => {
  const { arm, book } = armory()
  arm({ ...fail, id: 'a' })
  expect(() => arm({ ...fail, id: 'b' }, { ...fail, id: 'a' })).toThrow('A fault rule "a" already exists.')
  expect(book.rules.map(({ id }) => id)).toEqual(['a'])
  arm(...Array.from({ length: MAX_RULES - 1 }, () => fail))
  expect(() => arm(fail)).toThrow(Refusal)
  expect(() => arm(fail)).toThrow('The sandbox has 1000 fault rules')
})

test('an armed rule is a copy: a script may change its own object later', () => {
  const actions = [{ respond: { status: 500 } }]
  const { arm, book } = armory()
  arm({ match: 'everything', do: actions })
  actions.length = 0
  expect(book.rules[0]?.do).toHaveLength(1)
})

test('a rule that is armed again starts with counters at zero and its full time to live', () => {
  const { arm, change, book, facts, standing } = armory()
  const [rule] = arm({ ...fail, times: 1, ttl: '1m' }) as [FaultRule]
  expect([firedNumbers(book, 2), standing(rule).status]).toEqual([[1], 'spent'])
  facts.now += 60_000
  const later = new Date(facts.now).toISOString()
  const again = change((scope) => rearm({ ...scope, at: later }, rule, later))
  expect([standing(again).status, again.armed_at, firedNumbers(book, 2)]).toEqual(['armed', later, [1]])
})

test('a rule is expired after its time to live, and spent after its last allowed fire', () => {
  const { arm, book, facts, standing } = armory()
  const [rule] = arm({ ...fail, times: 1, ttl: '1m' }) as [FaultRule]
  facts.now += 60_000
  expect(standing(rule).status).toBe('expired')
  facts.now -= 60_000
  firedNumbers(book, 1)
  facts.now += 60_000
  expect(standing(rule).status).toBe('spent')
})

test('the status of a rule shows its hundred newest keys and the number of all keys', () => {
  const { arm, book, standing } = armory()
  const [rule] = arm({ ...fail, when: { by: 'tag' } }) as [FaultRule]
  for (let n = 0; n < 150; n++) book.decide('call', subject({ headers: { 'x-emulator-tag': `t${n}` } }))
  const { counters, keys } = standing(rule)
  expect([keys, counters.length, counters[0]?.key, counters.at(-1)?.key]).toEqual([150, 100, 't50', 't149'])
})
