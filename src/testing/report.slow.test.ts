import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { command } from '../../test/cli/in-process.ts'

// Runs Vitest as its users do, on tests that fail, and asserts what it prints.
const folder = mkdtempSync(join(tmpdir(), 'failing-tests-'))
const recordings = join(folder, 'recordings')
const outputs = { json: join(folder, 'report.json'), junit: join(folder, 'report.xml') }
let output: Record<'default' | 'dot' | 'json' | 'junit', string>

beforeAll(async () => {
  const files = [`--outputFile.json=${outputs.json}`, `--outputFile.junit=${outputs.junit}`]
  const [usual, dot] = await Promise.all([
    failing('--reporter=default', '--reporter=json', '--reporter=junit', ...files),
    failing('--reporter=dot', '-t', 'refusal'),
  ])
  const [json, junit] = [readFileSync(outputs.json, 'utf8'), readFileSync(outputs.junit, 'utf8')]
  output = { default: usual, dot, json, junit }
})

afterAll(() => rmSync(folder, { recursive: true }))

function failing(...args: string[]): Promise<string> {
  const config = join('test', 'examples', 'failing', 'vitest.config.ts')
  const all = ['node_modules/vitest/vitest.mjs', 'run', '--config', config, '--no-color', ...args]
  const env = {
    ...process.env,
    NO_COLOR: '1',
    GITHUB_ACTIONS: '',
    WORKSPACE_EMULATOR_URL: '',
    RECORDINGS: recordings,
  }
  return new Promise((resolve) => {
    execFile(process.execPath, all, { env }, (_failed, stdout, stderr) => resolve(stdout + stderr))
  })
}

test.for(['default', 'dot', 'json', 'junit'] as const)(
  'the %s reporter shows the report of the sandbox',
  (name) => {
    const text = output[name].replaceAll('\\n', '\n').replaceAll('&quot;', '"')
    expect(text).toContain('The emulated service, as this test left it (sandbox ')
    expect(text).toMatch(/GET \/v1\/data-views {2}429 {2}fault rate-limited {2}[\w-]+-000001\n/)
    expect(text).toMatch(/POST \/v1\/pages {2}200 {2}[\w-]+-000002\n/)
    expect(text).toContain('Fired: the fault rule rate-limited.')
    expect(text).toContain('faults that were armed and never fired: unmet')
  },
)

interface Report {
  readonly testResults: readonly {
    readonly assertionResults: readonly {
      readonly title: string
      readonly status: string
      readonly failureMessages: string[]
    }[]
  }[]
}

function resultOf(title: string) {
  const { testResults } = JSON.parse(output.json) as Report
  const found = testResults.flatMap(({ assertionResults }) => assertionResults)
  return found.find((each) => each.title === title)
}

test('the error itself comes first, and the lines of the stack last', () => {
  const [message = ''] = resultOf('fails on a refusal')?.failureMessages ?? []
  expect(message).toMatch(
    /^AssertionError: expected 429 to be 200.*\n\nThe emulated service[\s\S]*\n\n? +at .*failing\.ts:\d+/,
  )
})

test('a sandbox is removed after its test, also after a failed one', () => {
  expect(resultOf('finds no sandbox of a test before it')).toMatchObject({ status: 'passed' })
})

test('a test that timed out has its report, too', () => {
  expect(output.default).toMatch(/timed out in 1000ms[\s\S]{1,200}The emulated service/)
  expect(resultOf('is given up')?.failureMessages[0]).toContain('The emulated service')
})

test('a test without a sandbox has no report', () => {
  expect(resultOf('asks for no sandbox, and fails')?.failureMessages[0]).not.toContain('emulated service')
})

test('each of several concurrent tests gets the report of its own sandbox', () => {
  expect(resultOf('a is told about alone')).toMatchObject({ status: 'passed' })
  const [message = ''] = resultOf('b is told about alone')?.failureMessages ?? []
  expect(message.match(/POST \/v1\/pages/g)).toHaveLength(1)
})

test('a test that passes on a retry is not a failure', () => {
  expect(resultOf('fails once and then passes')).toMatchObject({ status: 'passed' })
})

test('with failOnUnfiredFaults a test fails if a fault never fired, and passes otherwise', () => {
  const failed = resultOf('fails on a fault that never fired')
  expect(failed?.status).toBe('failed')
  expect(failed?.failureMessages.join()).toContain(
    'server-error never fired: no request matched {"operation":"agents.list"}.',
  )
  expect(resultOf('passes, since its fault has fired')?.status).toBe('passed')
})

test('with recordFailures each failed test has one recording, which its report names', async () => {
  const names = readdirSync(recordings)
  expect(names).toHaveLength(2)
  for (const name of names) {
    expect(name).toMatch(/^failing\.ts-with-recordFailures-fails-and-is-recorded-[0-9a-f]{8}\.json$/)
    expect(output.default).toContain(`npx agent-workspace-emulator replay ${join(recordings, name)}`)
    expect((await command(['replay', join(recordings, name)])).code).toBe(0)
  }
})
