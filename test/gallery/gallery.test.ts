import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Finding } from 'agent-workspace-emulator'
import { describe, expect, test } from 'vitest'
import { verdicts } from '../../src/core/conduct/verdicts.ts'
import { conclusionVerdicts } from '../../src/tools/certify/verdicts.ts'
import { conclusions, expectBehaviour, repaired } from './behaviour.ts'
import { cases, type GalleryCase } from './cases.ts'
import type { Run } from './client.ts'
import { sharedEmulator } from './emulator.ts'
import { findingFile, findingText } from './page.ts'
import { repairedClient, repairsOf } from './repair.ts'
import { show } from './shown.ts'

const { sandbox: newSandbox } = sharedEmulator()

test('every client of the folder is in the table, and has its finding or its conclusion', () => {
  const names = cases.map(({ name }) => name).sort()
  expect(readdirSync(new URL('clients', import.meta.url)).sort()).toEqual(names.map((name) => `${name}.ts`))
  const concluding = cases.filter(({ certified }) => certified !== undefined).map(({ name }) => name)
  expect(Object.keys(conclusions).sort()).toEqual(concluding.sort())
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

describe.concurrent('each client', () => {
  test.for(cases)('$name has its bug', async (each, { expect }) => {
    const { run } = (await import(`./clients/${each.name}.ts`)) as { run: Run }
    await using sandbox = await newSandbox()
    const shown = await show(sandbox, each, run)
    const conclusion = conclusions[each.name]
    if (conclusion !== undefined) expectBehaviour(shown, conclusion.broken)
    expect(verdictsIn(shown.findings, each)).toEqual(each.certified === undefined ? [each.verdict] : [])
    const finding = shown.findings.find(({ code }) => each.verdict.endsWith(` ${code}`))
    if (finding !== undefined)
      await expect(findingText(finding)).toMatchFileSnapshot(fileURLToPath(findingFile(each.name)))
  })

  test.for(cases)('$name works with its repair', async (each) => {
    expect(repairsOf(each.name)).not.toEqual([])
    await using sandbox = await newSandbox()
    const shown = await show(sandbox, each, await repairedClient(each.name), false)
    expectBehaviour(shown, conclusions[each.name]?.repaired ?? repaired[each.name] ?? {})
    expect(verdictsIn(shown.findings, each)).toEqual([])
  })
})

function verdictsIn(findings: readonly Finding[], { verdict }: GalleryCase): string[] {
  return findings
    .map(({ severity, code }) => `${severity} ${code}`)
    .filter((each) => !each.startsWith('note ') || each === verdict)
}
