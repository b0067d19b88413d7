import { oneOf, type RandomSource } from './maker.ts'

const WORDS =
  `amber angle autumn basin birch bridge calm canal cedar clay clear cloud coast copper corner cotton delta
  distant early east elm ember even field first flint forest garden gentle glass grain granite green harbor
  hazel hill inner island ivory juniper kettle lake lantern level linen long maple meadow mild mineral moss
  narrow north oak ocean open orchard outer paper pebble pine plain quiet rain ridge river round sage sand
  second shore silver slate slow small soft south spring spruce stone stream summer third timber valley
  violet water west willow winter wood`.split(/\s+/)

/** One short lowercase word. */
export function word(chance: RandomSource): string {
  return oneOf(WORDS, chance) ?? 'word'
}

const LETTERS_AND_DIGITS = 'abcdefghijklmnopqrstuvwxyz0123456789'

/** Lowercase letters, `length` of them. */
export function letters(length: number, chance: RandomSource): string {
  let text = ''
  while (text.length < length) text += LETTERS_AND_DIGITS.charAt(chance.int(0, 25))
  return text
}

/** Two to four words, or as many as the bounds (in characters) ask for and allow; `wide` for rarer texts. */
export function words(chance: RandomSource, min: number, max: number, wide = false): string {
  if (max <= 3) return characters(chance.int(Math.max(min, Math.min(1, max)), max), chance, wide)
  let text = wide ? letters(chance.int(4, 12), chance) : word(chance)
  let more = chance.int(1, 3)
  while (text.length < min || more-- > 0) text += ` ${word(chance)}`
  if (text.length <= max) return text
  const cut = text.slice(0, max)
  return cut.endsWith(' ') ? `${cut.slice(0, -1)}s` : cut
}

function characters(length: number, chance: RandomSource, wide: boolean): string {
  const pick = (): string =>
    wide
      ? String.fromCodePoint(chance.int(0x3b1, 0x3b1 + 0x400))
      : LETTERS_AND_DIGITS.charAt(chance.int(0, LETTERS_AND_DIGITS.length - 1))
  let text = ''
  for (let made = 0; made < length; made++) text += pick()
  return text
}
