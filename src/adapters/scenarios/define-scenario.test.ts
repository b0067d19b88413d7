import { expect, expectTypeOf, test } from 'vitest'
import type { PaceChange } from '../../service/batch-predictions/pace.ts'
import type { OutcomeRule } from '../../service/batch-predictions/schema.ts'
import { defineScenario, type ScenarioOutcome, type ScenarioPace } from './define-scenario.ts'

test('defineScenario returns its argument, and types each function by its place', () => {
  const given = {
    description: 'Half the invoices fail, and the first poll is rate limited',
    fixtures: { collections: { files: [{ id: 'file_1' }] } },
    clock: { rate: 0 },
    pace: { validating: '2s', in_progress: { per_item: '150ms', concurrency: 8 }, finalizing: { polls: 2 } },
  }
  const scenario = defineScenario({
    ...given,
    outcomes: [
      { match: { custom_id: 'invoice-*' }, every: 2, status: 'errored', detail: 'unreadable scan' },
      { match: { custom_id: 'total' }, output: { amount: 12.5 } },
    ],
    faults: [
      { preset: 'rate-limited', match: { operation: 'batch-predictions.retrieve' }, when: { nth: 1 } },
    ],
    stubs: [{ method: 'GET', path: '/search', status: 200, body: { object: 'list', data: [] } }],
    timeline: [
      { at: '10m', do: ({ batches }) => batches.latest()?.fail() },
      { at: '11m', do: [{ state: { cleanup: true, id: 'latest' } }] },
    ],
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
