import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import { chromiumPath } from '../examples/browser/chromium.ts'
import { freePort } from '../support/free-port.ts'
import { installed, write } from './consumer.ts'
import { PLAIN_ENV, run, succeed } from './run.ts'

// The files that `init` writes, used as they are in the project of a user.
const user = installed('vitest@4', '@playwright/test@1.65')

// The five seconds of Vitest are too few on a busy machine.
beforeAll(() =>
  write(user().folder, { 'vitest.config.js': 'export default { test: { testTimeout: 120_000 } }\n' }),
)

/** Runs `init` as its user does. @returns its result with `--json` */
async function init(folder: string): Promise<{ written: readonly string[]; next: readonly string[] }> {
  return JSON.parse(
    (await succeed(folder, 'npx', ['--no', 'agent-workspace-emulator', 'init', '--json'])).out,
  )
}

/** The steps of a job that install something: the project of the test has it already. */
const INSTALLS = ['npm ci', 'npx playwright install --with-deps chromium']

/** Runs the commands of a workflow's job, in order. @returns the output of the last one */
async function runJob(folder: string, workflow: string): Promise<string> {
  const { jobs } = parse(readFileSync(join(folder, '.github/workflows', workflow), 'utf8'))
  const steps: readonly { readonly run?: string }[] = jobs.workspace.steps
  const commands = steps.flatMap(({ run: command }) => command ?? [])
  expect(commands).toContain('npm ci')
  let output = ''
  for (const command of commands.filter((each) => !INSTALLS.includes(each))) {
    const { code, out, err } = await run(folder, 'bash', ['-ec', command], { NO_COLOR: '1' })
    expect(code, `${command}: ${out}${err}`).toBe(0)
    output = out
  }
  return output
}

test('in a project with Vitest and Playwright, the jobs of both pass', async () => {
  // What a user of Playwright has: the folder of the tests, and here the Chromium of this machine.
  const launchOptions = { executablePath: chromiumPath(), args: ['--no-sandbox', '--disable-gpu'] }
  const use = JSON.stringify({ launchOptions })
  await write(user().folder, {
    'playwright.config.ts': `export default { testDir: './browser', reporter: 'list', timeout: 120_000, use: ${use} }\n`,
  })
  const { written, next } = await init(user().folder)
  expect(written).toContain('browser/workspace.spec.ts')
  expect(next).toContain('npx vitest run workspace.test')
  expect(await runJob(user().folder, 'workspace-vitest.yml')).toMatch(/Tests {2}1 passed/)
  expect(await runJob(user().folder, 'workspace-playwright.yml')).toContain('1 passed')
})

test('in a project without a test runner, the job of node:test passes', async () => {
  const folder = join(user().folder, 'without-runner')
  await write(folder, { 'package.json': '{}' })
  await init(folder)
  expect(await runJob(folder, 'workspace-node.yml')).toMatch(/\bpass 1\b/)
})

test('the service of the compose file becomes healthy with the fixtures, and writes into its volume only', async () => {
  const data = mkdtempSync(join(tmpdir(), 'workspace-compose-'))
  onTestFinished(() => rmSync(data, { recursive: true }))
  await init(user().folder)
  const { services } = parse(readFileSync(join(user().folder, 'compose.yaml'), 'utf8'))
  const { command, environment, healthcheck, ports } = services['workspace-emulator']
  const [[program, ...args], [, check, ...question]] = [command, healthcheck.test]
  const port = `${await freePort()}`
  const env = { ...PLAIN_ENV, ...environment, WORKSPACE_EMULATOR_DATA: data, WORKSPACE_EMULATOR_PORT: port }
  const before = readdirSync(user().folder)
  const container = spawn(resolve(user().folder, program), args, { cwd: user().folder, env, stdio: 'ignore' })
  const ended = once(container, 'close')
  onTestFinished(() => void container.kill('SIGKILL'))

  const patient = question.map((word: string) => (word === '3s' ? '60s' : word))
  const health = await run(user().folder, resolve(user().folder, check), patient, env)
  expect(health.code, health.err).toBe(0)
  expect(ports).toEqual(['127.0.0.1:4010:4010'])
  const response = await fetch(`http://127.0.0.1:${port}/__emulator/state/files/file-contract`, {
    headers: { authorization: `Bearer ${environment.WORKSPACE_EMULATOR_CONTROL_TOKEN}` },
  })
  expect(response.status).toBe(200)
  container.kill('SIGTERM')
  expect(await ended).toEqual([0, null])
  expect(readdirSync(data)).toContain('default.json')
  expect(readdirSync(user().folder)).toEqual(before)
})

test('what init --endpoints writes is valid, and its test passes in every pool of Vitest', async () => {
  const command = ['--no', 'agent-workspace-emulator']
  await succeed(user().folder, 'npx', [...command, 'init', '--endpoints', '--vitest', '--yes'])
  await succeed(user().folder, 'npx', [...command, 'validate', 'endpoints'])
  for (const pool of ['forks', 'threads', 'vmThreads', 'vmForks']) {
    const args = ['vitest', 'run', 'endpoints.test', '--pool', pool]
    const { code, out, err } = await run(user().folder, 'npx', args, { NO_COLOR: '1' })
    expect([pool, code], out + err).toEqual([pool, 0])
  }
})
