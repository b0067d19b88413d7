import type { Json } from '../core/json.ts'
import { hasFormat } from './ajv.ts'
import { type Conjunction, given, greatest, least, place } from './clause.ts'
import { type Format, formatOf, textsOf } from './formats.ts'
import { CannotSatisfy, checked, MAX_WEIGHT, type Maker, oneOf, type RandomSource } from './maker.ts'
import { compilePattern, type Pattern } from './pattern.ts'
import { words } from './text.ts'

/** Makes texts of the right length (in code points), format and pattern. */
export function stringMaker(clauses: Conjunction): Maker {
  const min = greatest(clauses, 'minLength', 0)
  const max = least(clauses, 'maxLength', Infinity)
  if (min > max)
    throw new CannotSatisfy(
      place(clauses, 'maxLength'),
      'maxLength',
      `no text is at least ${min} and at most ${max} characters long; widen the lengths`,
    )
  const patterns = textsOfKeyword(clauses, 'pattern').map(compilePattern)
  const weight = Math.max(min, 4, ...patterns.map((pattern) => pattern.min))
  if (weight > MAX_WEIGHT) throw tooLong(clauses, min > MAX_WEIGHT ? 'minLength' : 'pattern')
  const names = textsOfKeyword(clauses, 'format')
  const formats = names.flatMap((name) => formatOf(name) ?? [])
  const [format] = formats
  if (patterns.length === 0 && format === undefined)
    return { make: (chance, wide) => words(chance, min, max, wide), weight }
  const accept = accepts(patterns, formats.length + patterns.length > 1 ? names : [], min, max)
  const otherwise = noText(clauses, patterns.length > 0)
  if (format === undefined)
    return checked({ make: fromPatterns(patterns, min, max), weight }, accept, otherwise)
  if (patterns.length === 0 && formats.length === 1)
    return checked({ make: fromFormat(format, min, max), weight }, accept, otherwise)
  return checked({ make: fromEither(formats, patterns, min, max), weight }, accept, otherwise)
}

function textsOfKeyword(clauses: Conjunction, keyword: string): string[] {
  const texts = given(clauses, keyword).flatMap(({ value }) => (typeof value === 'string' ? [value] : []))
  return [...new Set(texts)]
}

function tooLong(clauses: Conjunction, keyword: string): CannotSatisfy {
  const why = `${keyword} asks for more than ${MAX_WEIGHT} characters; lower it`
  return new CannotSatisfy(place(clauses, keyword), keyword, why)
}

function noText(clauses: Conjunction, pattern: boolean): CannotSatisfy {
  const keyword = pattern ? 'pattern' : 'format'
  return new CannotSatisfy(
    place(clauses, keyword),
    keyword,
    `no text was found that keeps to ${keyword} together with the other bounds on the text; simplify the ${keyword} or change the lengths`,
  )
}

// Null stands for "not this time": no text, so that the check refuses it.
function fromPatterns(patterns: readonly Pattern[], min: number, max: number): Maker['make'] {
  return (chance, wide = false) => oneOf(patterns, chance)?.draft(chance, min, max, wide) ?? null
}

function accepts(
  patterns: readonly Pattern[],
  formats: readonly string[],
  min: number,
  max: number,
): (text: Json) => boolean {
  return (text) => {
    if (typeof text !== 'string') return false
    const length = text.length > max || text.length < 2 * min ? Array.from(text).length : text.length
    if (length < min || length > max) return false
    return patterns.every(({ test }) => test(text)) && formats.every((format) => hasFormat(text, format))
  }
}

function fromFormat(format: Format, min: number, max: number): (chance: RandomSource) => Json {
  return (chance) => textsOf(format, chance, min, max).next().value ?? null
}

/** Either may happen to satisfy the other, and so may one joined to the other (an address that ends in `.pdf`). */
function fromEither(
  formats: readonly Format[],
  patterns: readonly Pattern[],
  min: number,
  max: number,
): (chance: RandomSource) => Json {
  return (chance) => {
    const format = oneOf(formats, chance)
    const pattern = oneOf(patterns, chance)
    const text = format === undefined ? '' : (textsOf(format, chance, min, max).next().value ?? '')
    const way = chance.int(0, 3)
    if (pattern === undefined || patterns.every(({ test }) => test(text)) || way === 0) return text
    if (way === 1) return pattern.draft(chance, min, max, chance.next() < 0.5) ?? null
    const core = pattern.draft(chance, 0, max) ?? ''
    const joined = format === undefined ? '' : (oneOf([...textsOf(format, chance, 0, max)], chance) ?? '')
    return way === 2 ? joined + core : core + joined
  }
}
