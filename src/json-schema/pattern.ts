import type { AST } from '@eslint-community/regexpp'
import { load, rethrowNotLoaded } from '../core/load.ts'
import { memoize } from '../core/memoize.ts'
import { linearRegex, matchInTime } from '../core/regex.ts'

/** A regular expression of a schema, as parsed and as tested. */
export interface Pattern {
  readonly source: string
  readonly ast: AST.Pattern
  readonly flags: 'u' | ''
  /** Whether the text matches anywhere. Throws `RegexTimeout`. */
  test(text: string): boolean
}

const MAX_LENGTH = 10_000
const MAX_NESTING = 200

// The package is loaded with the first pattern.
const regexpp = () => load('@eslint-community/regexpp') as typeof import('@eslint-community/regexpp')

/** Compiles a `pattern`. Returns the reason, to follow the word `pattern`, for one that cannot be used. */
export const compilePattern = memoize((source): Pattern | string => {
  const reason = tooLarge(source) ?? patternProblem(source)
  if (reason !== undefined) return reason
  const pattern = { source, ...parsed(source) }
  return { ...pattern, test: testOf(pattern) }
})

/**
 * Parses a regular expression as every version of Node does. Patterns are Unicode expressions; one that is valid only
 * without the `u` flag (`\-`) is parsed without it.
 */
function parsed(source: string): Pick<Pattern, 'ast' | 'flags'> {
  const parser = new (regexpp().RegExpParser)({ ecmaVersion: 2024 })
  const parse = (unicode: boolean) => parser.parsePattern(source, 0, source.length, { unicode })
  try {
    return { ast: parse(true), flags: 'u' }
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
  }
  return { ast: parse(false), flags: '' }
}

/** Why a text is not a regular expression; undefined if it is one. A pattern that is too large is one. */
export function patternProblem(source: string): string | undefined {
  try {
    if (tooLarge(source) === undefined) parsed(source)
    return undefined
  } catch (error) {
    rethrowNotLoaded(error)
    return `has to be a regular expression of ECMAScript: ${(error as Error).message}`
  }
}

function tooLarge(source: string): string | undefined {
  if (source.length > MAX_LENGTH) return `is longer than ${MAX_LENGTH} characters`
  return nesting(source) > MAX_NESTING ? `nests its groups more than ${MAX_NESTING} levels deep` : undefined
}

/** An upper bound of the depth of groups: escaped parentheses and those in classes may be counted, too. */
function nesting(source: string): number {
  let [depth, most] = [0, 0]
  for (const char of source) {
    if (char === '(') most = Math.max(most, ++depth)
    else if (char === ')') depth--
  }
  return most
}

/** States times characters for RE2 without a time limit, which takes longer to enter than most matches take. */
const MAX_WORK = 5_000
/** States for RE2: counted repeats unfold to many, which take long to compile. */
const MAX_SIZE = 500

// RE2 takes linear time. Its long matches have a time limit, too, as have all matches of the built-in engine, which are those of
// patterns that are not in the syntax of RE2.
function testOf({ source, ast, flags }: Omit<Pattern, 'test'>): Pattern['test'] {
  const expression = new RegExp(source, flags)
  const linear = flags === 'u' ? linearOf(source, ast) : undefined
  if (linear === undefined) return (text) => matchInTime(() => expression.test(text))
  const size = linear.programSize()
  return (text) => (size * text.length <= MAX_WORK ? linear.test(text) : matchInTime(() => linear.test(text)))
}

function linearOf(source: string, ast: AST.Pattern): ReturnType<typeof linearRegex> | undefined {
  const re2 = inRe2(source, ast)
  try {
    return re2 === undefined ? undefined : linearRegex(re2)
  } catch (error) {
    rethrowNotLoaded(error)
    return undefined
  }
}

const SPACES =
  '\\t\\n\\x{b}\\f\\r \\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}\\x{feff}'
const LINE_BREAKS = '\\n\\r\\x{2028}\\x{2029}'

/** The pattern with all that RE2 understands differently replaced. Undefined if RE2 has no equivalent, or only a very large one. */
function inRe2(source: string, ast: AST.Pattern): string | undefined {
  let [re2, end, size, times]: [string | undefined, number, number, number] = ['', 0, 0, 1]
  const repeats = ({ min, max }: AST.Quantifier): number => Math.max(1, max === Infinity ? min + 1 : max)
  const put = ({ start, end: after }: AST.Node, text: string | undefined): void => {
    re2 = re2 === undefined || text === undefined ? undefined : re2 + source.slice(end, start) + text
    end = after
    size += times
  }
  regexpp().visitRegExpAST(ast, {
    onCharacterEnter: (node) => put(node, isSurrogate(node.value) ? undefined : code(node.value)),
    onCharacterSetEnter: (node) => put(node, setOf(node)),
    onBackreferenceEnter: (node) => put(node, undefined),
    onQuantifierEnter: (node) => {
      times *= repeats(node)
    },
    onQuantifierLeave: (node) => {
      times /= repeats(node)
    },
  })
  return re2 !== undefined && size <= MAX_SIZE ? re2 + source.slice(end) : undefined
}

function setOf(set: AST.CharacterSet): string | undefined {
  if (set.kind === 'any') return `[^${LINE_BREAKS}]`
  if (set.kind !== 'space') return set.raw
  if (set.parent.type !== 'CharacterClass') return `[${set.negate ? '^' : ''}${SPACES}]`
  return set.negate ? undefined : SPACES
}

const isSurrogate = (value: number): boolean => value >= 0xd800 && value <= 0xdfff
const code = (value: number): string => `\\x{${value.toString(16)}}`
