import { expect, test } from 'vitest'
import { running } from '../../../test/support/running-batch.ts'
import { outcomesOf } from './outcomes.ts'
import type { Batch, OutcomeRule } from './schema.ts'

/** A batch with these items and outcome rules; only its plan matters here. */
function planned(ids: readonly string[], plan: object): Batch {
  const { _emulator, ...batch } = running(ids.length, plan)
  const output_schema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] }
  const items = ids.map((custom_id) => ({ custom_id, file_id: 'f' }))
  return { ...batch, _emulator: { ..._emulator, request: { ..._emulator.request, output_schema, items } } }
}

const numbered = (count: number) => Array.from({ length: count }, (_, n) => `item-${n}`)
const one = (outcomes: readonly OutcomeRule[]) => ({ stages: [{ from: 0, outcomes }] })

/** One letter per item: s for a generated output, o for a given one, e for an error. */
function letters(batch: Batch): string {
  const outcomes = outcomesOf(batch)
  return batch._emulator.request.items
    .map((_, index) => {
      const outcome = outcomes.of(index)
      return outcome.status === 'errored' ? 'e' : outcome.output === 'generated' ? 's' : 'o'
    })
    .join('')
}

test.for<[string, readonly OutcomeRule[], string]>([
  ['no rule', [], 'ssssssss'],
  ['a rule for all', [{ status: 'errored' }], 'eeeeeeee'],
  ['an index', [{ match: { index: 3 }, status: 'errored' }], 'sssessss'],
  ['a glob', [{ match: { custom_id: 'item-[5-7]' }, status: 'errored' }], 'ssssseee'],
  ['every third', [{ every: 3, status: 'errored' }], 'ssessess'],
  ['every second match', [{ match: { custom_id: 'item-[1-4]' }, every: 2, status: 'errored' }], 'ssesesss'],
  ['the first rule that fits', [{ match: { index: 0 } }, { status: 'errored' }], 'seeeeeee'],
  ['a rule that is passed over', [{ every: 2, status: 'errored' }, { output: { n: 1 } }], 'oeoeoeoe'],
  ['both index and glob', [{ match: { index: 1, custom_id: 'item-2' }, status: 'errored' }], 'ssssssss'],
  ['never', [{ probability: 0, status: 'errored' }], 'ssssssss'],
  ['always', [{ probability: 1, status: 'errored' }], 'eeeeeeee'],
])('outcomes by %s', ([, rules, expected]) => {
  const batch = planned(numbered(8), one(rules))
  expect(letters(batch)).toBe(expected)
  const errors = [...expected].map((_, n) => expected.slice(0, n + 1).replace(/[^e]/g, '').length)
  expect(errors.map((_, n) => outcomesOf(batch).erroredAmong(n + 1))).toEqual(errors)
})

test('a probability depends on the seed of the batch, and is close to its share', () => {
  const rules = one([{ probability: 0.3, status: 'errored' }])
  const draw = (seed: number) => letters(planned(numbered(2_000), { seed, ...rules }))
  expect(draw(1)).toBe(draw(1))
  expect(draw(1)).not.toBe(draw(2))
  const share = [...draw(1)].filter((each) => each === 'e').length / 2_000
  expect(Math.abs(share - 0.3)).toBeLessThan(0.05)
})

test('a glob matches the whole id, and slashes, dots and line breaks are ordinary characters', () => {
  const ids = ['a/b', '.a', 'a\nb', 'ab', 'b', '__proto__', 'constructor']
  const rules = (glob: string) => one([{ match: { custom_id: glob }, status: 'errored' }])
  expect(letters(planned(ids, rules('*')))).toBe('eeeeeee')
  expect(letters(planned(ids, rules('a*')))).toBe('eseesss')
  expect(letters(planned(ids, rules('b')))).toBe('ssssess')
  expect(letters(planned(ids, rules('{__proto__,constructor}')))).toBe('sssssee')
})

test('a later stage applies from its first item on, and counts from one again', () => {
  const stages = [
    { from: 0, outcomes: [{ every: 2, status: 'errored' as const }] },
    { from: 3, outcomes: [] },
    { from: 5, outcomes: [{ every: 2, status: 'errored' as const }] },
  ]
  expect(letters(planned(numbered(9), { stages }))).toBe('sessssese')
})

test('an item that failed validation is errored, regardless of the rules', () => {
  const plan = { ...one([{ output: { n: 1 } }]), rejected: [{ index: 1, detail: 'no such file' }] }
  const batch = planned(numbered(3), plan)
  expect(letters(batch)).toBe('oeo')
  expect(outcomesOf(batch).of(1)).toEqual({ status: 'errored', detail: 'no such file' })
})

test('outcomes are computed once for each plan', () => {
  const batch = planned(numbered(5), one([{ status: 'errored' }]))
  const later: Batch = { ...batch, status: 'finalizing' }
  expect(outcomesOf(later)).toBe(outcomesOf(batch))
  const replanned = { ...batch, _emulator: { ...batch._emulator, plan: { ...batch._emulator.plan } } }
  expect(outcomesOf(replanned)).not.toBe(outcomesOf(batch))
})
