import { existsSync, statSync } from 'node:fs'
import { SHIPPED_FIXTURES } from '../adapters/fixtures.ts'
import { shippedFile } from '../adapters/package.ts'
import { specialFile } from '../adapters/special-file.ts'
import { readTextFile, UnreadableText } from '../adapters/text.ts'
import { type Issue, isObject, type Json, type JsonObject } from '../core/json.ts'
import { lineAndColumn, locationsIn, syntaxIssue } from '../core/json-text.ts'
import { CommandFailed } from './command.ts'
import { RequestRefused } from './control-client.ts'
import { UsageError } from './options.ts'
import { codeOf } from './print.ts'

/** An issue and its place in a file. */
export interface LocatedIssue extends Issue {
  readonly file: string
  /** From 1; 0 when the file cannot be read. */
  readonly line: number
  /** From 1, where it is known. */
  readonly column?: number
}

/** A JSON file that cannot be used at all. */
export class UnusableFile extends CommandFailed {
  readonly issue: LocatedIssue

  constructor(file: string, line: number, detail: string) {
    const issue = { file, pointer: '', line, detail }
    super(issueLine(issue))
    this.issue = issue
  }
}

/** Reads a file that holds any JSON. Throws {@link UnusableFile}. */
function readJson(file: string): { readonly text: string; readonly value: Json } {
  const text = readable(file)
  const syntax = syntaxIssue(text)
  if (syntax === undefined) return { text, value: JSON.parse(text) as Json }
  const { line } = lineAndColumn(text, Math.min(syntax.offset, text.trimEnd().length))
  throw new UnusableFile(file, line, `is not JSON: ${syntax.detail}`)
}

function readable(file: string): string {
  try {
    return readTextFile(file)
  } catch (error) {
    const detail = error instanceof UnreadableText ? error.message : unreadable(codeOf(error))
    throw new UnusableFile(file, 0, detail)
  }
}

function unreadable(code: string): string {
  if (code === 'ENOENT') return 'there is no such file; the path is relative to the working directory'
  if (code === 'EISDIR') return 'is a directory; give the path of a JSON file'
  return `cannot be read (${code}); check its permissions`
}

/** The text and the object of a regular JSON file, without the path of its JSON Schema. Throws {@link UnusableFile}. */
export async function requireJsonFile(file: string) {
  const special = await specialFile(file)
  if (special !== undefined) throw new UnusableFile(file, 0, special)
  const { text, value } = readJson(file)
  if (!isObject(value)) throw new UnusableFile(file, 1, 'must be a JSON object')
  const { $schema, ...document } = value
  return { text, document: typeof $schema === 'string' ? document : value }
}

/** As {@link requireJsonFile}, but returns the error instead of throwing it. */
export function readJsonFile(file: string) {
  return requireJsonFile(file).catch((error: unknown) => {
    if (error instanceof UnusableFile) return error
    throw error
  })
}

/** JSON from an argument of a command, and the file that it was read from. */
export interface JsonSource {
  readonly value: Json
  readonly file?: { readonly path: string; readonly text: string }
}

/**
 * Reads an argument that is JSON in quotes or the path of a JSON file. Throws {@link UsageError} and {@link CommandFailed}.
 * @param name of the argument
 * @param others further ways to give it, for messages
 */
export async function readSource(name: string, text: string, others = ''): Promise<JsonSource> {
  if (/^\s*[[{]/.test(text)) return { value: jsonArgument(`<${name}>`, text) }
  if (syntaxIssue(text) === undefined && !existsSync(text)) {
    const ways = `Give one in single quotes${others}, or the path of a JSON file.`
    throw new UsageError([`<${name}>: ${text} is not a JSON object. ${ways}`])
  }
  const read = readJson(text)
  return { value: read.value, file: { path: text, text: read.text } }
}

/** An argument or a flag that is JSON. Throws {@link UsageError}. @param otherwise the further way to give it, for the message */
export function jsonArgument(place: string, text: string, otherwise = ', or give the path of a file'): Json {
  const syntax = syntaxIssue(text)
  if (syntax === undefined) return JSON.parse(text) as Json
  throw new UsageError([
    `${place}: is not JSON: ${syntax.detail} at character ${syntax.offset + 1}. Put it in single quotes${otherwise}.`,
  ])
}

/** Adds the lines to issues in a file of valid JSON. */
export function located(file: string, text: string, issues: readonly Issue[]): LocatedIssue[] {
  const locationIn = locationsIn(text)
  return issues.map((issue) => ({ ...issue, file, line: locationIn(issue.pointer).line }))
}

/** An issue on one line, in the form that editors turn into a link: `file:line: pointer: detail`. */
export function issueLine({ file, line, column, pointer, detail }: LocatedIssue): string {
  const place = [file, ...(line === 0 ? [] : [line]), ...(column === undefined ? [] : [column])].join(':')
  return [place, pointer, detail].filter((each) => each !== '').join(': ')
}

/** A title and its issues, one on a line. */
export function listed(title: string, issues: readonly LocatedIssue[]): string {
  return [title, ...issues.map(issueLine)].join('\n  ')
}

/** The output of a call whose body came from a file. If the body is refused, the error names the lines of the file. */
export function locatingIssues<T>(call: Promise<T>, file: JsonSource['file'], title: string): Promise<T> {
  return call.catch((error: unknown) => {
    if (file === undefined || !(error instanceof RequestRefused) || error.issues.length === 0) throw error
    throw new CommandFailed(listed(title, located(file.path, file.text, error.issues)))
  })
}

export function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}

/**
 * Adds file and line to issues in fixtures. Issues of a document that extends another are about the merged document. In each of
 * its collections, the records of the extending document come first.
 */
export async function locateFixtures(source: string, issues: readonly Issue[]): Promise<LocatedIssue[]> {
  const read = await readJsonFile(fixturesFile(source))
  // Without a line the file cannot be read, and the issues name what can be given instead.
  if (read instanceof UnusableFile)
    return read.issue.line > 0 ? [read.issue] : issues.map((issue) => ({ ...issue, file: source, line: 0 }))
  const locationIn = locationsIn(read.text)
  return issues.map((issue) => {
    const own = ownPointer(issue.pointer, read.document)
    if (own === undefined)
      return { ...issue, file: `${read.document.extends}, extended by ${source}`, line: 0 }
    return { ...issue, file: source, pointer: own, line: locationIn(own).line }
  })
}

/** The message about fixtures that cannot be used, with file and line of each issue. */
export async function fixturesFailure(source: string, issues: readonly Issue[]): Promise<string> {
  return listed('The fixtures cannot be used:', await locateFixtures(source, issues))
}

/** The message about a settings file that cannot be used, with the line of each issue. */
export async function settingsFailure(file: string, issues: readonly Issue[]): Promise<string> {
  const { text } = await requireJsonFile(file)
  return listed('The settings cannot be used:', located(file, text, issues))
}

/** The file of shipped fixtures, or the path itself. */
export function fixturesFile(source: string): string {
  const shipped = SHIPPED_FIXTURES.some((name) => name === source)
  return shipped ? shippedFile('fixtures', `${source}.json`) : source
}

// Undefined when the record is in the document that this one extends.
function ownPointer(merged: string, document: JsonObject): string | undefined {
  const [, name = '', index = '', rest = ''] = /^\/collections\/([^/]+)\/(\d+)(\/.*)?$/.exec(merged) ?? []
  if (name === 'organizations' && document.organization !== undefined) {
    return index === '0' ? `/organization${rest}` : undefined
  }
  const { collections } = document
  const records = isObject(collections) && Object.hasOwn(collections, name) ? collections[name] : undefined
  const count = Array.isArray(records) ? records.length : 0
  return index !== '' && document.extends !== undefined && Number(index) >= count ? undefined : merged
}
