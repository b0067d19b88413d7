import { dirname } from 'node:path'
import type { SyncAdapter } from 'lowdb'
import { type Issue, isObject } from '../../core/json.ts'
import { lineAndColumn, locationsIn, syntaxIssue } from '../../core/json-text.ts'
import { type Document, FORMAT } from '../../core/state/state.ts'
import { decodedText } from '../text.ts'
import { type FileStat, type Files, replace, sameStat } from './files.ts'
import type { JournalWriter } from './journal.ts'
import { digestOf, readJournal } from './journal-format.ts'
import { journalOf } from './names.ts'

/** Digests of earlier checkpoints that are kept, to recognise an editor that saves one of them unchanged. */
const MAX_DIGESTS = 1_000

/**
 * The state file of one sandbox; the adapter of lowdb. A write replaces the whole file or leaves it. Content that was neither
 * written nor accepted here is an edit.
 */
export class StateFile implements SyncAdapter<Document> {
  readonly path: string
  readonly #files: Files
  readonly #journal: Pick<JournalWriter, 'name' | 'begin'>
  readonly #written = new Set<string>()
  #stat: FileStat | undefined
  #digest: string | undefined

  constructor(files: Files, path: string, journal: Pick<JournalWriter, 'name' | 'begin'>) {
    this.#files = files
    this.path = path
    this.#journal = journal
  }

  read(): Document | null {
    const bytes = this.#files.read(this.path)
    return bytes === undefined ? null : (parseState(this.path, bytes).document as Document)
  }

  write(document: Document): void {
    const bytes = bytesOf(document)
    const digest = digestOf(bytes)
    const known = { file: digest, revision: document.revision }
    this.#files.makeDirectory(dirname(this.path))
    this.#journal.name(known)
    replace(this.#files, this.path, bytes)
    this.accept(digest, this.#files.stat(this.path))
    this.#written.add(digest)
    const [oldest] = this.#written
    if (this.#written.size > MAX_DIGESTS && oldest !== undefined) this.#written.delete(oldest)
    this.#journal.begin(known)
  }

  /** The metadata of the file if it may have been edited; `missing` when it was removed; undefined when nothing has changed. */
  news(): FileStat | 'missing' | undefined {
    const stat = this.#files.stat(this.path)
    if (stat === undefined) return this.#stat === undefined ? undefined : 'missing'
    return this.#stat !== undefined && sameStat(stat, this.#stat) ? undefined : stat
  }

  /** Whether the file last written or accepted has this digest. */
  isCurrent(digest: string): boolean {
    return this.#digest === digest
  }

  /** Whether a checkpoint of this process has this digest. */
  isWritten(digest: string): boolean {
    return this.#written.has(digest)
  }

  /** Records content that needs no further work. @param stat undefined when there is no file */
  accept(digest: string | undefined, stat: FileStat | undefined): void {
    this.#digest = digest
    this.#stat = stat
  }
}

/** A document as it is written to a file. */
export function bytesOf(document: Document): Buffer {
  return Buffer.from(`${JSON.stringify(document, null, 2)}\n`)
}

/** Thrown for content that is not a valid state document. The message has place and reason. */
export class UnusableState extends Error {
  /** Counted from 1; undefined when the place is not in the text. */
  readonly line: number | undefined
  /** Whether it is not JSON: such a text may be half saved. */
  readonly isSyntax: boolean

  constructor(message: string, line?: number, isSyntax = false) {
    super(message)
    this.name = 'UnusableState'
    this.line = line
    this.isSyntax = isSyntax
  }
}

/** Parses the content of a state file, without checking the document. Throws {@link UnusableState}. */
export function parseState(
  path: string,
  bytes: Buffer,
): { readonly document: unknown; readonly text: string } {
  const text = decodedText(bytes, (problem) => {
    throw new UnusableState(`${path}: ${problem}`, undefined, true)
  })
  const document = parseJson(path, text)
  const format = isObject(document) ? document.format : undefined
  if (typeof format === 'number' && format !== FORMAT) {
    const { line } = locationsIn(text)('/format')
    throw new UnusableState(`${path}:${line}: its format is ${format}; this version reads ${FORMAT}`, line)
  }
  return { document, text }
}

function parseJson(path: string, text: string): unknown {
  const issue = syntaxIssue(text)
  if (issue === undefined) return JSON.parse(text)
  const { line, column } = lineAndColumn(text, issue.offset)
  throw new UnusableState(`${path}:${line}:${column}: ${issue.detail}`, line, true)
}

const MAX_SHOWN = 5

/** The first issues of a document with their lines. @param text the document; undefined: it is not what the file contains */
export function issuesError(path: string, text: string | undefined, issues: readonly Issue[]): UnusableState {
  const locationIn = text === undefined ? undefined : locationsIn(text)
  const shown = issues.slice(0, MAX_SHOWN).map(({ pointer, detail }) => {
    const place = locationIn === undefined ? path : `${path}:${locationIn(pointer).line}`
    return `${place}: ${pointer || '/'}: ${detail}`
  })
  if (issues.length > MAX_SHOWN) shown.push(`and ${issues.length - MAX_SHOWN} more`)
  return new UnusableState(shown.join('; '), locationIn?.(issues[0]?.pointer ?? '').line)
}

/** Bytes of a state file that are read to find its wake time. A journal larger than this always counts as one with commits. */
const HEAD = 4 * 1024

// The fields that the emulator writes first. A file that was reformatted may have them in another place.
const FIRST =
  /^\s*\{\s*"format":\s*\d+,\s*"revision":\s*(\d+),\s*"sandbox":\s*"[^"]*",\s*"wakes_at":\s*(?:null|"([^"]+)")/

/**
 * Reads when the next event of the sandbox in a state file is due, in milliseconds of the host's clock. Only the first bytes
 * of the file are read. `never`: the sandbox only waits for requests. `unknown`: the file does not contain the time, or its
 * journal has later commits.
 */
export function readWakeTime(files: Files, path: string): number | 'never' | 'unknown' {
  const [, revision, wakesAt] = FIRST.exec(firstBytes(files, path)) ?? []
  if (revision === undefined || hasCommitsAfter(files, journalOf(path), Number(revision))) return 'unknown'
  return wakesAt === undefined ? 'never' : Date.parse(wakesAt)
}

function firstBytes(files: Files, path: string): string {
  const file = files.open(path, 'r')
  try {
    const bytes = Buffer.alloc(HEAD)
    return bytes.toString('utf8', 0, files.readInto(file, bytes, 0))
  } finally {
    files.close(file)
  }
}

function hasCommitsAfter(files: Files, path: string, revision: number): boolean {
  if ((files.stat(path)?.size ?? 0) > HEAD) return true
  const journal = readJournal(files, path)
  if (journal === undefined) return false
  return journal.damage !== undefined || journal.commits.some(({ commit }) => commit.revision > revision)
}
