import {
  type Clauses,
  type Draw,
  given,
  greatest,
  largest,
  least,
  type Maker,
  nameOf,
  numbersOf,
} from './draw.ts'
import { plausibleRange } from './hints.ts'
import { type Clause, digitsOf, isMultiple } from './schema.ts'

const USUAL_SPAN = 1_000
const VERY_WIDE = 1e9
const TRIES = 12
const TRIES_IN_ORDER = 200
/** Distances at which a round number is looked for, in steps. */
const NEAR = [0, 1, 2, 3, 4, 5, 6, 7, -1, -2, -3, -4, -5, -6, -7]

interface Range {
  readonly from: number
  readonly to: number
}

/** Makes numbers within all bounds that satisfy every `multipleOf`; whole numbers if the type or the format requires them. */
export function numberMaker(clauses: Clauses): Maker {
  const formats = given(clauses, 'format').map(({ value }) => value)
  const isInt32 = formats.includes('int32')
  const isInteger = ({ schema: { type } }: Clause) => type !== undefined && ![type].flat().includes('number')
  const isWhole = isInt32 || formats.includes('int64') || clauses.some(isInteger)
  const multiples = [...new Set([...numbersOf(clauses, 'multipleOf'), ...(isWhole ? [1] : [])])]
  const above = greatest(clauses, 'exclusiveMinimum', -Infinity)
  const below = least(clauses, 'exclusiveMaximum', Infinity)
  const lower = greatest(clauses, 'minimum', isInt32 ? -(2 ** 31) : -Infinity)
  const upper = least(clauses, 'maximum', isInt32 ? 2 ** 31 - 1 : Infinity)
  const accepts = (value: number): boolean =>
    Number.isFinite(value) &&
    value >= lower &&
    value <= upper &&
    value > above &&
    value < below &&
    multiples.every((multiple) => isMultiple(value, multiple))
  const bounds = { from: Math.max(lower, above), to: Math.min(upper, below) }
  const { name, description } = nameOf(clauses)
  const plausible = plausibleRange(name, description)
  const range = usual(bounds, multiples, plausible)
  const at = clauses[0]?.at ?? ''
  const steps = multiples.length > 0 ? stepsOf(multiples) : undefined
  const make = (draw: Draw): number | undefined => {
    draw.count(at, 4)
    for (let tries = 0; tries < TRIES; tries++) {
      // If plausible numbers fail, any number within the bounds is tried.
      const within = tries < TRIES / 2 ? range : usual(bounds, multiples)
      const value = steps === undefined ? plainNumber(draw, within) : steps.draw(draw, within)
      if (accepts(value)) return value
    }
    // The bounds may allow very few.
    for (let n = 0; n < TRIES_IN_ORDER; n++) {
      const value = nth(n)
      if (value !== undefined) return value
    }
    const keywords = ['multipleOf', 'exclusiveMinimum', 'minimum', 'exclusiveMaximum', 'maximum']
    const [keyword = 'type', ...others] = keywords.filter((each) => given(clauses, each).length > 0)
    const together = others.length > 0 ? ` together with ${others.join(' and ')}` : ''
    return draw.fail(clauses, keyword, `leaves no number${together}`)
  }
  const plainNumber = ({ chance }: Draw, { from, to }: Range): number => {
    const share = chance.next()
    const exact = from * (1 - share) + to * share
    for (const places of [plausible?.decimals ?? 2, 2, 6]) {
      const rounded = Number(exact.toFixed(places)) + 0
      if (accepts(rounded)) return rounded
    }
    return exact + 0
  }
  const nth = (n: number): number | undefined => {
    if (steps === undefined && range.from === range.to && n > 0) return undefined
    const value =
      steps === undefined
        ? Number((Math.max(range.from, -1e15) + n / 100).toFixed(2)) + 0
        : steps.nth(bounds, n)
    return accepts(value) ? value : undefined
  }
  return { make, nth }
}

/** The range that the bounds allow; if it is very large, a part of usual size that begins nearest to zero. */
function usual(bounds: Range, multiples: readonly number[], plausible?: Range): Range {
  const { from: lower, to: upper } = bounds
  if (plausible !== undefined && upper - lower > plausible.to - plausible.from) {
    const from = Math.max(lower, plausible.from)
    const to = Math.min(upper, plausible.to)
    if (from < to && multiples.every((multiple) => to - from >= multiple)) return { from, to }
  }
  if (upper - lower <= VERY_WIDE) return bounds
  const near = Math.min(Math.max(0, lower), upper)
  const span = Math.max(USUAL_SPAN, Math.abs(near) / 100, largest(multiples) * 100)
  if (near === upper) return { from: Math.max(lower, upper - span, -Number.MAX_VALUE), to: upper }
  return { from: near, to: Math.min(near + span, upper, Number.MAX_VALUE) }
}

/** Makes numbers that are multiples of all these. */
function stepsOf(multiples: readonly number[]) {
  const by = commonMultiple(multiples)
  const scale = 10 ** decimalsOf(by)
  // Some validators compare the quotient of doubles, which is not whole for every multiple: 7141.98 / 0.01.
  const isAgreed = (value: number) =>
    multiples.every((multiple) => isMultiple(value, multiple) && Number.isInteger(value / multiple))
  const at = (count: number): number => {
    const rounded = Math.round(count * by * scale) / scale + 0
    return Number.isFinite(rounded) ? rounded : count * by + 0
  }
  const draw = ({ chance }: Draw, { from, to }: Range): number => {
    const first = Math.ceil(from / by)
    const last = Math.max(first, Math.floor(to / by))
    const count = Math.floor(first + chance.next() * (last - first + 1))
    for (const offset of NEAR) {
      const step = count + offset
      if (step < first || step * by > to) continue
      if (isAgreed(at(step))) return at(step)
    }
    return at(count)
  }
  /** The n-th step within the bounds, from the lower one, or else downwards from the upper one. */
  const nth = ({ from, to }: Range, n: number): number => {
    if (from > -Infinity) return at(Math.ceil(from / by) + n)
    return at(to < Infinity ? Math.floor(to / by) - n : n)
  }
  return { draw, nth }
}

/** The least common multiple, or, if that is too large, the greatest of the multiples. */
function commonMultiple(multiples: readonly number[]): number {
  const scale = 10 ** largest(multiples.map(decimalsOf))
  const scaled = multiples.map((multiple) => Math.round(multiple * scale))
  const common = scaled.reduce((a, b) => (a / gcd(a, b)) * b)
  return Number.isSafeInteger(common) && common > 0 ? common / scale : largest(multiples)
}

function gcd(a: number, b: number): number {
  return b === 0 ? a : gcd(b, a % b)
}

function decimalsOf(value: number): number {
  return Math.min(Math.max(-(digitsOf(value)?.exponent ?? 0), 0), 20)
}
