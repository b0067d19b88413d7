import { createRequire } from 'node:module'
import type { RE2JS } from 're2js'

/**
 * Whether a text fits a pattern in which `*` matches any run of characters, also an empty one and slashes; everything else
 * matches itself. The time is linear in the sum of the lengths: a matcher runs for every request.
 */
export function fitsGlob(pattern: string, text: string): boolean {
  const [head = '', ...parts] = pattern.split('*')
  const tail = parts.pop()
  if (tail === undefined) return text === pattern
  const end = text.length - tail.length
  if (end < head.length || !text.startsWith(head) || !text.endsWith(tail)) return false
  let at = head.length
  for (const part of parts) {
    if (part === '') continue
    at = behind(part, text, at, end)
    if (at === -1) return false
  }
  return true
}

/**
 * Where the first occurrence of a part ends that lies between two places; -1 when there is none. By Knuth, Morris and Pratt:
 * `indexOf` takes the product of the lengths for texts such as `aaaa`.
 */
function behind(part: string, text: string, from: number, end: number): number {
  if (part.length > end - from) return -1
  const borders = bordersOf(part)
  let fitting = 0
  for (let at = from; at < end; at++) {
    while (fitting > 0 && part[fitting] !== text[at]) fitting = borders[fitting - 1] as number
    if (part[fitting] === text[at]) fitting += 1
    if (fitting === part.length) return at + 1
  }
  return -1
}

/** For each beginning of a text, the length of the longest shorter beginning that it ends with. */
function bordersOf(text: string): Uint32Array {
  const borders = new Uint32Array(text.length)
  let length = 0
  for (let at = 1; at < text.length; at++) {
    while (length > 0 && text[length] !== text[at]) length = borders[length - 1] as number
    if (text[length] === text[at]) length += 1
    borders[at] = length
  }
  return borders
}

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
    compiled(expression)
    return undefined
  } catch (error) {
    const reason = (error as Error).message.replace('error parsing regexp: ', '')
    return `is no regular expression in the syntax of RE2: ${reason}`
  }
}

/** Whether an expression that has no problem matches anywhere in a text. */
export function fitsRegex(expression: string, text: string): boolean {
  return compiled(expression).matcher(text).find()
}

function compiled(expression: string): RE2JS {
  const known = kept.get(expression)
  if (known !== undefined) return known
  const regex = regexModule().RE2JS.compile(expression)
  const [oldest] = kept.keys()
  if (kept.size >= MAX_KEPT && oldest !== undefined) kept.delete(oldest)
  kept.set(expression, regex)
  return regex
}
