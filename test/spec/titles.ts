import { isSign, type Token, tokenize } from './tokens.ts'

/** A test title as it stands in a source file. */
export interface FoundTitle {
  readonly title: string
  /** Line in the file, from 1. */
  readonly line: number
  /** False under `skip`, `todo` and `fails`: a green run of such a test shows nothing. */
  readonly reportedIn: boolean
}

const testName = /^(?:test|it)$|^test[A-Z]\w*$|\w(?:Test|It)$/
const idleModifiers = ['skip', 'todo', 'fails']
const plainModifiers = ['only', 'concurrent', 'sequential', ...idleModifiers]
const callModifiers = ['each', 'for', 'skipIf', 'runIf']

/**
 * The titles of all tests that a source text declares through `test(...)`, `it(...)`, their modifiers, or a
 * wrapper whose name begins or ends with `test`. Only literal titles are seen, also when joined by `+`; where
 * the title of `each` and `for` begins with a placeholder, the `R...` strings of the table stand for it.
 */
export function findTitles(source: string): readonly FoundTitle[] {
  const tokens = tokenize(source)
  return tokens.flatMap((token, index) => {
    const callsTest = token.kind === 'word' && testName.test(token.text) && !isSign(tokens[index - 1], '.')
    if (!callsTest) return []
    const { title, rows, reportedIn } = readCall(tokens, index + 1)
    if (title === undefined) return []
    const filled = namedIds(title).length === 0 && /^[%$]/.test(title) ? rows.filter(isNumbered) : []
    const found = filled.length > 0 ? filled : [{ text: title, start: token.start }]
    return found.map(({ text, start }) => ({ title: text, line: lineAt(source, start), reportedIn }))
  })
}

/**
 * The requirement numbers that a title names, known or not, in its order and each once. `R082-R084` names all
 * three; a number of the wrong length is reported when the title begins with it.
 */
export function namedIds(title: string): readonly string[] {
  const spelledOut = title.replace(/\bR(\d{3})\s*[-\u2013]\s*R(\d{3})\b/g, (_, from: string, to: string) =>
    Array.from({ length: Math.max(0, Number(to) - Number(from)) + 1 }, (_, step) => idOf(Number(from) + step))
      .concat(`R${to}`)
      .join(' '),
  )
  return [...new Set(spelledOut.match(/^R\d+\b|\bR\d{3,}\b/g))]
}

/** `R` and three digits. */
export function idOf(number: number): string {
  return `R${String(number).padStart(3, '0')}`
}

interface Call {
  readonly title: string | undefined
  readonly rows: readonly Token[]
  readonly reportedIn: boolean
}

function readCall(tokens: readonly Token[], from: number): Call {
  let at = from
  let rows: readonly Token[] = []
  let reportedIn = true
  while (isSign(tokens[at], '.')) {
    const modifier = tokens[at + 1]?.text ?? ''
    at += 2
    if (idleModifiers.includes(modifier)) reportedIn = false
    if (callModifiers.includes(modifier)) {
      const end = endOfArguments(tokens, endOfTypes(tokens, at))
      rows = [...rows, ...tokens.slice(at, end)]
      at = end
    } else if (!plainModifiers.includes(modifier)) return { title: undefined, rows, reportedIn }
  }
  return { title: isSign(tokens[at], '(') ? literalAt(tokens, at + 1) : undefined, rows, reportedIn }
}

function literalAt(tokens: readonly Token[], from: number): string | undefined {
  const first = tokens[from]
  if (first?.kind !== 'string') return undefined
  const rest = isSign(tokens[from + 1], '+') ? literalAt(tokens, from + 2) : undefined
  return first.text + (rest ?? '')
}

function endOfTypes(tokens: readonly Token[], from: number): number {
  return isSign(tokens[from], '<') ? endOfPair(tokens, from, '<', '>') : from
}

function endOfArguments(tokens: readonly Token[], from: number): number {
  return isSign(tokens[from], '(') ? endOfPair(tokens, from, '(', ')') : from + 1
}

function endOfPair(tokens: readonly Token[], from: number, open: string, close: string): number {
  let depth = 0
  for (let at = from; at < tokens.length; at += 1) {
    if (isSign(tokens[at], open)) depth += 1
    if (isSign(tokens[at], close)) depth -= 1
    if (depth === 0) return at + 1
  }
  return tokens.length
}

function isNumbered({ kind, text }: Token): boolean {
  return kind === 'string' && /^R\d{3}\b/.test(text)
}

function lineAt(source: string, offset: number): number {
  return source.slice(0, offset).split('\n').length
}
