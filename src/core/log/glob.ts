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

/**
 * Whether a text fits a glob in the syntax of picomatch: `*` and `**` match any characters, `?` one character except a slash,
 * `[12]` one of a set, `{a,b}` one of a list. A leading `!` negates the rest, and a backslash escapes the next character. Only
 * the empty glob fits the empty text. The time is linear in the length of the text: a matcher runs for every request.
 */
export function fitsGlob(pattern: string, text: string): boolean {
  return pattern === text || (text !== '' && compiled(pattern)(text))
}

/** A glob as a function that tells whether another text than the glob itself fits it. */
const compiled = memoize((pattern): ((text: string) => boolean) => {
  if (pattern.length > MAX_GLOB_LENGTH || !/[*?[\]{}()|+!\\]/.test(pattern)) return fitsNone
  const { state } = picomatch().makeRe(pattern, OPTIONS, false, true) as RegExp & { readonly state: State }
  // RE2 has no lookahead, which keeps its time linear. Those of picomatch only exclude the empty text and paths such as `..`.
  const { output, negated } = state
  const expression = `(?s)^(?:${output.replaceAll(LOOKAHEAD, '')})$`
  // As in picomatch, a glob that is no valid expression, such as one with an open brace, only fits itself.
  try {
    linearRegex(expression)
    return (text) => fitsRegex(expression, text) !== negated
  } catch (error) {
    rethrowNotLoaded(error)
    return fitsNone
  }
})

/** The used part of the parsed glob: the expression without its negation, and whether it is negated. */
interface State {
  readonly output: string
  readonly negated: boolean
}

const fitsNone = () => false

const LOOKAHEAD = /\(\?=\.\)|\(\?!(?:\(\?:\^\|\\\/\))?\\\.\{\d,\d\}\(\?:\\\/\|\$\)\)/g
