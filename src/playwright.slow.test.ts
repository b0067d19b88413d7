import { execFile } from 'node:child_process'
import { beforeAll, expect, test } from 'vitest'

// Runs Playwright as its users do, and asserts what it prints. No browser is needed, since no test uses a page.
let output: string

beforeAll(async () => {
  const args = [
    'node_modules/@playwright/test/cli.js',
    'test',
    '--reporter=list',
    '-c',
    'test/examples/failing/playwright',
  ]
  const env = { ...process.env, NO_COLOR: '1', FORCE_COLOR: '0', WORKSPACE_EMULATOR_URL: '' }
  output = await new Promise((resolve) => {
    execFile(process.execPath, args, { env }, (_failed, stdout, stderr) => resolve(stdout + stderr))
  })
})

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
