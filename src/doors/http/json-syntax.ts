/** Where JSON text breaks its grammar: a byte offset, and the rest of the sentence "line 1, column 2 ...". */
export interface SyntaxFault {
  readonly offset: number
  readonly problem: string
}

type Expected =
  | 'a value'
  | 'a value or `]`'
  | 'a property name in double quotes'
  | 'a property name in double quotes or `}`'
  | '`:`'
  | '`,` or `]`'
  | '`,` or `}`'
  | 'the end of the body'

/** The end of a token, or the fault inside it. */
type Token = number | SyntaxFault

const ESCAPES = new Set(Buffer.from('"\\/bfnrt'))
const LITERALS = ['true', 'false', 'null'].map((word) => Buffer.from(word))

/**
 * Finds the first place at which UTF-8 bytes stop being JSON (RFC 8259); undefined when they are JSON.
 * It keeps its own stack, so that no depth of nesting can exhaust the call stack.
 */
export function findSyntaxFault(bytes: Buffer): SyntaxFault | undefined {
  const closers: number[] = []
  let expected: Expected = 'a value'
  let at = 0
  for (;;) {
    at = skipSpace(bytes, at)
    const byte = bytes[at]
    if (expected === 'the end of the body' && byte === undefined) return undefined
    if (byte !== undefined && closes(byte, expected)) {
      closers.pop()
      expected = afterValue(closers)
      at++
    } else if (byte === 0x2c && (expected === '`,` or `]`' || expected === '`,` or `}`')) {
      expected = expected === '`,` or `]`' ? 'a value' : 'a property name in double quotes'
      at++
    } else if (byte === 0x3a && expected === '`:`') {
      expected = 'a value'
      at++
    } else if (byte === 0x22 && expected.startsWith('a property')) {
      const end = stringEnd(bytes, at)
      if (typeof end !== 'number') return end
      expected = '`:`'
      at = end
    } else if ((byte === 0x5b || byte === 0x7b) && expected.startsWith('a value')) {
      closers.push(byte === 0x5b ? 0x5d : 0x7d)
      expected = byte === 0x5b ? 'a value or `]`' : 'a property name in double quotes or `}`'
      at++
    } else {
      const end: Token = expected.startsWith('a value')
        ? scalarEnd(bytes, at, expected)
        : unexpected(bytes, at, expected)
      if (typeof end !== 'number') return end
      expected = afterValue(closers)
      at = end
    }
  }
}

/** Line and column of a byte offset, from 1; lines end in LF, CR or CR LF, columns count characters. */
export function lineAndColumn(bytes: Buffer, offset: number): { line: number; column: number } {
  let line = 1
  let column = 1
  for (let at = 0; at < offset; at++) {
    const byte = bytes[at] ?? 0
    if (byte === 0x0a || (byte === 0x0d && bytes[at + 1] !== 0x0a)) {
      line++
      column = 1
    } else if ((byte & 0xc0) !== 0x80) column++
  }
  return { line, column }
}

function closes(byte: number, expected: Expected): boolean {
  return (byte === 0x5d && expected.endsWith('`]`')) || (byte === 0x7d && expected.endsWith('`}`'))
}

function afterValue(closers: readonly number[]): Expected {
  const closer = closers.at(-1)
  if (closer === undefined) return 'the end of the body'
  return closer === 0x5d ? '`,` or `]`' : '`,` or `}`'
}

function skipSpace(bytes: Buffer, from: number): number {
  let at = from
  while (bytes[at] === 0x20 || bytes[at] === 0x0a || bytes[at] === 0x0d || bytes[at] === 0x09) at++
  return at
}

function scalarEnd(bytes: Buffer, at: number, expected: string): Token {
  const byte = bytes[at]
  if (byte === 0x22) return stringEnd(bytes, at)
  if (byte === 0x2d || isDigit(byte)) return numberEnd(bytes, at)
  const literal = LITERALS.find((word) => word.equals(bytes.subarray(at, at + word.length)))
  return literal === undefined ? unexpected(bytes, at, expected) : at + literal.length
}

function stringEnd(bytes: Buffer, open: number): Token {
  let at = open + 1
  for (;;) {
    const byte = bytes[at]
    if (byte === 0x22) return at + 1
    if (byte === undefined) return { offset: open, problem: 'starts a string that has no closing quote' }
    if (byte < 0x20) {
      return { offset: at, problem: `has ${name(bytes, at)} inside a string, where it must be escaped` }
    }
    if (byte !== 0x5c) {
      at++
      continue
    }
    const end = escapeEnd(bytes, at)
    if (typeof end !== 'number') return end
    at = end
  }
}

function escapeEnd(bytes: Buffer, backslash: number): Token {
  const letter = bytes[backslash + 1]
  if (letter !== undefined && ESCAPES.has(letter)) return backslash + 2
  if (letter !== 0x75) {
    return {
      offset: backslash,
      problem: 'has a backslash that starts none of the escapes \\" \\\\ \\/ \\b \\f \\n \\r \\t \\u',
    }
  }
  const digits = bytes.toString('latin1', backslash + 2, backslash + 6)
  if (/^[0-9a-f]{4}$/i.test(digits)) return backslash + 6
  return { offset: backslash, problem: 'has a \\u escape without four hexadecimal digits' }
}

function numberEnd(bytes: Buffer, start: number): Token {
  let at = bytes[start] === 0x2d ? start + 1 : start
  const whole = digitsEnd(bytes, at)
  if (whole === at) return unexpected(bytes, at, 'a digit')
  if (bytes[at] === 0x30 && whole > at + 1) {
    return { offset: at, problem: 'has a number with a leading zero' }
  }
  at = whole
  if (bytes[at] === 0x2e) {
    const fraction = digitsEnd(bytes, at + 1)
    if (fraction === at + 1) return unexpected(bytes, at + 1, 'a digit')
    at = fraction
  }
  if (bytes[at] !== 0x65 && bytes[at] !== 0x45) return at
  const digits = bytes[at + 1] === 0x2b || bytes[at + 1] === 0x2d ? at + 2 : at + 1
  const end = digitsEnd(bytes, digits)
  return end === digits ? unexpected(bytes, digits, 'a digit') : end
}

function digitsEnd(bytes: Buffer, from: number): number {
  let at = from
  while (isDigit(bytes[at])) at++
  return at
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x30 && byte <= 0x39
}

function unexpected(bytes: Buffer, offset: number, expected: string): SyntaxFault {
  return { offset, problem: `has ${name(bytes, offset)} where ${expected} is expected` }
}

/** One character in words: itself when it prints, else its code point. */
function name(bytes: Buffer, at: number): string {
  const point = bytes.toString('utf8', at, at + 4).codePointAt(0)
  if (point === undefined) return 'the end of the body'
  if (point > 0x20 && point < 0x7f && point !== 0x60) return `\`${String.fromCodePoint(point)}\``
  return `the character U+${point.toString(16).toUpperCase().padStart(4, '0')}`
}
