import { expect, test } from 'vitest'
import { workspaceService } from '../../../src/emulator/service.ts'
import { aBatch, batchEmulator, createBatch, refusedProblem } from '../../support/batches.ts'

const { assumptions } = workspaceService

const models = [
  { id: 'native-only', clouds: ['cloud_a'] },
  { id: 'other-only', clouds: ['cloud_b'] },
  { id: 'everywhere', clouds: ['cloud_a', 'cloud_b'] },
  { id: 'fast-old', clouds: ['cloud_b'], runs_as: 'other-only' },
]

// ts-a of KU is on cloud_b, ts-b of K2 on cloud_a.
test.for<[string, 'KU' | 'K2', string, boolean]>([
  ['cloud_a accepts a natively served model', 'K2', 'native-only', true],
  ['cloud_a refuses a model of the other cloud', 'K2', 'other-only', false],
  ['cloud_a accepts a model of both', 'K2', 'everywhere', true],
  ['cloud_b refuses an id exclusive to the first', 'KU', 'native-only', false],
  ['cloud_b accepts other batch-capable models', 'KU', 'other-only', true],
  ['cloud_b accepts a model of both', 'KU', 'everywhere', true],
  ['an unknown id is refused', 'KU', 'other-onyl', false],
])('%s', { tags: ['R205', 'R022', 'R201', 'U036'] }, async ([, key, model, accepted]) => {
  const emulator = await batchEmulator({ models })
  const create = () => emulator.post('/batch-predictions', aBatch({ model }), { key })
  if (!accepted) {
    const response = await refusedProblem(emulator, create, 400, 'validation_failed')
    expect(response.body.errors).toMatchObject([{ pointer: '/model' }])
    // An unknown id is near to a known one.
    if (model === 'other-onyl') expect(response.body.errors[0].detail).toContain('Did you mean "other-only"?')
    return
  }
  const response = await create()
  expect([response.status, response.body.model]).toEqual([200, model])
})

test('a deprecated id runs as another, and a setting shows it', {
  tags: ['R206', 'R289', 'R078', 'U037'],
}, async () => {
  for (const [settings, shown] of [
    [{}, 'fast-old'],
    [{ 'batch.model.echo': 'effective' }, 'other-only'],
  ] as const) {
    const emulator = await batchEmulator({ models, ...settings })
    expect((await createBatch(emulator, { model: 'fast-old' })).model).toBe(shown)
    expect(emulator.state('batch_predictions')[0]._emulator.request.effective_model).toBe('other-only')
  }
})

test('without a list any model id is accepted and echoed', { tags: ['R078', 'U036'] }, async () => {
  expect((await createBatch(await batchEmulator(), { model: 'made up / 7' })).model).toBe('made up / 7')
})

test.for<[string, object[], string]>([
  ['an unknown cloud', [{ id: 'm', clouds: ['cloud_c'] }], '/models/0/clouds/0'],
  ['no cloud', [{ id: 'm', clouds: [] }], '/models/0/clouds'],
  ['a model listed twice', [...models, { id: 'fast-old', clouds: ['cloud_a'] }], '/models/4/id'],
  [
    'a deprecated model that runs as nothing',
    [{ id: 'm', clouds: ['cloud_a'], runs_as: 'n' }],
    '/models/0/runs_as',
  ],
])('a list of models with %s is refused', ([, list, pointer]) => {
  expect(assumptions.check({ models: list }).map((issue) => issue.pointer)).toEqual([pointer])
})
