import { execFile, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { startEmulator } from '../../src/emulator.ts'
import { withReferences } from './reference.ts'

const readme = readFileSync('README.md', 'utf8')

test('the tables of the README are those of the code; npm run docs writes them anew', () => {
  expect(withReferences(readme)).toBe(readme)
})

test('the tour of the README works line by line', async () => {
  if (spawnSync('curl', ['--version']).error !== undefined) {
    throw new Error(
      'this test runs the curl commands of the README: install curl (on Debian: apt-get install curl)',
    )
  }
  const emulator = await startEmulator({ port: 0, rate: 1, ephemeral: true })
  const folder = mkdtempSync(join(tmpdir(), 'workspace-tour-'))
  onTestFinished(async () => {
    rmSync(folder, { recursive: true })
    await emulator.close()
  })
  const script = [...readme.matchAll(/```sh tour\n([\s\S]*?)```/g)]
    .map(([, lines]) => lines)
    .join('\necho "=== next"\n')
  // In a process of its own, which the event loop of this one has to answer meanwhile.
  const output = await run(script.replaceAll('127.0.0.1:4010', `127.0.0.1:${emulator.port}`), folder)
  const [, users, created, early, done, gone, limited, explained, ...more] = output.split('=== next\n')
  const [beside = '', delivered = '', events = '', state = ''] = more
  expect(users).toContain('"has_more":true')
  expect(created).toContain('"status":"validating"')
  expect(early).toContain('/results_not_ready')
  expect(done).toMatch(
    /"kind":"batch.complete"[\s\S]*"status":"completed"[\s\S]*"custom_id":"first"[\s\S]*"custom_id":"second"/,
  )
  expect(gone).toContain('410 Gone')
  expect(limited).toMatch(/429 Too Many Requests[\s\S]*Retry-After: 6[01][\s\S]*"object":"page"/)
  expect(explained).toContain('"step":"admit","outcome":"decided"')
  expect(beside).toMatch(/"name":"w1"[\s\S]*"name":"Only in w1"[\s\S]*204 No Content/)
  expect(delivered).toMatch(/"kind":"webhook.failed"[\s\S]*"status":"failed"[\s\S]*connection refused/)
  expect(events).toMatch(/"fired":\[\{/)
  expect(state).toContain('Handbook, second edition')
})

async function run(script: string, cwd: string): Promise<string> {
  const { stdout } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', script], { cwd })
  return stdout
}
