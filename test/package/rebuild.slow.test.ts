import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync, statSync, symlinkSync, utimesSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { PATIENCE } from './run.ts'

/** A copy of what the build reads, since other tests use dist at the same time. */
const folder = mkdtempSync(join(tmpdir(), 'workspace-rebuild-'))

/** When the scripts were built, after the build that `npm start` runs each time. */
function builtAt(): number {
  execFileSync(process.execPath, ['build.mjs', '--if-changed'], { cwd: folder })
  return statSync(join(folder, 'dist/cli.js')).mtimeMs
}

beforeAll(() => {
  for (const name of ['src', 'build.mjs', 'package.json', 'package-lock.json', 'tsconfig.json'])
    cpSync(name, join(folder, name), { recursive: true })
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'))
  builtAt()
}, PATIENCE)

afterAll(() => rmSync(folder, { recursive: true, force: true }))

test('a finished build is not repeated', () => {
  expect(builtAt()).toBe(builtAt())
})

test('a source that is saved, a source that is removed and other dependencies are built again', () => {
  const before = builtAt()
  const later = new Date(Date.now() + 1_000)
  utimesSync(join(folder, 'src/core/words.ts'), later, later)
  const second = builtAt()
  expect(second).toBeGreaterThan(before)
  utimesSync(join(folder, 'src/core/words.ts'), new Date(0), new Date(0))
  rmSync(join(folder, 'src/core/words.test.ts'), { force: true })
  rmSync(join(folder, 'src/playwright.slow.test.ts'))
  expect(builtAt()).toBeGreaterThan(second)
})
