import type { Json } from '../core/json.ts'
import {
  type Clauses,
  type Draw,
  given,
  greatest,
  least,
  MAX_TEXT_BYTES,
  type Maker,
  nameOf,
  noValue,
} from './draw.ts'
import { formatOf, formattedText } from './formats.ts'
import {
  fake,
  formatHint,
  hinted,
  hintedTexts,
  plausibleRange,
  plausibleTexts,
  type TextHint,
} from './hints.ts'
import { compilePattern } from './pattern.ts'
import { draftText, extentOf, type Lengths, letters } from './pattern-text.ts'
import { textItems } from './schema.ts'

const TRIES = 24

/** Makes texts of the right length (in code points), format and pattern. */
export function stringMaker(clauses: Clauses, accepts: (text: Json) => boolean): Maker {
  const lengths: Lengths = [greatest(clauses, 'minLength', 0), least(clauses, 'maxLength', Infinity)]
  const [min, max] = lengths
  if (min > max)
    return noValue(clauses, 'minLength', `leaves no length below maxLength: ${min} is more than ${max}`)
  if (min > MAX_TEXT_BYTES)
    return noValue(
      clauses,
      'minLength',
      `is more than ${MAX_TEXT_BYTES}, the maximum of generated characters`,
    )
  const sources = textsOf(clauses, 'pattern')
  const names = textsOf(clauses, 'format').filter((name) => formatOf(name) !== undefined)
  const { name, description } = nameOf(clauses)
  const formatted = formatHint(textsOf(clauses, 'format'))
  const hints = formatted === undefined ? hintedTexts(name, description) : [formatted]
  if (sources.length === 0 && names.length === 0) return plainText(clauses, lengths, hints)
  const place = clauses[0]?.at ?? ''
  const [hint] = hintedTexts(name, '')
  const isChecked =
    names.length > 1 || (names.length > 0 && (sources.length > 0 || min > 0 || max < Infinity))
  const compiled = sources.map(compilePattern)
  const useless = compiled.find((each) => typeof each === 'string')
  if (useless !== undefined) return noValue(clauses, 'pattern', useless)
  const patterns = compiled.filter((each) => typeof each !== 'string')
  const shortestText = patterns.reduce((most, { ast }) => Math.max(most, extentOf(ast).min), min)
  // A text is drawn node by node, and each node may look at every other one.
  const cost = 1 + (sources.join('').length * shortestText) / 500
  // A text for the pattern may satisfy the format, or the reverse, or both joined may (an address that ends in `.pdf`).
  const candidate = (draw: Draw, tries: number): string | undefined => {
    const [pattern, format] = [draw.oneOf(patterns), formatOf(draw.oneOf(names) ?? '')]
    const made = format && formattedText(format, draw, hint, lengths, tries)
    if (pattern === undefined) return made
    if (format === undefined) {
      // Characters by the pattern are the last choice: they have the form of a date, but are none.
      const range = plausibleRange(name, description)
      const texts = tries > 0 ? [] : plausibleTexts(draw, hints[0], range, sources.join(' '))
      const isRight = (text: string) => fits(text, lengths) && patterns.every((each) => each.test(text))
      return texts.find(isRight) ?? draftText(pattern, draw.chance, lengths)
    }
    const way = tries % 4
    if (way === 0) return made
    if (way === 1) return draftText(pattern, draw.chance, lengths)
    const core = draftText(pattern, draw.chance, [0, max]) ?? ''
    const joined = formattedText(format, draw, hint, [0, max], tries) ?? ''
    return way === 2 ? joined + core : core + joined
  }
  const make = (draw: Draw): Json | undefined => {
    draw.at = place
    for (let tries = 0; tries < TRIES; tries++) {
      draw.count(place, shortestText, cost)
      const text = candidate(draw, tries)
      if (text === undefined || !fits(text, lengths)) continue
      if (!patterns.every((pattern) => pattern.test(text)) || (isChecked && !accepts(text))) continue
      if (!names.every((name) => formatOf(name)?.isCertain?.(text) ?? true)) continue
      draw.count(place, Math.max(0, bytesOf(text) - shortestText), 0)
      return text
    }
    const keyword = sources.length > 0 ? 'pattern' : 'format'
    return draw.fail(clauses, keyword, 'has no string within the other bounds, or none was found')
  }
  return { make }
}

/** The bytes of a text in JSON, without escapes. */
function bytesOf(text: string): number {
  return Buffer.byteLength(text) + 3
}

function fits(text: string, [min, max]: Lengths): boolean {
  // Code points are at most as many as UTF-16 units, and at least half as many.
  if (text.length <= max && text.length >= 2 * min) return true
  const length = text.replaceAll(/[\u{10000}-\u{10ffff}]/gu, '-').length
  return length >= min && length <= max
}

function textsOf(clauses: Clauses, keyword: string): string[] {
  return [...new Set(textItems(given(clauses, keyword).map(({ value }) => value)))]
}

/** Makes texts without pattern and format: by the name of the property, or a few words. */
function plainText(clauses: Clauses, [min, max]: Lengths, hints: readonly TextHint[]): Maker {
  const at = clauses[0]?.at ?? ''
  const make = (draw: Draw): Json => {
    const text = max < 4 ? short(draw) : lengthened(draw, hinted(draw, first), min, max)
    draw.count(at, bytesOf(text))
    return text
  }
  const short = (draw: Draw): string =>
    hints.map((hint) => hinted(draw, hint)).find(({ length }) => length >= min && length <= max) ??
    letters(draw.chance, draw.chance.int(Math.max(min, Math.min(1, max)), max))
  const [first = (draw: Draw) => `${fake(draw, 'word')} ${fake(draw, 'word')}`] = hints
  // Short texts are counted by letters of other scripts, since ASCII has too few.
  const nth = (n: number): string | undefined => {
    const text =
      max === 0 ? '' : max < 4 ? String.fromCodePoint(0x3b1 + n).padEnd(min, 'a') : `${n}`.padEnd(min, 'a')
    return (max === 0 && n > 0) || text.length > max || (max < 4 && n > 5_000) ? undefined : text
  }
  return { make, nth }
}

function lengthened(draw: Draw, text: string, min: number, max: number): string {
  let longer = text
  while (longer.length < min && longer.length < 400) longer += ` ${fake(draw, 'word')}`
  if (longer.length < min) longer += ' and so on'.repeat(Math.ceil((min - longer.length) / 10))
  if (longer.length <= max) return longer
  const cut = longer.slice(0, max)
  return cut.endsWith(' ') ? `${cut.slice(0, -1)}s` : cut
}
