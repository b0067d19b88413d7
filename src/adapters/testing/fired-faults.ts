import type { FaultView, SandboxClient } from '../../index.ts'
import type { MatcherResult } from './matcher-result.ts'

/**
 * Whether every fault rule that a sandbox has was fired at least once. Rejects where there is none: a test that expects faults to
 * fire has armed some, and one that was removed cannot tell.
 */
export async function firedAllFaults(sandbox: SandboxClient): Promise<MatcherResult> {
  const rules = await sandbox.faults.list()
  if (rules.length === 0)
    throw new Error(
      `No fault is armed in ${sandbox.name}, so that none could fire. Arm one, and check it before it is removed.`,
    )
  const pass = !rules.some(isUnfired)
  return {
    pass,
    message: () =>
      pass
        ? `Expected a fault of ${sandbox.name} never to have fired; all of them have: ${rules.map(({ id }) => id).join(', ')}.`
        : `Expected every fault of ${sandbox.name} to have fired. ${unfiredText(rules)}`,
  }
}

/** Throws if a rule has not fired, with what it was about. */
export async function requireFiredFaults(sandbox: SandboxClient): Promise<void> {
  const rules = await sandbox.faults.list()
  if (!rules.some(isUnfired)) return
  throw new Error(
    `The test left faults that never fired, and failOnUnfiredFaults is set. ${unfiredText(rules)} Remove a fault that is not needed, or correct its match.`,
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
      : `${id} never fired: ${matched === 1 ? 'one request' : `${matched} requests`} matched ${about}, and its timing let none fire.`
  })
  return lines.join(' ')
}
