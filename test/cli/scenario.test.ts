import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { fakeControl } from './fake-control.ts'
import { command, temporaryDirectory, withError } from './in-process.ts'
import { cells, running, START } from './running.ts'

const STORM = {
  description: 'Two faults',
  faults: [{ preset: 'server-error' }, { preset: 'slow-drip', match: { operation: 'pages.create' } }],
}

/** A folder with one valid and one broken scenario, and one whose records do not fit. */
function scenarioFolder(): string {
  const scenarios = temporaryDirectory()
  const write = (name: string, text: string) => writeFileSync(join(scenarios, name), text)
  write('storm.json', JSON.stringify(STORM))
  write('broken.json', '{\n  "falts": []\n}\n')
  write('wrong.json', '{"fixtures": {"collections": {"pages": [{"id": "p-1"}]}}}')
  return scenarios
}

const HEAD = 'NAME | ORIGIN | STATE | DESCRIPTION'

test('scenarios can be listed, started and stopped, and stop reports faults that never fired', async () => {
  const scenarios = scenarioFolder()
  const { run, emulator } = await running({ scenarios })
  const broken = `${join(scenarios, 'broken.json')}:2:12: /falts: is not a known field. Did you mean "faults"?`
  const { code, out } = await run('scenario')
  const lines = cells(out)
  expect([code, ...lines.filter((line) => !line.includes('built-in'))]).toEqual([
    ...[0, HEAD, 'broken | project | broken'],
    'storm | project | ready | Two faults',
    'wrong | project | ready',
    broken,
  ])
  expect(lines).toContainEqual(expect.stringMatching(/^partial-failure \| built-in \| ready \| \S/))
  expect((await run('scenario', 'start', 'storm')).out).toBe(`storm is active since ${START}.`)
  const active = cells((await run('scenario', 'list')).out)
  expect(active).toContain('storm | project | active | Two faults')
  expect(active.slice(-2)).toEqual([broken, `storm is active since ${START}.`])
  await fetch(`${emulator.baseUrl}/data-views`)
  expect((await run('scenario', 'stop')).out).toBe('Scenario storm stopped.\nNever fired: slow-drip.')
  expect((await run('scenario', 'stop')).err).toContain('No scenario is active on this sandbox.')
})

test('an error in the active scenario is reported, and that an older version is used', async () => {
  const older = {
    ...{ name: 'a', origin: 'project', description: null, active: true },
    ...{ valid: false, generation: 2, error: 'x.ts:1: no\ny' },
  }
  const last_error = { at: START, ref: 'scenario/a/0', message: 'no batch' }
  const active = { name: 'a', started_at: START, problem: 'x.ts: no', last_error }
  const { url } = await fakeControl({ object: 'list', data: [older], active })
  expect(cells((await command(['scenario', '--url', url])).out)).toEqual([
    HEAD,
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
  ['wrong', 'The scenario "wrong" cannot be started:\n  /fixtures/collections/pages/0/'],
] as const)('a start with the scenario %s fails', async ([name, message]) => {
  const argv = ['start', '--port', '0', '--ephemeral', '--fixtures', 'empty', '--scenario', name]
  expect(await command([...argv, '--scenarios', scenarioFolder()])).toEqual(withError(1, message))
})
