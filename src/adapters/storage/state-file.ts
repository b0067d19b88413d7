import { isUtf8 } from 'node:buffer'
import { type Issue, isObject } from '../../core/json.ts'
import { migrate } from '../../core/state/migrate.ts'
import { FORMAT } from '../../core/state/state.ts'
import { lineAndColumn, placesIn, syntaxIssue } from '../json-text.ts'
import { digestOf } from './document-file.ts'
import { errorMessage, type FileStat, type Files, NewerFormat } from './files.ts'
import { readGeneration } from './journal-format.ts'
import { journalOf } from './names.ts'
import { MAX_SHOWN, shortList } from './notice.ts'

/** Describes a syntax error of a state file, with its place. */
class StateFileSyntax extends Error {
  readonly line: number

  constructor(path: string, text: string, offset: number, detail: string) {
    const { line, column } = lineAndColumn(text, offset)
    super(`${path}:${line}:${column}: ${detail}`)
    this.name = 'StateFileSyntax'
    this.line = line
  }
}

/** The content of a state file, before it is checked. */
export interface StateText {
  readonly bytes: Buffer
  /** SHA-256 of the bytes, in hexadecimal digits. */
  readonly sha256: string
  /** Whether the emulator wrote exactly these bytes, at any time. */
  readonly isUnedited: boolean
  readonly text: string
  /** The format that it was written in; NaN if it has none. */
  readonly format: number
  /** The document in the present format; undefined when there is a problem. */
  readonly raw: unknown
  /** The syntax error; undefined for valid JSON. */
  readonly problem: StateFileSyntax | undefined
}

/** A state file on the disk. */
export interface FoundState extends StateText {
  readonly path: string
  readonly stat: FileStat
}

/** @param path for the message of the problem */
export function readState(bytes: Buffer, path: string): StateText {
  const digest = digestOf(bytes)
  try {
    const text = textOf(bytes, path)
    const raw = parseState(text, path)
    const format = isObject(raw) ? Number(raw.format) : Number.NaN
    return { bytes, ...digest, text, format, raw: migrate(raw), problem: undefined }
  } catch (problem) {
    if (!(problem instanceof StateFileSyntax)) throw problem
    return { bytes, ...digest, text: '', format: Number.NaN, raw: undefined, problem }
  }
}

/** Undefined when there is no such file. Throws {@link NewerFormat}. */
export function findState(files: Files, path: string): FoundState | undefined {
  const stat = files.stat(path)
  const bytes = stat && files.read(path)
  if (stat === undefined || bytes === undefined) return undefined
  const state = readState(bytes, path)
  if (state.format > FORMAT) throw new NewerFormat(path, state.format, FORMAT)
  return { ...state, path, stat }
}

const FIELDS = ['collections', 'format', 'revision', 'clock', 'counters', 'settings', 'schedule']

/** Whether it is an object with at least one field of a state document. The values may all be invalid. */
export function isDocument({ raw }: StateText): boolean {
  return isObject(raw) && FIELDS.some((key) => Object.hasOwn(raw, key))
}

/** The first issues with their lines. @param text for line numbers; empty: no line numbers */
export function issueLines(path: string, text: string, issues: readonly Issue[]) {
  const placeIn = placesIn(text)
  const message = shortList(
    issues.map(({ pointer, detail }, n) => {
      // Only the first ones are shown, and finding a line reads the whole text.
      const place = text === '' || n >= MAX_SHOWN ? path : `${path}:${placeIn(pointer).line}`
      return `${place}: ${pointer || '/'}: ${detail}`
    }),
    '; ',
  )
  return { message, line: placeIn(issues[0]?.pointer ?? '').line }
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

function hasCommitsAfter(files: Files, journal: string, revision: number): boolean {
  const stat = files.stat(journal)
  if (stat === undefined) return false
  if (stat.size > HEAD) return true
  const { header, commits, torn, corrupt } = readGeneration(files, journal)
  return header?.revision !== revision || commits.length > 0 || torn !== undefined || corrupt !== undefined
}

/** The text of a state file. A byte order mark, which some editors add, is not part of it. */
function textOf(bytes: Buffer, path: string): string {
  if (!isUtf8(bytes))
    throw new StateFileSyntax(path, bytes.toString('latin1'), firstBroken(bytes), 'this byte is not UTF-8')
  const text = bytes.toString()
  return text.startsWith('\uFEFF') ? text.slice(1) : text
}

function parseState(text: string, path: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    const issue = syntaxIssue(text)
    throw new StateFileSyntax(path, text, issue?.offset ?? 0, issue?.detail ?? errorMessage(error))
  }
}

// A binary search for the first invalid byte. A cut within a character does not count as invalid.
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
