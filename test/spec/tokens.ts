/** A piece of TypeScript source. Comments, white space and regular expressions leave no token. */
export interface Token {
  readonly kind: 'string' | 'word' | 'sign'
  /** Of a string or template: what stands between the quotes, an interpolation as its source text. */
  readonly text: string
  /** Offset in the source, in UTF-16 units. */
  readonly start: number
  readonly end: number
}

const gap = /(?:\s|\/\/[^\n]*|\/\*[\s\S]*?\*\/)*/y
const quoted = /'(?:\\[\s\S]|[^'\\\n])*'|"(?:\\[\s\S]|[^"\\\n])*"/y
const regularExpression = /\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\[\n])+\/[a-z]*/y
const word = /[\p{L}\p{N}_$#]+/uy
const sign = /=>|[\s\S]/uy

const wordsBeforeAnExpression = new Set(
  'return typeof case in of new delete void throw yield await else do'.split(' '),
)

/**
 * Cuts source text into tokens, so that a test call inside a string or comment is not taken for a test.
 * It is no compiler: after `)`, `]` and `}` a slash is read as a division, never as a regular expression.
 */
export function tokenize(source: string): readonly Token[] {
  const tokens: Token[] = []
  for (let next = tokenAfter(source, 0); next; next = tokenAfter(source, next.end, next)) tokens.push(next)
  return tokens.filter(({ kind, text }) => kind !== 'word' || text !== '')
}

function tokenAfter(source: string, from: number, previous?: Token): Token | undefined {
  const start = from + (matchAt(gap, source, from)?.length ?? 0)
  if (start >= source.length) return undefined
  if (source[start] === '`') return template(source, start)
  const string = matchAt(quoted, source, start)
  if (string)
    return { kind: 'string', text: unescaped(string.slice(1, -1)), start, end: start + string.length }
  const pattern = mayBeginExpression(previous) ? matchAt(regularExpression, source, start) : undefined
  // The empty word keeps its place as "something that ended an expression" for the token that follows.
  if (pattern) return { kind: 'word', text: '', start, end: start + pattern.length }
  const name = matchAt(word, source, start)
  if (name) return { kind: 'word', text: name, start, end: start + name.length }
  const text = matchAt(sign, source, start) ?? source.charAt(start)
  return { kind: 'sign', text, start, end: start + text.length }
}

function template(source: string, start: number): Token {
  let at = start + 1
  while (at < source.length && source[at] !== '`') {
    if (source.startsWith('${', at)) at = endOfInterpolation(source, at + 2)
    else at += source[at] === '\\' ? 2 : 1
  }
  return { kind: 'string', text: unescaped(source.slice(start + 1, at)), start, end: at + 1 }
}

function endOfInterpolation(source: string, from: number): number {
  let depth = 1
  let last: Token | undefined
  for (let next = tokenAfter(source, from); next; next = tokenAfter(source, next.end, next)) {
    last = next
    if (isSign(next, '{')) depth += 1
    if (isSign(next, '}')) depth -= 1
    if (depth === 0) return next.end
  }
  return last?.end ?? source.length
}

function mayBeginExpression(previous: Token | undefined): boolean {
  if (previous === undefined) return true
  if (previous.kind === 'word') return wordsBeforeAnExpression.has(previous.text)
  return previous.kind === 'sign' && ![')', ']', '}'].includes(previous.text)
}

function matchAt(pattern: RegExp, source: string, at: number): string | undefined {
  pattern.lastIndex = at
  return pattern.exec(source)?.[0]
}

function unescaped(text: string): string {
  return text.replace(/\\(['"`\\$])/g, '$1')
}

/** Whether the token is this sign, and not a string of the same text. */
export function isSign(token: Token | undefined, text: string): boolean {
  return token?.kind === 'sign' && token.text === text
}
