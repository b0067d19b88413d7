import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { beforeAll, expect, test } from 'vitest'
import { command } from '../cli/in-process.ts'
import { cases } from './cases.ts'
import { findingFile, findingText } from './page.ts'

/** One case of a card: the result, and the errors and warnings. */
interface Certified {
  readonly case: string
  readonly result: string
  readonly findings: readonly Record<'code' | 'severity' | 'message', string>[]
}

const concluding = cases.flatMap((each) =>
  each.certified === undefined ? [] : [{ ...each, certified: each.certified }],
)

/** The cards of the broken clients and of the correct one. */
let [broken, correct]: Certified[][] = []

beforeAll(async () => {
  const folder = mkdtempSync(join(tmpdir(), 'workspace-gallery-'))
  const outfile = join(folder, 'adapter.mjs')
  await build({
    entryPoints: [fileURLToPath(new URL('adapter.ts', import.meta.url))],
    bundle: true,
    platform: 'node',
    format: 'esm',
    outfile,
  })
  // One of the broken clients hangs until the time of its case is over.
  ;[broken, correct] = await Promise.all([certify('5s', outfile, 'broken'), certify('20s', outfile)])
  rmSync(folder, { recursive: true })
})

/** Certifies an adapter. */
async function certify(timeout: string, ...adapter: readonly string[]): Promise<Certified[]> {
  const pattern = `{${concluding.map(({ certified }) => certified).join(',')}}`
  const flags = ['--adapter', '--json', '--timeout', timeout, '--run', pattern]
  const client = [process.execPath, ...adapter]
  const { out } = await command(['certify', ...flags, '--', ...client], { PATH: process.env.PATH ?? '' })
  const { cases: certified } = JSON.parse(out) as { cases: Certified[] }
  return certified.map(({ case: name, result, findings }) => ({
    case: name,
    result,
    findings: findings.filter(({ severity }) => severity !== 'note'),
  }))
}

test('each case of level B is certified', () => {
  expect(cases.filter(({ level }) => level === 'B')).toHaveLength(concluding.length)
})

test.for(concluding)('$name gets its verdict', async ({ name, certified, severity, verdict }, { expect }) => {
  const card = broken?.find((each) => each.case === certified)
  expect(card).toMatchObject({ result: 'failed', findings: [{ severity, code: verdict }] })
  for (const finding of card?.findings ?? [])
    await expect(findingText(finding)).toMatchFileSnapshot(fileURLToPath(findingFile(name)))
})

test('the correct client passes each of these cases', () => {
  expect(correct?.filter(({ result }) => result !== 'passed')).toEqual([])
  expect(correct?.map((each) => each.case).sort()).toEqual(
    concluding.map(({ certified }) => certified).sort(),
  )
})
