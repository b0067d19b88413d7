import { load, rethrowNotLoaded } from '../load.ts'
import { memoize } from '../memoize.ts'
import { fitsRegex, linearRegex } from '../regex.ts'

// Loaded at the first glob, since a start has none.
const picomatch = () => load('picomatch') as typeof import('picomatch')

// Texts are names, not only paths: `bash` lets a star match slashes, `dot` gives dots no special meaning, `noext` allows only
// wildcards, sets and braces.
const OPTIONS = { bash: true, dot: true, noext: true, strictSlashes: true, fastpaths: false } as const

/** Maximum length of a glob; picomatch throws for a longer one, so that it only fits itself. */
const MAX_GLOB_LENGTH = 65_536

/** A glob as a regular expression of RE2; `expression` is undefined for a plain text. */
interface Compiled {
  readonly expression: string | undefined
  readonly negated: boolean
}

/**
 * Whether a text fits a glob in the syntax of picomatch: `*` and `**` match any characters, `?` one character except a slash,
 * `[12]` one of a set, `{a,b}` one of a list. A leading `!` negates the rest, and a backslash escapes the next character. Only
 * the empty glob fits the empty text. The time is linear in the length of the text: a matcher runs for every request.
 */
export function fitsGlob(pattern: string, text: string): boolean {
  if (pattern === text) return true
  if (text === '') return false
  const { expression, negated } = compiled(pattern)
  return expression !== undefined && fitsRegex(expression, text) !== negated
}

const compiled = memoize((pattern): Compiled => {
  if (pattern.length > MAX_GLOB_LENGTH || !/[*?[\]{}()|+!\\]/.test(pattern)) return PLAIN
  const { state } = picomatch().makeRe(pattern, OPTIONS, false, true) as RegExp & { readonly state: State }
  // RE2 has no lookahead, which keeps its time linear. Those of picomatch only exclude the empty text and paths such as `..`.
  const expression = `(?s)^(?:${state.output.replaceAll(LOOKAHEAD, '')})$`
  // As in picomatch, a glob that is no valid expression, such as one with an open brace, only fits itself.
  try {
    linearRegex(expression)
    return { expression, negated: state.negated }
  } catch (error) {
    rethrowNotLoaded(error)
    return PLAIN
  }
})

/** The used part of the parsed glob: the expression without its negation, and whether it is negated. */
interface State {
  readonly output: string
  readonly negated: boolean
}

const PLAIN: Compiled = { expression: undefined, negated: false }

const LOOKAHEAD = /\(\?=\.\)|\(\?!(?:\(\?:\^\|\\\/\))?\\\.\{\d,\d\}\(\?:\\\/\|\$\)\)/g
