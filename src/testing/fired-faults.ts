import type { FaultView, SandboxClient } from '../index.ts'
import type { MatcherResult } from './matcher-result.ts'

/**
 * Whether every fault rule of a sandbox has fired at least once. Rejects when there are no rules: a test that expects faults to
 * fire has armed some, and a removed rule has no count.
 */
export async function firedAllFaults(sandbox: SandboxClient): Promise<MatcherResult> {
  const rules = await sandbox.faults.list()
  if (rules.length === 0)
    throw new Error(
      `No fault is armed in ${sandbox.name}, so none could fire. Arm a fault, and check it before it is removed.`,
    )
  const pass = !rules.some(isUnfired)
  return {
    pass,
    message: () =>
      pass
        ? `Expected a fault of ${sandbox.name} not to have fired, but all have fired: ${rules.map(({ id }) => id).join(', ')}.`
        : `Expected every fault of ${sandbox.name} to have fired. ${unfiredText(rules)}`,
  }
}

/** The failure of a test with a rule that has not fired; undefined if there is none. */
export async function unfiredFaults(sandbox: SandboxClient): Promise<Error | undefined> {
  const rules = await sandbox.faults.list()
  if (!rules.some(isUnfired)) return undefined
  return new Error(
    `Some faults of the test never fired, and failOnUnfiredFaults is set. ${unfiredText(rules)} Remove a fault that is not needed, or correct its match.`,
  )
}

/** Whether a rule has not fired yet. */
export function isUnfired({ fired }: Pick<FaultView, 'fired'>): boolean {
  return fired === 0
}

function unfiredText(rules: readonly FaultView[]): string {
  const lines = rules.filter(isUnfired).map(({ id, matched, match }) => {
    const about = typeof match === 'string' ? match : JSON.stringify(match)
    return matched === 0
      ? `${id} never fired: no request matched ${about}.`
      : `${id} never fired: ${matched === 1 ? 'one request' : `${matched} requests`} matched ${about}, but its timing excluded ${matched === 1 ? 'it' : 'them'}.`
  })
  return lines.join(' ')
}
