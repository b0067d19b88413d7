import { join } from 'node:path'
import { connect } from 'agent-workspace-emulator'
import { expect, onTestFinished, test } from 'vitest'
import type { JsonObject } from '../../src/core/json.ts'
import { loadDocument } from '../../src/core/sandboxes/change.ts'
import { openEmulator } from '../../src/emulator/emulator.ts'
import { baseCollections, KEYS, START } from '../support/base-state.ts'
import { aBatch } from '../support/batches.ts'
import { dataFolder } from '../support/data-folder.ts'
import { MemoryScenarios, type TestScenario } from '../support/memory-scenarios.ts'
import { asking, putNinth, scenarioEmulator } from '../support/scenario-emulator.ts'
import { bearer, viaFetch } from '../support/wire-client.ts'
import { parse } from './presets/views.ts'

const scenario: TestScenario = {
  settings: { 'lists.order': 'oldest' },
  faults: [{ id: 'r', match: { operation: 'pages.create' }, do: [{ respond: { status: 503 } }] }],
  stubs: [{ method: 'GET', path: '/search', body: 'stubbed' }],
  timeline: [{ at: '10m', do: asking(putNinth) }],
  on: { 'batch.completed': asking() },
}

test('the scenario is part of the state document, and a sandbox loaded from it is the same', async () => {
  const emulator = await scenarioEmulator({ s: scenario })
  await emulator.start('s')
  const document = emulator.sandbox.document()
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
  const again = await scenarioEmulator({ s: scenario })
  loadDocument(again.sandbox, JSON.parse(JSON.stringify(document)))
  expect(again.digest()).toBe(emulator.digest())
  await again.pass('10m')
  expect(again.state('organizations').at(-1)).toMatchObject({ id: 'org-9' })
  await again.stop()
  expect((await again.control('GET', '/settings')).body.overrides).toEqual({})
})

test('a snapshot contains the scenario, and a restore brings it back with its steps', async () => {
  const emulator = await scenarioEmulator({ s: scenario, other: {} })
  await emulator.start('s')
  await emulator.control('POST', '/snapshots', { name: 'begun' })
  await emulator.pass('1h')
  await emulator.start('other')
  await emulator.control('POST', '/snapshots/begun/restore')
  expect(await emulator.active()).toMatchObject({ name: 's', started_at: START, problem: null })
  expect((await emulator.get('/search')).body).toBe('stubbed')
  expect(emulator.state('organizations').map(({ id }) => id)).not.toContain('org-9')
  await emulator.pass('10m')
  expect(emulator.state('organizations').at(-1)).toMatchObject({ id: 'org-9' })
})

test('restoring a snapshot of an older version applies the present version of the script', async () => {
  const emulator = await scenarioEmulator({ s: scenario })
  await emulator.start('s')
  await emulator.control('POST', '/snapshots', { name: 'old' })
  emulator.scenarios.swap({ s: { ...scenario, stubs: [{ method: 'GET', path: '/search', body: 'newer' }] } })
  await emulator.control('POST', '/snapshots/old/restore')
  expect((await emulator.get('/search')).body).toBe('newer')
})

test('a document whose scenario has no script still loads', async () => {
  const emulator = await scenarioEmulator({ s: scenario })
  await emulator.start('s')
  const said: string[] = []
  const logger = { info: () => {}, warn: (message: string) => said.push(message), error: () => {} }
  const again = await scenarioEmulator({}, { logger })
  loadDocument(again.sandbox, JSON.parse(JSON.stringify(emulator.sandbox.document())))
  expect((await again.get('/search')).body).toBe('stubbed')
  expect(await again.active()).toMatchObject({
    name: 's',
    problem: expect.stringContaining('its script is missing'),
  })
  expect(said).toHaveLength(1)
})

test('the scenario and its pending call survive a restart, and the call is made again', async () => {
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
  const responding: TestScenario = {
    ...scenario,
    timeline: [{ at: '0s', do: asking({ kind: 'clear', id: 'r' }) }],
  }
  const scenarioSource = new MemoryScenarios({ s: responding })
  // The same scenario option, as in the same command line, continues the scenario and does not start it again.
  const after = await openEmulator({ ...options, scenarioSource, scenario: 's' })
  onTestFinished(() => after.close())
  await after.sandbox.deliveries.whenIdle()
  const { scenario_calls, faults, scenario: active, failed } = after.sandbox.document()
  expect([scenario_calls, faults, failed]).toEqual([[], [], []])
  expect(active?.started_at).toBe(START)
})

test('an active built-in scenario continues after a restart', async () => {
  const files = [{ id: 'file-pdf', teamspace_id: 'ts-a', name: 'a.pdf', kind: 'pdf', pages: 10 }]
  const said: string[] = []
  const say = (message: string) => void said.push(message)
  const options = {
    port: 0,
    data: dataFolder(),
    rate: 0,
    fixtures: { collections: { ...baseCollections, files } } as unknown as JsonObject,
    scenarios: join(dataFolder(), 'none'),
    logger: { info: say, warn: say, error: say },
  }
  const before = await openEmulator({ ...options, scenario: 'happy-path' })
  await before.close()
  const after = await openEmulator(options)
  onTestFinished(() => after.close())
  const sandbox = connect(after.url).defaultSandbox
  expect(await sandbox.scenarios.active()).toMatchObject({ name: 'happy-path', problem: null })
  const headers = bearer(KEYS.KU)
  const url = `${after.baseUrl}/batch-predictions`
  const created = await viaFetch(url, { method: 'POST', headers, body: JSON.stringify(aBatch()) })
  const { id } = parse(created.body)
  for (let n = 0; n < 4; n++) await viaFetch(`${url}/${id}`, { headers })
  await after.sandbox.deliveries.whenIdle()
  expect(said.at(-1)).toBe(`The scenario happy-path of the sandbox default: completed: ${id}`)
})
