import type { AST } from '@eslint-community/regexpp'
import { memoize } from '../core/memoize.ts'
import type { Chance } from '../core/random.ts'
import type { Pattern } from './pattern.ts'

/** A source of random decisions. */
export type RandomSource = Pick<Chance, 'next' | 'int'>

// Why not a package: those that make texts for patterns do not support the `u` flag, a given length, or look-ahead.

type Node = AST.Pattern | AST.Alternative | AST.Element

/** The least and the largest number of characters that a node can match. */
interface Extent {
  readonly min: number
  readonly max: number
}

/** The least and the largest length of a text. */
export type Lengths = readonly [min: number, max: number]

/** Characters that a text may have beyond the minimum. */
const SPACE_TO_GROW = 8

/** A text of `min` to `max` characters that is likely to match; the caller tests it. Undefined if no such length is possible. */
export function draftText(pattern: Pattern, chance: RandomSource, [min, max]: Lengths): string | undefined {
  const { ast, flags, source } = pattern
  const extent = extentOf(ast)
  if (extent.min > max) return undefined
  const least = Math.max(extent.min, Math.min(min, extent.max))
  const most = Math.min(max, extent.max, least + SPACE_TO_GROW)
  // A look-ahead may require a character that wide sets seldom pick.
  const isWide = source.includes('(?=') && chance.next() < 0.5
  const text = fillerOf(chance, flags, isWide)(ast, chance.int(least, most))
  // Only a pattern that is not anchored matches more characters before or after its own.
  const more = chance.next() < 0.3 ? chance.int(1, SPACE_TO_GROW) : 0
  const isBefore = chance.next() < 0.5
  const others = letters(chance, Math.max(min - text.length, more))
  return isBefore ? others + text : text + others
}

const LETTERS = 'abcdefghijklmnopqrstuvwxyz0123456789'

export function letters(chance: RandomSource, length: number): string {
  let text = ''
  while (text.length < length) text += LETTERS.charAt(chance.int(0, LETTERS.length - 1))
  return text
}

const extents = new WeakMap<Node, Extent>()

/** The least and the largest number of characters of a text that matches. */
export function extentOf(node: Node): Extent {
  const known = extents.get(node) ?? computed(node)
  extents.set(node, known)
  return known
}

function computed(node: Node): Extent {
  switch (node.type) {
    case 'Pattern':
    case 'Group':
    case 'CapturingGroup':
      return ofOptions(node.alternatives)
    case 'Alternative': {
      const parts = node.elements.map(extentOf)
      const sum = (of: (part: Extent) => number) => parts.reduce((total, part) => total + of(part), 0)
      return { min: sum(({ min }) => min), max: sum(({ max }) => max) }
    }
    case 'Quantifier': {
      const { min, max } = extentOf(node.element)
      return { min: min * node.min, max: max === 0 || node.max === 0 ? 0 : max * node.max }
    }
    case 'Assertion':
      return { min: 0, max: 0 }
    case 'Backreference':
      return { min: 0, max: Infinity }
    default:
      return { min: 1, max: 1 }
  }
}

function ofOptions(options: readonly AST.Alternative[]): Extent {
  const all = options.map(extentOf)
  return {
    min: all.reduce((least, { min }) => Math.min(least, min), Infinity),
    max: all.reduce((most, { max }) => Math.max(most, max), -Infinity),
  }
}

const SETS: readonly string[] = ['Character', 'CharacterSet', 'CharacterClass']

/** Makes texts for the parts of a pattern. @param isWide whether sets pick any character, and not only readable ones */
function fillerOf(chance: RandomSource, flags: Pattern['flags'], isWide: boolean) {
  const charSet = CHAR_SETS[flags]
  const groups = new Map<AST.CapturingGroup, string>()

  /** A text for the node of `want` characters, or as close to that as the node allows. */
  const fill = (node: Node, want: number): string => {
    switch (node.type) {
      case 'Pattern':
      case 'Group':
        return nearest(node.alternatives, want)
      case 'CapturingGroup': {
        const text = nearest(node.alternatives, want)
        groups.set(node, text)
        return text
      }
      case 'Alternative':
        return fillAll(node.elements, want)
      case 'Quantifier':
        return fillRepeat(node, want)
      case 'Backreference':
        return groups.get([node.resolved].flat()[0] as AST.CapturingGroup) ?? ''
      case 'Assertion':
        // The text that a look-behind requires may come from the part before it; else it is written here.
        return node.kind === 'lookbehind' && !node.negate && chance.next() < 0.5
          ? nearest(node.alternatives, ofOptions(node.alternatives).min)
          : ''
      default:
        return pick(charSet(node.raw))
    }
  }

  const pick = ({ picks, all }: ReturnType<typeof charSet>): string => {
    const from = isWide ? all : picks
    return from[chance.int(0, Math.max(0, from.length - 1))] ?? ''
  }

  const nearest = (options: readonly AST.Alternative[], want: number): string => {
    const distance = (node: Node): number => Math.max(extentOf(node).min - want, want - extentOf(node).max, 0)
    const least = options.reduce((min, option) => Math.min(min, distance(option)), Infinity)
    const best = options.filter((option) => distance(option) === least)
    const chosen = options.length === 1 ? best[0] : best[chance.int(0, best.length - 1)]
    return chosen === undefined ? '' : fill(chosen, want)
  }

  const fillRepeat = ({ element, min: least, max: most }: AST.Quantifier, want: number): string => {
    const { min, max } = extentOf(element)
    // A part that may be empty is not repeated more often than there are characters.
    const required = min === 0 ? Math.min(least, want) : least
    const fewest = max === 0 ? required : Math.max(required, Math.ceil(want / max))
    const greatest = Math.min(most, min === 0 ? Math.max(fewest, want) : Math.floor(want / min))
    const count =
      greatest <= fewest ? Math.min(fewest, most) : chance.int(fewest, Math.min(greatest, fewest + 4))
    if (!SETS.includes(element.type)) return fillAll(new Array<AST.Element>(count).fill(element), want)
    const set = charSet(element.raw)
    let text = ''
    for (let done = 0; done < count; done++) text += pick(set)
    return text
  }

  /** Distributes the characters beyond the minimum among the parts: at random first, the rest in order. */
  const fillAll = (parts: readonly AST.Element[], want: number): string => {
    const all = parts.map(extentOf)
    let spare = all.reduce((rest, { min }) => rest - min, want)
    const room = (index: number): number =>
      parts[index]?.type === 'Backreference' ? 0 : (all[index]?.max ?? 0) - (all[index]?.min ?? 0)
    const shares = parts.map((_, index) => {
      const most = Math.min(spare, room(index))
      const share = most > 0 ? chance.int(0, most) : 0
      spare -= share
      return share
    })
    return parts
      .map((part, index) => {
        const share = shares[index] ?? 0
        const more = Math.max(0, Math.min(spare, room(index) - share))
        spare -= more
        return fill(part, (all[index]?.min ?? 0) + share + more)
      })
      .join('')
  }

  return fill
}

const PRINTABLE = characters(0x20, 0x7e)

/** Characters that a class or an escape accepts: the engine is asked, so that the result cannot differ from it. */
function charSets(flags: string) {
  return memoize((source) => {
    const one = new RegExp(`^(?:${source})$`, flags)
    const printable = PRINTABLE.filter((char) => one.test(char))
    const all = printable.length > 0 ? printable : firstOf(one, source)
    // A set as wide as `.` picks letters and digits, which are the most readable.
    const picks = printable.length > 70 ? printable.filter((char) => /[A-Za-z0-9]/.test(char)) : all
    return { picks, all }
  })
}

const CHAR_SETS = { u: charSets('u'), '': charSets('') }

const ENOUGH = 64
const MENTIONED = /\\u\{([\da-f]+)\}|\\[ux]([\da-f]{2,4})|([^\\])/giu

/** Characters that a set without printable ASCII accepts: those near the characters in its source, or else common ones. */
function firstOf(one: RegExp, source: string): string[] {
  const named = [...source.matchAll(MENTIONED)].flatMap(([, braced, plain, literal]) => {
    const from = literal?.codePointAt(0) ?? Number.parseInt(braced ?? plain ?? '', 16)
    return Number.isNaN(from) ? [] : characters(from, Math.min(from + 16, 0x10ffff))
  })
  const common = [
    [0, 0x1f],
    [0x7f, 0x2fff],
    [0x4e00, 0x4eff],
    [0xac00, 0xacff],
    [0x1f300, 0x1f64f],
  ] as const
  const accepted = [...new Set([...named, ...common.flatMap(([from, to]) => characters(from, to))])].filter(
    (char) => !/\p{Surrogate}/u.test(char) && one.test(char),
  )
  const readable = accepted.filter((char) => !/\p{Other}|\p{Separator}/u.test(char))
  return (readable.length > 0 ? readable : accepted).slice(0, ENOUGH)
}

function characters(from: number, to: number): string[] {
  return Array.from({ length: to - from + 1 }, (_, index) => String.fromCodePoint(from + index))
}
