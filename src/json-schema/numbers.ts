import type { Json } from '../core/json.ts'
import { type Conjunction, given, greatest, least, numbers, place } from './clause.ts'
import { CannotSatisfy, checked, choice, type Maker, type RandomSource } from './maker.ts'

const USUAL_SPAN = 1_000
const VERY_WIDE = 1e9
const FEW = 200
const NONE: readonly number[] = []

interface Range {
  readonly from: number
  readonly to: number
  accept(value: number): boolean
}

/** Makes numbers within all bounds and of all multiples; whole ones where `whole` is set. */
export function numberMaker(clauses: Conjunction, whole: boolean): Maker {
  const multiples = multiplesOf(clauses, whole)
  const range = rangeOf(clauses, multiples)
  const multiple = multiples.length > 0
  const keyword = multiple && !(whole && multiples.length === 1) ? 'multipleOf' : boundOf(clauses)
  const otherwise = new CannotSatisfy(
    place(clauses, keyword),
    keyword,
    `no number was found that keeps to ${keyword} together with the other bounds; widen the bounds`,
  )
  return multiple ? multipleMaker(multiples, range, otherwise) : plainMaker(range, otherwise)
}

function boundOf(clauses: Conjunction): string {
  const keywords = ['exclusiveMinimum', 'minimum', 'exclusiveMaximum', 'maximum', 'multipleOf']
  return keywords.find((keyword) => given(clauses, keyword).length > 0) ?? 'type'
}

/** Formats of whole numbers; every other format is one of texts. */
export const WHOLE_FORMATS: readonly string[] = ['int32', 'int64']

function multiplesOf(clauses: Conjunction, whole: boolean): readonly number[] {
  const formats = given(clauses, 'format').map(({ value }) => value)
  const multiples = new Set(numbers(clauses, 'multipleOf'))
  if (whole || formats.some((format) => typeof format === 'string' && WHOLE_FORMATS.includes(format)))
    multiples.add(1)
  return multiples.size > 0 ? [...multiples] : NONE
}

function rangeOf(clauses: Conjunction, multiples: readonly number[]): Range {
  const int32 = given(clauses, 'format').some(({ value }) => value === 'int32')
  const above = greatest(clauses, 'exclusiveMinimum', -Infinity)
  const below = least(clauses, 'exclusiveMaximum', Infinity)
  const lower = greatest(clauses, 'minimum', int32 ? -(2 ** 31) : -Infinity)
  const upper = least(clauses, 'maximum', int32 ? 2 ** 31 - 1 : Infinity)
  const accept = (value: number): boolean =>
    Number.isFinite(value) &&
    value >= lower &&
    value <= upper &&
    value > above &&
    value < below &&
    multiples.every((multiple) => isMultiple(value, multiple))
  return { ...usual(Math.max(lower, above), Math.min(upper, below), multiples), accept }
}

/** All that the bounds allow; where that is very much, a stretch of ordinary size that begins nearest to zero. */
function usual(lower: number, upper: number, multiples: readonly number[]): { from: number; to: number } {
  if (upper - lower <= VERY_WIDE) return { from: lower, to: upper }
  const nearest = Math.min(Math.max(0, lower), upper)
  const span = Math.max(USUAL_SPAN, Math.abs(nearest) / 100, ...multiples.map((multiple) => multiple * 100))
  if (nearest === upper) return { from: Math.max(lower, upper - span, -Number.MAX_VALUE), to: upper }
  return { from: nearest, to: Math.min(nearest + span, upper, Number.MAX_VALUE) }
}

// As validators compute it: a quotient beyond 1e21 no longer counts as whole there.
function isMultiple(value: number, multiple: number): boolean {
  const quotient = value / multiple
  return Number.isInteger(quotient) && Math.abs(quotient) < 1e21
}

function multipleMaker(multiples: readonly number[], range: Range, otherwise: CannotSatisfy): Maker {
  const step = commonMultiple(multiples)
  const decimals = decimalsOf(step)
  const first = Math.ceil(range.from / step)
  const last = Math.floor(range.to / step)
  const accept = (value: Json): boolean => typeof value === 'number' && range.accept(value)
  const at = (count: number): number => {
    const rounded = Number((count * step).toFixed(decimals)) + 0
    return range.accept(rounded) ? rounded : count * step + 0
  }
  if (last - first < FEW)
    return choice(
      Array.from({ length: Math.max(0, last - first + 1) }, (_, n) => at(first + n)).filter(accept),
      otherwise,
    )
  const make = (chance: RandomSource): number => at(Math.floor(first + chance.next() * (last - first + 1)))
  return checked({ make, weight: 4 }, accept, otherwise)
}

/** The least common multiple, or, where that is out of reach, the greatest of them. */
function commonMultiple(multiples: readonly number[]): number {
  const scale = 10 ** Math.max(...multiples.map(decimalsOf))
  const scaled = multiples.map((multiple) => Math.round(multiple * scale))
  const common = scaled.reduce((a, b) => (a / gcd(a, b)) * b)
  return Number.isSafeInteger(common) && common > 0 ? common / scale : Math.max(...multiples)
}

function gcd(a: number, b: number): number {
  return b === 0 ? a : gcd(b, a % b)
}

function decimalsOf(value: number): number {
  const [digits = '', exponent = '0'] = String(value).split('e')
  const decimals = (digits.split('.')[1] ?? '').length - Number(exponent)
  return Math.min(Math.max(decimals, 0), 20)
}

function plainMaker({ from, to, accept }: Range, otherwise: CannotSatisfy): Maker {
  if (from === to) return choice([from + 0].filter(accept), otherwise)
  const make = (chance: RandomSource): number => {
    const share = chance.next()
    const exact = from * (1 - share) + to * share
    for (const decimals of [2, 6]) {
      const rounded = Number(exact.toFixed(decimals)) + 0
      if (accept(rounded)) return rounded
    }
    return exact + 0
  }
  return checked({ make, weight: 4 }, (value) => typeof value === 'number' && accept(value), otherwise)
}
