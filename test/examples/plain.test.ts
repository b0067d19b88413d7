// The examples that are no Vitest suites, each run as a user runs it, on the package as it was built.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const run = promisify(execFile)

test.concurrent("a suite of Node's own test runner", async () => {
  const { stdout } = await run(process.execPath, [
    '--test',
    '--test-reporter=tap',
    'test/examples/node-test.mjs',
  ])
  expect(stdout).toContain('# pass 2\n')
  expect(stdout).toContain('# fail 0\n')
})

test.concurrent('a shell script with curl, under exec', async () => {
  const { stdout } = await run(process.execPath, [
    'dist/cli.js',
    'exec',
    '--',
    'bash',
    'test/examples/curl.sh',
  ])
  expect(stdout).toMatch(/ok: 2 results of batch \w+/)
})

test.concurrent('a page in a browser, by Playwright', async () => {
  const cli = 'node_modules/@playwright/test/cli.js'
  const { stdout } = await run(process.execPath, [cli, 'test', '-c', 'test/examples/browser'])
  expect(stdout).toContain('2 passed')
})
