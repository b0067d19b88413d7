import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { loadDocument } from '../../src/core/sandboxes/change.ts'
import { openEmulator } from '../../src/emulator/emulator.ts'
import { START } from '../support/base-state.ts'
import { alive, dataFolder } from '../support/data-folder.ts'
import { MemoryScenarios, type TestScenario } from '../support/memory-scenarios.ts'
import { asking, putNinth, scenarioEmulator } from '../support/scenario-emulator.ts'
import { overridesOf, started } from '../support/started-scenario.ts'

const scenario: TestScenario = {
  settings: { 'lists.order': 'oldest' },
  faults: [{ id: 'r', match: { operation: 'pages.create' }, do: [{ respond: { status: 503 } }] }],
  stubs: [{ method: 'GET', path: '/search', body: 'stubbed' }],
  timeline: [{ at: '10m', do: asking(putNinth) }],
  on: { 'batch.completed': asking() },
}

test('the scenario is part of the state document, and a sandbox loaded from it is the same', async () => {
  const emulator = await started(scenario)
  const document = emulator.sandbox.document()
  expect(document.scenario).toMatchObject({ name: 's', timeline: [{ at: '10m', do: 'function' }] })
  const again = await scenarioEmulator({ s: scenario })
  loadDocument(again.sandbox, JSON.parse(JSON.stringify(document)))
  expect(again.digest()).toBe(emulator.digest())
  await again.stop()
  expect(await overridesOf(again)).toEqual({})
})

test('a restored snapshot brings back the scenario with its steps, in the present version of its script', async () => {
  const emulator = await scenarioEmulator({ s: scenario, other: {} })
  await emulator.start('s')
  await emulator.control('POST', '/snapshots', { name: 'begun' })
  await emulator.pass('1h')
  await emulator.start('other')
  emulator.scenarios.swap({ s: { ...scenario, stubs: [{ method: 'GET', path: '/search', body: 'newer' }] } })
  await emulator.control('POST', '/snapshots/begun/restore')
  expect(await emulator.active()).toMatchObject({ name: 's', started_at: START, problem: null })
  expect((await emulator.get('/search')).body).toBe('newer')
  expect(emulator.state('organizations').map(({ id }) => id)).not.toContain('org-9')
  await emulator.pass('10m')
  expect(emulator.state('organizations').at(-1)).toMatchObject({ id: 'org-9' })
})

test('the scenario and its pending call survive a restart, and the call is made again', async () => {
  const data = dataFolder()
  // The same scenario option, as in the same command line, continues the scenario and does not start it again.
  const begun = (step: () => unknown) => {
    const s = { ...scenario, timeline: [{ at: '0s', do: step }] } as TestScenario
    const scenarioSource = new MemoryScenarios({ s })
    return openEmulator({ port: 0, data, clock: START, rate: 0, scenarioSource, scenario: 's' })
  }
  const before = await begun(() => new Promise(() => {}))
  expect(before.sandbox.document().scenario_calls).toMatchObject([
    { id: expect.stringMatching(/^scenario\/s\/0#\d+$/), ref: { timeline: 0 }, at: START, depth: 0 },
  ])
  await before.close()
  const after = await begun(asking({ kind: 'clear', id: 'r' }))
  onTestFinished(() => after.close())
  await after.sandbox.deliveries.whenIdle()
  const { scenario_calls, faults, scenario: active, failed } = after.sandbox.document()
  expect([scenario_calls, faults, failed]).toEqual([[], [], []])
  expect(active?.started_at).toBe(START)
})

test('an active built-in scenario continues after a restart', async () => {
  const data = dataFolder()
  const scenarios = join(dataFolder(), 'none')
  const before = await alive(data, { scenarios, scenario: 'happy-path' })
  await before.emulator.close()
  const { control } = await alive(data, { scenarios })
  const { active } = (await control('GET', '/scenarios')).body
  expect(active).toMatchObject({ name: 'happy-path', problem: null })
})
