import type { FaultDraft } from '../core/faults/rule.ts'
import { literal } from '../core/quoted.ts'

/**
 * The source of a test for Vitest that has a sandbox.
 * @param body its lines, without indentation
 * @param above lines between the imports and the test @param options source of the options of its sandbox
 */
export function vitestSource(
  title: string,
  body: readonly string[],
  more: {
    readonly imports?: readonly string[]
    readonly above?: readonly string[]
    readonly options?: string
  } = {},
): string {
  const { imports = [], above = [], options } = more
  return [
    ...imports,
    `import { ${options === undefined ? 'expect, test' : 'test as base, expect'} } from 'agent-workspace-emulator/vitest'`,
    '',
    ...(options === undefined ? [] : [`const test = base.extend('sandboxOptions', ${options})`, '']),
    ...above,
    `test(${literal(title)}, async ({ sandbox }) => {`,
    ...body.map((line) => (line === '' ? '' : `  ${line}`)),
    '})',
  ].join('\n')
}

/** The lines of a test that arm fault rules. */
export function armSource(rules: readonly FaultDraft[]): string[] {
  return rules.map((rule) => `await sandbox.faults.arm(${literal(rule)})`)
}
