import { createRequire } from 'node:module'
import type { AST } from '@eslint-community/regexpp'

/** One character of a pattern: a test for accepted characters, and some of them for texts. */
export interface CharSet {
  readonly kind: 'set'
  readonly has: (char: string) => boolean
  readonly picks: readonly string[]
}

/** The least and the largest number of characters that a node can match. */
interface Extent {
  readonly min: number
  readonly max: number
}

/** A regular expression as a tree. */
export type PatternNode = Extent &
  (
    | CharSet
    | { readonly kind: 'seq'; readonly parts: readonly PatternNode[]; readonly group?: number }
    | { readonly kind: 'alt'; readonly options: readonly PatternNode[] }
    | { readonly kind: 'repeat'; readonly body: PatternNode; readonly least: number; readonly most: number }
    | { readonly kind: 'start' | 'end' | 'word' | 'inside' }
    | {
        readonly kind: 'look'
        readonly body: PatternNode
        readonly negated: boolean
        readonly behind: boolean
      }
    | { readonly kind: 'back'; readonly group: number }
  )

/** A parsed pattern. */
export interface PatternTree {
  readonly root: PatternNode
  /** The pattern in the syntax of RE2; undefined if RE2 has no equivalent. */
  readonly re2: string | undefined
  /** The states that counted repeats unfold to. */
  readonly size: number
}

/** The pattern is a regular expression, but too long or nested too deep to be used. */
export class PatternTooLarge extends Error {}

const MAX_LENGTH = 10_000
const MAX_NESTING = 200

type Regexpp = typeof import('@eslint-community/regexpp')

// The bundler resolves the plain require, and the package is still loaded on first use. In ESM without a bundle that name
// is missing, and createRequire is used.
function regexpp(): Regexpp {
  try {
    return require('@eslint-community/regexpp') as Regexpp
  } catch {
    return createRequire(import.meta.url)('@eslint-community/regexpp') as Regexpp
  }
}

/**
 * Parses a regular expression as every version of Node does. Patterns are Unicode expressions; one that is valid only
 * without the `u` flag (`\-`) is parsed without it. Throws `SyntaxError` for an invalid one, and `PatternTooLarge`.
 */
export function parsePattern(source: string): { readonly pattern: AST.Pattern; readonly flags: 'u' | '' } {
  if (source.length > MAX_LENGTH) throw new PatternTooLarge(`is longer than ${MAX_LENGTH} characters`)
  if (nesting(source) > MAX_NESTING) throw new PatternTooLarge('nests its groups too deep')
  const parser = new (regexpp().RegExpParser)({ ecmaVersion: 2024 })
  const parse = (unicode: boolean) => parser.parsePattern(source, 0, source.length, { unicode })
  try {
    return { pattern: parse(true), flags: 'u' }
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
  }
  return { pattern: parse(false), flags: '' }
}

/** Reads a regular expression into a tree. Throws as {@link parsePattern} does. */
export function readPattern(source: string): PatternTree {
  const { pattern, flags } = parsePattern(source)
  return new Reader(flags, source).tree(pattern)
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

/** One set for alternatives that are a character each: `a|b` is `[ab]`. */
function setOf(nodes: readonly PatternNode[]): PatternNode | undefined {
  const sets = nodes.flatMap((node) => (node.kind === 'set' ? node : []))
  if (sets.length < nodes.length) return undefined
  const has = (char: string): boolean => sets.some((set) => set.has(char))
  return { kind: 'set', has, picks: sets.flatMap(({ picks }) => picks), min: 1, max: 1 }
}

/** Several nodes one after the other. */
export function sequenceOf(parts: readonly PatternNode[], group?: number): PatternNode {
  const min = parts.reduce((sum, part) => sum + part.min, 0)
  const max = parts.reduce((sum, part) => sum + part.max, 0)
  return { kind: 'seq', parts, min, max, ...(group === undefined ? {} : { group }) }
}

/** One node, repeated. */
export function repeatOf(body: PatternNode, least: number, most: number): PatternNode {
  const max = body.max === 0 || most === 0 ? 0 : body.max * most
  return { kind: 'repeat', body, least, most, min: body.min * least, max }
}

/** A part of a pattern with its RE2 form and its size. */
interface Part {
  readonly node: PatternNode
  readonly re2: string | undefined
  readonly size: number
}

const NOWHERE = { min: 0, max: 0 }

class Reader {
  private readonly flags: string
  private readonly refersBack: boolean
  private readonly sets = new Map<string, CharSet>()
  private readonly groups = new Map<AST.CapturingGroup, number>()

  constructor(flags: string, source: string) {
    this.flags = flags
    this.refersBack = /\\[1-9k]/.test(source)
  }

  tree({ alternatives }: AST.Pattern): PatternTree {
    const { node, re2, size } = this.alternatives(alternatives)
    return { root: node, re2, size }
  }

  private alternatives(list: readonly AST.Alternative[], group?: number): Part {
    const options = list.map(({ elements }) => this.sequence(elements))
    const nodes = options.map(({ node }) => node)
    const [only] = nodes
    const min = Math.min(...nodes.map((node) => node.min))
    const max = Math.max(...nodes.map((node) => node.max))
    const inner: PatternNode =
      nodes.length === 1 && only !== undefined
        ? only
        : (setOf(nodes) ?? { kind: 'alt', options: nodes, min, max })
    const re2 = options.every((option) => option.re2 !== undefined)
      ? `(?:${options.map((option) => option.re2).join('|')})`
      : undefined
    const node = group === undefined || !this.refersBack ? inner : sequenceOf([inner], group)
    return { node, re2, size: options.reduce((sum, option) => sum + option.size + 1, 0) }
  }

  private sequence(elements: readonly AST.Element[]): Part {
    const parts = elements.map((element) => this.element(element))
    const re2 = parts.every((part) => part.re2 !== undefined)
      ? parts.map((part) => part.re2).join('')
      : undefined
    const size = parts.reduce((sum, part) => sum + part.size, 0)
    const [only] = parts
    const node =
      parts.length === 1 && only !== undefined ? only.node : sequenceOf(parts.map((part) => part.node))
    return { node, re2, size }
  }

  private element(element: AST.Element): Part {
    switch (element.type) {
      case 'Group':
        return this.alternatives(element.alternatives)
      case 'CapturingGroup':
        return this.alternatives(element.alternatives, this.numberOf(element))
      case 'Quantifier':
        return this.repeat(element)
      case 'Assertion':
        return this.assertion(element)
      case 'Backreference': {
        const [group = 0] = [element.resolved].flat().map((each) => this.numberOf(each))
        return { node: { kind: 'back', group, min: 0, max: Infinity }, re2: undefined, size: 1 }
      }
      default: {
        const set = this.set(element.raw)
        return { node: { ...set, min: 1, max: 1 }, re2: re2Of(element), size: 1 }
      }
    }
  }

  private repeat({ element, min, max }: AST.Quantifier): Part {
    const body = this.element(element)
    const count = max === Infinity ? `{${min},}` : `{${min},${max}}`
    return {
      node: repeatOf(body.node, min, max),
      re2:
        body.re2 === undefined || min > 1_000 || (max > 1_000 && max < Infinity)
          ? undefined
          : `(?:${body.re2})${count}`,
      size: body.size * Math.max(1, max === Infinity ? min + 1 : max),
    }
  }

  private assertion(assertion: AST.Assertion): Part {
    if (!('negate' in assertion)) {
      const re2 = assertion.kind === 'start' ? '\\A' : '\\z'
      return { node: { kind: assertion.kind, ...NOWHERE }, re2, size: 1 }
    }
    if (assertion.kind === 'word') {
      const kind = assertion.negate ? 'inside' : 'word'
      return { node: { kind, ...NOWHERE }, re2: assertion.negate ? '\\B' : '\\b', size: 1 }
    }
    const { node: body, size } = this.alternatives(assertion.alternatives)
    const behind = assertion.kind === 'lookbehind'
    return {
      node: { kind: 'look', body, negated: assertion.negate, behind, ...NOWHERE },
      re2: undefined,
      size,
    }
  }

  private numberOf(group: AST.CapturingGroup): number {
    const known = this.groups.get(group) ?? this.groups.size
    this.groups.set(group, known)
    return known
  }

  private set(source: string): CharSet {
    const made = this.sets.get(source) ?? charSet(source, this.flags)
    this.sets.set(source, made)
    return made
  }
}

const PRINTABLE = characters(0x20, 0x7e)

/** Asks the engine which characters a class or an escape accepts, so that the result cannot differ from it. */
export function charSet(source: string, flags: string): CharSet {
  const one = new RegExp(`^(?:${source})$`, flags)
  const printable = PRINTABLE.filter((char) => one.test(char))
  // A set as wide as `.` picks letters and digits, which are the most readable.
  const plain = printable.length > 70 ? printable.filter((char) => /[A-Za-z0-9]/.test(char)) : printable
  const picks = plain.length > 0 ? plain : firstOf(one, source)
  const ascii = characters(0, 0x7f).map((char) => one.test(char))
  const has = (char: string): boolean => ascii[char.codePointAt(0) ?? 0x80] ?? one.test(char)
  return { kind: 'set', has, picks }
}

const ENOUGH = 64
const MENTIONED = /\\u\{([\da-f]+)\}|\\[ux]([\da-f]{2,4})|([^\\])/giu

/** Characters that a set without printable ASCII accepts: those near the characters in its source, or else common ones. */
function firstOf(one: RegExp, source: string): string[] {
  const named = [...source.matchAll(MENTIONED)].flatMap(([, braced, plain, literal]) => {
    const from = literal?.codePointAt(0) ?? Number.parseInt(braced ?? plain ?? '', 16)
    return Number.isNaN(from) ? [] : characters(from, Math.min(from + 16, 0x10ffff))
  })
  const known = [
    ...characters(0, 0x1f),
    ...characters(0x7f, 0x2fff),
    ...characters(0x4e00, 0x4eff),
    ...characters(0xac00, 0xacff),
    ...characters(0x1f300, 0x1f64f),
  ]
  const accepted = [...new Set([...named, ...known])].filter(
    (char) => !/\p{Surrogate}/u.test(char) && one.test(char),
  )
  const readable = accepted.filter((char) => !/\p{Other}|\p{Separator}/u.test(char))
  return (readable.length > 0 ? readable : accepted).slice(0, ENOUGH)
}

function characters(from: number, to: number): string[] {
  return Array.from({ length: to - from + 1 }, (_, index) => String.fromCodePoint(from + index))
}

const code = (value: number): string => `\\x{${value.toString(16)}}`
const BREAKS = '\\n\\r\\x{2028}\\x{2029}'
const SPACES =
  '\\t\\n\\x{b}\\f\\r \\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}\\x{feff}'
const SETS = { digit: '0-9', word: '0-9A-Za-z_', space: SPACES } as const

/** A character or a set in the syntax of RE2. Short forms are expanded: some have another meaning in RE2. */
function re2Of(element: AST.Element | AST.CharacterClassElement): string | undefined {
  switch (element.type) {
    case 'Character':
      return code(element.value)
    case 'CharacterSet':
      if (element.kind === 'any') return `[^${BREAKS}]`
      if (element.kind === 'property') {
        const isPlain = !element.strings && (element.key === 'General_Category' || element.key === 'Script')
        return isPlain ? `\\${element.negate ? 'P' : 'p'}{${element.value ?? ''}}` : undefined
      }
      return `[${element.negate ? '^' : ''}${SETS[element.kind]}]`
    case 'CharacterClass': {
      const parts = element.elements.map(rangeOf)
      if (parts.length === 0) return undefined
      return parts.some((part) => part === undefined)
        ? undefined
        : `[${element.negate ? '^' : ''}${parts.join('')}]`
    }
    default:
      return undefined
  }
}

function rangeOf(element: AST.CharacterClassElement): string | undefined {
  if (element.type === 'CharacterClassRange') return `${code(element.min.value)}-${code(element.max.value)}`
  if (element.type === 'Character') return code(element.value)
  if (element.type !== 'CharacterSet') return undefined
  if (element.kind === 'property') return re2Of(element)
  return element.negate ? undefined : SETS[element.kind]
}
