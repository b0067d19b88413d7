import { execFileSync } from 'node:child_process'
import { chmodSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { type Consumer, consumer, write } from './consumer.ts'
import { PATIENCE, run, succeed } from './run.ts'
import { type Packed, pack } from './tarball.ts'

/** What the project of a user has besides; not in our lock file. This jsdom is the last for every Node that is tested. */
const PACKAGES = ['vitest@4', 'happy-dom@21', 'jsdom@26', 'jest@30', '@playwright/test@1.65', 'esbuild@0.28']

/** An account without rights, for processes of a test that runs as root. */
const NOBODY = 65_534

const isRoot = process.getuid?.() === 0

let packed: Packed
let user: Consumer

beforeAll(async () => {
  packed = await pack()
  user = await consumer(packed.tarball, ...PACKAGES)
  // A user who is not root reaches it.
  chmodSync(user.folder, 0o755)
}, PATIENCE)

afterAll(async () => {
  await user?.remove()
  await packed?.remove()
})

/** Starts an emulator, waits for a batch, in virtual time, and lets a fault delay a response. */
const USE = `
  const emulator = await startEmulator({ port: 0, ephemeral: true, rate: 0 })
  const sandbox = emulator.defaultSandbox
  const items = [{ file_id: (await sandbox.state.list('files'))[0].id, custom_id: 'a' }]
  const output_schema = { type: 'object', properties: { vendor: { type: 'string' } }, required: ['vendor'] }
  const body = { prompt: 'Read it.', output_schema, model: 'model-1', completion_window: '24h', items }
  const created = await sandbox.fetch('/batch-predictions', { json: body })
  await sandbox.clock.advance('24h')
  const batch = await (await sandbox.fetch('/batch-predictions/' + (await created.json()).id)).json()
  await sandbox.faults.arm({ match: { operation: 'data-views.list' }, do: [{ pace: { before_handler_ms: 5 } }] })
  const { status } = await sandbox.fetch('/data-views')
  const refused = await startEmulator({ ephemeral: true, fixtures: 'no-such-file.json' }).catch((error) => error instanceof FixturesError || error.name)
  await emulator.close()
`
const RESULT = '[batch.status, status, refused]'
const EXPECTED = ['completed', 200, true]

const PROGRAM = `import { FixturesError, startEmulator } from 'agent-workspace-emulator'
${USE}
console.log(JSON.stringify(${RESULT}))
`

test('nothing is written into node_modules, which may be read-only', async () => {
  const project = join(user.folder, 'read-only')
  await write(project, { 'program.mjs': PROGRAM })
  const installed = join(user.folder, 'node_modules/agent-workspace-emulator')
  const files = () => readdirSync(installed, { recursive: true }).length
  const before = files()
  const home = mkdtempSync(join(tmpdir(), 'workspace-home-'))
  onTestFinished(() => rmSync(home, { recursive: true }))
  chmodSync(home, 0o777)
  const account = isRoot ? { uid: NOBODY, gid: NOBODY } : {}
  if (!isRoot) {
    execFileSync('chmod', ['-R', 'a-w', installed])
    onTestFinished(() => void execFileSync('chmod', ['-R', 'u+w', installed]))
  }
  const options = { cwd: project, encoding: 'utf8', env: { ...process.env, HOME: home }, ...account } as const
  const out = execFileSync(process.execPath, ['program.mjs'], options)
  expect(JSON.parse(out)).toEqual(EXPECTED)
  const cli = join(user.folder, 'node_modules/.bin/workspace-emulator')
  execFileSync(process.execPath, [cli, 'exec', '--', process.execPath, '-e', '0'], { ...options, cwd: home })
  expect(files()).toBe(before)
})

test('it works where node_modules consists of links, as pnpm makes them', async () => {
  const project = mkdtempSync(join(tmpdir(), 'workspace-links-'))
  onTestFinished(() => rmSync(project, { recursive: true }))
  await succeed(project, 'npm', ['init', '-y'])
  const flags = ['--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund']
  await succeed(project, 'npm', ['install', ...flags, '--install-strategy=linked', packed.tarball])
  await write(project, { 'program.mjs': PROGRAM })
  expect(readdirSync(join(project, 'node_modules')).filter((name) => !name.startsWith('.'))).toEqual([
    'agent-workspace-emulator',
  ])
  const { out } = await succeed(project, process.execPath, ['program.mjs'])
  expect(JSON.parse(out)).toEqual(EXPECTED)
  const bin = join(project, 'node_modules/.bin/workspace-emulator')
  expect((await run(project, bin, ['exec', '--', process.execPath, '-e', 'process.exit(7)'])).code).toBe(7)
})

const suiteOf = (
  entry: 'vitest' | 'playwright',
) => `import { expect, test } from 'agent-workspace-emulator/${entry}'
import { FixturesError, startEmulator } from 'agent-workspace-emulator'
test('the library', async () => {
  ${USE}
  expect(${RESULT}).toEqual(${JSON.stringify(EXPECTED)})
})
test('the fixture', async ({ sandbox }) => {
  expect((await sandbox.fetch('/data-views')).status).toBe(200)
  await expect(sandbox).toHaveReceived({ operation: 'data-views.list' })
})
`

test.for(['node', 'jsdom', 'happy-dom'])('it works in the %s environment of Vitest', async (environment) => {
  const suite = suiteOf('vitest')
  await write(user.folder, { [`${environment}/suite.test.ts`]: suite })
  const flags = ['--environment', environment, '--testTimeout=120000', environment]
  const { code, out, err } = await run(user.folder, 'npx', ['--offline', 'vitest', 'run', ...flags], {
    NO_COLOR: '1',
  })
  expect(code, out + err).toBe(0)
  expect(out).toMatch(/Tests {2}2 passed/)
})

test('it works in Jest, without flags', async () => {
  const suite = `const { FixturesError, startEmulator } = require('agent-workspace-emulator')
test('the library', async () => {
  ${USE}
  expect(${RESULT}).toEqual(${JSON.stringify(EXPECTED)})
}, 120_000)
`
  await write(user.folder, { 'in-jest/suite.test.js': suite })
  const { code, out, err } = await run(user.folder, 'npx', ['--offline', 'jest', '--rootDir', 'in-jest'])
  expect(code, out + err).toBe(0)
  expect(err).toMatch(/Tests: +1 passed/)
})

test.for(['commonjs', 'module'])('it works in Playwright, with test files of the type %s', async (type) => {
  const suite = suiteOf('playwright')
  await write(user.folder, {
    [`playwright-${type}/package.json`]: JSON.stringify({ type }),
    [`playwright-${type}/suite.spec.ts`]: suite,
  })
  const flags = ['--reporter=list', '--timeout=120000', `playwright-${type}`]
  const { code, out, err } = await run(user.folder, 'npx', ['--offline', 'playwright', 'test', ...flags])
  expect(code, out + err).toBe(0)
  expect(out).toContain('2 passed')
})

test.for([
  ['ESM', 'bundle.mjs', ['--format=esm']],
  ['CommonJS', 'bundle.cjs', ['--format=cjs']],
] as const)(
  'a bundle (%s) works with the package outside, and says so when it is inside',
  async ([, file, flags]) => {
    await write(user.folder, {
      'bundled/program.js': `import { FixturesError, startEmulator } from 'agent-workspace-emulator'
async function main() { ${USE}; console.log(JSON.stringify(${RESULT})) }
main().catch((error) => { console.error(error.message); process.exitCode = 9 })
`,
    })
    const bundle = (outfile: string, ...more: readonly string[]) =>
      succeed(user.folder, 'npx', [
        '--offline',
        'esbuild',
        'bundled/program.js',
        '--bundle',
        '--platform=node',
        '--log-level=error',
        `--outfile=${outfile}`,
        ...flags,
        ...more,
      ])
    await bundle(`bundled/${file}`, '--external:agent-workspace-emulator')
    const outside = await succeed(user.folder, process.execPath, [`bundled/${file}`])
    expect(JSON.parse(outside.out)).toEqual(EXPECTED)
    // Elsewhere, as a bundle is deployed without node_modules.
    await bundle(`elsewhere/${file}`)
    const folder = mkdtempSync(join(tmpdir(), 'workspace-bundle-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    renameSync(join(user.folder, 'elsewhere', file), join(folder, file))
    const inside = await run(folder, process.execPath, [file])
    expect(inside.err).toContain('mark agent-workspace-emulator as external')
    expect(inside.code).toBe(9)
  },
)
