import { expect, onTestFinished, test } from 'vitest'
import { openEmulator } from '../../src/emulator.ts'
import type { ScenarioCommand } from '../../src/kernel/scenario/commands.ts'
import { START } from '../support/base-world.ts'
import { dataFolder } from '../support/data-folder.ts'
import { MemoryScenarios, type TestScenario } from '../support/memory-scenarios.ts'
import { asking, scenarioWorld } from '../support/scenario-world.ts'

const put: ScenarioCommand = {
  kind: 'put',
  collection: 'organizations',
  record: { id: 'org-9', name: 'Ninth' },
}

const scenario: TestScenario = {
  settings: { 'lists.order': 'oldest' },
  faults: [{ id: 'r', match: { operation: 'pages.create' }, do: [{ respond: { status: 503 } }] }],
  stubs: [{ method: 'GET', path: '/search', body: 'stubbed' }],
  timeline: [{ at: '10m', do: asking(put) }],
  on: { 'batch.completed': asking() },
}

test('the scenario is part of the document, and a world that is made of it is the same', async () => {
  const world = await scenarioWorld({ s: scenario })
  await world.start('s')
  const document = world.sandbox.document()
  expect(document.scenario).toEqual({
    name: 's',
    generation: 1,
    started_at: START,
    settings: [{ key: 'lists.order', value: 'oldest' }],
    faults: [{ id: 'r', draft: scenario.faults?.[0] }],
    stubs: scenario.stubs,
    timeline: [{ at: '10m', do: 'function' }],
    on: ['batch.completed'],
  })
  const again = await scenarioWorld({ s: scenario })
  again.sandbox.load(JSON.parse(JSON.stringify(document)))
  expect(again.digest()).toBe(world.digest())
  await again.pass('10m')
  expect(again.state('organizations').at(-1)).toMatchObject({ id: 'org-9' })
  await again.stop()
  expect((await again.control('GET', '/settings')).body.overrides).toEqual({})
})

test('a snapshot takes the scenario along, and restoring brings it back with its steps', async () => {
  const world = await scenarioWorld({ s: scenario, other: {} })
  await world.start('s')
  await world.control('POST', '/snapshots', { name: 'begun' })
  await world.pass('1h')
  await world.start('other')
  await world.control('POST', '/snapshots/begun/restore')
  expect(await world.active()).toMatchObject({ name: 's', started_at: START, problem: null })
  expect((await world.get('/search')).body).toBe('stubbed')
  expect(world.state('organizations').map(({ id }) => id)).not.toContain('org-9')
  await world.pass('10m')
  expect(world.state('organizations').at(-1)).toMatchObject({ id: 'org-9' })
})

test('a snapshot of an older version is brought up to what the script says now', async () => {
  const world = await scenarioWorld({ s: scenario })
  await world.start('s')
  await world.control('POST', '/snapshots', { name: 'old' })
  world.scenarios.swap({ s: { ...scenario, stubs: [{ method: 'GET', path: '/search', body: 'newer' }] } })
  await world.control('POST', '/snapshots/old/restore')
  expect((await world.get('/search')).body).toBe('newer')
})

test('a document with a scenario that has no script still loads', async () => {
  const world = await scenarioWorld({ s: scenario })
  await world.start('s')
  const said: string[] = []
  const logger = { info: () => {}, warn: (message: string) => said.push(message), error: () => {} }
  const again = await scenarioWorld({}, { logger })
  again.sandbox.load(JSON.parse(JSON.stringify(world.sandbox.document())))
  expect((await again.get('/search')).body).toBe('stubbed')
  expect(await again.active()).toMatchObject({ name: 's', problem: expect.stringContaining('not there') })
  expect(said).toHaveLength(1)
})

test.for<[title: string, change: object, pointer: string]>([
  ['a scenario without a name', { scenario: { generation: 1 } }, '/scenario/name'],
  ['a scenario that is a text', { scenario: 's' }, '/scenario'],
  ['a call without a function', { scenario_calls: [{ id: 'c' }] }, '/scenario_calls/0/ref'],
  ['a stub with a wrong path', { stubs: [{ id: 's', path: 'x' }] }, '/stubs/0/path'],
])('a document with %s is refused where it is wrong', async ([, change, pointer]) => {
  const world = await scenarioWorld({})
  const document = { ...world.sandbox.document(), ...change }
  const { status, body } = await world.control('PUT', '/state', document)
  expect(status).toBe(400)
  expect(body.details.errors.map((issue: { pointer: string }) => issue.pointer)).toContain(pointer)
})

test('an older document, without scenario and stubs, still loads', async () => {
  const world = await scenarioWorld({})
  const { scenario: _, scenario_calls: __, stubs: ___, ...older } = world.sandbox.document()
  expect((await world.control('PUT', '/state', older)).status).toBe(200)
})

test('the scenario and its pending call survive the end of the process; the call is made again', async () => {
  const data = dataFolder()
  const hanging: TestScenario = { ...scenario, timeline: [{ at: '0s', do: () => new Promise(() => {}) }] }
  const options = { port: 0, data, clock: START, rate: 0 }
  const before = await openEmulator({
    ...options,
    scenarioSource: new MemoryScenarios({ s: hanging }),
    scenario: 's',
  })
  expect(before.sandbox.document().scenario_calls).toMatchObject([
    { id: expect.stringMatching(/^scenario\/s\/0#\d+$/), ref: { timeline: 0 }, at: START, depth: 0 },
  ])
  await before.close()
  const answering: TestScenario = {
    ...scenario,
    timeline: [{ at: '0s', do: asking({ kind: 'clear', id: 'r' }) }],
  }
  const scenarioSource = new MemoryScenarios({ s: answering })
  // Asked for again, as by the same command line: it goes on and does not begin anew.
  const after = await openEmulator({ ...options, scenarioSource, scenario: 's' })
  onTestFinished(() => after.close())
  await after.sandbox.outbox?.settled()
  const { scenario_calls, faults, scenario: active, parked } = after.sandbox.document()
  expect([scenario_calls, faults, parked]).toEqual([[], [], []])
  expect(active?.started_at).toBe(START)
})
