import { inSandbox } from '../control-client/explained.ts'
import { findingCounts, findingLines, findingsFrom } from '../core/conduct/finding-lines.ts'
import type { ConductOptions, SandboxClient } from '../index.ts'
import { type MatcherResult, refuseMembers } from './matcher-result.ts'

/** Whether the report on the conduct of the clients of a sandbox has no error. Rejects without a request: it would prove nothing. */
export async function behaved(sandbox: SandboxClient, options: ConductOptions = {}): Promise<MatcherResult> {
  refuseMembers('the argument of toHaveBehaved', options, ['except', 'retries', 'since'])
  const { findings, judged } = await sandbox.conduct(options)
  const { name } = sandbox
  if (judged.requests === 0)
    throw new Error(
      `${name} has received no request that could be judged. Give the client sandbox.baseUrl and sandbox.apiKey.`,
    )
  const errors = findingsFrom(findings, 'error')
  const others = findings.filter((each) => !errors.includes(each))
  const lines = [
    `Expected the clients of ${name} to have behaved; the report on their conduct has ${findingCounts(errors)}:`,
    ...errors.flatMap(findingLines).map((line) => `  ${line}`),
    ...(others.length === 0 ? [] : [`Besides: ${findingCounts(others)}, see sandbox.conduct().`]),
  ]
  return {
    pass: errors.length === 0,
    message: () =>
      errors.length === 0
        ? `Expected a client of ${name} not to have behaved, but the report on its ${judged.requests} requests has no error.`
        : inSandbox(sandbox, lines.join('\n')),
  }
}
