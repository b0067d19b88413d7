import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Settings } from '../../src/core/assumptions.ts'
import { fitsGlob } from '../../src/core/log/glob.ts'
import { workspaceService } from '../../src/emulator/service.ts'
import { programmeOf } from '../../src/tools/certify/programme.ts'
import { command } from '../cli/in-process.ts'
import { cases } from './cases.ts'
import { findingFile, findingText } from './page.ts'

interface Certified {
  readonly case: string
  readonly result: string
  readonly findings: readonly Record<'code' | 'severity' | 'message', string>[]
}

const concluding = cases.flatMap((each) =>
  each.certified === undefined ? [] : [{ ...each, certified: each.certified }],
)

let broken: Certified[]

const folder = mkdtempSync(join(tmpdir(), 'workspace-gallery-'))
const outfile = join(folder, 'adapter.mjs')

beforeAll(async () => {
  await build({
    entryPoints: [fileURLToPath(new URL('adapter.ts', import.meta.url))],
    bundle: true,
    platform: 'node',
    format: 'esm',
    outfile,
  })
  // One of the broken clients hangs until the time of its case is over.
  const pattern = `{${concluding.map(({ certified }) => certified).join(',')}}`
  broken = await cardOf(['--adapter', '--timeout', '5s', '--run', pattern], [outfile, 'broken'])
})

afterAll(() => rmSync(folder, { recursive: true }))

async function cardOf(options: readonly string[], client: readonly string[]): Promise<Certified[]> {
  const flags = ['--json', ...options]
  const words = ['certify', ...flags, '--', process.execPath, ...client]
  const { out } = await command(words, { PATH: process.env.PATH ?? '' })
  const { cases: certified } = JSON.parse(out) as { cases: Certified[] }
  return certified.map(({ case: name, result, findings }) => ({
    case: name,
    result,
    findings: findings.filter(({ severity }) => severity !== 'note'),
  }))
}

test.for(concluding)('$name gets its verdict', async ({ name, certified, verdict }, { expect }) => {
  const card = broken.find((each) => each.case === certified)
  const [severity, code] = verdict.split(' ')
  expect(card).toMatchObject({ result: 'failed', findings: [{ severity, code }] })
  for (const finding of card?.findings ?? [])
    await expect(findingText(finding)).toMatchFileSnapshot(fileURLToPath(findingFile(name)))
})

/**
 * Creates a page without a key. It repeats what has certainly had no effect, and gives up after every other failure: a repetition
 * could create a second page.
 */
const WITHOUT_KEY = `
  const { WORKSPACE_BASE_URL: base, WORKSPACE_API_KEY: key } = process.env
  const headers = { authorization: 'Bearer ' + key, 'content-type': 'application/json' }
  for (let attempt = 0; attempt < 4; attempt++) {
    const response = await fetch(base + '/pages', { method: 'POST', headers, body: '{"name":"Roof plan"}' }).catch(() => {})
    await response?.text()
    if (![429, 500, 503].includes(response?.status)) break
    const asked = Number(response.headers.get('retry-after') ?? 2 ** attempt)
    await new Promise((resolve) => setTimeout(resolve, asked * 1000 + 20))
  }`

// The whole programme takes minutes on a busy machine.
test('every case of the programme is passed by a client that does what the fixes say', {
  timeout: 600_000,
}, async () => {
  const keyless = 'create-without-key/*'
  const card = await cardOf(['--adapter', '--timeout', '20s'], [outfile])
  const own = card.filter((each) => !fitsGlob(keyless, each.case))
  const other = await cardOf(
    ['--timeout', '20s', '--run', keyless],
    ['--input-type=module', '-e', WITHOUT_KEY],
  )
  const results = [...own, ...other].map((each) => [each.case, each.result])
  expect(results.filter(([, result]) => result !== 'passed')).toEqual([])
  const programme = programmeOf(workspaceService, new Settings(), true)
  expect(results.map(([name]) => name).sort()).toEqual(programme.map(({ name }) => name).sort())
})
