import { statSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { type Issue, isObject, type Json, type JsonObject } from '../../kernel/json.ts'
import { lineOf, placeOf, syntaxIssue } from '../json-text.ts'
import { CommandFailed } from './usage.ts'

/** Something wrong in a file: an issue and the line (from 1) that it is on; line 0 when the file cannot be read. */
export interface LocatedIssue extends Issue {
  readonly line: number
  /** From 1, where it is known. */
  readonly column?: number
}

/** A JSON object from a file with its text, or everything that keeps it from being one. */
export type JsonFile =
  | { readonly text: string; readonly document: JsonObject }
  | { readonly issues: readonly LocatedIssue[] }

/** Reads a file that holds a JSON object. */
export async function readJsonFile(file: string): Promise<JsonFile> {
  const read = await readJson(file)
  if ('issues' in read) return read
  const { text, value } = read
  if (isObject(value)) return { text, document: value }
  return { issues: [{ pointer: '', line: 1, detail: 'must be a JSON object' }] }
}

/** Reads a file that holds any JSON. */
export async function readJson(
  file: string,
): Promise<{ readonly text: string; readonly value: Json } | { readonly issues: readonly LocatedIssue[] }> {
  let text: string
  try {
    text = await readFile(file, 'utf8')
  } catch (error) {
    return { issues: [{ pointer: '', line: 0, detail: unreadable(error) }] }
  }
  const syntax = syntaxIssue(text)
  if (syntax !== undefined) {
    const { line } = placeOf(text, Math.min(syntax.offset, text.trimEnd().length))
    return { issues: [{ pointer: '', line, detail: `is not JSON: ${syntax.detail}` }] }
  }
  return { text, value: JSON.parse(text) as Json }
}

/** The object in a JSON file. Throws {@link CommandFailed} with everything that keeps it from being one. */
export async function readJsonObject(file: string): Promise<JsonObject> {
  const read = await readJsonFile(file)
  if ('document' in read) return read.document
  throw new CommandFailed(read.issues.map((issue) => issueLine(file, issue)).join('\n'))
}

/** Finds the lines of issues in a text of valid JSON. */
export function located(text: string, issues: readonly Issue[]): LocatedIssue[] {
  return issues.map((issue) => ({ ...issue, line: lineOf(text, issue.pointer) }))
}

/** One line for people, in the form that editors make a link of: `file:line: pointer: what`. */
export function issueLine(file: string, { line, column, pointer, detail }: LocatedIssue): string {
  const place = [file, ...(line === 0 ? [] : [line]), ...(column === undefined ? [] : [column])].join(':')
  return [place, pointer, detail].filter((each) => each !== '').join(': ')
}

export function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}

function unreadable(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : String(error)
  if (code === 'ENOENT') return 'there is no such file; the path is relative to the working directory'
  if (code === 'EISDIR') return 'is a directory; give the path of a JSON file'
  return `cannot be read (${code}); check its permissions`
}
