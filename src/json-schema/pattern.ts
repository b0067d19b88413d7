import { linearRegex } from '../core/regex.ts'
import { type PatternNode, PatternTooLarge, parsePattern, readPattern } from './pattern-tree.ts'
import { OutOfSteps, spend, spendOnce } from './steps.ts'

/** A regular expression of a schema. */
export interface Pattern {
  readonly root: PatternNode
  /** Whether the text matches anywhere. Counts steps; throws `OutOfSteps`. */
  test(text: string): boolean
}

const MAX_KEPT = 500
const STEPS_PER_PATTERN = 1_000
const kept = new Map<string, Pattern>()

/** Compiles a `pattern`. Throws `SyntaxError` for an invalid one, `OutOfSteps` for one that is too large to be used. */
export function compilePattern(source: string): Pattern {
  const known = kept.get(source)
  if (known !== undefined) return known
  spendOnce(STEPS_PER_PATTERN)
  const pattern = makePattern(source)
  if (kept.size >= MAX_KEPT) kept.clear()
  kept.set(source, pattern)
  return pattern
}

/** Why a text is not a regular expression; undefined if it is one. */
export function patternProblem(source: string): string | undefined {
  if (!DIFFERS.test(source) && isExpression(source)) return undefined
  try {
    parsePattern(source)
    return undefined
  } catch (error) {
    // A pattern that is too large may be valid; the error comes when texts are made.
    return error instanceof SyntaxError ? error.message : undefined
  }
}

/** Syntax that differs between versions of Node. The engine checks all other patterns, a hundred times faster. */
const DIFFERS = /\(\?|\\[pP]/

function isExpression(source: string): boolean {
  try {
    return new RegExp(source, 'u') instanceof RegExp
  } catch {
    return false
  }
}

/** The largest expression for RE2, in states. Compiling a larger one takes longer than walking its tree. */
const MAX_RE2_SIZE = 2_000

function makePattern(source: string): Pattern {
  try {
    const { root, re2, size } = readPattern(source)
    const linear = re2 === undefined || size > MAX_RE2_SIZE ? undefined : linearTest(re2, size)
    return { root, test: linear ?? treeTest(root) }
  } catch (error) {
    throw error instanceof PatternTooLarge ? new OutOfSteps(error.message) : error
  }
}

/** RE2 takes time in proportion to the text for every expression. Undefined for an expression that it does not support. */
function linearTest(source: string, size: number): ((text: string) => boolean) | undefined {
  try {
    const expression = linearRegex(source)
    let last: string | undefined
    let fits = false
    return (text) => {
      spend(1 + (text.length * Math.min(size, 50)) / 50)
      // A text that has just been made is validated next, so the last result is kept.
      if (text !== last) fits = expression.test(text)
      last = text
      return fits
    }
  } catch {
    return undefined
  }
}

type Continue = (at: number) => boolean
type Step = (at: number, next: Continue) => boolean

/** The state of a match: the characters of the text, and the groups that were captured. */
interface Matching {
  chars: readonly string[]
  readonly groups: (readonly [from: number, to: number] | undefined)[]
}

/** A test for patterns with look-around or back references: it tries every path through the tree, and counts steps. */
function treeTest(root: PatternNode): (text: string) => boolean {
  const matching: Matching = { chars: [], groups: [] }
  const step = stepOf(root, matching)
  return (text) => {
    matching.chars = Array.from(text)
    matching.groups.length = 0
    try {
      for (let from = 0; from <= matching.chars.length; from++) if (step(from, () => true)) return true
      return false
    } catch (error) {
      // A path that overflows the stack counts as one with too many steps.
      throw error instanceof RangeError ? new OutOfSteps(error.message) : error
    }
  }
}

function stepOf(node: PatternNode, matching: Matching): Step {
  switch (node.kind) {
    case 'set':
      return (at, next) => {
        spend(1)
        const char = matching.chars[at]
        return char !== undefined && node.has(char) && next(at + 1)
      }
    case 'seq':
      return sequenceStep(node, matching)
    case 'alt': {
      const options = node.options.map((option) => stepOf(option, matching))
      return (at, next) => options.some((option) => option(at, next))
    }
    case 'repeat':
      return repeatStep(node, matching)
    case 'look':
      return lookStep(node, matching)
    case 'back':
      return (at, next) => {
        const [from, to] = matching.groups[node.group] ?? [0, 0]
        spend(1 + to - from)
        for (let index = from; index < to; index++)
          if (matching.chars[index] !== matching.chars[at + index - from]) return false
        return next(at + to - from)
      }
    default:
      return (at, next) => {
        spend(1)
        return holds(node.kind, matching.chars, at) && next(at)
      }
  }
}

function sequenceStep(node: Extract<PatternNode, { kind: 'seq' }>, matching: Matching): Step {
  const parts = node.parts.map((part) => stepOf(part, matching))
  const run = (index: number, at: number, next: Continue): boolean => {
    const part = parts[index]
    return part === undefined ? next(at) : part(at, (after) => run(index + 1, after, next))
  }
  const { group } = node
  if (group === undefined) return (at, next) => run(0, at, next)
  return (at, next) =>
    run(0, at, (after) => {
      const before = matching.groups[group]
      matching.groups[group] = [at, after]
      if (next(after)) return true
      matching.groups[group] = before
      return false
    })
}

function repeatStep(
  { body, least, most }: Extract<PatternNode, { kind: 'repeat' }>,
  matching: Matching,
): Step {
  if (body.kind === 'set') {
    return (at, next) => {
      let count = 0
      for (let char = matching.chars[at]; count < most && char !== undefined && body.has(char); ) {
        count++
        char = matching.chars[at + count]
      }
      spend(1 + count)
      for (; count >= least; count--) if (next(at + count)) return true
      return false
    }
  }
  const once = stepOf(body, matching)
  const run = (count: number, at: number, next: Continue): boolean => {
    spend(1)
    // Repeating a match of no characters would never end.
    const again =
      count < most && once(at, (after) => (after > at || count < least) && run(count + 1, after, next))
    return again || (count >= least && next(at))
  }
  return (at, next) => run(0, at, next)
}

function lookStep(
  { body, negated, behind }: Extract<PatternNode, { kind: 'look' }>,
  matching: Matching,
): Step {
  const inner = stepOf(body, matching)
  const sees = (at: number): boolean => {
    if (!behind) return inner(at, () => true)
    const nearest = at - Math.min(at, body.min)
    const farthest = Math.max(0, at - body.max)
    for (let from = nearest; from >= farthest; from--) if (inner(from, (after) => after === at)) return true
    return false
  }
  return (at, next) => sees(at) !== negated && next(at)
}

function holds(kind: 'start' | 'end' | 'word' | 'inside', chars: readonly string[], at: number): boolean {
  if (kind === 'start') return at === 0
  if (kind === 'end') return at === chars.length
  return (isWord(chars[at - 1]) !== isWord(chars[at])) === (kind === 'word')
}

function isWord(char: string | undefined): boolean {
  return char !== undefined && /^\w$/.test(char)
}
