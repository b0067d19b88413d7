import { counted } from '../core/words.ts'
import type { RequestCount } from '../index.ts'

/** The result of a matcher for its test runner; the same for Vitest and Playwright. */
export interface MatcherResult {
  readonly pass: boolean
  /** Called only when the assertion fails. */
  readonly message: () => string
}

/** A number is an exact count. Default: at least one. */
export type ExpectedCount = number | RequestCount

/** Throws a TypeError for a count that every number would satisfy, or that is not a whole number. */
export function countRule(count: ExpectedCount = { at_least: 1 }): RequestCount {
  const rule = typeof count === 'number' ? { exactly: count } : count
  refuseMembers('count', rule, COUNTS)
  const given = Object.values(rule).filter((value) => value !== undefined)
  if (given.length > 0 && given.every((value) => Number.isSafeInteger(value) && value >= 0)) return rule
  throw new TypeError(
    `count is ${JSON.stringify(count)}. Give a whole number, or an object with at least one of ${COUNTS.join(', ')}, each a whole number.`,
  )
}

const COUNTS = ['at_least', 'at_most', 'exactly']

/** Throws a TypeError for a value that is not an object with these fields: an unknown field would be ignored, and always pass. */
export function refuseMembers(what: string, value: unknown, known: readonly string[]): void {
  if (typeof value !== 'object' || value === null)
    throw new TypeError(`${what} is ${JSON.stringify(value)}. Give an object with ${known.join(', ')}.`)
  const odd = Object.keys(value).filter((name) => !known.includes(name))
  if (odd.length === 0) return
  throw new TypeError(
    `${what} has the unknown ${odd.length === 1 ? 'field' : 'fields'} ${odd.join(', ')}. Known fields: ${known.join(', ')}.`,
  )
}

/** Whether up to `more` further matches could change the result of the rule. */
export function isOpen(rule: RequestCount, actual: number, more: number): boolean {
  const { exactly, at_least = 0, at_most = Infinity } = rule
  const [least, most] = [exactly ?? at_least, exactly ?? at_most]
  return actual < least ? actual + more >= least : actual <= most && actual + more > most
}

export function fitsCount(
  { exactly, at_least = 0, at_most = Infinity }: RequestCount,
  actual: number,
): boolean {
  return exactly === undefined ? actual >= at_least && actual <= at_most : actual === exactly
}

/** `at least 1 webhook`, `exactly 2 webhooks`, `1 to 3 webhooks`. */
export function countText({ exactly, at_least, at_most }: RequestCount, noun: string): string {
  if (exactly !== undefined) return `exactly ${counted(exactly, noun)}`
  if (at_most === undefined) return `at least ${counted(at_least ?? 0, noun)}`
  return at_least === undefined
    ? `at most ${counted(at_most, noun)}`
    : `${at_least} to ${counted(at_most, noun)}`
}

/** One criterion that did not match, as a line: `status: expected 200, was 429`. */
export function missedLine({
  what,
  expected,
  actual,
}: {
  readonly what: string
  readonly expected: unknown
  readonly actual: unknown
}): string {
  return `${what}: expected ${JSON.stringify(expected)}, was ${actual === null ? 'absent' : JSON.stringify(actual)}`
}
