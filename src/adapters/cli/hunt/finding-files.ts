import { join } from 'node:path'
import type { RecordingBundle } from '../../../core/record/bundle.ts'
import { writeRecording, writeText } from '../text-file.ts'
import type { HuntFailure } from './judge.ts'
import type { FaultPlan } from './plan.ts'

/**
 * Writes the rules of a finding, a test that arms them, and its recordings.
 * @returns the files of the recordings
 */
export function writeFinding(
  folder: string,
  finding: HuntFailure & FaultPlan,
  recordings: readonly RecordingBundle[],
): string[] {
  const { name, rules } = finding
  const base = join(folder, name.replaceAll(/[^\w.+-]+/g, '-'))
  writeText(`${base}.faults.json`, `${JSON.stringify(rules.length === 1 ? rules[0] : rules, null, 2)}\n`)
  writeText(`${base}.test.ts`, testOf(finding))
  return recordings.map((bundle, n) => {
    const file = `${base}.recording${n === 0 ? '' : `-${n + 1}`}.json`
    writeRecording(file, bundle)
    return file
  })
}

function testOf({ name, kind, message, rules }: HuntFailure & FaultPlan): string {
  return [
    `import { expect, test } from 'agent-workspace-emulator/vitest'`,
    '',
    `// ${kind}: ${message}`,
    `test(${JSON.stringify(`works under ${name}`)}, async ({ sandbox }) => {`,
    ...rules.map((rule) => `  await sandbox.faults.arm(${JSON.stringify(rule)})`),
    '  // Call your client here, with sandbox.baseUrl and sandbox.apiKey, and check its result.',
    '  await expect(sandbox).toHaveFiredAllFaults()',
    '  await expect(sandbox).toHaveBehaved()',
    '})',
    '',
  ].join('\n')
}
