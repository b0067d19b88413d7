import { existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { commandIn, temporaryDirectory, withError } from './in-process.ts'
import { atTerminal } from './terminal.ts'

const COMMON = ['compose.yaml', 'fixtures/workspace.json', 'scenarios/unreadable-scan.ts']
const OF_VITEST = ['.github/workflows/workspace-vitest.yml', 'test/workspace.test.ts']
const OF_PLAYWRIGHT = ['.github/workflows/workspace-playwright.yml', 'e2e/workspace.spec.ts']
const OF_NODE = ['.github/workflows/workspace-node.yml', 'test/workspace.test.mjs']

function project(dependencies?: object): string {
  const folder = temporaryDirectory()
  if (dependencies !== undefined)
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ devDependencies: dependencies }))
  return folder
}

const init = (folder: string, ...flags: readonly string[]) => commandIn(folder, 'init', ...flags)

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== 'package.json')
    .map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1))
    .sort()
}

test.for([
  ['the installed Vitest', { vitest: '4' }, [], OF_VITEST],
  ['the installed Playwright', { '@playwright/test': '1' }, [], OF_PLAYWRIGHT],
  ['both, if installed', { vitest: '4', '@playwright/test': '1' }, [], [...OF_VITEST, ...OF_PLAYWRIGHT]],
  ["Node's own test runner, if none is installed", {}, [], OF_NODE],
  ["Node's own test runner, without package.json", undefined, [], OF_NODE],
  ['the runner of the flag, whatever is installed', { vitest: '4' }, ['--playwright'], OF_PLAYWRIGHT],
  ['both, with both flags', undefined, ['--vitest', '--playwright'], [...OF_VITEST, ...OF_PLAYWRIGHT]],
] as const)('the test is for %s', async ([, dependencies, flags, own]) => {
  const folder = project(dependencies)
  const { code, out, err } = await init(folder, ...flags)
  expect([code, err]).toEqual([0, ''])
  const files = [...COMMON, ...own].toSorted()
  expect(filesIn(folder)).toEqual(files)
  for (const file of files) expect(out).toMatch(new RegExp(`^${file} +new$`, 'm'))
  expect(out).toContain(`${files.length} files written. Next:`)
})

test('--agents adds the skill for coding agents', async () => {
  const folder = project()
  expect((await init(folder, '--agents')).code).toBe(0)
  const file = '.agents/skills/agent-workspace-emulator/SKILL.md'
  expect(filesIn(folder)).toEqual([...COMMON, ...OF_NODE, file].toSorted())
  const text = readFileSync(join(folder, file), 'utf8')
  expect(text).toMatch(/^---\nname: agent-workspace-emulator\ndescription: /)
})

test('the next commands install what is missing, check the files and run the test', async () => {
  const folder = project({ vitest: '4' })
  const { out } = await init(folder)
  const next = out.slice(out.indexOf('Next:')).split('\n').slice(1)
  expect(next).toEqual([
    expect.stringMatching(/^ {2}npm install --save-dev agent-workspace-emulator-[\d.]+\.tgz$/),
    '  npx agent-workspace-emulator validate fixtures/workspace.json scenarios',
    '  npx vitest run workspace.test',
    '  docker compose up --detach --wait',
    'The CI job runs npm ci, which needs package-lock.json. Change that line for another package manager.',
  ])
})

test('what is installed is not installed again, and a lock file needs no hint', async () => {
  const folder = project({ 'agent-workspace-emulator': '*', '@playwright/test': '1' })
  writeFileSync(join(folder, 'package-lock.json'), '{}')
  const { next } = JSON.parse((await init(folder, '--playwright', '--vitest', '--json')).out)
  expect(next[0]).toBe('npm install --save-dev vitest')
  expect(next.slice(3, -1)).toEqual(['npx playwright install chromium', 'npx playwright test workspace.spec'])
  expect((await init(folder)).out).not.toContain('npm ci')
})

test('an existing file is named and keeps its content, and the others are written', async () => {
  const folder = project({ vitest: '4' })
  writeFileSync(join(folder, 'compose.yaml'), 'services: {}\n')
  const { code, out } = await init(folder)
  expect(code).toBe(0)
  expect(out).toMatch(/^compose\.yaml +exists, and stays as it is$/m)
  expect(out).toContain('4 files written.')
  expect(readFileSync(join(folder, 'compose.yaml'), 'utf8')).toBe('services: {}\n')
  expect(filesIn(folder)).toEqual([...COMMON, ...OF_VITEST].toSorted())
})

test('--dry-run lists the same files and writes none', async () => {
  const folder = project()
  writeFileSync(join(folder, 'compose.yaml'), '')
  expect((await init(folder, '--dry-run')).out).toMatch(
    /^compose\.yaml +exists, and stays as it is$[\s\S]*^fixtures\/workspace\.json +new$[\s\S]*\nNothing was written\.$/m,
  )
  expect(JSON.parse((await init(folder, '--dry-run', '--json')).out)).toEqual({
    files: expect.arrayContaining([{ path: 'compose.yaml', exists: true }]),
    written: [],
  })
  expect(filesIn(folder)).toEqual(['compose.yaml'])
})

test('the Playwright test is in the folder that its configuration names', async () => {
  const folder = project()
  const config = (testDir: string) =>
    writeFileSync(join(folder, 'playwright.config.ts'), `export default { testDir: '${testDir}' }\n`)
  config('./tests/browser/')
  const listed = async () => (await init(folder, '--playwright', '--dry-run')).out
  expect(await listed()).toMatch(/^tests\/browser\/workspace\.spec\.ts /m)
  config('../elsewhere')
  expect(await listed()).toMatch(/^e2e\/workspace\.spec\.ts /m)
})

test.for<[what: string, name: string, make: (folder: string) => void]>([
  ['below a file', 'test/workspace.test.ts', (folder) => writeFileSync(join(folder, 'test'), '')],
  [
    'in the place of a broken link',
    'compose.yaml',
    (folder) => symlinkSync(join(folder, 'elsewhere.yaml'), join(folder, 'compose.yaml')),
  ],
])('a file %s cannot be written, and is named with the fix', async ([, name, make]) => {
  const folder = project({ vitest: '4' })
  make(folder)
  const { code, err } = await init(folder)
  expect([code, err.slice(0, name.length)]).toEqual([1, name])
  expect(err).toMatch(/ cannot be written \(E\w+\)\. .* run init again: /)
  expect(existsSync(join(folder, 'elsewhere.yaml'))).toBe(false)
})

test('a package.json that is not JSON is refused with its line, and nothing is written', async () => {
  const folder = project()
  writeFileSync(join(folder, 'package.json'), '{\n  "name": \n}')
  expect(await init(folder)).toEqual(withError(1, /^package\.json:3: is not JSON: /))
  expect(filesIn(folder)).toEqual([])
})

test('at a terminal it asks once, and writes after Enter', async () => {
  const folder = project()
  const { until, type, ended } = atTerminal(['init', '--vitest'], folder)
  await until(/compose\.yaml +new[\s\S]*Write 5 files\? \[Y\/n\] /)
  expect(filesIn(folder)).toEqual([])
  type('\r')
  expect(await ended).toBe(0)
  expect(filesIn(folder)).toEqual([...COMMON, ...OF_VITEST].toSorted())
})

test.for(['n\r', '\u0003', '\u0004'])('at a terminal, the answer %j writes nothing', async (keys) => {
  const folder = project()
  const { until, type, ended } = atTerminal(['init'], folder)
  await until(/Write 5 files\? \[Y\/n\] /)
  type(keys)
  await until(/Nothing was written\./)
  expect(await ended).toBe(1)
  expect(filesIn(folder)).toEqual([])
})

test('at a terminal, --yes writes without a question', async () => {
  const folder = project()
  const { until, ended } = atTerminal(['init', '--yes'], folder)
  const [screen] = await until(/^[\s\S]*docker compose up --detach --wait/)
  expect(screen).not.toContain('[Y/n]')
  expect(await ended).toBe(0)
})

test('the compose file and the workflows are YAML, without tabs and duplicate keys', () => {
  const folder = 'src/cli/init/templates'
  const all = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  const files = all.filter((path) => /ya?ml$/.test(path))
  expect(files).toHaveLength(5)
  for (const file of files) {
    const { services, jobs } = parse(readFileSync(join(folder, file), 'utf8'), { uniqueKeys: true })
    expect(Object.keys(services ?? jobs), file).toHaveLength(1)
  }
})

test('--drift writes a weekly job, whose command exists and prints the text of an issue', async () => {
  const folder = project()
  expect((await init(folder, '--drift')).code).toBe(0)
  const { on, jobs } = parse(readFileSync(join(folder, '.github/workflows/workspace-drift.yml'), 'utf8'))
  expect(on.schedule).toHaveLength(1)
  const text = jobs.drift.steps.at(-1).run as string
  expect(text).toContain('drift recordings --against "$WORKSPACE_URL" --key-env REAL_KEY --markdown')
  expect(filesIn(project())).not.toContain('.github/workflows/workspace-drift.yml')
})
