import { isUtf8 } from 'node:buffer'
import { createHash } from 'node:crypto'
import type { Adapter } from 'lowdb'
import type { Document } from '../../kernel/state/state.ts'
import { placeOf, syntaxIssue } from '../json-text.ts'
import { type FileStat, type Files, reasonOf } from './files.ts'
import { temporary } from './names.ts'
import { writeDocument } from './write-document.ts'

/** A state file as it lies on the disk: what tells it from one that somebody else has written. */
export interface Written {
  /** Number of the last commit that it contains. */
  readonly revision: number
  /** SHA-256 of its bytes, in hexadecimal digits. */
  readonly sha256: string
  readonly stat: FileStat
  /** An open descriptor of it, which the receiver closes. */
  readonly file: number
}

/** What takes part when a new state file takes the place of the old one. */
export interface Placing {
  /** The new file is whole and on the disk, under a temporary name. */
  prepare(revision: number, sha256: string): Promise<void>
  /** Called in the same turn as the renaming that follows; throws when the old file must not be replaced. */
  check(): void
  /** The new file stands in the old one's place. */
  placed(written: Written): void
}

/** A state file that is not JSON, with the place. */
export class StateFileSyntax extends Error {
  readonly line: number

  constructor(path: string, line: number, column: number, detail: string) {
    super(`${path}:${line}:${column}: ${detail}`)
    this.name = 'StateFileSyntax'
    this.line = line
  }
}

/**
 * The state file for lowdb: pretty JSON that a person can read and edit. Written record by record, so that the event loop
 * turns while a large state is on its way, into a temporary file that then takes the old one's place.
 */
export class StateFileAdapter implements Adapter<Document> {
  readonly #files: Files
  readonly #path: string
  readonly #placing: Placing
  /** SHA-256 of what was read last. */
  sha256 = ''
  /** The text that was read last, for messages that name a line of it. */
  text = ''

  constructor(files: Files, path: string, placing: Placing) {
    this.#files = files
    this.#path = path
    this.#placing = placing
  }

  /** What the file says, unchecked; null when there is no file. Throws {@link StateFileSyntax} with line and column. */
  async read(): Promise<Document | null> {
    const bytes = this.#files.read(this.#path)
    if (bytes === undefined) return null
    this.sha256 = sha256(bytes)
    this.text = textOf(bytes, this.#path)
    return parseState(this.text, this.#path) as Document
  }

  async write(document: Document): Promise<void> {
    const path = temporary(this.#path)
    const file = this.#files.open(path, 'wx')
    try {
      const digest = await writeDocument(this.#files, file, document)
      await this.#files.sync(file)
      await this.#placing.prepare(document.revision, digest)
      this.#placing.check()
      this.#files.rename(path, this.#path)
      const stat = this.#files.statOf(file)
      this.#placing.placed({ revision: document.revision, sha256: digest, stat, file })
    } catch (error) {
      this.#discard(path, file)
      throw error
    }
    await this.#files.syncDirectory(this.#path)
  }

  // What has failed is said by the caller; a temporary file that stays behind is removed at the next start.
  #discard(path: string, file: number): void {
    try {
      this.#files.close(file)
      this.#files.remove(path)
    } catch {}
  }
}

/** The digest that state files are told apart by. */
export function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/** The text of a state file. A byte order mark, which some editors add, is not part of it. */
export function textOf(bytes: Buffer, path: string): string {
  if (!isUtf8(bytes)) {
    const [valid, broken] = [bytes.toString('latin1'), firstBroken(bytes)]
    const { line, column } = placeOf(valid, broken)
    throw new StateFileSyntax(path, line, column, 'this byte is not UTF-8')
  }
  const text = bytes.toString()
  return text.startsWith('\uFEFF') ? text.slice(1) : text
}

/** Parses the text of a state file; throws {@link StateFileSyntax}. */
export function parseState(text: string, path: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    const issue = syntaxIssue(text)
    const { line, column } = placeOf(text, issue?.offset ?? 0)
    throw new StateFileSyntax(path, line, column, issue?.detail ?? reasonOf(error))
  }
}

// Halves the bytes until the first one that makes them invalid is found. A cut within a character is no break.
function firstBroken(bytes: Buffer): number {
  let [good, bad] = [0, bytes.length]
  while (bad - good > 1) {
    const middle = (good + bad) >> 1
    if (isUtf8(wholeCharacters(bytes, middle))) good = middle
    else bad = middle
  }
  return good
}

function wholeCharacters(bytes: Buffer, end: number): Buffer {
  let cut = end
  while (cut > 0 && cut < bytes.length && ((bytes[cut] ?? 0) & 0xc0) === 0x80) cut -= 1
  return bytes.subarray(0, cut)
}
