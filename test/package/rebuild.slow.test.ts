import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, renameSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { expect, onTestFinished, test } from 'vitest'

// `npm start` always calls the build. A dry run reports whether it would build: other tests read dist at the same time.
function wouldBuild(): boolean {
  return (
    execFileSync(process.execPath, ['build.mjs', '--if-changed', '--dry-run'], { encoding: 'utf8' }) !== ''
  )
}

const SOURCE = 'src/core/words.ts'
const RECORD = 'dist/build.json'

test('a finished build is not repeated', () => {
  expect(wouldBuild()).toBe(false)
})

test('a source that was saved again is a change, whatever its size and date', () => {
  const { atime, mtime } = statSync(SOURCE)
  onTestFinished(() => utimesSync(SOURCE, atime, mtime))
  utimesSync(SOURCE, atime, new Date(mtime.getTime() - 60_000))
  expect(wouldBuild()).toBe(true)
})

test.each([
  ['another Node', { node: 'v0.0.0' }],
  ['a source that is gone', { inputs: { 'src/gone.ts': '1 1' } }],
  ['dependencies that were changed', { inputs: { 'package-lock.json': '1 1' } }],
  ['a built file that is gone', { outputs: { 'dist/gone.js': '1 1' } }],
])('a change is also %s', (_what, change) => {
  const text = readFileSync(RECORD, 'utf8')
  onTestFinished(() => writeFileSync(RECORD, text))
  writeFileSync(RECORD, JSON.stringify({ ...JSON.parse(text), ...change }))
  expect(wouldBuild()).toBe(true)
})

test('without a record of the last build, everything is built', () => {
  onTestFinished(() => renameSync(`${RECORD}.aside`, RECORD))
  renameSync(RECORD, `${RECORD}.aside`)
  expect(existsSync(RECORD)).toBe(false)
  expect(wouldBuild()).toBe(true)
})
