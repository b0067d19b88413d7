import { oneOf, type RandomSource } from './maker.ts'
import { linearMatcher } from './pattern-match.ts'
import {
  charSet,
  type PatternNode,
  parsePattern,
  repeatOf,
  sequenceOf,
  UnsupportedPattern,
} from './pattern-syntax.ts'

/** A regular expression of a schema: it can be tested in bounded time, and texts can be made that match it. */
export interface Pattern {
  /** The characters of the shortest text that matches. */
  readonly min: number
  test(text: string): boolean
  /**
   * A text of `min` to `max` characters that should match; `undefined` where no such length is possible.
   * `padded` adds letters outside the match where the pattern leaves its ends open.
   */
  draft(chance: RandomSource, min: number, max: number, padded?: boolean): string | undefined
}

// Indexed by the number of open repeats: backtracking over texts up to these lengths stays below a few ms.
const SAFE_LENGTHS = [1_000, 1_000, 256, 64, 32]
const SPACE_TO_GROW = 8
const cache = new Map<string, Pattern>()

/** Compiles a `pattern`. Throws `SyntaxError` where it is none, `UnsupportedPattern` where it asks too much. */
export function compilePattern(source: string): Pattern {
  const known = cache.get(source)
  if (known !== undefined) return known
  const pattern = makePattern(source)
  if (cache.size >= 500) cache.clear()
  cache.set(source, pattern)
  return pattern
}

function makePattern(source: string): Pattern {
  const { expression, flags } = expressionOf(source)
  const core = parsePattern(source, flags)
  const loose = sequenceOf([begins(core) ? NOTHING : LETTERS, core, ends(core) ? NOTHING : LETTERS])
  return {
    min: core.min,
    test: tester(core, expression),
    draft: (chance, min, max, padded = false) =>
      draft(padded || core.max < Math.max(min, 1) ? loose : core, chance, min, max),
  }
}

/** Patterns are Unicode expressions; one that is valid only without the `u` flag (`\-`) is taken as meant. */
function expressionOf(source: string): { expression: RegExp; flags: string } {
  try {
    return { expression: new RegExp(source, 'u'), flags: 'u' }
  } catch {
    return { expression: new RegExp(source), flags: '' }
  }
}

// The engine's own matcher is the fastest, but backtracks: it gets short texts and harmless patterns only.
function tester(core: PatternNode, expression: RegExp): (text: string) => boolean {
  const safeLength = safeLengthOf(core)
  let linear = safeLength === 0 ? linearMatcher(core) : undefined
  return (text) => {
    if (text.length <= safeLength) return expression.test(text)
    if (linear === undefined) linear = linearOr(core, expression)
    return linear(text)
  }
}

/** A harmless pattern that only counts high, such as `^[a-z]{9000}$`, does not backtrack. */
function linearOr(core: PatternNode, expression: RegExp): (text: string) => boolean {
  try {
    return linearMatcher(core)
  } catch (error) {
    if (error instanceof UnsupportedPattern) return (text) => expression.test(text)
    throw error
  }
}

/** The longest text that the engine's matcher may get; 0 where a repeat holds a choice, or with a look-ahead. */
function safeLengthOf(node: PatternNode): number {
  const open = { count: 0 }
  return harmlessInside(node, false, open) ? (SAFE_LENGTHS[open.count] ?? 0) : 0
}

function harmlessInside(node: PatternNode, repeated: boolean, open: { count: number }): boolean {
  if (node.kind === 'look') return false
  if (node.kind === 'seq') return node.parts.every((part) => harmlessInside(part, repeated, open))
  if (node.kind === 'alt')
    return !repeated && node.options.every((option) => harmlessInside(option, repeated, open))
  if (node.kind !== 'repeat') return true
  if (repeated && node.least !== node.most) return false
  if (node.most > 16 && node.most !== node.least) open.count++
  return harmlessInside(node.body, repeated || node.most > 1, open)
}

const NOTHING = sequenceOf([])
const LETTERS = repeatOf(charSet('[a-z]', 'u'), 0, Infinity)

/** True where every way through the node starts with `^`, so that nothing may stand before it. */
function begins(node: PatternNode): boolean {
  if (node.kind === 'seq') {
    const first = node.parts.find((part) => part.kind !== 'look')
    return first !== undefined && begins(first)
  }
  if (node.kind === 'alt') return node.options.every(begins)
  return node.kind === 'start'
}

function ends(node: PatternNode): boolean {
  if (node.kind === 'seq') {
    const last = node.parts.at(-1)
    return last !== undefined && ends(last)
  }
  if (node.kind === 'alt') return node.options.every(ends)
  return node.kind === 'end'
}

function draft(node: PatternNode, chance: RandomSource, min: number, max: number): string | undefined {
  const least = Math.max(min, node.min)
  const most = Math.min(max, node.max, least + SPACE_TO_GROW)
  if (least > most) return undefined
  return fill(node, chance.int(least, most), chance)
}

/** A text for the node of `want` characters, or as near to that as its shape allows. */
function fill(node: PatternNode, want: number, chance: RandomSource): string {
  if (node.kind === 'set') return oneOf(node.picks, chance) ?? ''
  if (node.kind === 'seq') return fillAll(node.parts, want, chance)
  if (node.kind === 'alt') return fill(nearest(node.options, want, chance), want, chance)
  if (node.kind === 'repeat') return fillRepeat(node, want, chance)
  return ''
}

function nearest(options: readonly PatternNode[], want: number, chance: RandomSource): PatternNode {
  const distance = (node: PatternNode): number => Math.max(node.min - want, want - node.max, 0)
  const least = Math.min(...options.map(distance))
  const best = options.filter((option) => distance(option) === least)
  return oneOf(best, chance) ?? NOTHING
}

function fillRepeat(
  node: Extract<PatternNode, { kind: 'repeat' }>,
  want: number,
  chance: RandomSource,
): string {
  const { body, least, most } = node
  const fewest = body.max === 0 ? least : Math.max(least, Math.ceil(want / body.max))
  const greatest = Math.min(most, body.min === 0 ? Math.max(fewest, want) : Math.floor(want / body.min))
  const count =
    greatest <= fewest ? Math.min(fewest, most) : chance.int(fewest, Math.min(greatest, fewest + 4))
  if (body.kind !== 'set') return fillAll(new Array<PatternNode>(count).fill(body), want, chance)
  let text = ''
  for (let done = 0; done < count; done++) text += fill(body, 1, chance)
  return text
}

/** Shares the characters beyond the least among the parts: at random first, what is left over in order. */
function fillAll(parts: readonly PatternNode[], want: number, chance: RandomSource): string {
  let spare = want
  for (const part of parts) spare -= part.min
  if (spare <= 0) return parts.map((part) => fill(part, part.min, chance)).join('')
  const shares = parts.map((part) => {
    const resource = Math.min(spare, part.max - part.min)
    const share = resource > 0 ? chance.int(0, resource) : 0
    spare -= share
    return share
  })
  const texts = parts.map((part, index) => {
    const share = shares[index] ?? 0
    const more = Math.min(spare, part.max - part.min - share)
    spare -= more
    return fill(part, part.min + share + more, chance)
  })
  return texts.join('')
}
