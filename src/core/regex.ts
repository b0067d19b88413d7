import { createRequire } from 'node:module'
import type { RE2JS } from 're2js'

type RegexModule = typeof import('re2js')

// As with schedules: a bundler sees the plain require, and plain ESM falls back on createRequire. The engine takes time in
// proportion to the text whatever the expression, which the built-in one does not; sandboxes without expressions never load it.
function regexModule(): RegexModule {
  try {
    return require('re2js') as RegexModule
  } catch {
    return createRequire(import.meta.url)('re2js') as RegexModule
  }
}

/** Characters of an expression. */
export const MAX_REGEX_LENGTH = 1_000

/** Compiled expressions that are kept: as many as one sandbox may have rules. */
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

/** Whether an expression can be compiled, of any length. */
export function isRegex(expression: string): boolean {
  try {
    linearRegex(expression)
    return true
  } catch {
    return false
  }
}

/** Whether an expression that has no problem matches anywhere in a text. */
export function fitsRegex(expression: string, text: string): boolean {
  return linearRegex(expression).matcher(text).find()
}

/** The compiled expression, in the syntax of RE2. Throws for one that it does not have. */
export function linearRegex(expression: string): RE2JS {
  const known = kept.get(expression)
  if (known !== undefined) return known
  const regex = regexModule().RE2JS.compile(expression)
  const [oldest] = kept.keys()
  if (kept.size >= MAX_KEPT && oldest !== undefined) kept.delete(oldest)
  kept.set(expression, regex)
  return regex
}
