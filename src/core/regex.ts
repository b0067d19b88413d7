import { createRequire } from 'node:module'
import type { RE2JS } from 're2js'

type RegexModule = typeof import('re2js')

// A bundler finds the plain `require`; without a bundler, ESM uses `createRequire`. RE2 takes linear time for every expression,
// which the built-in engine does not. It is loaded only when a sandbox has an expression.
function regexModule(): RegexModule {
  try {
    return require('re2js') as RegexModule
  } catch {
    return createRequire(import.meta.url)('re2js') as RegexModule
  }
}

/** The maximum length of an expression, in characters. */
export const MAX_REGEX_LENGTH = 1_000

/** The maximum number of compiled expressions in memory: as many as one sandbox may have rules. */
const MAX_KEPT = 1_000

const kept = new Map<string, RE2JS>()

/** The problem of a regular expression; undefined for a valid one. */
export function regexProblem(expression: string): string | undefined {
  if (expression === '') return 'must not be empty'
  if (expression.length > MAX_REGEX_LENGTH) return `must have at most ${MAX_REGEX_LENGTH} characters`
  try {
    linearRegex(expression)
    return undefined
  } catch (error) {
    const reason = (error as Error).message.replace('error parsing regexp: ', '')
    return `is no regular expression in the syntax of RE2: ${reason}`
  }
}

/** Whether an expression of any length can be compiled. */
export function isRegex(expression: string): boolean {
  try {
    linearRegex(expression)
    return true
  } catch {
    return false
  }
}

/** Whether a valid expression matches anywhere in a text. Throws for an invalid one. */
export function fitsRegex(expression: string, text: string): boolean {
  return linearRegex(expression).matcher(text).find()
}

/** The compiled expression. Throws when it is not valid in the syntax of RE2. */
export function linearRegex(expression: string): RE2JS {
  const known = kept.get(expression)
  if (known !== undefined) return known
  const regex = regexModule().RE2JS.compile(expression)
  const [oldest] = kept.keys()
  if (kept.size >= MAX_KEPT && oldest !== undefined) kept.delete(oldest)
  kept.set(expression, regex)
  return regex
}
