import { expect, test } from 'vitest'
import { START } from '../support/base-state.ts'
import { createBatch, retrieve } from '../support/batches.ts'
import type { TestScenario } from '../support/memory-scenarios.ts'
import { asking, type ScenarioEmulator, scenarioEmulator } from '../support/scenario-emulator.ts'
import { faultsOf, horizonOf, overridesOf } from '../support/started-scenario.ts'

const refusing = (id: string, status = 503) => ({
  id,
  match: { operation: 'pages.create' },
  do: [{ respond: { status } }],
})

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
  faults: [refusing('refuse')],
  stubs: [{ method: 'GET', path: '/search', body: 'stubbed' }],
  timeline: [
    { at: '10m', do: asking() },
    { at: '1h', do: [{ clear: 'refuse' }] },
  ],
  on: { 'batch.completed': asking() },
}

const LATER = '2026-03-01T13:00:00.000Z'
const later = { ...whole, clock: { now: LATER } }

/** Starts a scenario that is refused, and asserts that nothing changes. */
async function refused(emulator: ScenarioEmulator, name: string, how?: object) {
  const before = emulator.digest()
  const { status, body } = await emulator.start(name, how)
  expect(emulator.digest()).toBe(before)
  return { status, ...body }
}

test('a started scenario applies its records, settings, clock, faults, stubs, steps and hooks', async () => {
  const emulator = await scenarioEmulator({ whole })
  const { status, body } = await emulator.start('whole')
  const calm = { pending_calls: 0, problem: null, last_error: null }
  const facts = { name: 'whole', generation: 1, started_at: START, hooks: ['batch.completed'] }
  expect([status, body]).toEqual([200, { ...facts, ...calm }])
  expect(emulator.state('files').map(({ id }) => id)).toEqual(['file-pdf', 'file-2'])
  expect(await overridesOf(emulator)).toEqual({
    'batch.cancel_delay': '10s',
    'batch.pace': { validating: 'immediate' },
    'batch.outcomes': whole.outcomes,
  })
  expect((await emulator.control('GET', '/clock')).body).toMatchObject({ rate: 0, skip_on_poll: true })
  expect(await faultsOf(emulator)).toMatchObject([{ id: 'refuse', source: 'scenario:whole' }])
  expect((await emulator.post('/pages', { name: 'x' })).status).toBe(503)
  expect((await emulator.get('/search')).body).toBe('stubbed')
  expect(await horizonOf(emulator)).toEqual([
    ['2026-03-01T12:10:00.000Z', 'scenario/whole/0'],
    [LATER, 'scenario/whole/1'],
  ])
})

test('pace and outcomes apply to batches that are created after the start', async () => {
  const settings = { 'batch.pace': { validating: '9s', finalizing: '7s' } }
  const emulator = await scenarioEmulator({ whole }, { settings })
  const planned = async () =>
    (await emulator.control('GET', `/batches/${(await createBatch(emulator)).id}`)).body.plan
  expect((await planned()).pace.validating).toBe('9s')
  await emulator.start('whole')
  // A phase without a pace in the scenario keeps its pace from the settings.
  const pace = { validating: 'immediate', finalizing: '7s' }
  expect(await planned()).toMatchObject({ pace, stages: [{ from: 0, outcomes: whole.outcomes }] })
  await emulator.stop()
  expect(await overridesOf(emulator)).toEqual(settings)
})

test('stopping a scenario removes its rules, stubs, settings and steps, but keeps its records', async () => {
  const emulator = await scenarioEmulator({ whole }, { settings: { 'lists.order': 'oldest' } })
  await emulator.control('POST', '/faults', refusing('mine'))
  await emulator.control('POST', '/stubs', { method: 'GET', path: '/mine' })
  await emulator.start('whole')
  await emulator.control('PATCH', '/settings', { 'batch.cancel_delay': '99s' })
  expect((await emulator.stop()).body).toEqual({ stopped: 'whole' })
  expect(await emulator.active()).toBe(null)
  expect(await overridesOf(emulator)).toEqual({ 'lists.order': 'oldest', 'batch.cancel_delay': '99s' })
  expect(await faultsOf(emulator)).toMatchObject([{ id: 'mine' }])
  expect((await emulator.control('GET', '/stubs')).body.data).toMatchObject([{ id: 'stub', path: '/mine' }])
  expect(await horizonOf(emulator)).toEqual([])
  expect(emulator.state('files').map(({ id }) => id)).toContain('file-2')
  expect(emulator.sandbox.document()).toMatchObject({ scenario: null, scenario_calls: [] })
  expect((await emulator.stop()).status).toBe(409)
})

test('starting a scenario replaces the active one, and simultaneous starts run one after the other', async () => {
  const other = { faults: [refusing('refuse', 500)], settings: { 'lists.order': 'oldest' } }
  const emulator = await scenarioEmulator({ whole, other })
  const starts = await Promise.all(['other', 'whole', 'other'].map((name) => emulator.start(name)))
  expect(starts.map(({ status }) => status)).toEqual([200, 200, 200])
  expect((await emulator.active()).name).toBe('other')
  expect(await faultsOf(emulator)).toMatchObject([{ source: 'scenario:other' }])
  expect(await overridesOf(emulator)).toEqual({ 'lists.order': 'oldest' })
  expect((await emulator.get('/search')).status).toBe(501)
  await emulator.stop()
  expect(await overridesOf(emulator)).toEqual({})
})

test('every script is listed, either valid or with its error by file and line, and starts if it ever was valid', async () => {
  const stubs = [{ method: 'GET', path: '/search', body: 'ok' }]
  const emulator = await scenarioEmulator({ whole, other: { stubs } })
  emulator.scenarios.spoil('other', 'must be an object')
  emulator.scenarios.spoil('worse', 'is empty')
  await emulator.start('whole')
  const { body } = await emulator.control('GET', '/scenarios')
  expect(body).toMatchObject({ object: 'list', active: { name: 'whole' } })
  const shown = { file: '/scenarios/whole.ts', description: 'One of everything' }
  const [error, broken] = ['/scenarios/other.ts:3: must be an object', '/scenarios/worse.ts:3: is empty']
  expect(body.data).toMatchObject([
    { name: 'other', valid: false, error, generation: 1, active: false },
    { name: 'whole', valid: true, error: null, generation: 1, active: true, ...shown },
    { name: 'worse', valid: false, error: broken, generation: null },
  ])
  const unknown = 'There is no scenario "whola". Did you mean "whole"?'
  expect(await refused(emulator, 'whola')).toMatchObject({ status: 404, message: unknown })
  const message = `The scenario "worse" is broken: ${broken}`
  expect(await refused(emulator, 'worse')).toMatchObject({ status: 409, message })
  expect((await emulator.start('other')).status).toBe(200)
  expect((await emulator.get('/search')).body).toBe('ok')
})

const same = { 'names.cloud_a': 'x', 'names.cloud_b': 'x' }
const records = { collections: { files: [{ id: 'f' }] } }
const after = (action: object, at = '1s') => ({ timeline: [{ at, do: [action] }] })
const byRequest = { id: { param: 'id' }, delete: { collection: 'pages' } }

test.for<[title: string, change: TestScenario, pointer: string, description: string]>([
  ['a fault', { faults: [{ preset: 'rate-limitd' }] }, '/faults/0/preset', 'rate-limited'],
  ['a stub', { stubs: [{ method: 'POST', path: '/pages' }] }, '/stubs/0/path', 'pages.create'],
  ['a setting', { settings: { 'lists.ordr': 'oldest' } }, '/settings/lists.ordr', 'lists.order'],
  ['the pace', { pace: { validating: 'soon' } }, '/pace/validating', 'immediate'],
  ['an outcome', { outcomes: [{ status: 'broken' }] }, '/outcomes/0/status', ''],
  ['settings that exclude each other', { settings: same }, '/settings/names.cloud_b', ''],
  ['a setting that is also given in short', { settings: { 'batch.pace': {} } }, '/pace', 'batch.pace'],
  ['a record', { fixtures: records }, '/fixtures/collections/files/0/name', ''],
  ['an action', after({ stat: {} }), '/timeline/0/do/0/stat', 'state'],
  ['an action on a request', after({ state: byRequest }), '/timeline/0/do/0/state/id', 'no request'],
  ['a step that is too late', after({}, '3000000d'), '/timeline/0/at', 'last instant'],
])(
  'a scenario with %s that is wrong is refused as a whole, with its pointer',
  async ([, change, pointer, description]) => {
    const emulator = await scenarioEmulator({ active: {}, bad: { ...whole, ...change } })
    await emulator.start('active')
    const { status, details } = await refused(emulator, 'bad')
    expect(status).toBe(400)
    expect(details.errors).toContainEqual({ pointer, detail: expect.stringContaining(description) })
    expect((await emulator.active()).name).toBe('active')
  },
)

test('a rule with an id that is taken refuses the whole scenario, before the clock advances', async () => {
  const emulator = await scenarioEmulator({ later, active: {} })
  await emulator.control('POST', '/faults', refusing('refuse'))
  await emulator.start('active')
  const message = 'A fault rule "refuse" already exists.'
  expect(await refused(emulator, 'later')).toMatchObject({ status: 409, message })
})

test('a scenario with its own instant starts at it, after the events due before, and later only with reset', async () => {
  const emulator = await scenarioEmulator({ later })
  const { id } = await createBatch(emulator)
  expect((await emulator.start('later')).body.started_at).toBe(LATER)
  const in_progress_at = '2026-03-01T12:00:02.000Z'
  expect(await retrieve(emulator, id)).toMatchObject({ status: 'completed', in_progress_at })
  expect(await horizonOf(emulator)).toContainEqual(['2026-03-01T13:10:00.000Z', 'scenario/later/0'])
  await emulator.pass('2h')
  const mitigation = expect.stringContaining('scenario start later --reset')
  expect(await refused(emulator, 'later')).toMatchObject({ status: 409, mitigation })
  expect((await emulator.start('later', { reset: true })).body.started_at).toBe(LATER)
})

test('a start with reset uses the starting state, a refusal changes nothing, and a reset ends the scenario', async () => {
  const bad = { faults: [{ preset: 'rate-limitd' }] }
  const emulator = await scenarioEmulator({ whole, bad })
  await emulator.post('/pages', { name: 'Mine' })
  expect(await refused(emulator, 'bad', { reset: true })).toMatchObject({ status: 400 })
  expect((await emulator.start('whole', { reset: true })).status).toBe(200)
  expect([emulator.state('pages'), emulator.state('files').length]).toEqual([[], 2])
  expect((await emulator.control('GET', '/requests')).body.data).toEqual([])
  const misspelt = await refused(emulator, 'whole', { rest: true })
  expect(misspelt.details.errors[0].detail).toContain('"reset"')
  await emulator.control('POST', '/reset')
  expect([await emulator.active(), await faultsOf(emulator)]).toEqual([null, []])
})

test('a sandbox can be created with a scenario, and is not created if that cannot start', async () => {
  const emulator = await scenarioEmulator({ whole, plain: {}, bad: { faults: [{ preset: 'x' }] } })
  const create = async (body: object) => (await emulator.control('POST', '/sandboxes', body)).status
  expect(await create({ name: 'w1', scenario: 'whole' })).toBe(201)
  expect((await emulator.in('w1')('GET', '/scenarios')).body.active.name).toBe('whole')
  expect(await emulator.active()).toBe(null)
  expect(await create({ name: 'w2', scenario: 'bad' })).toBe(400)
  expect(await create({ name: 'w2', scenario: 'plain', fixtures: 'demo' })).toBe(201)
})
