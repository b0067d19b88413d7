import { keysOf } from '../../core/json.ts'
import { lineAndColumn, type SourceLocation } from '../../core/json-text.ts'

/**
 * The place in a script of the field that a JSON Pointer into its default export names. If that field is not in the literal, the
 * place of the innermost field around it that is; without any, of `export default`. It scans instead of parsing: it may miss a
 * field, but never fails.
 */
export function sourceLocation(text: string, pointer: string): SourceLocation {
  const code = withoutTexts(text)
  const exported = EXPORT.exec(code)?.index ?? 0
  let place = exported
  let open = exportedObject(code, exported)
  for (const key of keysOf(pointer)) {
    const member = open === undefined ? undefined : findMember(text, code, open, key)
    if (member === undefined) break
    place = member.start
    open = isOpening(code[member.value]) ? member.value : undefined
  }
  return lineAndColumn(text, place)
}

const EXPORT = /\bexport\s+default\b|\bmodule\.exports\s*=/
const CALL = /(?:export\s+default|module\.exports\s*=)\s*(?:[\w$.]+\s*\(\s*)?([\w$]*)/y
const TEXT = /\/\/[^\n]*|\/\*[\s\S]*?\*\/|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\[\s\S]|[^`\\])*`/g
const KEY = /(?:async\s+)?\*?\s*(?:'([^']*)'|"([^"]*)"|([\w$]+))/y
const COLON = /\s*:\s*/y

/** The code with comments and the contents of strings blanked out, so that offsets stay the same. */
function withoutTexts(text: string): string {
  return text.replaceAll(TEXT, (found) => {
    const isComment = found.startsWith('/')
    const inside = found.slice(1, -1).replaceAll(/[^\n]/g, isComment ? ' ' : '_')
    return isComment ? ` ${inside} ` : `${found[0]}${inside}${found.at(-1)}`
  })
}

/** The offset of the opening brace of the exported object: after the export, in a call, or at the declaration of its name. */
function exportedObject(code: string, exported: number): number | undefined {
  const [all = '', name = ''] = matched(CALL, code, exported) ?? []
  const at = exported + all.length
  if (name === '') return code[at] === '{' ? at : undefined
  const value = new RegExp(`\\b${name.replaceAll('$', '\\$')}\\b[^=;]*=\\s*(?:[\\w$.]+\\s*\\(\\s*)?\\{`).exec(
    code,
  )
  return value === null ? undefined : value.index + value[0].length - 1
}

function findMember(text: string, code: string, open: number, key: string) {
  const isList = code[open] === '['
  let index = 0
  for (let start = skipSpace(code, open + 1); start < code.length && !isClosing(code[start]); index++) {
    if (isList && key === String(index)) return { start, value: start }
    const [found = '', single, double, word] = (isList ? null : matched(KEY, text, start)) ?? []
    if (!isList && key === (single ?? double ?? word)) {
      const colon = matched(COLON, code, start + found.length)
      return { start, value: colon === null ? start : start + found.length + colon[0].length }
    }
    start = skipSpace(code, memberEnd(code, start) + 1)
  }
  return undefined
}

/** The offset of the comma after a field, or of the character before the bracket that closes its object. */
function memberEnd(code: string, start: number): number {
  let depth = 0
  for (let at = start; at < code.length; at++) {
    if (depth === 0 && code[at] === ',') return at
    if (isOpening(code[at])) depth += 1
    if (!isClosing(code[at])) continue
    if (depth === 0) return at - 1
    depth -= 1
  }
  return code.length
}

function isOpening(char: string | undefined): boolean {
  return char === '{' || char === '[' || char === '('
}

function isClosing(char: string | undefined): boolean {
  return char === '}' || char === ']' || char === ')'
}

function skipSpace(code: string, from: number): number {
  let at = from
  while (/\s/.test(code[at] ?? '')) at += 1
  return at
}

function matched(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at
  return pattern.exec(text)
}
