/** A place in a text, both counted from 1. */
export interface Place {
  readonly line: number
  readonly column: number
}

/** Line and column of an offset. Columns count UTF-16 units, as editors do. */
export function placeOf(text: string, offset: number): Place {
  let [line, start] = [1, 0]
  for (let end = text.indexOf('\n'); end !== -1 && end < offset; end = text.indexOf('\n', start)) {
    line += 1
    start = end + 1
  }
  return { line, column: offset - start + 1 }
}

const SPACE = /[ \t\r\n]*/y
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const WORD = /true|false|null/y
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y

/** Where a text stops being JSON and what is wrong there. */
export interface SyntaxIssue {
  readonly offset: number
  readonly detail: string
}

/** The first thing that is wrong with a text as JSON; undefined when nothing is. The parser of the runtime does not always say where. */
export function syntaxIssue(text: string): SyntaxIssue | undefined {
  try {
    const end = document(text)
    return end === text.length
      ? undefined
      : { offset: end, detail: 'there is more text after the end of the JSON' }
  } catch (error) {
    if (error instanceof Stop) return { offset: error.offset, detail: error.message }
    throw error
  }
}

/**
 * The offset of the value that an RFC 6901 pointer names in a valid JSON text, or of the innermost value on the way to it.
 * Of a member that is written twice it is the last, as for JSON.parse.
 */
export function offsetOf(text: string, pointer: string): number {
  const keys = pointer
    .split('/')
    .slice(1)
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'))
  let at = spaceAfter(text, 0)
  for (const key of keys) {
    const next =
      text[at] === '{' ? memberAt(text, at, key) : text[at] === '[' ? itemAt(text, at, key) : undefined
    if (next === undefined) return at
    at = next
  }
  return at
}

/** The line of {@link offsetOf}. */
export function lineOf(text: string, pointer: string): number {
  return placeOf(text, offsetOf(text, pointer)).line
}

class Stop extends Error {
  readonly offset: number

  constructor(offset: number, detail: string) {
    super(detail)
    this.offset = offset
  }
}

// Walks one value without recursion, so that no depth is too deep, and returns where the text goes on after it.
function document(text: string): number {
  const open: string[] = []
  let at = spaceAfter(text, 0)
  for (;;) {
    at = spaceAfter(text, at)
    const opener = text[at]
    if (opener === '{' || opener === '[') {
      const close = opener === '{' ? '}' : ']'
      at = spaceAfter(text, at + 1)
      if (text[at] !== close) {
        open.push(close)
        if (close === '}') at = keyAfter(text, at)
        continue
      }
      at += 1
    } else {
      at = scalarAfter(text, at)
    }
    for (;;) {
      at = spaceAfter(text, at)
      const close = open.at(-1)
      if (close === undefined) return at
      if (text[at] === close) {
        open.pop()
        at += 1
        continue
      }
      if (text[at] !== ',') throw new Stop(at, `expected "," or "${close}"${found(text, at)}`)
      at = spaceAfter(text, at + 1)
      if (text[at] === close) throw new Stop(at, `there is a comma before "${close}"`)
      if (close === '}') at = keyAfter(text, at)
      break
    }
  }
}

function keyAfter(text: string, at: number): number {
  if (text[at] !== '"') throw new Stop(at, `expected the name of a member in double quotes${found(text, at)}`)
  const colon = spaceAfter(text, stringAfter(text, at))
  if (text[colon] !== ':') throw new Stop(colon, `expected ":"${found(text, colon)}`)
  return colon + 1
}

function scalarAfter(text: string, at: number): number {
  if (text[at] === '"') return stringAfter(text, at)
  const end = matched(NUMBER, text, at) ?? matched(WORD, text, at)
  if (end === undefined) throw new Stop(at, `expected a value${found(text, at)}`)
  return end
}

function stringAfter(text: string, at: number): number {
  for (let next = at + 1; next < text.length; ) {
    const code = text.charCodeAt(next)
    if (code === 0x22) return next + 1
    if (code < 0x20) throw new Stop(next, 'this string has no end on its line, or a control character in it')
    if (code !== 0x5c) next += 1
    else {
      const end = matched(ESCAPE, text, next)
      if (end === undefined) throw new Stop(next, 'this is not an escape that JSON knows')
      next = end
    }
  }
  throw new Stop(text.length, 'the text ends within a string')
}

function spaceAfter(text: string, at: number): number {
  return matched(SPACE, text, at) ?? at
}

function matched(pattern: RegExp, text: string, at: number): number | undefined {
  pattern.lastIndex = at
  return pattern.test(text) ? pattern.lastIndex : undefined
}

function found(text: string, at: number): string {
  return at >= text.length ? ', but the text ends' : `, found ${JSON.stringify(text[at])}`
}

// The functions below walk valid JSON only.

function memberAt(text: string, open: number, key: string): number | undefined {
  let last: number | undefined
  let at = spaceAfter(text, open + 1)
  while (text[at] === '"') {
    const end = stringAfter(text, at)
    const value = spaceAfter(text, spaceAfter(text, end) + 1)
    if (JSON.parse(text.slice(at, end)) === key) last = value
    at = next(text, value)
  }
  return last
}

function itemAt(text: string, open: number, key: string): number | undefined {
  let at = spaceAfter(text, open + 1)
  for (let index = 0; text[at] !== ']'; index++) {
    if (String(index) === key) return at
    at = next(text, at)
  }
  return undefined
}

// From a value to what follows it and its comma.
function next(text: string, value: number): number {
  const after = spaceAfter(text, skip(text, value))
  return text[after] === ',' ? spaceAfter(text, after + 1) : after
}

function skip(text: string, value: number): number {
  if (text[value] !== '{' && text[value] !== '[') return scalarAfter(text, value)
  let depth = 0
  for (let at = value; ; ) {
    const char = text[at]
    if (char === '"') {
      at = stringAfter(text, at)
      continue
    }
    if (char === '{' || char === '[') depth += 1
    if (char === '}' || char === ']') depth -= 1
    at += 1
    if (depth === 0 || at >= text.length) return at
  }
}
