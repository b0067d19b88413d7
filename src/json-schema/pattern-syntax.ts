/** One character of a pattern: what it accepts, and the characters to choose from when a text is made. */
export interface CharSet {
  readonly kind: 'set'
  readonly has: (char: string) => boolean
  readonly picks: readonly string[]
  readonly min: 1
  readonly max: 1
}

/** A regular expression as a tree. `min` and `max` are the characters that a node can take up. */
export type PatternNode =
  | CharSet
  | {
      readonly kind: 'seq'
      readonly parts: readonly PatternNode[]
      readonly min: number
      readonly max: number
    }
  | {
      readonly kind: 'alt'
      readonly options: readonly PatternNode[]
      readonly min: number
      readonly max: number
    }
  | {
      readonly kind: 'repeat'
      readonly body: PatternNode
      readonly least: number
      readonly most: number
      readonly min: number
      readonly max: number
    }
  | { readonly kind: 'start' | 'end' | 'word' | 'inside'; readonly min: 0; readonly max: 0 }
  | {
      readonly kind: 'look'
      readonly body: PatternNode
      readonly negated: boolean
      readonly min: 0
      readonly max: 0
    }

/** The pattern is a regular expression, but of a kind that cannot be matched in bounded time or made text for. */
export class UnsupportedPattern extends Error {}

const MAX_NESTING = 50
const MAX_SOURCE = 10_000
const SURROGATES = String.raw`u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}`
const ESCAPE = String.raw`\\(?:${SURROGATES}|u\{[\da-fA-F]+\}|u[\da-fA-F]{4}|x[\da-fA-F]{2}|c[A-Za-z]|[pP]\{[^}]*\}|.)`
const CLASS = String.raw`\[(?:\\.|[^\]\\])*\]`
const ATOM = new RegExp(`${ESCAPE}|${CLASS}|.`, 'suy')
const QUANTIFIER = /(?:([*+?])|\{(\d+)(?:(,)(\d*))?\})\??/y
const GROUP = /\((?:\?(?:(<[=!])|([=!])|:|<[^=!>][^>]*>|(.)))?/sy

/** Reads a regular expression that the engine has accepted with the same flags. */
export function parsePattern(source: string, flags: string): PatternNode {
  if (source.length > MAX_SOURCE)
    throw new UnsupportedPattern(`is longer than ${MAX_SOURCE} characters; shorten it`)
  return new Parser(source, flags).alternatives(0)
}

class Parser {
  private at = 0
  private readonly source: string
  private readonly flags: string
  private readonly looksAhead: boolean
  private readonly sets = new Map<string, CharSet>()

  constructor(source: string, flags: string) {
    this.source = source
    this.flags = flags
    this.looksAhead = /\(\?[=!]/.test(source)
  }

  alternatives(depth: number): PatternNode {
    if (depth > MAX_NESTING)
      throw new UnsupportedPattern(`nests groups more than ${MAX_NESTING} deep; flatten it`)
    const options = [this.sequence(depth)]
    while (this.source[this.at] === '|') {
      this.at++
      options.push(this.sequence(depth))
    }
    return options.length === 1 && options[0] !== undefined ? options[0] : alternativesOf(options)
  }

  private sequence(depth: number): PatternNode {
    const parts: PatternNode[] = []
    while (this.at < this.source.length && !'|)'.includes(this.source[this.at] ?? '')) {
      parts.push(this.quantified(this.term(depth)))
    }
    return sequenceOf(parts)
  }

  private term(depth: number): PatternNode {
    const char = this.source[this.at]
    if (char === '^' || char === '$') {
      this.at++
      return { kind: char === '^' ? 'start' : 'end', min: 0, max: 0 }
    }
    if (char === '(') return this.group(depth)
    const text = this.read(ATOM)?.[0] ?? ''
    if (text === '\\b' || text === '\\B') return { kind: text === '\\b' ? 'word' : 'inside', min: 0, max: 0 }
    if (/^\\[1-9k]/.test(text))
      throw new UnsupportedPattern(`refers back to a group (${text}); spell the repetition out instead`)
    return this.set(text)
  }

  private group(depth: number): PatternNode {
    const [opening = '(', behind, ahead, other] = this.read(GROUP) ?? []
    if (behind !== undefined)
      throw new UnsupportedPattern(
        `looks behind (${opening}); describe the whole text from its start instead`,
      )
    if (other !== undefined)
      throw new UnsupportedPattern(`uses the group ${opening}; write it with (?: instead`)
    const body = this.alternatives(depth + 1)
    this.at++
    return ahead === undefined ? body : { kind: 'look', body, negated: ahead === '!', min: 0, max: 0 }
  }

  private quantified(body: PatternNode): PatternNode {
    const found = this.read(QUANTIFIER)
    if (found === null) return body
    const [, sign, from, comma, to] = found
    if (sign !== undefined) return repeatOf(body, sign === '+' ? 1 : 0, sign === '?' ? 1 : Infinity)
    const least = Number(from)
    return repeatOf(body, least, comma === undefined ? least : to ? Number(to) : Infinity)
  }

  private set(source: string): CharSet {
    const known = this.sets.get(source)
    if (known !== undefined) return known
    const made = charSet(source, this.flags, this.looksAhead)
    this.sets.set(source, made)
    return made
  }

  private read(expression: RegExp): RegExpExecArray | null {
    expression.lastIndex = this.at
    const found = expression.exec(this.source)
    if (found !== null) this.at += found[0].length
    return found
  }
}

/** Several nodes one after the other. */
export function sequenceOf(parts: readonly PatternNode[]): PatternNode {
  return {
    kind: 'seq',
    parts,
    min: sum(parts.map((part) => part.min)),
    max: sum(parts.map((part) => part.max)),
  }
}

/** One node, repeated. */
export function repeatOf(body: PatternNode, least: number, most: number): PatternNode {
  const max = body.max === 0 || most === 0 ? 0 : body.max * most
  return { kind: 'repeat', body, least, most, min: body.min * least, max }
}

function alternativesOf(options: readonly PatternNode[]): PatternNode {
  const min = Math.min(...options.map((option) => option.min))
  return { kind: 'alt', options, min, max: Math.max(...options.map((option) => option.max)) }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}

const PRINTABLE = characters(0x20, 0x7e)
const PLAIN = /[A-Za-z0-9]/

/**
 * The engine itself says what a class or an escape accepts, so the two can never disagree. A set as wide as `.`
 * picks letters and digits, which read best; `varied` adds the rest, which a look-ahead may ask for.
 */
export function charSet(source: string, flags: string, varied = false): CharSet {
  const one = new RegExp(`^(?:${source})$`, flags)
  const printable = PRINTABLE.filter((char) => one.test(char))
  const all = printable.length > 0 ? printable : firstOf(one, source)
  const plain = printable.length > 70 ? printable.filter((char) => PLAIN.test(char)) : all
  const picks = varied ? plain.concat(all) : plain
  const ascii = characters(0, 0x7f).map((char) => one.test(char))
  const has = (char: string): boolean => ascii[char.codePointAt(0) ?? 0x80] ?? one.test(char)
  return { kind: 'set', has, picks, min: 1, max: 1 }
}

const wellKnown = (): string[] => [
  ...characters(0, 0x1f),
  ...characters(0x7f, 0x2fff),
  ...characters(0x4e00, 0x4eff),
  ...characters(0xac00, 0xacff),
  ...characters(0x1f300, 0x1f64f),
]
const ENOUGH = 64
const MENTIONED = new RegExp(
  String.raw`\\(${SURROGATES})|\\u\{([\da-f]+)\}|\\[ux]([\da-f]{2,4})|([^\\])`,
  'giu',
)

/** Characters that a set without printable ASCII accepts: near those that it names, or else well-known ones. */
function firstOf(one: RegExp, source: string): string[] {
  const named = [...source.matchAll(MENTIONED)].flatMap(([, pair, braced, plain, literal]) => {
    const code = pair === undefined ? Number.parseInt(braced ?? plain ?? '', 16) : fromSurrogates(pair)
    const from = literal?.codePointAt(0) ?? code
    return Number.isNaN(from) ? [] : characters(from, Math.min(from + 16, 0x10ffff))
  })
  const accepted = [...new Set([...named, ...wellKnown()])].filter(
    (char) => !LONE.test(char) && one.test(char),
  )
  const readable = accepted.filter((char) => !INVISIBLE.test(char))
  return (readable.length > 0 ? readable : accepted).slice(0, ENOUGH)
}

const LONE = /\p{Surrogate}/u
const INVISIBLE = /\p{Other}|\p{Separator}/u

function fromSurrogates(pair: string): number {
  const [high = 'd800', low = 'dc00'] = pair.replaceAll('\\', '').slice(1).split(/u/i)
  return String.fromCharCode(Number.parseInt(high, 16), Number.parseInt(low, 16)).codePointAt(0) ?? Number.NaN
}

function characters(from: number, to: number): string[] {
  return Array.from({ length: to - from + 1 }, (_, index) => String.fromCodePoint(from + index))
}
