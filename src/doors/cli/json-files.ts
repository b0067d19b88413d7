import { readFile } from 'node:fs/promises'
import { type Issue, isObject, type JsonObject } from '../../kernel/json.ts'
import { lineOf, placeOf, syntaxIssue } from '../json-text.ts'
import { CommandFailed } from './usage.ts'

/** Something wrong in a file: an issue and the line (from 1) that it is on; line 0 when the file cannot be read. */
export interface LocatedIssue extends Issue {
  readonly line: number
}

/** A JSON object from a file with its text, or everything that keeps it from being one. */
export type JsonFile =
  | { readonly text: string; readonly document: JsonObject }
  | { readonly issues: readonly LocatedIssue[] }

/** Reads a file that holds a JSON object. */
export async function readJsonFile(file: string): Promise<JsonFile> {
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
  const document: unknown = JSON.parse(text)
  if (isObject(document)) return { text, document }
  return { issues: [{ pointer: '', line: 1, detail: 'must be a JSON object' }] }
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
export function issueLine(file: string, { line, pointer, detail }: LocatedIssue): string {
  return [line === 0 ? file : `${file}:${line}`, pointer, detail].filter((each) => each !== '').join(': ')
}

function unreadable(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : String(error)
  if (code === 'ENOENT') return 'there is no such file; the path is relative to the working directory'
  if (code === 'EISDIR') return 'is a directory; give the path of a JSON file'
  return `cannot be read (${code}); check its permissions`
}
