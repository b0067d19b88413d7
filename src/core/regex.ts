import { type Context, createContext, Script } from 'node:vm'
import type { RE2JS as Regex } from 're2js'
import { load, rethrowNotLoaded } from './load.ts'
import { memoize } from './memoize.ts'
import { processorTime } from './time/real.ts'

// RE2 takes linear time for every expression, which the built-in engine does not. It is loaded with the first expression.

/** The maximum length of an expression, in characters. */
export const MAX_REGEX_LENGTH = 1_000

/** The problem of a regular expression; undefined for a valid one. */
export function regexProblem(expression: string): string | undefined {
  if (expression === '') return 'must not be empty'
  if (expression.length > MAX_REGEX_LENGTH) return `must have at most ${MAX_REGEX_LENGTH} characters`
  try {
    linearRegex(expression)
    return undefined
  } catch (error) {
    rethrowNotLoaded(error)
    const reason = (error as Error).message.replace('error parsing regexp: ', '')
    return `is no regular expression in the syntax of RE2: ${reason}`
  }
}

/** Whether a valid expression matches anywhere in a text. Throws for an invalid one. */
export function fitsRegex(expression: string, text: string): boolean {
  return linearRegex(expression).matcher(text).find()
}

/** The compiled expression. Throws when it is not valid in the syntax of RE2. */
export const linearRegex = memoize((expression): Regex => re2().compile(expression))

const re2 = () => (load('re2js') as typeof import('re2js')).RE2JS

/** Milliseconds of the processor that the built-in engine may take for one text. */
const MAX_MATCH_MS = 50
/** Milliseconds after which a match ends on a machine that is so busy that it got less of the processor. */
const MAX_WAIT_MS = 200

/** A regular expression took too long. Whether it does depends on the machine. */
export class RegexTimeout extends Error {}

/** Milliseconds of the processor that are left for the matches of the current work. Waiting for a busy processor does not count. */
let left = Number.POSITIVE_INFINITY

/** Does work whose calls of {@link matchInTime} may take `ms` milliseconds of the processor; a later one throws {@link RegexTimeout}. */
export function withMatchTime<T>(ms: number, work: () => T): T {
  return sharedMatchTime(ms)(work)
}

/** As {@link withMatchTime}, for several pieces of work that share the time. It also counts for the work around them. */
export function sharedMatchTime(ms: number): <T>(work: () => T) => T {
  let rest = ms
  return (work) => {
    const before = left
    const given = Math.min(rest, before)
    left = given
    try {
      return work()
    } finally {
      rest -= given - left
      left = before - (given - left)
    }
  }
}

/** Does work that V8 may stop, after which nothing in it runs, not even `finally`: the match time is then as it was before. */
export function restoringMatchTime<T>(work: () => T): T {
  const before = left
  try {
    return work()
  } finally {
    left = before
  }
}

/**
 * The result of a match. One that takes more than 50 ms of the processor is stopped and throws {@link RegexTimeout}: the
 * built-in engine can take exponential time. Entering the time limit takes 0.1 ms.
 */
export function matchInTime(match: () => boolean): boolean {
  let own = Math.min(MAX_MATCH_MS, left)
  // On a busy machine a try can be spent waiting for the processor: the next one waits in proportion.
  for (let wait = own; ; ) {
    if (left < 1) throw new RegexTimeout('the patterns took too long together')
    if (own < 1) throw new RegexTimeout(`the pattern took more than ${MAX_MATCH_MS} ms for one text`)
    const began = processorTime()
    let used = 0
    try {
      const found = limited(match, Math.ceil(wait))
      if (found !== undefined) return found
    } finally {
      used = processorTime() - began
      left -= used
    }
    own -= used
    wait = Math.min(MAX_WAIT_MS, (own * wait) / Math.max(1, used))
  }
}

let inContext: { readonly call: Script; readonly context: Context } | undefined

/** The result of a match, or undefined when it was stopped. */
function limited(match: () => boolean, timeout: number): boolean | undefined {
  inContext ??= { call: new Script('match()', { filename: 'match' }), context: createContext({}) }
  inContext.context.match = match
  try {
    return inContext.call.runInContext(inContext.context, { timeout }) as boolean
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return undefined
    throw error
  }
}
