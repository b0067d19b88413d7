import { expect, test } from 'vitest'
import type { ScenarioCommand } from '../../src/kernel/scenario/commands.ts'
import { START } from '../support/base-world.ts'
import { createBatch } from '../support/batches.ts'
import { follow } from '../support/event-feed.ts'
import type { TestScenario } from '../support/memory-scenarios.ts'
import { asking, type ScenarioWorld, scenarioWorld } from '../support/scenario-world.ts'

const refusing = (id: string, status = 503) => ({
  id,
  match: { operation: 'pages.create' },
  when: { after: 1 },
  do: [{ respond: { status } }],
})

const first: TestScenario = {
  settings: { 'lists.order': 'oldest', 'batch.cancel_delay': '10s' },
  pace: { validating: '9s' },
  faults: [refusing('kept'), refusing('changed')],
  stubs: [{ method: 'GET', path: '/search', body: 'first' }],
  timeline: [
    { at: '10m', do: [{ arm: refusing('armed') }] },
    { at: '1h', do: asking() },
  ],
  on: { 'batch.created': asking() },
}

const faultsOf = async (world: ScenarioWorld) => (await world.control('GET', '/faults')).body.data
const horizonOf = async (world: ScenarioWorld) =>
  (await world.control('GET', '/clock/horizon')).body.data.map(({ at, ref }: { at: string; ref: string }) => [
    at,
    ref,
  ])

test('a newer version of the active script takes its place: rules, stubs, settings, pace, steps and hooks', async () => {
  const world = await scenarioWorld({ s: first })
  await world.start('s')
  await world.post('/pages', { name: 'x' })
  await world.pass('30m')
  const { started_at } = await world.active()
  const [records, now] = [world.records(), world.now()]
  world.scenarios.swap({
    s: {
      settings: { 'lists.order': 'newest' },
      pace: { validating: '1s' },
      faults: [refusing('changed', 500), refusing('kept'), refusing('new')],
      stubs: [{ method: 'GET', path: '/search', body: 'second' }],
      timeline: [
        { at: '20m', do: [{ clear: 'kept' }] },
        { at: '40m', do: asking() },
      ],
      on: { 'batch.completed': asking() },
    },
  })
  expect(await world.active()).toMatchObject({
    generation: 2,
    started_at,
    hooks: ['batch.completed'],
    problem: null,
  })
  expect([world.records(), world.now()]).toEqual([records, now])
  const matched = (await faultsOf(world)).map(({ id, matched }: { id: string; matched: number }) => [
    id,
    matched,
  ])
  expect(new Map(matched)).toEqual(
    new Map([
      ['kept', 1],
      ['changed', 0],
      ['armed', 0],
      ['new', 0],
    ]),
  )
  expect((await world.get('/search')).body).toBe('second')
  const { overrides } = (await world.control('GET', '/settings')).body
  expect(overrides).toEqual({ 'lists.order': 'newest', 'batch.pace': { validating: '1s' } })
  expect(await horizonOf(world)).toEqual([['2026-03-01T12:40:00.000Z', 'scenario/s/1']])
  await world.stop()
  expect((await world.control('GET', '/settings')).body.overrides).toEqual({})
  expect(await faultsOf(world)).toEqual([])
})

test('a reload that changes nothing of a script writes no more than its generation', async () => {
  const world = await scenarioWorld({ s: first })
  await world.start('s')
  const [revision, horizon] = [world.sandbox.store.revision, world.sandbox.document().schedule]
  world.scenarios.swap({ s: first })
  expect(world.sandbox.store.revision).toBe(revision + 1)
  expect(world.sandbox.document().schedule).toEqual(horizon)
  expect((await world.active()).generation).toBe(2)
})

test('a version that does not fit the world leaves the older one in force, and says why', async () => {
  const said: string[] = []
  const logger = { info: () => {}, warn: (message: string) => said.push(message), error: () => {} }
  const world = await scenarioWorld({ s: first }, { logger })
  await world.start('s')
  const before = world.digest()
  world.scenarios.swap({ s: { ...first, stubs: [], faults: [{ preset: 'rate-limitd' }] } })
  expect(world.digest()).toBe(before)
  const { problem, generation } = await world.active()
  expect(problem).toMatch(/^\/scenarios\/s\.ts: .*\/faults\/0\/preset/)
  expect(generation).toBe(1)
  expect(said).toEqual([expect.stringContaining('stays as it was: /scenarios/s.ts')])
  world.scenarios.swap({ s: first })
  expect(await world.active()).toMatchObject({ problem: null, generation: 3 })
})

test('a scenario whose script is gone goes on with what it has, and its functions cannot be called', async () => {
  const said: string[] = []
  const logger = { info: () => {}, warn: (message: string) => said.push(message), error: () => {} }
  const world = await scenarioWorld({ s: first }, { logger })
  await world.start('s')
  world.scenarios.swap({})
  expect((await world.get('/search')).body).toBe('first')
  expect((await world.active()).problem).toContain('not there any more')
  const { parked } = await world.pass('2h')
  expect(parked).toMatchObject([{ ref: 'scenario/s/1', error: expect.stringContaining('no such function') }])
  expect(said[0]).toContain('not there any more')
  expect((await world.stop()).status).toBe(200)
  expect(await faultsOf(world)).toEqual([])
})

test('a rule that was removed by hand does not come back, and one that took its id is left alone', async () => {
  const world = await scenarioWorld({ s: first })
  await world.start('s')
  await world.control('DELETE', '/faults')
  await world.control('POST', '/faults', { ...refusing('changed'), description: 'mine' })
  world.scenarios.swap({ s: { ...first, faults: [refusing('kept')] } })
  expect(await faultsOf(world)).toMatchObject([{ id: 'changed', description: 'mine', source: 'control' }])
})

test('a reload swaps the scenario of every sandbox, each with its own world', async () => {
  const world = await scenarioWorld({ s: first })
  await world.control('POST', '/sandboxes', { name: 'w1', scenario: 's' })
  await world.control('POST', '/sandboxes', { name: 'w2' })
  world.scenarios.swap({ s: { ...first, stubs: [{ method: 'GET', path: '/notes', body: 1 }] } })
  const paths = async (name: string) =>
    (await world.in(name)('GET', '/stubs')).body.data.map(({ path }: { path: string }) => path)
  expect([await paths('w1'), await paths('w2'), await paths('default')]).toEqual([['/notes'], [], []])
})

test('a function is that of the newest version, also for a step that was scheduled by an older one', async () => {
  const put = (name: string): ScenarioCommand => ({
    kind: 'put',
    collection: 'organizations',
    record: { id: 'org-9', name },
  })
  const world = await scenarioWorld({ s: { timeline: [{ at: '10m', do: asking(put('old')) }] } })
  await world.start('s')
  world.scenarios.swap({ s: { timeline: [{ at: '10m', do: asking(put('new')) }] } })
  await world.pass('10m')
  expect(world.state('organizations').at(-1)).toEqual({ id: 'org-9', name: 'new' })
})

test('batches that exist keep the pace that they were created with', async () => {
  const world = await scenarioWorld({ s: first })
  await world.start('s')
  const { id } = await createBatch(world)
  world.scenarios.swap({ s: { ...first, pace: { validating: '1s' } } })
  expect((await world.control('GET', `/batches/${id}`)).body.plan.pace.validating).toBe('9s')
})

test('the feed of events tells when a scenario is started, swapped and stopped', async () => {
  const world = await scenarioWorld({ s: first })
  const feed = await follow(world.emulator.controlUrl, '?types=scenario')
  await world.start('s')
  world.scenarios.swap({ s: first })
  await world.stop()
  const told = [await feed.next('scenario'), await feed.next('scenario'), await feed.next('scenario')]
  expect(told.map(({ data }) => data)).toEqual([
    { at: START, active: 's', generation: 1 },
    { at: START, active: 's', generation: 2 },
    { at: START, active: null, generation: null },
  ])
})
