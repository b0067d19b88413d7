import type { SandboxClient } from '../../index.ts'
import type { MatcherResult } from './matcher-result.ts'

/**
 * Whether every fault rule that a sandbox has was fired at least once. Rejects where there is none: a test that expects faults to
 * fire has armed some, and one that was removed cannot tell.
 */
export async function firedAllFaults(sandbox: SandboxClient): Promise<MatcherResult> {
  const { data, never_fired: unfired } = await sandbox.faults.list()
  if (data.length === 0)
    throw new Error(
      `No fault is armed in ${sandbox.name}, so that none could fire. Arm one, and check it before it is removed.`,
    )
  return {
    pass: unfired.length === 0,
    message: () =>
      unfired.length === 0
        ? `Expected a fault of ${sandbox.name} never to have fired; all of them have: ${data.map(({ id }) => id).join(', ')}.`
        : `Expected every fault of ${sandbox.name} to have fired. ${unfiredText(data)}`,
  }
}

/** Throws if a rule has not fired, with what it was about. */
export async function requireFiredFaults(sandbox: SandboxClient): Promise<void> {
  const { data, never_fired: unfired } = await sandbox.faults.list()
  if (unfired.length === 0) return
  throw new Error(
    `The test left faults that never fired, and failOnUnfiredFaults is set. ${unfiredText(data)} Remove a fault that is not needed, or correct its match.`,
  )
}

function unfiredText(rules: Awaited<ReturnType<SandboxClient['faults']['list']>>['data']): string {
  const lines = rules
    .filter(({ fired }) => fired === 0)
    .map(({ id, matched, match }) => {
      const about = typeof match === 'string' ? match : JSON.stringify(match)
      return matched === 0
        ? `${id} never fired: no request matched ${about}.`
        : `${id} never fired: ${matched === 1 ? 'one request' : `${matched} requests`} matched ${about}, and its timing let none fire.`
    })
  return lines.join(' ')
}
