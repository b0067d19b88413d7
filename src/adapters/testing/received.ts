import type { LogCounts, RequestEntry, RequestMatch, SandboxClient } from '../../index.ts'
import {
  countRule,
  countText,
  type ExpectedCount,
  isOpen,
  type MatcherResult,
  missedLine,
} from './matcher-result.ts'
import { inSandbox } from './report.ts'

/** Matches that a failure shows. */
const MAX_SHOWN = 5

/**
 * Whether requests that match have come: at least one, unless `count` says otherwise. Rejects where that depends on requests that
 * the log has dropped.
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
  // Both ways, since anyone who expects that none has come must not be told so by a log that has forgotten.
  if (isOpen(rule, actual, dropped)) throw new Error(forgotten(sandbox, { dropped, capacity }))
  const what = `${countText(rule, 'request')} with ${JSON.stringify(match)}`
  return {
    pass: passed,
    message: () => {
      const lines = [
        `Expected ${sandbox.name} ${passed ? 'not ' : ''}to have received ${what}; ${actual} of ${log.length} came.`,
        ...section('These match:', shown(log, matched)),
        ...section('The nearest, and what they miss:', nearest.flatMap(nearLines)),
      ]
      return inSandbox(sandbox, lines.join('\n'))
    },
  }
}

function forgotten(
  { name }: SandboxClient,
  { dropped, capacity }: Pick<LogCounts, 'dropped' | 'capacity'>,
): string {
  return `Nobody can tell how many requests ${name} has received: its log keeps the newest ${capacity} and has dropped ${dropped}. Check before so many have come, or empty the log where what counts begins (sandbox.requests.clear).`
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
