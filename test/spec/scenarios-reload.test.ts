import { expect, test } from 'vitest'
import { START } from '../support/base-state.ts'
import { follow } from '../support/event-feed.ts'
import { keptLogger } from '../support/kept-logger.ts'
import type { TestScenario } from '../support/memory-scenarios.ts'
import { asking, scenarioEmulator } from '../support/scenario-emulator.ts'
import { faultsOf, horizonOf, overridesOf, started } from '../support/started-scenario.ts'

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

test('a newer version of the active script replaces its rules, stubs, settings, pace, steps and hooks', async () => {
  const emulator = await started(first)
  await emulator.post('/pages', { name: 'x' })
  await emulator.pass('30m')
  const { started_at } = await emulator.active()
  const [records, now] = [emulator.records(), emulator.now()]
  emulator.scenarios.swap({
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
  const hooks = ['batch.completed']
  expect(await emulator.active()).toMatchObject({ generation: 2, started_at, hooks, problem: null })
  expect([emulator.records(), emulator.now()]).toEqual([records, now])
  const rules = await faultsOf(emulator)
  const counts = rules.map(({ id, matched }: { id: string; matched: number }) => `${id} ${matched}`)
  expect(counts).toEqual(['kept 1', 'changed 0', 'armed 0', 'new 0'])
  expect((await emulator.get('/search')).body).toBe('second')
  const settings = { 'lists.order': 'newest', 'batch.pace': { validating: '1s' } }
  expect(await overridesOf(emulator)).toEqual(settings)
  expect(await horizonOf(emulator)).toEqual([['2026-03-01T12:40:00.000Z', 'scenario/s/1']])
  await emulator.stop()
  expect(await overridesOf(emulator)).toEqual({})
  expect(await faultsOf(emulator)).toEqual([])
})

test('a reload of an unchanged script writes only its generation', async () => {
  const emulator = await started(first)
  const [revision, horizon] = [emulator.sandbox.store.revision, emulator.sandbox.document().schedule]
  emulator.scenarios.swap({ s: first })
  expect(emulator.sandbox.store.revision).toBe(revision + 1)
  expect(emulator.sandbox.document().schedule).toEqual(horizon)
  expect((await emulator.active()).generation).toBe(2)
})

test('a version that is invalid in the sandbox leaves the older one in force, with the reason', async () => {
  const { said, logger } = keptLogger('warn')
  const emulator = await started(first, { logger })
  const before = emulator.digest()
  emulator.scenarios.swap({ s: { ...first, stubs: [], faults: [{ preset: 'rate-limitd' }] } })
  expect(emulator.digest()).toBe(before)
  const { problem, generation } = await emulator.active()
  expect(problem).toMatch(/^\/scenarios\/s\.ts: .*\/faults\/0\/preset/)
  expect(generation).toBe(1)
  expect(said).toEqual([expect.stringContaining('keeps its present version: /scenarios/s.ts')])
  emulator.scenarios.swap({ s: first })
  expect(await emulator.active()).toMatchObject({ problem: null, generation: 3 })
})

test('a scenario whose script was removed keeps its rules and stubs, and its functions cannot be called', async () => {
  const { said, logger } = keptLogger('warn')
  const emulator = await started(first, { logger })
  emulator.scenarios.swap({})
  expect((await emulator.get('/search')).body).toBe('first')
  expect((await emulator.active()).problem).toContain('its script is missing')
  const { failed } = await emulator.pass('2h')
  expect(failed).toMatchObject([{ ref: 'scenario/s/1', error: expect.stringContaining('no such function') }])
  expect(said[0]).toContain('its script is missing')
  expect((await emulator.stop()).status).toBe(200)
  expect(await faultsOf(emulator)).toEqual([])
})

test('a reload does not restore a removed rule, or change another rule with its id', async () => {
  const emulator = await started(first)
  await emulator.control('DELETE', '/faults')
  await emulator.control('POST', '/faults', { ...refusing('changed'), description: 'mine' })
  emulator.scenarios.swap({ s: { ...first, faults: [refusing('kept')] } })
  expect(await faultsOf(emulator)).toMatchObject([{ id: 'changed', description: 'mine', source: 'control' }])
})

test('a reload replaces the scenario in every sandbox where it is active', async () => {
  const emulator = await scenarioEmulator({ s: first })
  await emulator.control('POST', '/sandboxes', { name: 'w1', scenario: 's' })
  await emulator.control('POST', '/sandboxes', { name: 'w2' })
  emulator.scenarios.swap({ s: { ...first, stubs: [{ method: 'GET', path: '/notes', body: 1 }] } })
  const paths = async (name: string) =>
    (await emulator.in(name)('GET', '/stubs')).body.data.map(({ path }: { path: string }) => path)
  expect([await paths('w1'), await paths('w2'), await paths('default')]).toEqual([['/notes'], [], []])
})

test('the feed of events reports when a scenario is started, replaced and stopped', async () => {
  const emulator = await scenarioEmulator({ s: first })
  const feed = await follow(emulator.emulator.controlUrl, '?types=scenario')
  await emulator.start('s')
  emulator.scenarios.swap({ s: first })
  await emulator.stop()
  const told = [await feed.next('scenario'), await feed.next('scenario'), await feed.next('scenario')]
  expect(told.map(({ data }) => data)).toEqual([
    { at: START, active: 's', generation: 1 },
    { at: START, active: 's', generation: 2 },
    { at: START, active: null, generation: null },
  ])
})
