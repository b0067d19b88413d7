import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { command } from '../test/cli/in-process.ts'

// Runs Playwright as its users do, and asserts what it prints.
const recordings = mkdtempSync(join(tmpdir(), 'failing-playwright-'))
let output: string

beforeAll(async () => {
  const args = [
    'node_modules/@playwright/test/cli.js',
    'test',
    '--reporter=list',
    '-c',
    'test/examples/failing/playwright',
  ]
  const env = {
    ...process.env,
    NO_COLOR: '1',
    FORCE_COLOR: '0',
    WORKSPACE_EMULATOR_URL: '',
    RECORDINGS: recordings,
  }
  output = await new Promise((resolve) => {
    execFile(process.execPath, args, { env }, (_failed, stdout, stderr) => resolve(stdout + stderr))
  })
})

afterAll(() => rmSync(recordings, { recursive: true }))

test('options and matchers work as with Vitest', () => {
  expect(output).toContain('1 passed')
})

test('the error of a failed test has the whole report of its sandbox', () => {
  expect(output).toContain('The emulated service, as this test left it (sandbox ')
  expect(output).toMatch(/GET \/v1\/data-views {2}429 {2}fault rate-limited {2}[\w-]+-000001\n/)
  // The end of a report that is longer than the 300 characters of an attachment that Playwright prints.
  expect(output).toContain('faults that were armed and never fired: lost-response-after-commit')
})

test('a failed matcher shows the nearest request', () => {
  expect(output).toContain(
    'to have received at least 1 request with {"operation":"pages.create"}; 0 of 1 requests match.',
  )
  expect(output).toContain('operation: expected "pages.create", was "data-views.list"')
})

test('with recordFailures the failed test has a recording, which its error names', async () => {
  const [name = '', ...others] = readdirSync(recordings)
  expect([name, others]).toEqual([
    expect.stringMatching(/^failing\.spec\.ts-fails-on-a-refusal-[0-9a-f]{8}\.json$/),
    [],
  ])
  expect(output).toContain(`npx agent-workspace-emulator replay ${join(recordings, name)}`)
  expect((await command(['replay', join(recordings, name)])).code).toBe(0)
})

test('a page that Chromium keeps from this machine is named as the cause', () => {
  expect(output).toContain('Chromium has not sent 1 request of a page on another host')
  expect(output).toContain("Write test.use({ permissions: ['local-network-access'] })")
})
