import type { RequestEntry, RequestList, RequestMatch, World } from '../../index.ts'
import { inWorld } from './in-world.ts'
import {
  countRule,
  countText,
  type ExpectedCount,
  isOpen,
  type MatcherResult,
  missedLine,
} from './matcher-result.ts'

/** Matches that a failure shows. */
const MOST_SHOWN = 5

/**
 * Whether requests that match have come: at least one, unless `count` says otherwise. Rejects where that depends on requests that
 * the log has dropped.
 */
export async function received(
  world: World,
  match: RequestMatch,
  count?: ExpectedCount,
): Promise<MatcherResult> {
  const rule = countRule(count)
  const { passed, actual, matched, nearest = [] } = await world.requests.verify(match, rule)
  const { data, dropped, capacity } = await world.requests.list({ limit: 100_000 })
  // Both ways, since whoever expects that none has come must not be told so by a log that has forgotten.
  if (isOpen(rule, actual, dropped)) throw new Error(forgotten(world, { dropped, capacity }))
  const what = `${countText(rule, 'request')} with ${JSON.stringify(match)}`
  return {
    pass: passed,
    message: () => {
      const lines = [
        `Expected ${world.name} ${passed ? 'not ' : ''}to have received ${what}; ${actual} of ${data.length} came.`,
        ...section('These match:', shown(data, matched)),
        ...section('The nearest, and what they miss:', nearest.flatMap(nearLines)),
      ]
      return inWorld(world, lines.join('\n'))
    },
  }
}

function forgotten(
  { name }: World,
  { dropped, capacity }: Pick<RequestList, 'dropped' | 'capacity'>,
): string {
  return `Nobody can tell how many requests ${name} has received: its log keeps the newest ${capacity} and has dropped ${dropped}. Check before so many have come, or empty the log where what counts begins (world.requests.clear).`
}

function shown(log: readonly RequestEntry[], ids: readonly string[]): string[] {
  const known = new Set(ids)
  const lines = log
    .filter(({ id }) => known.has(id))
    .map(({ method, path, status, explain }) => `  ${method} ${path}  ${status}  ${explain}`)
  const rest = lines.length - MOST_SHOWN
  return rest <= 0 ? lines : [...lines.slice(0, MOST_SHOWN), `  and ${rest} more`]
}

type Near = NonNullable<Awaited<ReturnType<World['requests']['verify']>>['nearest']>[number]

function nearLines({ method, path, status, missed, explain }: Near): string[] {
  return [
    `  ${method} ${path}  ${status}  ${explain}`,
    ...missed.map((criterion) => `    ${missedLine(criterion)}`),
  ]
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [title, ...lines]
}
