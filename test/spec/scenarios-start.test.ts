import { expect, onTestFinished, test } from 'vitest'
import { openEmulator } from '../../src/emulator/emulator.ts'
import { START } from '../support/base-state.ts'
import { createBatch, retrieve } from '../support/batches.ts'
import { MemoryScenarios, type TestScenario } from '../support/memory-scenarios.ts'
import { asking, scenarioEmulator } from '../support/scenario-emulator.ts'

const organization = { id: 'org-3', name: 'Third' }

/** A scenario with one of each field. */
const whole: TestScenario = {
  description: 'One of everything',
  fixtures: {
    collections: { files: [{ id: 'file-2', teamspace_id: 'ts-a', name: 'b.pdf', kind: 'pdf', pages: 1 }] },
  },
  settings: { 'batch.cancel_delay': '10s' },
  pace: { validating: 'immediate' },
  outcomes: [{ every: 2, status: 'errored', detail: 'unreadable' }],
  clock: { rate: 0, skip_on_poll: true },
  faults: [{ id: 'refuse', match: { operation: 'pages.create' }, do: [{ respond: { status: 503 } }] }],
  stubs: [{ method: 'GET', path: '/search', body: 'stubbed' }],
  timeline: [
    { at: '10m', do: asking() },
    { at: '1h', do: [{ clear: 'refuse' }] },
  ],
  on: { 'batch.completed': asking() },
}

test('a started scenario applies its records, settings, clock, faults, stubs, steps and hooks', async () => {
  const emulator = await scenarioEmulator({ whole })
  const { status, body } = await emulator.start('whole')
  expect(status).toBe(200)
  expect(body).toEqual({
    name: 'whole',
    generation: 1,
    started_at: START,
    hooks: ['batch.completed'],
    pending_calls: 0,
    problem: null,
    last_error: null,
  })
  expect(emulator.state('files').map(({ id }) => id)).toEqual(['file-pdf', 'file-2'])
  const { overrides } = (await emulator.control('GET', '/settings')).body
  expect(overrides).toEqual({
    'batch.cancel_delay': '10s',
    'batch.pace': { validating: 'immediate' },
    'batch.outcomes': whole.outcomes,
  })
  expect((await emulator.control('GET', '/clock')).body).toMatchObject({ rate: 0, skip_on_poll: true })
  expect((await emulator.control('GET', '/faults')).body.data).toMatchObject([
    { id: 'refuse', source: 'scenario:whole' },
  ])
  expect((await emulator.post('/pages', { name: 'x' })).status).toBe(503)
  expect((await emulator.get('/search')).body).toBe('stubbed')
  const horizon = (await emulator.control('GET', '/clock/horizon')).body.data
  expect(horizon).toEqual([
    {
      at: '2026-03-01T12:10:00.000Z',
      kind: 'scenario.step',
      ref: 'scenario/whole/0',
      urgency: 'work',
      description: 'Step 0 of the scenario whole, 10m after its start: its function is called.',
    },
    expect.objectContaining({ at: '2026-03-01T13:00:00.000Z', ref: 'scenario/whole/1' }),
  ])
})

test('pace and outcomes apply to batches that are created after the start', async () => {
  const emulator = await scenarioEmulator({ whole })
  const before = await createBatch(emulator)
  await emulator.start('whole')
  const after = await createBatch(emulator)
  const shown = (id: string) => emulator.control('GET', `/batches/${id}`)
  expect((await shown(before.id)).body.plan.pace.validating).toBe('2s')
  const { plan } = (await shown(after.id)).body
  expect(plan.pace).toMatchObject({ validating: 'immediate', finalizing: '1s' })
  expect(plan.stages).toEqual([{ from: 0, outcomes: whole.outcomes }])
  expect((await retrieve(emulator, after.id)).status).not.toBe('validating')
})

test('a phase without a pace in the scenario keeps its pace from the settings', async () => {
  const settings = { 'batch.pace': { validating: '9s', finalizing: '7s' } }
  const emulator = await scenarioEmulator({ whole }, { settings })
  await emulator.start('whole')
  const { overrides } = (await emulator.control('GET', '/settings')).body
  expect(overrides['batch.pace']).toEqual({ validating: 'immediate', finalizing: '7s' })
  await emulator.stop()
  expect((await emulator.control('GET', '/settings')).body.overrides).toEqual(settings)
})

test('stopping a scenario removes its rules, stubs, settings and steps, but keeps its records', async () => {
  const emulator = await scenarioEmulator({ whole }, { settings: { 'lists.order': 'oldest' } })
  await emulator.control('POST', '/faults', {
    id: 'mine',
    match: { operation: 'skills.promote' },
    do: [{ respond: { status: 500 } }],
  })
  await emulator.control('POST', '/stubs', { method: 'GET', path: '/mine' })
  await emulator.start('whole')
  await emulator.control('PATCH', '/settings', { 'batch.cancel_delay': '99s' })
  expect((await emulator.stop()).body).toEqual({ stopped: 'whole' })
  expect(await emulator.active()).toBe(null)
  const { overrides } = (await emulator.control('GET', '/settings')).body
  expect(overrides).toEqual({ 'lists.order': 'oldest', 'batch.cancel_delay': '99s' })
  const ids = async (path: string) =>
    (await emulator.control('GET', path)).body.data.map(({ id }: { id: string }) => id)
  expect([await ids('/faults'), await ids('/stubs')]).toEqual([['mine'], ['stub']])
  expect((await emulator.control('GET', '/clock/horizon')).body.data).toEqual([])
  expect(emulator.state('files').map(({ id }) => id)).toContain('file-2')
  expect(emulator.sandbox.document()).toMatchObject({ scenario: null, scenario_calls: [] })
  const again = await emulator.stop()
  expect([again.status, again.body.message]).toEqual([409, 'No scenario is active on this sandbox.'])
})

test('starting a scenario replaces the active one', async () => {
  const other: TestScenario = {
    faults: [{ id: 'refuse', match: { operation: 'pages.create' }, do: [{ respond: { status: 500 } }] }],
    settings: { 'lists.order': 'oldest' },
  }
  const emulator = await scenarioEmulator({ whole, other })
  await emulator.start('whole')
  await emulator.start('other')
  expect((await emulator.control('GET', '/faults')).body.data).toMatchObject([{ source: 'scenario:other' }])
  expect((await emulator.control('GET', '/settings')).body.overrides).toEqual({ 'lists.order': 'oldest' })
  expect((await emulator.get('/search')).status).toBe(501)
  await emulator.start('other')
  expect((await emulator.control('GET', '/faults')).body.data).toHaveLength(1)
  await emulator.stop()
  expect((await emulator.control('GET', '/settings')).body.overrides).toEqual({})
})

test('GET /scenarios lists every script, either valid or with its error by file and line', async () => {
  const emulator = await scenarioEmulator({ whole, other: {} })
  emulator.scenarios.spoil('other', 'must be an object')
  emulator.scenarios.spoil('worse', 'is empty')
  await emulator.start('whole')
  const { body } = await emulator.control('GET', '/scenarios')
  expect(body).toMatchObject({
    object: 'list',
    data: [
      {
        name: 'other',
        valid: false,
        error: '/scenarios/other.ts:3: must be an object',
        generation: 1,
        active: false,
      },
      {
        name: 'whole',
        description: 'One of everything',
        file: '/scenarios/whole.ts',
        valid: true,
        error: null,
        generation: 1,
        active: true,
      },
      {
        name: 'worse',
        valid: false,
        error: '/scenarios/worse.ts:3: is empty',
        generation: null,
        active: false,
      },
    ],
    active: { name: 'whole' },
  })
})

test('an unknown scenario is refused with the nearest name, a broken one with file and line', async () => {
  const emulator = await scenarioEmulator({
    whole,
    other: { stubs: [{ method: 'GET', path: '/search', body: 'ok' }] },
  })
  const unknown = await emulator.start('whola')
  expect([unknown.status, unknown.body.message]).toEqual([
    404,
    'There is no scenario "whola". Did you mean "whole"?',
  ])
  emulator.scenarios.spoil('worse', 'is empty')
  const broken = await emulator.start('worse')
  expect([broken.status, broken.body.message]).toEqual([
    409,
    'The scenario "worse" is broken: /scenarios/worse.ts:3: is empty',
  ])
  emulator.scenarios.spoil('other', 'must be an object')
  expect((await emulator.start('other')).status).toBe(200)
  expect((await emulator.get('/search')).body).toBe('ok')
})

test.for<[title: string, change: TestScenario, pointer: string, description: string]>([
  ['a fault', { faults: [{ preset: 'rate-limitd' }] }, '/faults/0/preset', 'rate-limited'],
  ['a stub', { stubs: [{ method: 'POST', path: '/pages' }] }, '/stubs/0/path', 'pages.create'],
  ['a setting', { settings: { 'lists.ordr': 'oldest' } }, '/settings/lists.ordr', 'lists.order'],
  ['the pace', { pace: { validating: 'soon' } }, '/pace/validating', 'immediate'],
  ['an outcome', { outcomes: [{ status: 'broken' }] }, '/outcomes/0/status', ''],
  [
    'a setting that is also given in short',
    { settings: { 'batch.pace': {} } },
    '/pace',
    '/settings/batch.pace',
  ],
  [
    'a record',
    { fixtures: { collections: { files: [{ id: 'f' }] } } },
    '/fixtures/collections/files/0/name',
    '',
  ],
  ['a collection', { fixtures: { collections: { fils: [] } } }, '/fixtures/collections/fils', 'files'],
  ['a member of fixtures', { fixtures: { colections: {} } }, '/fixtures/colections', 'collections'],
  ['an action', { timeline: [{ at: '1s', do: [{ stat: {} }] }] }, '/timeline/0/do/0/stat', 'state'],
  [
    'an action that needs a request',
    { timeline: [{ at: '1s', do: [{ state: { id: { param: 'id' }, delete: { collection: 'pages' } } }] }] },
    '/timeline/0/do/0/state/id',
    'no request',
  ],
  ['a step that is too late', { timeline: [{ at: '3000000d', do: [] }] }, '/timeline/0/at', 'last instant'],
])(
  'a scenario with %s that is wrong is refused as a whole, with its pointer',
  async ([, change, pointer, description]) => {
    const emulator = await scenarioEmulator({ active: {}, bad: { ...whole, ...change } })
    await emulator.start('active')
    const before = emulator.digest()
    const { status, body } = await emulator.start('bad')
    expect(status).toBe(400)
    const found = body.details.errors.find((issue: { pointer: string }) => issue.pointer === pointer)
    expect([pointer, found?.detail ?? body.details.errors]).toEqual([
      pointer,
      expect.stringContaining(description),
    ])
    expect(emulator.digest()).toBe(before)
    expect((await emulator.active()).name).toBe('active')
  },
)

test('a rule with an id that is taken refuses the whole scenario', async () => {
  const emulator = await scenarioEmulator({ whole })
  await emulator.control('POST', '/faults', {
    id: 'refuse',
    match: { operation: 'pages.create' },
    do: [{ respond: { status: 500 } }],
  })
  const before = emulator.digest()
  expect((await emulator.start('whole')).body.message).toBe('A fault rule "refuse" already exists.')
  expect(emulator.digest()).toBe(before)
})

test('a scenario with its own instant starts at it, and events due before it run first', async () => {
  const now = '2026-03-01T13:00:00.000Z'
  const emulator = await scenarioEmulator({ later: { ...whole, clock: { now } } })
  const { id } = await createBatch(emulator)
  expect((await emulator.start('later')).body.started_at).toBe(now)
  const batch = await retrieve(emulator, id)
  expect([batch.status, batch.in_progress_at]).toEqual(['completed', '2026-03-01T12:00:02.000Z'])
  const horizon = (await emulator.control('GET', '/clock/horizon')).body.data
  expect(horizon.map(({ at, ref }: { at: string; ref: string }) => [at, ref]).slice(0, 2)).toEqual([
    ['2026-03-01T13:10:00.000Z', 'scenario/later/0'],
    ['2026-03-01T14:00:00.000Z', 'scenario/later/1'],
  ])
})

test('a scenario that cannot start does not advance the clock', async () => {
  const clock = { now: '2026-03-01T13:00:00.000Z' }
  const emulator = await scenarioEmulator({ later: { ...whole, clock }, active: {} })
  await emulator.control('POST', '/faults', {
    id: 'refuse',
    match: { operation: 'pages.create' },
    do: [{ respond: { status: 500 } }],
  })
  await emulator.start('active')
  const before = emulator.digest()
  expect((await emulator.start('later')).status).toBe(409)
  expect(emulator.digest()).toBe(before)
})

test('a scenario with a past instant is refused with a mitigation, and starts with reset', async () => {
  const emulator = await scenarioEmulator({ early: { ...whole, clock: { now: '2026-03-01T12:30:00.000Z' } } })
  await emulator.pass('1h')
  const before = emulator.digest()
  const { status, body } = await emulator.start('early')
  expect([status, body.mitigation]).toEqual([409, expect.stringContaining('scenario start early --reset')])
  expect(emulator.digest()).toBe(before)
  expect((await emulator.start('early', { reset: true })).body.started_at).toBe('2026-03-01T12:30:00.000Z')
})

test('a start with reset uses the starting state, and a refusal changes nothing', async () => {
  const bad = { faults: [{ preset: 'rate-limitd' }] }
  const emulator = await scenarioEmulator({ whole, bad })
  await emulator.post('/pages', { name: 'Mine' })
  const before = emulator.digest()
  expect((await emulator.start('bad', { reset: true })).status).toBe(400)
  expect(emulator.digest()).toBe(before)
  expect((await emulator.start('whole', { reset: true })).status).toBe(200)
  expect(emulator.state('pages')).toEqual([])
  expect(emulator.state('files')).toHaveLength(2)
  expect((await emulator.control('GET', '/requests')).body.data).toEqual([])
  expect((await emulator.start('whole', { rest: true })).body.details.errors[0].detail).toContain('"reset"')
})

test('a reset ends the scenario', async () => {
  const emulator = await scenarioEmulator({ whole })
  await emulator.start('whole')
  await emulator.control('POST', '/reset')
  expect(await emulator.active()).toBe(null)
  expect((await emulator.control('GET', '/faults')).body.data).toEqual([])
})

test('a scenario with settings that are invalid in the sandbox does not start', async () => {
  const settings = { models: [{ id: 'model-1', clouds: ['cloud_b'] }] }
  const emulator = await scenarioEmulator({
    models: { settings: { 'names.cloud_a': 'x', 'names.cloud_b': 'x' } },
    ok: { settings },
  })
  const before = emulator.digest()
  expect((await emulator.start('models')).status).toBe(400)
  expect(emulator.digest()).toBe(before)
  expect((await emulator.start('ok')).status).toBe(200)
})

test('simultaneous starts run one after the other', async () => {
  const emulator = await scenarioEmulator({
    whole,
    other: { fixtures: { collections: { organizations: [organization] } } },
  })
  const responses = await Promise.all([
    emulator.start('whole'),
    emulator.start('other'),
    emulator.start('whole'),
  ])
  expect(responses.map(({ status }) => status)).toEqual([200, 200, 200])
  expect((await emulator.active()).name).toBe('whole')
  expect((await emulator.control('GET', '/faults')).body.data).toHaveLength(1)
})

test('a sandbox can be created with a scenario, and is not created if that cannot start', async () => {
  const plain: TestScenario = { clock: { rate: 0 } }
  const emulator = await scenarioEmulator({ whole, plain, bad: { faults: [{ preset: 'x' }] } })
  expect((await emulator.control('POST', '/sandboxes', { name: 'w1', scenario: 'whole' })).status).toBe(201)
  expect((await emulator.in('w1')('GET', '/scenarios')).body.active.name).toBe('whole')
  expect(await emulator.active()).toBe(null)
  expect((await emulator.control('POST', '/sandboxes', { name: 'w2', scenario: 'bad' })).status).toBe(400)
  expect(
    (await emulator.control('POST', '/sandboxes', { name: 'w2', scenario: 'plain', fixtures: 'demo' }))
      .status,
  ).toBe(201)
})

test('an emulator can be started with a scenario, and does not start if the scenario cannot', async () => {
  const plain: TestScenario = { stubs: [{ method: 'GET', path: '/search', body: 'stubbed' }] }
  const scenarioSource = new MemoryScenarios({ plain, bad: { faults: [{ preset: 'x' }] } })
  const options = { port: 0, ephemeral: true, clock: START, rate: 0, scenarioSource }
  const emulator = await openEmulator({ ...options, scenario: 'plain' })
  onTestFinished(() => emulator.close())
  const response = await fetch(`${emulator.baseUrl}/search`, {
    headers: { authorization: 'Bearer live_demo_owner' },
  })
  expect(await response.json()).toBe('stubbed')
  await expect(openEmulator({ ...options, scenario: 'bad' })).rejects.toThrow('/faults/0/preset')
  await expect(openEmulator({ ...options, scenario: 'plan' })).rejects.toThrow('Did you mean "plain"?')
})

test('the scenario routes require the control token if one is set', async () => {
  const emulator = await scenarioEmulator({ whole }, { controlToken: 'control-token' })
  expect((await emulator.start('whole')).status).toBe(401)
  expect((await emulator.control('GET', '/scenarios')).status).toBe(401)
})
