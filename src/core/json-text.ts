import type { Node } from 'jsonc-parser'
import { keysOf, parsedJson, pointer } from './json.ts'
import { load } from './load.ts'

// Loaded at the first text with a mistake, since a start has none.
const parser = () => load('jsonc-parser') as typeof import('jsonc-parser')

/** A place in a text. Line and column start at 1. */
export interface SourceLocation {
  readonly line: number
  readonly column: number
}

/** A syntax error: its place in the text and its description. */
export interface SyntaxIssue {
  readonly offset: number
  /** Contains at most one character of the text, because the text may contain secrets. */
  readonly detail: string
}

/** Line and column of an offset. Columns count UTF-16 units, as editors do. */
export function lineAndColumn(text: string, offset: number): SourceLocation {
  let [line, start] = [1, 0]
  for (let end = text.indexOf('\n'); end !== -1 && end < offset; end = text.indexOf('\n', start)) {
    line += 1
    start = end + 1
  }
  return { line, column: offset - start + 1 }
}

/** Levels of a file: those of a request body (512), and of the records around it. */
const MAX_LEVELS = 1_000

/** Where a JSON text nests too deep to be used; undefined where it does not. Deeper values would exhaust the stack somewhere. */
export function depthIssue(text: string): SyntaxIssue | undefined {
  let [depth, inString] = [0, false]
  for (let offset = 0; offset < text.length; offset++) {
    const char = text[offset]
    if (char === '"') inString = !inString
    else if (inString) offset += char === '\\' ? 1 : 0
    else if (char === '[' || char === '{') depth += 1
    else if (char === ']' || char === '}') depth -= 1
    if (depth > MAX_LEVELS) return { offset, detail: `the text nests more than ${MAX_LEVELS} levels deep` }
  }
  return undefined
}

/**
 * The first syntax error of a text as JSON (RFC 8259), or where it nests too deep; undefined when it can be used. The errors of `JSON.parse` do not always
 * have a position.
 */
export function syntaxIssue(text: string): SyntaxIssue | undefined {
  // JSON.parse is ten times as fast as the visit below, and nearly every text is valid.
  if (isJson(text)) return depthIssue(text)
  let issue: SyntaxIssue | undefined
  const { printParseErrorCode, visit } = parser()
  const onError = (code: number, offset: number): void => {
    issue = { offset, detail: detailOf(printParseErrorCode(code), text, offset) }
    throw issue
  }
  try {
    visit(text, { onError }, { disallowComments: true })
    return undefined
  } catch (error) {
    if (error === issue) return issue
    // The visit is recursive, so a deeply nested text exhausts the stack.
    if (error instanceof RangeError) return TOO_DEEP
    throw error
  }
}

/**
 * Returns a function that finds the place of a value in a valid JSON text by RFC 6901 pointer. If the pointer leads to no
 * value, the place of the nearest existing value around it is returned. If a key occurs twice, the last one counts, as in
 * `JSON.parse`.
 */
export function locationsIn(text: string): (pointer: string) => SourceLocation {
  const root = parser().parseTree(text)
  return (place) => {
    let at = root
    for (const key of keysOf(place)) {
      const next = at && childOf(at, key)
      if (next === undefined) break
      at = next
    }
    return lineAndColumn(text, at?.offset ?? 0)
  }
}

/** The JSON Pointer of the innermost value around an offset; undefined for a text that is not JSON. */
export function pointerAt(text: string, offset: number): string | undefined {
  return isJson(text) ? pointer(...parser().getLocation(text, offset).path) : undefined
}

/**
 * Writes a JSON value into a JSON text at a JSON Pointer. The rest of the text stays unchanged, so that no other number is
 * rounded. A missing field is added to its object. Any other missing place, or a text that is not JSON, changes nothing.
 */
export function spliced(text: string, place: string, value: string): string {
  if (!isJson(text)) return text
  const keys = keysOf(place)
  let at = parser().parseTree(text)
  let holder: Node | undefined
  for (const key of keys) {
    holder = at
    at = at && childOf(at, key)
  }
  if (at !== undefined) return text.slice(0, at.offset) + value + text.slice(at.offset + at.length)
  if (holder?.type !== 'object') return text
  const end = holder.offset + holder.length - 1
  const comma = holder.children?.length === 0 ? '' : ','
  return `${text.slice(0, end)}${comma}${JSON.stringify(keys.at(-1))}:${value}${text.slice(end)}`
}

function childOf({ type, children = [] }: Node, key: string): Node | undefined {
  if (type === 'array') return children.find((_, index) => String(index) === key)
  return children.findLast(({ children: [name] = [] }) => name?.value === key)?.children?.[1]
}

const TOO_DEEP: SyntaxIssue = { offset: 0, detail: 'the text is nested too deeply to locate the error' }

const UNQUOTED = 'strings and property names need double quotes'

const PROBLEMS: Readonly<Record<string, string>> = {
  InvalidCommentToken: 'JSON has no comments',
  UnexpectedEndOfString: 'this string has no closing quote',
  UnexpectedEndOfNumber: 'this number has no digits where they are needed',
  InvalidUnicode: 'this string has a \\u escape without four hexadecimal digits',
  InvalidEscapeCharacter: 'this string has an escape that JSON does not have',
  InvalidCharacter: 'this string has a control character, which must be escaped',
}

const EXPECTED: Readonly<Record<string, string>> = {
  PropertyNameExpected: 'a property name in double quotes',
  ValueExpected: 'a value',
  ColonExpected: '":"',
  CommaExpected: '"," or the closing bracket',
  CloseBraceExpected: '"," or "}"',
  CloseBracketExpected: '"," or "]"',
  EndOfFileExpected: 'the end of the text',
}

function detailOf(code: string, text: string, offset: number): string {
  if (code === 'UnexpectedEndOfString' && !text.includes('\n', offset)) return 'the text ends in this string'
  const point = text.codePointAt(offset)
  const found = point === undefined ? undefined : shown(point)
  const expected = EXPECTED[code]
  if (expected === undefined) return PROBLEMS[code] ?? `unexpected ${found}; ${UNQUOTED}`
  return `expected ${expected}, ${found === undefined ? 'but the text ends' : `found ${found}`}`
}

/** A character in quotes; one that a screen does not show, or shows as a blank, by its code point. */
function shown(point: number): string {
  const character = String.fromCodePoint(point)
  if (character === ' ' || !/[\p{C}\p{M}\p{Z}]/u.test(character)) return JSON.stringify(character)
  return `the invisible character U+${point.toString(16).toUpperCase().padStart(4, '0')}`
}

function isJson(text: string): boolean {
  return parsedJson(text) !== undefined
}
