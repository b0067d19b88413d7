import { inSandbox } from '../control-client/explained.ts'
import type { RequestEntry, RequestMatch, SandboxClient } from '../index.ts'
import {
  countRule,
  countText,
  type ExpectedCount,
  isOpen,
  type MatcherResult,
  missedLine,
} from './matcher-result.ts'

/** The most matches that the message of a failure shows. */
const MAX_SHOWN = 5

/**
 * Whether matching requests were received. Default of `count`: at least one. Rejects if the result depends on requests that the
 * log has dropped.
 */
export async function received(
  sandbox: SandboxClient,
  match: RequestMatch,
  count?: ExpectedCount,
): Promise<MatcherResult> {
  const rule = countRule(count)
  const { passed, actual, matched, nearest = [] } = await sandbox.requests.verify(match, rule)
  const log = await sandbox.requests.list({ limit: 100_000 })
  const { dropped, capacity } = await sandbox.requests.count()
  // Also for `.not`: a log that has dropped requests cannot prove that none has come.
  if (isOpen(rule, actual, dropped))
    throw new Error(
      `The log cannot show how many requests ${sandbox.name} has received: it keeps the newest ${capacity} and has dropped ${dropped}. Check earlier, or clear the log before the requests that count (sandbox.requests.clear).`,
    )
  const what = `${countText(rule, 'request')} with ${JSON.stringify(match)}`
  return {
    pass: passed,
    message: () => {
      const lines = [
        `Expected ${sandbox.name} ${passed ? 'not ' : ''}to have received ${what}; ${actual} of ${log.length} requests match.`,
        ...section('These match:', shown(log, matched)),
        ...section('The nearest requests, and their differences:', nearest.flatMap(nearLines)),
      ]
      return inSandbox(sandbox, lines.join('\n'))
    },
  }
}

function shown(log: readonly RequestEntry[], ids: readonly string[]): string[] {
  const known = new Set(ids)
  const lines = log
    .filter(({ id }) => known.has(id))
    .map(({ method, path, status, id }) => `  ${method} ${path}  ${status}  ${id}`)
  const rest = lines.length - MAX_SHOWN
  return rest <= 0 ? lines : [...lines.slice(0, MAX_SHOWN), `  and ${rest} more`]
}

type Near = NonNullable<Awaited<ReturnType<SandboxClient['requests']['verify']>>['nearest']>[number]

function nearLines({ method, path, status, missed, id }: Near): string[] {
  return [
    `  ${method} ${path}  ${status}  ${id}`,
    ...missed.map((criterion) => `    ${missedLine(criterion)}`),
  ]
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [title, ...lines]
}
