import { inSandbox } from '../control-client/explained.ts'
import { findingLines } from '../core/conduct/finding-lines.ts'
import { counted } from '../core/words.ts'
import type { RequestEntry, RequestMatch, SandboxClient } from '../index.ts'
import type { MatcherResult } from './matcher-result.ts'

/** The verdicts about a client that does not wait as long as it was told. */
const TOO_EARLY = ['wait.none', 'wait.too-short', 'wait.date-ignored']

/** The most requests that a log can hold. */
const ALL = 100_000

/**
 * Whether clients have respected Retry-After: no verdict of the report on their conduct is about a wait that was too short.
 * Specification: Limits / Rate limits. Rejects if there was no 429 or 503 with the header, or if the log has dropped requests that
 * it would need.
 * @param match both the refusal and its repetition must match it; a `status` in it applies only to the refusal
 */
export async function respectedRetryAfter(
  sandbox: SandboxClient,
  match: RequestMatch = {},
): Promise<MatcherResult> {
  const { name } = sandbox
  const { status: _, ...others } = match
  const log = await sandbox.requests.list({ limit: ALL, full: true })
  const [refusals, repetitions] = [await idsOf(sandbox, match), await idsOf(sandbox, others)]
  const refused = new Set(
    log.filter((entry) => refusals.has(entry.id) && hasRetryAfter(entry)).map(({ id }) => id),
  )
  if (refused.size === 0) {
    const which = Object.keys(match).length === 0 ? '' : ` that match ${JSON.stringify(match)}`
    throw new Error(
      `No client had to wait: of the requests to ${name}${which}, none had a response 429 or 503 with a Retry-After, so this proves nothing. Use up a limit first (sandbox.limits.fill), or arm a fault such as rate-limited.`,
    )
  }
  const { findings, judged, not_judged } = await sandbox.conduct()
  const early = findings.filter(
    ({ code, requests }) =>
      TOO_EARLY.includes(code) &&
      requests.some((id, index) => refused.has(id) && repetitions.has(requests[index + 1] ?? '')),
  )
  // Dropped requests do not matter if there is a finding; without one, a dropped request may have been one.
  if (early.length === 0 && judged.dropped > 0)
    throw new Error(
      `The log cannot show whether every client of ${name} has waited: it has dropped ${judged.dropped} requests. Check earlier, or clear the log before the requests that count (sandbox.requests.clear).`,
    )
  const lines = [
    `Expected every client of ${name} to wait as long as Retry-After; too early: ${counted(early.length, 'call')}.`,
    ...[...early.flatMap(findingLines), ...not_judged].map((line) => `  ${line}`),
    'If the virtual clock stands still, a client has to wait in real time; if a test advances it, the virtual time counts.',
  ]
  return {
    pass: early.length === 0,
    message: () =>
      early.length === 0
        ? `Expected a client of ${name} not to wait as long as Retry-After, but no client came back too early after ${counted(refused.size, 'refusal')}.`
        : inSandbox(sandbox, lines.join('\n')),
  }
}

/** The ids of the requests that a match selects; of all requests without a criterion. */
async function idsOf({ requests }: SandboxClient, match: RequestMatch): Promise<ReadonlySet<string>> {
  if (Object.values(match).some((criterion) => criterion !== undefined))
    return new Set((await requests.verify(match, { at_least: 0 })).matched)
  return new Set((await requests.list({ limit: ALL })).map(({ id }) => id))
}

function hasRetryAfter({ status, response }: RequestEntry): boolean {
  const isRefused = status === 429 || status === 503
  return isRefused && response?.headers.some(({ name }) => name.toLowerCase() === 'retry-after') === true
}
