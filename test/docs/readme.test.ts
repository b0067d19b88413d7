import { execFile, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { openEmulator } from '../../src/emulator.ts'
import { withReferences } from './reference.ts'

const readme = readFileSync('README.md', 'utf8')

test('the tables of the README are those of the code; npm run docs writes them anew', () => {
  expect(withReferences(readme)).toBe(readme)
})

test('the tour of the README works line by line', async () => {
  const output = await runBlocks(blocksOf('tour'))
  const [, users, created, early, done, gone, limited, explained, ...more] = output
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

test('the recipes of the README show what they say, line by line, behind the tour', async () => {
  // The tour ends with a reset, so that only what it exports is left of it.
  const [exports = ''] = blocksOf('tour')
  const output = await runBlocks([exports, ...blocksOf('recipe')])
  expect(output.join('')).not.toContain('Never fired')
  const [, , lost = '', limited = '', missing = '', gone = '', twice = '', composed = ''] = output
  expect(lost).toMatch(
    /^ID .*\nlost-response-after-commit .*\ncurl: exit code (52|56)\n\{.*"status":"validating"/,
  )
  expect(lost).toMatch(/Removed: lost-response-after-commit\.\n$/)
  expect(limited).toMatch(/429 Too Many Requests[\s\S]*Retry-After: \w{3}, \d\d \w{3} \d{4} [\d:]{8} GMT/)
  expect(resultsIn(missing)).toEqual(['first', 'first', 'second'])
  expect(missing).toMatch(/Removed: header:ndjson-truncated-at-newline\.\n$/)
  expect(gone).toMatch(
    /^cleaned-up-results is active since [\s\S]*410 Gone[\s\S]*cleaned-up-results stopped\.\n$/,
  )
  expect(twice).toMatch(/"faults":\{"rules":\["webhook-duplicate"\]\}[\s\S]*"copy_of":/)
  expect(twice.match(/"type":"batch_prediction.completed"/g)).toHaveLength(2)
  expect(composed).toMatch(
    /^\{"id":"slow-then-gone"[\s\S]*curl: exit code (18|56)\nGET .*: the fault cut it off\./,
  )
  expect(composed).toMatch(/✗ slow-then-gone: It fired on match number 2,[\s\S]*Removed: slow-then-gone\.\n$/)
})

function blocksOf(kind: 'tour' | 'recipe'): string[] {
  return [...readme.matchAll(new RegExp(`\`\`\`sh ${kind}\\n([\\s\\S]*?)\`\`\``, 'g'))].map(
    ([, lines = '']) => lines,
  )
}

function resultsIn(text: string): (string | undefined)[] {
  return [...text.matchAll(/"custom_id":"(\w+)"/g)].map(([, id]) => id)
}

/** Runs blocks one after the other in one shell and an emulator of their own. @returns what each of them printed */
async function runBlocks(blocks: readonly string[]): Promise<string[]> {
  if (spawnSync('curl', ['--version']).error !== undefined) {
    throw new Error(
      'this test runs the curl commands of the README: install curl (on Debian: apt-get install curl)',
    )
  }
  const emulator = await openEmulator({ port: 0, rate: 1, ephemeral: true, scenarios: 'scenarios' })
  const folder = mkdtempSync(join(tmpdir(), 'workspace-readme-'))
  onTestFinished(async () => {
    rmSync(folder, { recursive: true })
    await emulator.close()
  })
  const cli = `'${process.execPath}' '${resolve('dist/cli.js')}'`
  const script = blocks
    .join('\necho "=== next"\n')
    .replaceAll('127.0.0.1:4010', `127.0.0.1:${emulator.port}`)
    .replaceAll('npx workspace-emulator', cli)
  const url = `export WORKSPACE_EMULATOR_URL=http://127.0.0.1:${emulator.port}\n`
  return (await run(`${url}${script}`, folder)).split('=== next\n')
}

// In a process of its own, which the event loop of this one has to answer meanwhile.
async function run(script: string, cwd: string): Promise<string> {
  const { stdout } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', script], { cwd })
  return stdout
}
