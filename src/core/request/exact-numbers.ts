import type { Json } from '../json.ts'

/** A number of JSON as it is written. */
const NUMBER = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g

// Every number with at most 15 digits and an exponent of at most two digits is equal to the shortest text of its double.
const SUSPECT = /[\d.]{16}|[eE][+-]?\d{3}/

/**
 * A JSON text in which every number is a string of its exact value, if a number in it differs from the double that `JSON.parse`
 * gives for it, such as 9007199254740993; otherwise undefined. Other strings and keys begin with `s`, numbers with `n`.
 * @param text valid JSON
 */
export function withExactNumbers(text: string): string | undefined {
  if (!SUSPECT.test(text)) return undefined
  let isInexact = false
  const exact = replaced(text, 's', (number) => {
    const decimal = decimalOf(number)
    isInexact ||= SUSPECT.test(number) && decimal !== decimalOf(String(Number(number)))
    return `"n${decimal}"`
  })
  return isInexact ? exact : undefined
}

/**
 * Parses JSON in which integers beyond 2^53 - 1, and numbers beyond every double such as 1e400, become strings of their digits.
 * @param text valid JSON
 */
export function parseKeepingDigits(text: string): Json {
  if (!SUSPECT.test(text)) return JSON.parse(text) as Json
  const isLost = (number: string) =>
    /[.eE]/.test(number) ? !Number.isFinite(Number(number)) : !Number.isSafeInteger(Number(number))
  return JSON.parse(replaced(text, '', (number) => (isLost(number) ? `"${number}"` : number))) as Json
}

/** Replaces every number of a JSON text, and begins every other string and key with a prefix. */
function replaced(text: string, prefix: string, replacement: (number: string) => string): string {
  let result = ''
  for (let at = 0; at < text.length; ) {
    const open = text.indexOf('"', at)
    const before = text.slice(at, open === -1 ? undefined : open)
    result += before.replaceAll(NUMBER, replacement)
    if (open === -1) break
    at = closingQuote(text, open + 1) + 1
    result += `"${prefix}${text.slice(open + 1, at)}`
  }
  return result
}

/** The index of the quote that ends the string whose first character is at `from`. */
function closingQuote(text: string, from: number): number {
  for (let at = text.indexOf('"', from); ; at = text.indexOf('"', at + 1)) {
    let escapes = 0
    while (text[at - 1 - escapes] === '\\') escapes += 1
    if (escapes % 2 === 0) return at
  }
}

/**
 * One text for all forms of a number: its digits without zeros at both ends, and their power of ten. 0 for a text without
 * digits, such as Infinity.
 */
function decimalOf(number: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(number) ?? []
  const digits = whole + fraction
  let [first, end] = [0, digits.length]
  while (digits[first] === '0') first += 1
  while (end > first && digits[end - 1] === '0') end -= 1
  if (first === end) return '0'
  const shift = digits.length - end - fraction.length
  const power = Number(exponent)
  // A power that no sum holds exactly stays as it is written.
  return `${sign}${digits.slice(first, end)}e${Math.abs(power) < 1e15 ? power + shift : `${exponent},${shift}`}`
}
