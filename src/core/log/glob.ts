import picomatch from 'picomatch'
import { fitsRegex, isRegex } from '../regex.ts'

// Texts are names, not only paths: `bash` lets a star cross slashes, `dot` gives dots no meaning, `noext` keeps to
// wildcards, sets and braces.
const OPTIONS = { bash: true, dot: true, noext: true, strictSlashes: true, fastpaths: false } as const

/** picomatch refuses longer ones. */
const MAX_GLOB_LENGTH = 65_536

const MAX_KEPT = 1_000

/** A glob as a regular expression of RE2; undefined for one that is a plain text. */
interface Compiled {
  readonly expression: string | undefined
  readonly negated: boolean
}

const kept = new Map<string, Compiled>()

/**
 * Whether a text fits a glob in the syntax of picomatch: `*` and `**` match any characters, `?` one that is no slash, `[12]`
 * one of them, `{a,b}` either; `!` in front negates the rest, and a backslash takes the meaning from the next character. No
 * glob fits the empty text. The time is linear in the length of the text: a matcher runs for every request.
 */
export function fitsGlob(pattern: string, text: string): boolean {
  if (pattern === text) return true
  if (text === '') return false
  const { expression, negated } = compiled(pattern)
  return expression !== undefined && fitsRegex(expression, text) !== negated
}

function compiled(pattern: string): Compiled {
  const known = kept.get(pattern)
  if (known !== undefined) return known
  const made = compile(pattern)
  const [oldest] = kept.keys()
  if (kept.size >= MAX_KEPT && oldest !== undefined) kept.delete(oldest)
  kept.set(pattern, made)
  return made
}

function compile(pattern: string): Compiled {
  if (pattern.length > MAX_GLOB_LENGTH || !/[*?[\]{}()|+!\\]/.test(pattern)) return PLAIN
  const { state } = picomatch.makeRe(pattern, OPTIONS, false, true) as RegExp & { readonly state: State }
  const expression = `(?s)^(?:${withoutLookahead(state.output)})$`
  // As in picomatch, what makes no expression, such as a brace without its end, fits itself alone.
  return isRegex(expression) ? { expression, negated: state.negated } : PLAIN
}

/** What picomatch has read, as far as it is used: the expression without a negation, and whether it is negated. */
interface State {
  readonly output: string
  readonly negated: boolean
}

const PLAIN: Compiled = { expression: undefined, negated: false }

// Paths such as `..` and the empty text are all that it looks out for; RE2 knows no lookahead, and takes linear time for it.
function withoutLookahead(source: string): string {
  return source.replaceAll(LOOKAHEAD, '')
}

const LOOKAHEAD = /\(\?=\.\)|\(\?!(?:\(\?:\^\|\\\/\))?\\\.\{\d,\d\}\(\?:\\\/\|\$\)\)/g
