import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { ListedScenario } from '../../src/core/scenarios/source.ts'
import { fakeControl } from './fake-control.ts'
import { command, temporaryDirectory } from './in-process.ts'
import { running, START } from './running.ts'

const STORM = {
  description: 'Two faults',
  faults: [{ preset: 'server-error' }, { preset: 'slow-drip', match: { operation: 'pages.create' } }],
  clock: { rate: 0 },
}

/** An emulator with one valid and one broken scenario. */
async function withScenarios() {
  const scenarios = temporaryDirectory()
  writeFileSync(join(scenarios, 'storm.json'), JSON.stringify(STORM))
  writeFileSync(join(scenarios, 'broken.json'), '{\n  "falts": []\n}\n')
  return { ...(await running({ scenarios })), scenarios }
}

/** A table with single spaces between cells, without the built-in scenarios. */
function cells(out: string): string[] {
  const lines = out.split('\n').filter((line) => !line.includes(' built-in '))
  return lines.map((line) => line.replaceAll(/ {2,}/g, ' | '))
}

test('scenarios can be listed, started and stopped, and stop reports faults that never fired', async () => {
  const { run, data, emulator, scenarios } = await withScenarios()
  const broken = `${join(scenarios, 'broken.json')}:2:12: /falts: is not a known field. Did you mean "faults"?`
  const { code, out } = await run('scenario')
  expect([code, ...cells(out)]).toEqual([
    0,
    'NAME | ORIGIN | STATE | DESCRIPTION',
    'broken | project | broken',
    'storm | project | ready | Two faults',
    broken,
  ])
  expect((await run('scenario', 'start', 'storm')).out).toBe(`storm is active since ${START}.`)
  expect(cells((await run('scenario', 'list')).out)).toEqual([
    'NAME | ORIGIN | STATE | DESCRIPTION',
    'broken | project | broken',
    'storm | project | active | Two faults',
    broken,
    `storm is active since ${START}.`,
  ])
  expect((await fetch(`${emulator.baseUrl}/data-views`)).status).toBe(500)
  expect((await run('scenario', 'stop')).out).toBe('Scenario storm stopped.\nNever fired: slow-drip.')
  await data('scenario', 'start', 'storm')
  expect(await data('scenario', 'stop')).toEqual({
    stopped: 'storm',
    never_fired: ['server-error', 'slow-drip'],
  })
})

test('with --reset the starting state is restored first', async () => {
  const { run, data } = await withScenarios()
  await run('clock', 'advance', '1h')
  expect(await data('scenario', 'start', 'storm')).toMatchObject({ started_at: '2026-03-01T13:00:00.000Z' })
  expect(await data('scenario', 'start', 'storm', '--reset')).toMatchObject({ started_at: START })
})

test('each sandbox has its own scenario', async () => {
  const { run, data } = await withScenarios()
  await run('scenario', 'start', 'storm', '--sandbox', 'w1')
  expect((await data('scenario', '--sandbox', 'w1')).active).toMatchObject({ name: 'storm' })
  expect((await data('scenario')).active).toBeNull()
})

test.for([
  [['start', 'strom'], 1, 'There is no scenario "strom". Did you mean "storm"?'],
  [['start', 'broken'], 1, 'The scenario "broken" is broken: '],
  [['stop'], 1, 'No scenario is active on this sandbox.'],
  [['start'], 2, "missing required argument 'name': name of its file, without the extension"],
  [['start', 'a', 'b'], 2, "too many arguments for 'start'."],
  [['sart', 'a'], 2, "unknown command 'sart'\n(Did you mean start?)"],
] as const)('scenario %j fails with code %i', async ([argv, code, message]) => {
  const { run } = await withScenarios()
  const outcome = await run('scenario', ...argv)
  expect([outcome.code, outcome.out, outcome.err]).toEqual([code, '', expect.stringContaining(message)])
})

test('built-in scenarios are listed with those of the project, and a project scenario wins over the same name', async () => {
  const { run, data, scenarios } = await withScenarios()
  writeFileSync(join(scenarios, 'happy-path.json'), JSON.stringify({ description: 'Ours' }))
  const { data: all } = await data('scenario')
  expect(all.map(({ name, origin }: ListedScenario) => `${origin} ${name}`)).toEqual([
    'project broken',
    'built-in cancel-race',
    'built-in cleaned-up-results',
    'built-in expired-batch',
    'built-in flaky-network',
    'project happy-path',
    'built-in idempotency-conflict',
    'built-in ndjson-torture',
    'built-in partial-failure',
    'built-in rate-limit-storm',
    'project storm',
    'built-in stubbed-endpoints',
    'built-in webhook-trouble',
  ])
  expect((await run('scenario', 'start', 'partial-failure')).code).toBe(0)
  expect((await run('scenario', 'start', 'happy-path')).code).toBe(0)
  expect((await data('scenario')).data.find(({ active }: ListedScenario) => active)).toMatchObject({
    description: 'Ours',
  })
})

test('an error in the active scenario is reported, and that an older version is used', async () => {
  const older = {
    name: 'a',
    origin: 'project',
    description: null,
    valid: false,
    generation: 2,
    active: true,
    error: 'x.ts:1: no\ny',
  }
  const last_error = { at: START, ref: 'scenario/a/0', message: 'no batch' }
  const active = { name: 'a', started_at: START, problem: 'x.ts: no', last_error }
  const { url } = await fakeControl({ object: 'list', data: [older], active })
  expect(cells((await command(['scenario', '--url', url])).out)).toEqual([
    'NAME | ORIGIN | STATE | DESCRIPTION',
    'a | project | active, broken, an older version is in force',
    'x.ts:1: no',
    'y',
    `a is active since ${START}.`,
    ' | its newest version is not in force: x.ts: no',
    ` | scenario/a/0 failed at ${START}: no batch`,
  ])
})

test.for([
  ['strom', 'There is no scenario "strom". Did you mean "storm"? Run "workspace-emulator validate" '],
  ['broken', 'The scenario "broken" is broken: '],
] as const)('a start with the scenario %s fails', async ([name, message]) => {
  const { scenarios } = await withScenarios()
  const argv = ['start', '--port', '0', '--ephemeral', '--fixtures', 'empty', '--scenarios', scenarios]
  expect(await command([...argv, '--scenario', name])).toMatchObject({
    code: 1,
    out: '',
    err: expect.stringContaining(message),
  })
})

test('a start reports the additions of a scenario that do not fit', async () => {
  const { scenarios } = await withScenarios()
  const fixtures = { collections: { pages: [{ id: 'p-1' }] } }
  writeFileSync(join(scenarios, 'wrong.json'), JSON.stringify({ fixtures }))
  const argv = ['start', '--port', '0', '--ephemeral', '--fixtures', 'empty', '--scenarios', scenarios]
  const { code, err } = await command([...argv, '--scenario', 'wrong'])
  expect(code).toBe(1)
  expect(err).toMatch(/The scenario "wrong" cannot be started:\n {2}\/fixtures\/collections\/pages\/0\//)
})
