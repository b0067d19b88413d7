import { expect, test } from 'vitest'
import { temporaryFile } from './in-process.ts'
import { spawnCommand } from './process.ts'

test('Ctrl-C ends certify with a summary of the cases that were run', async () => {
  // Only the first three runs of the client end: so many run at once.
  const file = temporaryFile('runs', '')
  const client = `const { appendFileSync, statSync } = require('node:fs')
    appendFileSync(${JSON.stringify(file)}, '.')
    if (statSync(${JSON.stringify(file)}).size > 3) setTimeout(() => {}, 60_000)`
  const argv = ['certify', '--timeout', '50s', '--', process.execPath, '-e', client]
  const { child, line, ended } = spawnCommand(argv)
  await line
  child.kill('SIGINT')
  const { code, out, err } = await ended
  expect(code).toBe(130)
  expect(err).toMatch(/^Stopped: \d+ of \d+ cases were not run\.$/m)
  expect(out).toMatch(/^\d+ not reached of \d+ cases? in /m)
})
