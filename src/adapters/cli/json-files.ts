import { statSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { type Issue, isObject, type Json, type JsonObject } from '../../core/json.ts'
import { SHIPPED_FIXTURES } from '../fixtures.ts'
import { lineAndColumn, placesIn, syntaxIssue } from '../json-text.ts'
import { shippedFile } from '../package.ts'
import { CommandFailed } from './command.ts'
import { RequestRefused } from './control-client.ts'
import { UsageError } from './options.ts'
import { codeOf } from './print.ts'

/** An issue in a file, with its line (from 1); line 0 when the file cannot be read. */
export interface LocatedIssue extends Issue {
  readonly line: number
  /** From 1, where it is known. */
  readonly column?: number
}

/** An issue in fixtures, with the file that has it. */
export interface FixturesIssue extends LocatedIssue {
  readonly file: string
}

interface Unreadable {
  readonly issues: readonly LocatedIssue[]
}

/** Reads a file that holds any JSON. */
export async function readJson(
  file: string,
): Promise<{ readonly text: string; readonly value: Json } | Unreadable> {
  let text: string
  try {
    text = await readFile(file, 'utf8')
  } catch (error) {
    return { issues: [{ pointer: '', line: 0, detail: unreadable(codeOf(error)) }] }
  }
  const syntax = syntaxIssue(text)
  if (syntax === undefined) return { text, value: JSON.parse(text) as Json }
  const { line } = lineAndColumn(text, Math.min(syntax.offset, text.trimEnd().length))
  return { issues: [{ pointer: '', line, detail: `is not JSON: ${syntax.detail}` }] }
}

/** JSON from an argument of a command, and the file that it was read from. */
export interface JsonSource {
  readonly value: Json
  readonly file?: { readonly path: string; readonly text: string }
}

/**
 * Reads an argument that is JSON in quotes or the path of a JSON file. Throws {@link UsageError} and {@link CommandFailed}.
 * @param name of the argument
 */
export async function readSource(name: string, text: string): Promise<JsonSource> {
  if (/^\s*[[{]/.test(text)) return { value: inlineJson(name, text) }
  const read = await readJson(text)
  if ('issues' in read) throw new CommandFailed(listed(text, read.issues).join('\n'))
  return { value: read.value, file: { path: text, text: read.text } }
}

/** An argument that is JSON; undefined where it is left out. Throws {@link UsageError}. */
export function jsonArgument(name: string, text: string | undefined): Json | undefined {
  return text === undefined ? undefined : inlineJson(name, text)
}

function inlineJson(name: string, text: string): Json {
  const syntax = syntaxIssue(text)
  if (syntax === undefined) return JSON.parse(text) as Json
  throw new UsageError([
    `<${name}>: is not JSON: ${syntax.detail} at character ${syntax.offset + 1}. Put it in single quotes, or give the path of a file.`,
  ])
}

function unreadable(code: string): string {
  if (code === 'ENOENT') return 'there is no such file; the path is relative to the working directory'
  if (code === 'EISDIR') return 'is a directory; give the path of a JSON file'
  return `cannot be read (${code}); check its permissions`
}

/** Reads a file that holds a JSON object. */
export async function readJsonFile(
  file: string,
): Promise<{ readonly text: string; readonly document: JsonObject } | Unreadable> {
  const read = await readJson(file)
  if ('issues' in read) return read
  if (isObject(read.value)) return { text: read.text, document: read.value }
  return { issues: [{ pointer: '', line: 1, detail: 'must be a JSON object' }] }
}

/** The text and the object of a JSON file. Throws {@link CommandFailed} with every issue of the file. */
export async function requireJsonFile(file: string) {
  const read = await readJsonFile(file)
  if ('document' in read) return read
  throw new CommandFailed(listed(file, read.issues).join('\n'))
}

/** Adds the lines to issues in a text of valid JSON. */
export function located(text: string, issues: readonly Issue[]): LocatedIssue[] {
  const placeIn = placesIn(text)
  return issues.map((issue) => ({ ...issue, line: placeIn(issue.pointer).line }))
}

/** An issue on one line, in the form that editors turn into a link: `file:line: pointer: detail`. */
export function issueLine(file: string, { line, column, pointer, detail }: LocatedIssue): string {
  const place = [file, ...(line === 0 ? [] : [line]), ...(column === undefined ? [] : [column])].join(':')
  return [place, pointer, detail].filter((each) => each !== '').join(': ')
}

export function listed(file: string, issues: readonly LocatedIssue[]): string[] {
  return issues.map((issue) => issueLine(file, issue))
}

/** Adds the lines of a file to the error of a refused request whose body came from it. Other errors are returned unchanged. */
export function refusedFile(
  title: string,
  { path, text }: { readonly path: string; readonly text: string },
  error: unknown,
): unknown {
  if (!(error instanceof RequestRefused) || error.issues.length === 0) return error
  return new CommandFailed([title, ...listed(path, located(text, error.issues))].join('\n  '))
}

export function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}

/**
 * Adds file and line to issues in fixtures. Issues of a document that extends another are about the merged document. In each of
 * its collections, the records of the extending document come first.
 */
export async function locateFixtures(source: string, issues: readonly Issue[]): Promise<FixturesIssue[]> {
  const read = await readJsonFile(fixturesFile(source))
  // The issues already contain the reason; only the line is missing.
  if ('issues' in read)
    return issues.map((issue) => ({ ...issue, file: source, line: read.issues[0]?.line ?? 0 }))
  return issues.map((issue) => {
    const own = ownPointer(issue.pointer, read.document)
    if (own === undefined)
      return { ...issue, file: `${read.document.extends}, extended by ${source}`, line: 0 }
    return { ...issue, file: source, pointer: own, line: placesIn(read.text)(own).line }
  })
}

/** The message about fixtures that cannot be used, with file and line of each issue. */
export async function fixturesFailure(source: string, issues: readonly Issue[]): Promise<string> {
  const lines = (await locateFixtures(source, issues)).map((issue) => issueLine(issue.file, issue))
  return ['The fixtures cannot be used:', ...lines].join('\n  ')
}

/** The message about a settings file that cannot be used, with the line of each issue. */
export async function settingsFailure(file: string, issues: readonly Issue[]): Promise<string> {
  const read = await readJsonFile(file)
  const lines = listed(file, 'issues' in read ? read.issues : located(read.text, issues))
  return ['The settings cannot be used:', ...lines].join('\n  ')
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
