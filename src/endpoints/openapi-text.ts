import { Composer, CST, type Document, isMap, isSeq, Lexer, LineCounter, Parser } from 'yaml'
import { ScenarioError } from '../adapters/scenarios/problem.ts'
import { keysOf } from '../core/json.ts'
import { lineAndColumn, locationsIn, syntaxIssue } from '../core/json-text.ts'
import { isTooDeep } from '../json-schema/check.ts'

/** Characters of a document, levels of its nesting, and words and signs of one in YAML, which takes long to read. */
const MAX = { characters: 1_000_000, levels: 100, lexemes: 400_000 }
const TOO_DEEP = `is nested more than ${MAX.levels} levels deep`
const REFUSED = ['alias', 'anchor', 'directive-line', 'tag']

/** The value in a file of other people, JSON or YAML, and the lines of its fields. Throws a {@link ScenarioError}. */
export function readDocument(text: string, file: string) {
  const refuse: Refuse = (line, message) => {
    throw new ScenarioError({ file, line, message })
  }
  if (text.length > MAX.characters)
    refuse(1, `has more than ${MAX.characters} characters; leave out what is not needed`)
  return file.endsWith('.json') ? readJson(text, refuse) : readYaml(text, refuse)
}

type Refuse = (line: number, message: string) => never

function readJson(text: string, refuse: Refuse) {
  const issue = syntaxIssue(text)
  if (issue !== undefined) refuse(lineAndColumn(text, issue.offset).line, `is not JSON: ${issue.detail}`)
  const root: unknown = JSON.parse(text)
  if (isTooDeep(Object(root), MAX.levels)) refuse(1, TOO_DEEP)
  const locationIn = locationsIn(text)
  return { root, lineOf: (pointer: string): number => locationIn(pointer).line }
}

function readYaml(text: string, refuse: Refuse): ReturnType<typeof readJson> {
  const lines = new LineCounter()
  lines.addNewLine(0)
  const lineAt = (offset = 0): number => lines.linePos(offset).line
  const parser = new Parser(lines.addNewLine)
  const tokens: CST.Token[] = []
  let [count, before] = [0, '']
  // The composer is recursive, and V8 can end the process when it compiles an expression with little stack left.
  for (const lexeme of new Lexer().lex(text)) {
    const type = before === CST.SCALAR ? 'scalar' : String(CST.tokenType(lexeme))
    if (REFUSED.includes(type))
      refuse(lineAt(parser.offset), `has the ${type} ${lexeme.slice(0, 40)}; write plain YAML`)
    if (parser.stack.length > MAX.levels) refuse(lineAt(parser.offset), TOO_DEEP)
    if (++count > MAX.lexemes) refuse(lineAt(parser.offset), 'is too long for YAML; convert it to JSON')
    for (const token of parser.next(lexeme)) tokens.push(token)
    before = lexeme
  }
  for (const token of parser.end()) tokens.push(token)
  // The check of unique keys takes quadratic time.
  const composer = new Composer({ prettyErrors: false, uniqueKeys: false, stringKeys: true })
  const [document, more] = composer.compose(tokens, true, text.length)
  if (document === undefined || more !== undefined) return refuse(1, 'must have one document')
  const [error] = document.errors
  if (error !== undefined) refuse(lineAt(error.pos[0]), `is not YAML: ${error.message}`)
  // JSON has no number such as .inf.
  const root: unknown = JSON.parse(JSON.stringify(document.toJS()))
  return { root, lineOf: (pointer) => lineAt(offsetOf(document, keysOf(pointer))) }
}

function offsetOf({ contents }: Document.Parsed, keys: readonly string[]): number | undefined {
  let [node, offset]: [unknown, number | undefined] = [contents, undefined]
  for (const key of keys) {
    const pair = isMap(node) ? node.items.find((each) => String(each.key) === key) : undefined
    const place: unknown = pair?.key ?? (isSeq(node) ? node.items[Number(key)] : undefined)
    offset = (place as { readonly range?: readonly number[] } | undefined)?.range?.[0] ?? offset
    node = pair === undefined ? place : pair.value
  }
  return offset
}
