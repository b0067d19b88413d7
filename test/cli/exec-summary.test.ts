import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Summary } from '../../src/cli/exec-summary.ts'
import { execClient, temporaryDirectory } from './in-process.ts'

async function summaryOf(script: string, flags: readonly string[] = []): Promise<Summary> {
  const { code, err } = await execClient(['--json', ...flags], script)
  expect(code).toBe(0)
  return JSON.parse(err.split('\n').at(-1) ?? '')
}

test('--json ends with a summary on stderr: every request by operation and class of status', async () => {
  const summary = await summaryOf(`
    await api('/data-views')
    await api('/data-views', { key: 'unknown' })
    await api('/data-views')
    await api('/no-such-path')`)
  expect(summary).toMatchObject({
    exit_code: 0,
    signal: null,
    base_url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/v1$/),
    requests: 4,
    operations: [
      { operation: 'data-views.list', total: 3, outcomes: { '2xx': 2, '4xx': 1 } },
      { operation: null, total: 1, outcomes: { '4xx': 1 } },
    ],
    faults: [],
  })
  expect(summary.assumptions).toContainEqual({ id: 'U068', used: 1, open: expect.any(String) })
  expect(summary.duration_ms).toBeGreaterThan(0)
})

test('removed sandboxes and cleared log entries are counted, requests from a snapshot are not', async () => {
  const summary = await summaryOf(`
    const own = { sandbox: 'w1' }
    await api('/data-views', own)
    await control('DELETE', '/__emulator/sandboxes/w1')
    await api('/data-views', own)
    await control('POST', '/@w1/__emulator/reset', {})
    await control('DELETE', '/@w1/__emulator/requests')
    await control('POST', '/@w1/__emulator/snapshots', { name: 's' })
    await api('/data-views')
    await control('POST', '/__emulator/snapshots', { name: 's' })
    await control('POST', '/__emulator/sandboxes', { name: 'w2', from_snapshot: 's' })
    await api('/data-views', { sandbox: 'w2' })
    await control('DELETE', '/__emulator/sandboxes/w2')`)
  expect(summary.operations).toEqual([{ operation: 'data-views.list', total: 4, outcomes: { '2xx': 4 } }])
})

test('in a GitHub workflow, the summary is appended to the step summary as Markdown', async () => {
  const file = join(temporaryDirectory(), 'summary.md')
  writeFileSync(file, 'before\n\n')
  const script = "await api('/data-views'); process.exitCode = 4"
  const { code, out, err } = await execClient([], script, { GITHUB_STEP_SUMMARY: file })
  expect([code, out, err]).toEqual([4, '', ''])
  const text = readFileSync(file, 'utf8')
  expect(text).toMatch(/^before\n\n### `.*` ended with 4\n\n1 request to the emulator in \d+\.\d s\.\n\n/)
})

test('the reasons of the refused requests of a failed run are in the summary, for any runner', async () => {
  const file = join(temporaryDirectory(), 'summary.md')
  const script = "await api('/nowhere'); process.exitCode = 4"
  const { err } = await execClient(['--json'], script, { GITHUB_STEP_SUMMARY: file })
  const { refusals } = JSON.parse(err.split('\n').at(-1) ?? '') as Summary
  const line = 'GET /v1/nowhere  404  default-000001'
  expect(refusals).toMatchObject([
    { line, reasons: [expect.stringMatching(/^It was refused with 404 /), expect.any(String)] },
  ])
  expect(readFileSync(file, 'utf8')).toContain(`| \`${line}\` | It was refused with 404 route\\_not\\_found`)
})

test('a summary that cannot be written causes a warning and nothing else', async () => {
  const folder = temporaryDirectory()
  const { code, err } = await execClient([], '', { GITHUB_STEP_SUMMARY: folder })
  const warning = `The summary could not be added to ${folder}: EISDIR`
  expect([code, err]).toEqual([0, expect.stringContaining(warning)])
})
