/**
 * The line (from 1) on which the value that a JSON Pointer names starts. Where the pointer leads past what is there,
 * the line of the nearest value around it. Of a member that is written twice it is the last, as for JSON.parse.
 * @param text valid JSON
 */
export function lineOfPointer(text: string, pointer: string): number {
  let at = skipSpace(text, 0)
  for (const key of pointer.split('/').slice(1).map(unescaped)) {
    const child =
      text[at] === '{' ? memberOf(text, at, key) : text[at] === '[' ? itemOf(text, at, key) : undefined
    if (child === undefined) break
    at = child
  }
  return lineAt(text, at)
}

/** The line of what JSON.parse complained about, as far as its message tells; else the last line that is not blank. */
export function lineOfSyntaxError(text: string, error: SyntaxError): number {
  const position = /at position (\d+)/.exec(error.message)?.[1] ?? text.length
  return lineAt(text, Math.min(Number(position), text.trimEnd().length))
}

function lineAt(text: string, offset: number): number {
  let line = 1
  for (let at = text.indexOf('\n'); at !== -1 && at < offset; at = text.indexOf('\n', at + 1)) line++
  return line
}

function unescaped(key: string): string {
  return key.replaceAll('~1', '/').replaceAll('~0', '~')
}

function memberOf(text: string, object: number, key: string): number | undefined {
  let found: number | undefined
  let at = skipSpace(text, object + 1)
  while (text[at] === '"') {
    const end = skipString(text, at)
    const value = skipSpace(text, skipSpace(text, end) + 1)
    if (JSON.parse(text.slice(at, end)) === key) found = value
    at = skipComma(text, skipValue(text, value))
  }
  return found
}

function itemOf(text: string, array: number, key: string): number | undefined {
  let at = skipSpace(text, array + 1)
  for (let index = 0; at < text.length && text[at] !== ']'; index++) {
    if (String(index) === key) return at
    at = skipComma(text, skipValue(text, at))
  }
  return undefined
}

function skipValue(text: string, start: number): number {
  let depth = 0
  for (let at = start; at < text.length; ) {
    const char = text[at] ?? ''
    if (char === '"') {
      at = skipString(text, at)
    } else if ('{['.includes(char)) {
      depth++
      at++
    } else if ('}]'.includes(char)) {
      if (depth > 0) depth--
      else return at
      at++
    } else if (depth === 0 && /[,\s]/.test(char)) {
      return at
    } else {
      at++
      continue
    }
    if (depth === 0) return at
  }
  return text.length
}

function skipString(text: string, start: number): number {
  let at = start + 1
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1
  return at + 1
}

function skipComma(text: string, end: number): number {
  const at = skipSpace(text, end)
  return text[at] === ',' ? skipSpace(text, at + 1) : at
}

function skipSpace(text: string, start: number): number {
  let at = start
  while (at < text.length && ' \n\r\t'.includes(text[at] ?? '')) at++
  return at
}
