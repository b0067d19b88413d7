import { expect, expectTypeOf, test } from 'vitest'
import type { PaceChange } from '../../service/batch-predictions/pace.ts'
import type { OutcomeRule } from '../../service/batch-predictions/schema.ts'
import { defineScenario, type ScenarioOutcome, type ScenarioPace } from './define-scenario.ts'

test('defineScenario returns its argument, and types each function by its place', () => {
  const given = { clock: { rate: 0 }, pace: { in_progress: { per_item: '150ms' }, finalizing: { polls: 2 } } }
  const scenario = defineScenario({
    ...given,
    outcomes: [{ match: { custom_id: 'invoice-*' }, every: 2, status: 'errored', detail: 'unreadable scan' }],
    timeline: [{ at: '10m', do: ({ batches }) => batches.latest()?.fail() }],
    on: { 'batch.completed': ({ batch, sandbox }) => sandbox.log(`done: ${batch.id}`) },
  })
  expect(scenario).toMatchObject(given)
})

test('an invalid scenario does not compile', () => {
  // @ts-expect-error a misspelt member
  defineScenario({ descripton: 'x' })
  // @ts-expect-error no phase
  defineScenario({ pace: { validating: 3 } })
  // @ts-expect-error two choices only
  defineScenario({ outcomes: [{ status: 'expired' }] })
  // @ts-expect-error time cannot be moved from within a step
  defineScenario({ timeline: [{ at: '1m', do: ({ clock }) => clock.advance('1h') }] })
  // @ts-expect-error a record has an id
  defineScenario({ timeline: [{ at: '1m', do: ({ sandbox }) => sandbox.put('pages', { title: 'x' }) }] })
  expect(defineScenario({})).toEqual({})
})

test('pace and outcomes are those of batches', () => {
  expectTypeOf<ScenarioPace>().toExtend<PaceChange>()
  expectTypeOf<ScenarioOutcome>().toExtend<OutcomeRule>()
  expectTypeOf<keyof PaceChange>().toEqualTypeOf<keyof ScenarioPace>()
  expectTypeOf<keyof OutcomeRule>().toEqualTypeOf<keyof ScenarioOutcome>()
})
