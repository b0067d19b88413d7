import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { HuntReport } from '../../src/tools/hunt/hunt.ts'

test('a new key for each attempt is found in tests of five seconds, with the default budget', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'workspace-hunt-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const flags = ['--json', '--findings', folder]
  const client = [process.execPath, 'test/hunt/new-key.mjs']
  const hunt = spawn(process.execPath, ['dist/cli.js', 'hunt', ...flags, '--', ...client], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const out = text(hunt.stdout)
  const isFound = () => readdirSync(folder).some((name) => name.startsWith('batch-predictions.create'))
  // A finding has its files as soon as it is found; the rest of the five minutes shows nothing more.
  await vi.waitUntil(() => isFound() || hunt.exitCode !== null, { timeout: 290_000, interval: 500 })
  hunt.kill('SIGINT')
  const { findings, without_faults, ms } = JSON.parse(await out) as HuntReport
  expect(without_faults.ms).toBeGreaterThanOrEqual(5_000)
  expect(ms).toBeLessThan(300_000)
  expect(findings.flatMap(({ conduct }) => conduct)).toContain('error key.changed')
})
