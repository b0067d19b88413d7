import { crc32 } from 'node:zlib'
import { isObject } from '../../core/json.ts'
import {
  type Commit,
  type LoggedChange,
  type LoggedCommit,
  logged,
  loggedOneByOne,
} from '../../core/state/commit.ts'
import { SANDBOX_TABLE } from '../../core/state/state.ts'
import { type Files, NewerFormat } from './files.ts'
import { earlierGenerations } from './names.ts'

/** The version of the journal format. A newer one is refused with {@link NewerFormat}. */
export const JOURNAL_FORMAT = 2

/** The state file as recorded in the journal. A file with another digest has been edited or replaced since. */
export interface KnownFile {
  readonly sha256: string
  /** Whether it is the checkpoint that the commits after its revision continue; otherwise it is an applied edit. */
  readonly checkpoint: boolean
}

/** The first line of a generation of the journal. */
export interface Header {
  readonly journal: number
  /** Number of the last commit before the first one of this generation. */
  readonly revision: number
  /** The state file at the beginning of the generation; null if there was none. */
  readonly file: KnownFile | null
}

/**
 * A line of a journal. `next`: the SHA-256 of the checkpoint that is about to become the state file. `file`: the state file
 * from this line on. For an edit, this line follows the commit of the edit.
 */
export type Line = Header | { readonly next: string } | { readonly file: KnownFile } | LoggedCommit

const CRC_DIGITS = 8
const BEFORE = CRC_DIGITS + 1

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
  const sum = crc32(bytes.subarray(BEFORE, end)).toString(16).padStart(CRC_DIGITS, '0')
  bytes.write(`${sum} `, 0, 'latin1')
  bytes[end] = 0x0a
  return bytes.subarray(0, end + 1)
}

/** Decodes a line from its bytes without the newline. Undefined when they are damaged. */
export function decodeLine(bytes: Buffer): Line | undefined {
  if (bytes.length <= BEFORE || bytes[CRC_DIGITS] !== 0x20) return undefined
  const sum = bytes.toString('latin1', 0, CRC_DIGITS)
  const json = bytes.subarray(BEFORE)
  if (sum !== crc32(json).toString(16).padStart(CRC_DIGITS, '0')) return undefined
  try {
    const line: unknown = JSON.parse(json.toString())
    return isObject(line) ? (line as unknown as Line) : undefined
  } catch {
    return undefined
  }
}

export function isHeader(line: Line): line is Header {
  return 'journal' in line
}

function isCommit(line: Line): line is LoggedCommit {
  return 'changes' in line
}

/**
 * The line of a commit. It contains rows of the sandbox table completely, never as a patch. The clock in a state file has the
 * time at which the file was written. No commit contains this row, so a patch would not fit it.
 */
export function commitLine(commit: Commit): LoggedCommit {
  const line = logged(commit)
  const sources = loggedOneByOne(commit)
  if (!sources.some(({ table }) => table === SANDBOX_TABLE)) return line
  const changes = line.changes.map((change, n): LoggedChange => {
    const source = sources[n]
    return source?.table === SANDBOX_TABLE && source.after !== undefined
      ? ['put', SANDBOX_TABLE, source.after]
      : change
  })
  return { ...line, changes }
}

/** Describes damage in a journal. Everything before the offset is usable. */
export class JournalCorrupt extends Error {
  readonly path: string
  /** Offset of the first byte that cannot be used. */
  readonly offset: number

  constructor(path: string, offset: number, detail: string) {
    super(`${path}, byte ${offset}: ${detail}`)
    this.name = 'JournalCorrupt'
    this.path = path
    this.offset = offset
  }
}

/** A commit with its file and its offset in bytes. */
export interface PlacedCommit {
  readonly commit: LoggedCommit
  readonly path: string
  readonly offset: number
}

/** The content of one file of a journal. */
export interface GenerationContents {
  readonly path: string
  readonly header: Pick<Header, 'revision'> | undefined
  readonly commits: readonly PlacedCommit[]
  /** The state file according to the last line that names one; null if there was none. */
  readonly file: KnownFile | null
  /** SHA-256 of the checkpoint that was about to become the state file. */
  readonly next: string | undefined
  /** Offset of a write that was cut off. It was never acknowledged. */
  readonly torn?: number
  readonly corrupt?: JournalCorrupt
}

interface RawLine {
  readonly offset: number
  /** Undefined when the line is damaged. */
  readonly line: Line | undefined
  readonly ended: boolean
}

/**
 * Reads one file of a journal. A last line without its newline is the beginning of a write that was cut off; any other damage is
 * corruption, and nothing after it is used. Throws {@link NewerFormat}.
 */
export function readGeneration(files: Files, path: string): GenerationContents {
  const commits: PlacedCommit[] = []
  let header: Header | undefined
  let file: KnownFile | null = null
  let next: string | undefined
  const contents = (end: Pick<GenerationContents, 'torn' | 'corrupt'>): GenerationContents => {
    return { path, header, commits, file, next, ...end }
  }
  const corrupt = (offset: number, detail: string): GenerationContents => {
    return contents({ corrupt: new JournalCorrupt(path, offset, detail) })
  }
  for (const { offset, line, ended } of readLines(files, path)) {
    if (!ended && header !== undefined) return contents({ torn: offset })
    if (line === undefined && ended) return corrupt(offset, 'a damaged line begins here')
    if (line === undefined) break
    if (isHeader(line)) header ??= line
    if (header === undefined) break
    if (header.journal > JOURNAL_FORMAT) throw new NewerFormat(path, header.journal, JOURNAL_FORMAT)
    if (isCommit(line)) commits.push({ commit: line, path, offset })
    else if ('next' in line) next = line.next
    else [file, next] = [line.file, undefined]
  }
  return header === undefined ? corrupt(0, 'the journal has no header') : contents({})
}

/**
 * Reads the generations of a journal, oldest first. If the present generation continues the state file, the generations
 * before it are not read.
 * @param checkpoint the state file, when it is unedited
 */
export function readJournal(
  files: Files,
  path: string,
  checkpoint: { readonly sha256: string; readonly revision: number } | undefined,
): readonly GenerationContents[] {
  const read = (each: string): GenerationContents => readGeneration(files, each)
  const present = files.stat(path) === undefined ? [] : [read(path)]
  const [last] = present
  const isEnough =
    checkpoint !== undefined &&
    last?.header !== undefined &&
    isCheckpointOf(last, checkpoint.sha256) &&
    last.header.revision <= checkpoint.revision
  return isEnough ? present : [...earlierGenerations(files, path).map(read), ...present]
}

/** Whether the digest is that of the checkpoint that a generation continues, or that was about to become the state file. */
export function isCheckpointOf({ file, next }: GenerationContents, sha256: string): boolean {
  return next === sha256 || (file?.checkpoint === true && file.sha256 === sha256)
}

/**
 * The commits after a revision, in order, up to the first missing or damaged one. `corrupt` is the place of that one.
 */
export function commitsAfter(
  generations: readonly Pick<GenerationContents, 'path' | 'header' | 'commits' | 'corrupt'>[],
  revision: number,
): { readonly commits: readonly PlacedCommit[]; readonly corrupt: JournalCorrupt | undefined } {
  const commits: PlacedCommit[] = []
  let last = revision
  for (const [n, { path, header, commits: own, corrupt }] of generations.entries()) {
    // Damage in a generation that ends before the revision is harmless.
    if ((generations[n + 1]?.header?.revision ?? Number.POSITIVE_INFINITY) <= revision) continue
    if (header !== undefined && header.revision > last) {
      return { commits, corrupt: new JournalCorrupt(path, 0, gap(last, header.revision + 1)) }
    }
    for (const placed of own) {
      const next = placed.commit.revision
      if (next <= revision) continue
      if (next !== last + 1)
        return { commits, corrupt: new JournalCorrupt(path, placed.offset, gap(last, next)) }
      commits.push(placed)
      last = next
    }
    if (corrupt !== undefined) return { commits, corrupt }
  }
  return { commits, corrupt: undefined }
}

function gap(last: number, next: number): string {
  return `revision ${next} follows revision ${last}; the commits between them are missing`
}

const CHUNK = 256 * 1024
const NEWLINE = 0x0a

/** The lines of a journal. The file is read in pieces, because it may be larger than the largest possible buffer. */
export function* readLines(files: Files, path: string): Generator<RawLine> {
  const file = files.open(path, 'r')
  try {
    let pending: Buffer[] = []
    let [start, at] = [0, 0]
    for (;;) {
      const buffer = Buffer.allocUnsafe(CHUNK)
      const chunk = buffer.subarray(0, files.readInto(file, buffer, at))
      if (chunk.length === 0) break
      at += chunk.length
      let from = 0
      for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, from)) {
        const bytes = joined(pending, chunk.subarray(from, end))
        pending = []
        yield { offset: start, line: decodeLine(bytes), ended: true }
        start += bytes.length + 1
        from = end + 1
      }
      if (from < chunk.length) pending.push(chunk.subarray(from))
    }
    if (pending.length > 0) yield { offset: start, line: undefined, ended: false }
  } finally {
    files.close(file)
  }
}

function joined(before: readonly Buffer[], last: Buffer): Buffer {
  return before.length === 0 ? last : Buffer.concat([...before, last])
}
