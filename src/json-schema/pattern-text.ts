import type { Pattern } from './pattern.ts'
import { type CharSet, charSet, type PatternNode, repeatOf, sequenceOf } from './pattern-tree.ts'
import { spend } from './steps.ts'

/** A source of random decisions. The same sequence gives the same value. */
export interface RandomSource {
  /** Uniform in [0, 1). */
  next(): number
  /** A whole number from `min` to `max`, both inclusive. */
  int(min: number, max: number): number
}

// Why not a package: those that make texts for patterns do not support the `u` flag, a given length, or look-ahead.

/** Characters that a text may have beyond the minimum. */
const SPACE_TO_GROW = 8
const NOTHING = sequenceOf([])
const LETTERS = repeatOf({ ...charSet('[a-z]', 'u'), min: 1, max: 1 }, 0, Infinity)

/**
 * A text of `min` to `max` characters that is likely to match; the caller tests it. Undefined if no such length is
 * possible. `padded` adds letters outside of the match, if the pattern is not anchored.
 */
export function draftText(
  { root }: Pattern,
  chance: RandomSource,
  min: number,
  max: number,
  padded = false,
): string | undefined {
  const isLoose = padded || root.max < Math.max(min, 1)
  const node = isLoose
    ? sequenceOf([begins(root) ? NOTHING : LETTERS, root, ends(root) ? NOTHING : LETTERS])
    : root
  const least = Math.max(min, node.min)
  const most = Math.min(max, node.max, least + SPACE_TO_GROW)
  if (least > most) return undefined
  spend(least)
  const known = wantedBy.get(root) ?? wanted(root)
  wantedBy.set(root, known)
  return new Draft(chance, known).fill(node, chance.int(least, most))
}

const wantedBy = new WeakMap<PatternNode, readonly string[]>()

/** Characters that a look-ahead requires, which the sets after it would seldom pick. */
function wanted(node: PatternNode): readonly string[] {
  if (node.kind === 'look') return node.negated || node.behind ? [] : setsIn(node.body)
  if (node.kind === 'seq') return node.parts.flatMap(wanted)
  return node.kind === 'alt' ? node.options.flatMap(wanted) : []
}

function setsIn(node: PatternNode): readonly string[] {
  if (node.kind === 'set') return node.picks.length < 60 ? node.picks : []
  if (node.kind === 'seq') return node.parts.flatMap(setsIn)
  if (node.kind === 'alt') return node.options.flatMap(setsIn)
  return node.kind === 'repeat' || node.kind === 'look' ? setsIn(node.body) : []
}

/** True when every path through the node starts with `^`, so that nothing may precede it. */
function begins(node: PatternNode): boolean {
  if (node.kind === 'seq') {
    const first = node.parts.find((part) => part.kind !== 'look')
    return first !== undefined && begins(first)
  }
  return node.kind === 'alt' ? node.options.every(begins) : node.kind === 'start'
}

function ends(node: PatternNode): boolean {
  if (node.kind === 'seq') {
    const last = node.parts.at(-1)
    return last !== undefined && ends(last)
  }
  return node.kind === 'alt' ? node.options.every(ends) : node.kind === 'end'
}

/** The state while one text is made. */
class Draft {
  private readonly chance: RandomSource
  private readonly wanted: readonly string[]
  private readonly groups = new Map<number, string>()

  constructor(chance: RandomSource, wanted: readonly string[]) {
    this.chance = chance
    this.wanted = wanted
  }

  /** A text for the node of `want` characters, or as close to that as the node allows. */
  fill(node: PatternNode, want: number): string {
    spend(1)
    switch (node.kind) {
      case 'set':
        return this.pick(node)
      case 'seq': {
        const text = this.fillAll(node.parts, want)
        if (node.group !== undefined) this.groups.set(node.group, text)
        return text
      }
      case 'alt':
        return this.fill(this.nearest(node.options, want), want)
      case 'repeat':
        return this.fillRepeat(node, want)
      case 'back':
        return this.groups.get(node.group) ?? ''
      case 'look':
        // The text that a look-behind requires may come from the part before it; else it is written here.
        return node.behind && !node.negated && this.chance.next() < 0.5
          ? this.fill(node.body, node.body.min)
          : ''
      default:
        return ''
    }
  }

  private pick({ picks, has }: CharSet): string {
    if (this.wanted.length > 0 && this.chance.next() < 0.4) {
      const char = this.wanted[this.chance.int(0, this.wanted.length - 1)] ?? ''
      if (char !== '' && has(char)) return char
    }
    return picks[this.chance.int(0, Math.max(0, picks.length - 1))] ?? ''
  }

  private nearest(options: readonly PatternNode[], want: number): PatternNode {
    const distance = (node: PatternNode): number => Math.max(node.min - want, want - node.max, 0)
    const least = Math.min(...options.map(distance))
    const best = options.filter((option) => distance(option) === least)
    return best[this.chance.int(0, best.length - 1)] ?? NOTHING
  }

  private fillRepeat(node: Extract<PatternNode, { kind: 'repeat' }>, want: number): string {
    const { body, least, most } = node
    const fewest = body.max === 0 ? least : Math.max(least, Math.ceil(want / body.max))
    const greatest = Math.min(most, body.min === 0 ? Math.max(fewest, want) : Math.floor(want / body.min))
    const count =
      greatest <= fewest ? Math.min(fewest, most) : this.chance.int(fewest, Math.min(greatest, fewest + 4))
    spend(count)
    if (body.kind !== 'set') return this.fillAll(new Array<PatternNode>(count).fill(body), want)
    let text = ''
    for (let done = 0; done < count; done++) text += this.pick(body)
    return text
  }

  /** Distributes the characters beyond the minimum among the parts: at random first, the rest in order. */
  private fillAll(parts: readonly PatternNode[], want: number): string {
    let spare = want
    for (const part of parts) spare -= part.min
    if (spare <= 0) return parts.map((part) => this.fill(part, part.min)).join('')
    const shares = parts.map((part) => {
      const room = part.kind === 'back' ? 0 : Math.min(spare, part.max - part.min)
      const share = room > 0 ? this.chance.int(0, room) : 0
      spare -= share
      return share
    })
    return parts
      .map((part, index) => {
        const share = shares[index] ?? 0
        const more = part.kind === 'back' ? 0 : Math.min(spare, part.max - part.min - share)
        spare -= more
        return this.fill(part, part.min + share + more)
      })
      .join('')
  }
}
