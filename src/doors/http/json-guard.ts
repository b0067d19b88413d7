import { isAscii, isUtf8 } from 'node:buffer'
import type { Json, JsonObject } from '../../kernel/json.ts'
import { findSyntaxFault, lineAndColumn } from './json-syntax.ts'

/** How much structure a JSON body may have before it is parsed. */
export interface JsonBounds {
  /** Containers inside each other, the outermost counted: `[[1]]` is 2. */
  readonly maxDepth: number
  /** Strings, numbers, literals and the six structural characters. Infinity turns the count off. */
  readonly maxTokens: number
}

/** Far above any body that the API describes, far below what stalls the process or breaks a later stringify. */
export const JSON_BOUNDS: JsonBounds = { maxDepth: 64, maxTokens: 1_000_000 }

/** The first token that went over a bound, and the byte at which it starts. */
export interface Violation {
  readonly kind: 'too_deep' | 'too_many_tokens'
  readonly offset: number
}

/** A JSON value, or where and why the bytes are not one (line and column count from 1, in characters). */
export type ParsedJson =
  | { readonly ok: true; readonly value: Json }
  | { readonly ok: false; readonly detail: string; readonly line: number; readonly column: number }

const SPACE = 0
const SCALAR = 1
const SEPARATOR = 2
const OPEN = 3
const CLOSE = 4
const QUOTE = 5

const CLASS_OF_BYTE = classOfByte()

/**
 * Reads the bytes of a JSON body once, without building anything, and stops at the first violation.
 * It judges structure only: up to the first syntax error it sees the tokens that JSON.parse would see, and past
 * that error JSON.parse does not go.
 */
export function guardJson(bytes: Buffer, bounds: JsonBounds = JSON_BOUNDS): Violation | undefined {
  let depth = 0
  let tokens = 0
  let inScalar = false
  for (let at = bomLength(bytes); at < bytes.length; at++) {
    const start = at
    const kind = CLASS_OF_BYTE[bytes[at] ?? 0]
    if (kind === SPACE || (kind === SCALAR && inScalar)) {
      inScalar = kind === SCALAR
      continue
    }
    inScalar = kind === SCALAR
    if (kind === QUOTE) at = closingQuote(bytes, at + 1)
    else if (kind === OPEN && ++depth > bounds.maxDepth) return { kind: 'too_deep', offset: start }
    else if (kind === CLOSE) depth--
    if (++tokens > bounds.maxTokens) return { kind: 'too_many_tokens', offset: start }
  }
  return undefined
}

/** Whether a parsed value nests deeper than so many levels. Cheaper than the guard, where the text is known to be small. */
export function isDeeperThan(value: Json, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (levels === 0) return true
  if (Array.isArray(value)) return value.some((each) => isDeeperThan(each, levels - 1))
  const object = value as JsonObject
  for (const key in object) if (isDeeperThan(object[key] as Json, levels - 1)) return true
  return false
}

/** The sentence for a violation: what, where, and the way out. */
export function describeViolation({ kind, offset }: Violation, bounds: JsonBounds = JSON_BOUNDS): string {
  return kind === 'too_deep'
    ? `The JSON body nests more than ${bounds.maxDepth} levels deep at byte ${offset}. Send a flatter value.`
    : `The JSON body has more than ${bounds.maxTokens} tokens (values, brackets, commas, colons), reached at ` +
        `byte ${offset}. Split it over several requests.`
}

/**
 * Parses UTF-8 JSON text (RFC 8259). A byte order mark is ignored, the last of several equal keys wins, and
 * escaped lone surrogates are kept. The detail of a failure quotes at most one character of the body.
 */
export function parseJson(bytes: Buffer): ParsedJson {
  const text = bytes.subarray(bomLength(bytes))
  if (!isUtf8(text)) return failure(text, firstInvalidUtf8(text), 'has bytes that are not UTF-8')
  try {
    return { ok: true, value: JSON.parse(text.toString(isAscii(text) ? 'latin1' : 'utf8')) as Json }
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    // JSON.parse's own message quotes the body and often lacks the place, so the place is looked up anew.
    const fault = findSyntaxFault(text) ?? { offset: 0, problem: 'starts something that is not JSON' }
    return failure(text, fault.offset, fault.problem)
  }
}

function failure(text: Buffer, offset: number, problem: string): ParsedJson {
  const { line, column } = lineAndColumn(text, offset)
  return {
    ok: false,
    line,
    column,
    detail: `The body is not valid JSON: line ${line}, column ${column} ${problem}.`,
  }
}

/** The index of the quote that ends the string whose first character is at `from`; the length if none does. */
function closingQuote(bytes: Buffer, from: number): number {
  let at = from
  while (at < bytes.length) {
    // indexOf is 40 times faster than this loop in long strings, but a body full of \" would pay for a native
    // call each time: so some bytes are always read here first.
    const near = Math.min(at + 64, bytes.length)
    while (at < near) {
      if (bytes[at] === 0x22) return at
      at += bytes[at] === 0x5c ? 2 : 1
    }
    const quote = bytes.indexOf(0x22, at)
    if (quote === -1) break
    if (backslashesBefore(bytes, quote, at) % 2 === 0) return quote
    at = quote + 1
  }
  return bytes.length
}

function backslashesBefore(bytes: Buffer, end: number, start: number): number {
  let at = end
  while (at > start && bytes[at - 1] === 0x5c) at--
  return end - at
}

function bomLength(bytes: Buffer): number {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0
}

/** Halves the search with the native check, which is fast enough to be repeated on 100 MiB. */
function firstInvalidUtf8(bytes: Buffer): number {
  let valid = 0
  let invalid = bytes.length
  while (invalid - valid > 8) {
    const middle = characterStart(bytes, Math.floor((valid + invalid) / 2))
    if (isUtf8(bytes.subarray(valid, middle))) valid = middle
    else invalid = middle
  }
  for (;;) {
    const length = [1, 2, 3, 4].find(
      (n) => valid + n <= bytes.length && isUtf8(bytes.subarray(valid, valid + n)),
    )
    if (length === undefined) return valid
    valid += length
  }
}

/** The start of the character that the byte at `at` belongs to, if it can belong to one. */
function characterStart(bytes: Buffer, at: number): number {
  const start = [at, at - 1, at - 2, at - 3].find((index) => ((bytes[index] ?? 0) & 0xc0) !== 0x80)
  return start ?? at
}

function classOfByte(): Uint8Array {
  const classes = new Uint8Array(256).fill(SCALAR)
  for (const byte of Buffer.from(' \t\n\r')) classes[byte] = SPACE
  for (const byte of Buffer.from(',:')) classes[byte] = SEPARATOR
  for (const byte of Buffer.from('[{')) classes[byte] = OPEN
  for (const byte of Buffer.from(']}')) classes[byte] = CLOSE
  classes[0x22] = QUOTE
  return classes
}
