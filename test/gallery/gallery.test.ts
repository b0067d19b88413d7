import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Finding, SandboxClient } from 'agent-workspace-emulator'
import { describe, expect, test } from 'vitest'
import { verdicts } from '../../src/core/conduct/verdicts.ts'
import { conclusionVerdicts } from '../../src/tools/certify/verdicts.ts'
import { cases, type GalleryCase } from './cases.ts'
import type { Run } from './client.ts'
import { sharedEmulator } from './emulator.ts'
import { findingFile, findingText } from './page.ts'
import { repairedClient, repairsOf } from './repair.ts'
import { runCase } from './situation.ts'

const { sandbox: newSandbox } = sharedEmulator()

test('every client of the folder is in the table', () => {
  const names = cases.map(({ name }) => name).sort()
  expect(readdirSync(new URL('clients', import.meta.url)).sort()).toEqual(names.map((name) => `${name}.ts`))
})

test('every verdict has a client here, or a test that causes it beside one that does not', () => {
  const folder = new URL('../../src/core/conduct/', import.meta.url)
  const files = readdirSync(folder).filter((file) => file.endsWith('.test.ts'))
  const texts = [
    ...files.map((file) => readFileSync(new URL(file, folder), 'utf8')),
    readFileSync(new URL('../../src/tools/certify/verdicts.test.ts', import.meta.url), 'utf8'),
  ]
  const shown = new Set(cases.map(({ verdict }) => verdict.split(' ')[1] ?? ''))
  const without = [...verdicts, ...conclusionVerdicts].filter(
    ({ code }) => !shown.has(code) && !texts.some((text) => causes(text, code) && text.includes(', []')),
  )
  expect(without.map(({ code }) => code)).toEqual([])
  const known = new Set([...verdicts, ...conclusionVerdicts].map(({ code }) => code))
  expect([...shown].filter((code) => !known.has(code))).toEqual([])
})

function causes(text: string, code: string): boolean {
  return new RegExp(`['"](?:(?:error|warning|note) )?${code.replace('.', '\\.')}['"]`).test(text)
}

/** Runs a client. @returns what it got, what it sent, and the results of the latest batch as the service has them */
async function show(sandbox: SandboxClient, each: GalleryCase, run: Run, mayHang?: boolean) {
  const results = await runCase(sandbox, each, run, mayHang)
  if (results.includes('pending')) await sandbox.clock.advance('10m')
  const latest = (await sandbox.state.list('batch_predictions')).at(-1)?.id
  return {
    results,
    keys: (await sandbox.requests.list()).map(({ idempotency_key: key }) => key),
    planned: latest === undefined ? [] : await sandbox.batches.results(String(latest)),
    findings: (await sandbox.conduct({ retries: each.retries })).findings,
  }
}

type Shown = Awaited<ReturnType<typeof show>>

interface Row {
  readonly custom_id: string
  readonly output: unknown
}

interface Outcome {
  readonly error?: Readonly<Record<string, unknown>>
  readonly keys?: readonly string[]
  readonly rows?: number
  /** Whether the client has the results of all items, each with its own output. */
  readonly hasAll?: true
}

const failing = (message: RegExp) => ({ error: { message: expect.stringMatching(message) } })

/** What the clients do when they are repaired, unless they just succeed. */
const REPAIRED: Readonly<Record<string, Outcome>> = {
  'wait-without-cap': failing(/31536000 seconds/),
  'zero-retries-ignored': failing(/fetch failed/),
  'retries-multiplied': failing(/./),
  'every-conflict-repeated': failing(/./),
  'key-replaced': { keys: ['order-1', 'order-1'] },
  'timeout-ends-with-head': failing(/the time is over/),
  'cut-body-never-settles': failing(/aborted/),
  'crlf-split': { hasAll: true },
  'split-characters': { hasAll: true },
  'last-line-lost': { hasAll: true },
  'early-end-accepted': { hasAll: true },
  'empty-page-ends-list': { rows: 23 },
  'repeated-cursor-followed': failing(/came twice/),
  'unknown-status-polled': failing(/unknown status/),
  'results-by-position': { hasAll: true },
  'html-parsed-as-json': { error: { status: 502 } },
}

function expectOutcome({ results, planned, ...shown }: Shown, { error, keys, rows, hasAll }: Outcome): void {
  if (keys !== undefined) expect(shown.keys).toEqual(keys)
  expect(results).toMatchObject(
    results.map(() => (error === undefined ? { value: expect.anything() } : { error })),
  )
  const all = (results[0] as { readonly value: readonly Row[] }).value
  if (rows !== undefined) expect(all).toHaveLength(rows)
  const sorted = (each: readonly Row[]) =>
    each.map(({ custom_id, output }) => JSON.stringify([custom_id, output])).sort()
  if (hasAll) expect(sorted(all)).toEqual(sorted(planned))
}

describe.concurrent('each client', () => {
  // The bug of a client that has no finding here is shown by certified.slow.test.ts.
  test.for(cases)('$name has its finding, if the server sees its bug', async (each, { expect }) => {
    const { run } = (await import(`./clients/${each.name}.ts`)) as { run: Run }
    await using sandbox = await newSandbox()
    const shown = await show(sandbox, each, run)
    expect(verdictsIn(shown.findings, each)).toEqual(each.certified === undefined ? [each.verdict] : [])
    const finding = shown.findings.find(({ code }) => each.verdict.endsWith(` ${code}`))
    if (finding !== undefined)
      await expect(findingText(finding)).toMatchFileSnapshot(fileURLToPath(findingFile(each.name)))
  })

  test.for(cases)('$name works with its repair', async (each) => {
    expect(repairsOf(each.name)).not.toEqual([])
    await using sandbox = await newSandbox()
    const shown = await show(sandbox, each, await repairedClient(each.name), false)
    expectOutcome(shown, REPAIRED[each.name] ?? {})
    expect(verdictsIn(shown.findings, each)).toEqual([])
  })
})

function verdictsIn(findings: readonly Finding[], { verdict }: GalleryCase): string[] {
  return findings
    .map(({ severity, code }) => `${severity} ${code}`)
    .filter((each) => !each.startsWith('note ') || each === verdict)
}
