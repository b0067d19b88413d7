import { keysOf } from '../../../core/json.ts'

/**
 * Writes a JSON value into a JSON text at a JSON Pointer. The rest of the text stays unchanged, so that no other number is
 * rounded. A missing field is added to its object; any other missing place leaves the text unchanged.
 */
export function splice(text: string, pointer: string, value: string): string {
  const found = find(text, keysOf(pointer))
  if (found === undefined) return text
  return text.slice(0, found.start) + found.before + value + text.slice(found.end)
}

interface Found {
  readonly start: number
  readonly end: number
  /** Text to insert before the value: the key of a new field. */
  readonly before: string
}

function find(text: string, keys: readonly string[]): Found | undefined {
  let at = skipSpace(text, 0)
  for (const [depth, key] of keys.entries()) {
    const member = text[at] === '{' ? memberOf(text, at, key) : elementOf(text, at, key)
    if (typeof member !== 'number') return depth === keys.length - 1 ? member : undefined
    at = member
  }
  return { start: at, end: valueEnd(text, at), before: '' }
}

/** Where the value of a field begins; without such a field, where to add it. The last of several equal keys counts. */
function memberOf(text: string, object: number, key: string): number | Found {
  let at = skipSpace(text, object + 1)
  let found: number | undefined
  let isEmpty = true
  while (text[at] === '"') {
    const end = stringEnd(text, at)
    const value = skipSpace(text, skipSpace(text, end) + 1)
    if (JSON.parse(text.slice(at, end)) === key) found = value
    at = afterValue(text, value)
    isEmpty = false
  }
  return found ?? { start: at, end: at, before: `${isEmpty ? '' : ','}${JSON.stringify(key)}:` }
}

function elementOf(text: string, array: number, key: string): number | undefined {
  if (text[array] !== '[' || !/^(?:0|[1-9]\d*)$/.test(key)) return undefined
  let at = skipSpace(text, array + 1)
  for (let index = 0; index < Number(key) && at < text.length && text[at] !== ']'; index++)
    at = afterValue(text, at)
  return at < text.length && text[at] !== ']' ? at : undefined
}

// The offset after a value and its comma, or of the bracket that closes the array or object around it.
function afterValue(text: string, value: number): number {
  const at = skipSpace(text, valueEnd(text, value))
  return text[at] === ',' ? skipSpace(text, at + 1) : at
}

function valueEnd(text: string, value: number): number {
  let depth = 0
  for (let at = value; at < text.length; ) {
    const sign = text.charAt(at)
    if (sign === '"') at = stringEnd(text, at)
    else if (depth === 0 && !'{['.includes(sign)) return scalarEnd(text, at)
    else {
      if ('{['.includes(sign)) depth++
      if ('}]'.includes(sign)) depth--
      at++
    }
    if (depth === 0) return at
  }
  return text.length
}

function scalarEnd(text: string, start: number): number {
  let at = start
  while (at < text.length && !',]} \t\r\n'.includes(text.charAt(at))) at++
  return at
}

function stringEnd(text: string, start: number): number {
  let at = start + 1
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1
  return at + 1
}

function skipSpace(text: string, start: number): number {
  let at = start
  while (at < text.length && ' \t\r\n'.includes(text.charAt(at))) at++
  return at
}
