import { crc32 } from 'node:zlib'
import { isObject, parsedJson } from '../../core/json.ts'
import { type Commit, type LoggedCommit, logged } from '../../core/state/commit.ts'
import { SANDBOX_TABLE } from '../../core/state/state.ts'
import type { Files } from './files.ts'

/** The version of the journal format. Any other one is refused. */
const JOURNAL_FORMAT = 3

/** The content of a state file that contains every commit up to a revision. */
export interface KnownFile {
  /** Its digest, see {@link digestOf}; null: there is no file yet. */
  readonly file: string | null
  readonly revision: number
}

/** A line of a journal: the first one, a state file that is about to get its name or was edited, or a commit. */
type Line = ({ readonly journal: number } & KnownFile) | KnownFile | LoggedCommit

/** A digest that tells an edited file from the one that was written. */
export function digestOf(bytes: Uint8Array): string {
  return `${hex(crc32(bytes))}-${bytes.length}`
}

const CRC_DIGITS = 8
const BEFORE = CRC_DIGITS + 1

function hex(crc: number): string {
  return crc.toString(16).padStart(CRC_DIGITS, '0')
}

// Most lines are small, so they are encoded in one buffer that is reused.
const scratch = Buffer.allocUnsafe(64 * 1024)

/**
 * Encodes a line: the CRC-32 of the JSON in eight hexadecimal digits, a space, the JSON, a newline. The bytes are valid until
 * the next call. Throws when the value cannot be written as JSON, so that such a value is never committed.
 */
export function encodeLine(line: Line): Uint8Array {
  const json = JSON.stringify(line)
  const small = BEFORE + json.length * 3 + 1 <= scratch.length
  const bytes = small ? scratch : Buffer.allocUnsafe(BEFORE + Buffer.byteLength(json) + 1)
  const end = BEFORE + bytes.write(json, BEFORE)
  bytes.write(`${hex(crc32(bytes.subarray(BEFORE, end)))} `, 0, 'latin1')
  bytes[end] = 0x0a
  return bytes.subarray(0, end + 1)
}

/** The first line of a journal. */
export function headerLine(known: KnownFile): Line {
  return { journal: JOURNAL_FORMAT, ...known }
}

/** Decodes a line from its bytes without the newline. Undefined when they are damaged. */
export function decodeLine(bytes: Buffer): Line | undefined {
  const json = bytes.subarray(BEFORE)
  if (bytes.toString('latin1', 0, BEFORE) !== `${hex(crc32(json))} `) return undefined
  const line = parsedJson(json.toString())
  return isObject(line) ? (line as unknown as Line) : undefined
}

/**
 * The line of a commit. It contains rows of the sandbox table completely, never as a patch. The clock in a state file has the
 * time at which the file was written. No commit contains this row, so a patch would not fit it.
 */
export function commitLine(commit: Commit): LoggedCommit {
  return logged(commit, (table) => table === SANDBOX_TABLE)
}

/** A commit with its offset in the journal, in bytes. */
export interface PlacedCommit {
  readonly commit: LoggedCommit
  readonly offset: number
}

/** A place in a journal that cannot be used, and the reason. */
export interface Damage {
  readonly offset: number
  readonly reason: string
}

/** The content of a journal. */
export interface JournalContents {
  /** The state files that it names, in order. */
  readonly known: readonly KnownFile[]
  /** The commits before the damage, if there is one. */
  readonly commits: readonly PlacedCommit[]
  /** The end of its last complete line, in bytes. */
  readonly end: number
  /** Whether a line that was cut off follows. It was never acknowledged. */
  readonly isTorn: boolean
  readonly damage: Damage | undefined
}

/** Reads a journal; undefined when there is none. A last line without its newline is torn; anything else is damage. */
export function readJournal(files: Files, path: string): JournalContents | undefined {
  const text = files.read(path)
  if (text === undefined) return undefined
  const [known, commits]: [KnownFile[], PlacedCommit[]] = [[], []]
  let [end, isTorn, damage]: [number, boolean, Damage?] = [0, false]
  for (const { offset, bytes, isEnded } of linesOf(text)) {
    isTorn = !isEnded
    if (isTorn) break
    const line = decodeLine(bytes)
    damage = line === undefined ? { offset, reason: 'a damaged line begins here' } : misplaced(line, offset)
    if (line === undefined || damage !== undefined) break
    if ('changes' in line) commits.push({ commit: line, offset })
    else known.push(line)
    end = offset + bytes.length + 1
  }
  if (end === 0) damage ??= { offset: 0, reason: 'it has no complete first line' }
  return { known, commits, end, isTorn, damage }
}

function misplaced(line: Line, offset: number): Damage | undefined {
  const isHeader = 'journal' in line
  if (isHeader && line.journal !== JOURNAL_FORMAT)
    return { offset, reason: `its format is ${line.journal}; this version reads ${JOURNAL_FORMAT}` }
  return isHeader === (offset === 0)
    ? undefined
    : { offset, reason: 'only the first line, and always the first line, names the format' }
}

const NEWLINE = 0x0a

/** The lines of a file, without their newlines, each with its offset in bytes. Only the last one may have no newline. */
function* linesOf(text: Buffer): Generator<{ offset: number; bytes: Buffer; isEnded: boolean }> {
  for (let offset = 0; offset < text.length; ) {
    const end = text.indexOf(NEWLINE, offset)
    const bytes = text.subarray(offset, end === -1 ? undefined : end)
    yield { offset, bytes, isEnded: end !== -1 }
    offset += bytes.length + 1
  }
}
