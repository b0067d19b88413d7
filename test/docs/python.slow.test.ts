import { spawnSync } from 'node:child_process'
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { run } from '../package/run.ts'
import { expectOutput } from './output.ts'
import { type Block, blocksOf } from './pages.ts'

const PAGE = 'docs/guide/python.md'
const CONFTEST = 'docs/guide/conftest.py'

const blocks = blocksOf(PAGE, readFileSync(PAGE, 'utf8'))
const python = pythonWithPytest()

/** The folder of a Python project that has the built package, with the tests of the page. */
let project: string

beforeAll(() => {
  project = mkdtempSync(join(tmpdir(), 'workspace-python-'))
  mkdirSync(join(project, 'node_modules/.bin'), { recursive: true })
  symlinkSync(resolve('dist/cli.js'), join(project, 'node_modules/.bin/agent-workspace-emulator'))
  writeFileSync(join(project, 'package.json'), '{}')
  copyFileSync(CONFTEST, join(project, 'conftest.py'))
  const code = blocks.filter(({ language }) => language === 'python').map((block) => block.code)
  writeFileSync(join(project, 'test_page.py'), code.join('\n\n'))
})

afterAll(() => rmSync(project, { recursive: true }))

/** A Python that has pytest: the first one of the path, or that of the system, whose packages .ci/run installs. */
function pythonWithPytest(): string {
  const found = ['python3', '/usr/bin/python3'].find(
    (file) => spawnSync(file, ['-c', 'import pytest']).status === 0,
  )
  if (found === undefined) throw new Error('No Python has pytest. Install it: apt-get install python3-pytest')
  return found
}

const PYTEST = ['-m', 'pytest', '-p', 'no:cacheprovider']

function shown(): Block {
  const block = blocks[blocks.findIndex(({ mark }) => mark === 'fails') + 1]
  if (block === undefined) throw new Error(`${PAGE} shows no output.`)
  return block
}

test.for([
  ['', {}],
  [' with a control token', { WORKSPACE_EMULATOR_CONTROL_TOKEN: 'secret' }],
] as const)('the tests start an emulator%s, and the failing one prints the report', async ([, env]) => {
  const { code, out, err } = await run(project, python, PYTEST, env)
  expect(code, out + err).toBe(1)
  expect(out).toMatch(/=+ 1 failed, 3 passed in /)
  expectOutput(shown(), out)
})

test('under exec, the tests use the emulator of exec', async () => {
  const recordings = join(project, 'recordings')
  const argv = [resolve('dist/cli.js'), 'exec', '--json', '--record-failures', recordings, '--', python]
  const { code, out, err } = await run(project, process.execPath, [...argv, ...PYTEST])
  expect(code, out + err).toBe(1)
  expect(out).toMatch(/=+ 1 failed, 3 passed in /)
  expectOutput(shown(), out)
  const summary = JSON.parse(err.trim().split('\n').at(-1) ?? '')
  expect(JSON.stringify(summary)).toContain('pages.create')
  // The sandboxes of the tests that pass are deleted.
  expect(summary.recordings).toEqual([expect.stringMatching(/recordings\/sandbox-py-[0-9a-f]+\.json$/)])
  expect(
    (await run(project, process.execPath, [resolve('dist/cli.js'), 'replay', ...summary.recordings])).code,
  ).toBe(0)
})

test('a refused call of the control interface says why, also if there is a proxy', async () => {
  writeFileSync(
    join(project, 'scenario_of_mine.py'),
    "import pytest\n\n@pytest.mark.workspace(scenario='no-such')\ndef test_it(workspace):\n    pass\n",
  )
  const { code, out } = await run(project, python, [...PYTEST, 'scenario_of_mine.py'], {
    http_proxy: 'http://127.0.0.1:2',
  })
  expect(code).toBe(1)
  expect(out).toContain('RuntimeError: POST /__emulator/sandboxes: 404 {')
  expect(out).toContain('There is no scenario \\"no-such\\".')
})

test('without the package, the run ends at once with the command that shows the reason', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'workspace-python-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  for (const file of ['conftest.py', 'test_page.py']) copyFileSync(join(project, file), join(folder, file))
  const { code, out, err } = await run(folder, python, PYTEST)
  expect(code).toBe(1)
  expect(out + err).toContain(
    'The emulator did not start. This command prints the reason: npx --offline agent-workspace-emulator start',
  )
})

test('the plugin is below 85 lines, and imports only the standard library and pytest', () => {
  const text = readFileSync(CONFTEST, 'utf8')
  expect(text.split('\n').length).toBeLessThanOrEqual(85)
  const imports = [...text.matchAll(/^(?:import|from) (\w+)/gm)].map(([, name]) => name)
  expect(new Set(imports)).toEqual(new Set(['contextlib', 'json', 'os', 'subprocess', 'urllib', 'pytest']))
})
