import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import type { HuntReport } from '../../src/tools/hunt/hunt.ts'

/** Bundles the tests of the clients. @returns the file, and a function that removes it */
export async function bundledSuite() {
  const folder = mkdtempSync(join(tmpdir(), 'workspace-hunt-'))
  const outfile = join(folder, 'suite.mjs')
  await build({ entryPoints: ['test/hunt/suite.ts'], bundle: true, platform: 'node', format: 'esm', outfile })
  return { file: outfile, remove: () => rmSync(folder, { recursive: true }) }
}

/** Hunts with the tests of one client, which are in `file`. The clock stands still, so that no wait takes real time. */
export function huntClient(file: string, name: string, flags: readonly string[]): HuntReport {
  const fixed = [
    '--rate',
    '0',
    '--clock',
    '2026-03-01T12:00:00Z',
    '--settings',
    'test/hunt/settings.json',
    '--json',
  ]
  const args = ['dist/cli.js', 'hunt', ...fixed, ...flags, '--', process.execPath, file, name]
  const { stdout, stderr } = spawnSync(process.execPath, args, {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  })
  if (stdout === '') throw new Error(stderr)
  return JSON.parse(stdout) as HuntReport
}
