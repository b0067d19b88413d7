import type { LoggedCommit } from '../../kernel/state/commit.ts'
import type { Files } from './files.ts'
import {
  decodeLine,
  type Header,
  isAdoption,
  isCommit,
  isHeader,
  type Line,
  LOG_FORMAT,
} from './log-format.ts'

/** A log that cannot be followed any further, with the place. What stands before the place is whole. */
export class LogCorrupt extends Error {
  readonly path: string
  /** Of the first byte that cannot be used. */
  readonly offset: number

  constructor(path: string, offset: number, detail: string) {
    super(`${path}, byte ${offset}: ${detail}`)
    this.name = 'LogCorrupt'
    this.path = path
    this.offset = offset
  }
}

/** A log or a state file that a newer version has written. */
export class NewerFormat extends Error {
  constructor(path: string, found: number, known: number) {
    super(
      `${path} has the format ${found}; this version reads ${known}. Upgrade the emulator, or choose another data directory. Nothing has been changed.`,
    )
    this.name = 'NewerFormat'
  }
}

/** A commit and where it stands. */
export interface PlacedCommit {
  readonly commit: LoggedCommit
  readonly path: string
  readonly offset: number
}

/** The same for the commit that stands on an edited file. */
export interface PlacedAdoption extends PlacedCommit {
  /** SHA-256 of the edited file. */
  readonly adopts: string
}

/** What one file of a log says. */
export interface GenerationContents {
  readonly path: string
  readonly header: Header | undefined
  /** Digests of the state files that it knows to be the emulator's own. */
  readonly digests: readonly string[]
  readonly commits: readonly PlacedCommit[]
  /** What turns edited files into the world as it was when they were taken. */
  readonly adoptions: readonly PlacedAdoption[]
  /** Where the bytes of a write that was cut off begin; they have never been acknowledged. */
  readonly torn?: number
  readonly corrupt?: LogCorrupt
}

interface RawLine {
  readonly offset: number
  /** Undefined when the line is damaged. */
  readonly line: Line | undefined
  readonly ended: boolean
}

/**
 * Reads one file of a log. A last line without its newline is the beginning of a write that was cut off; any other damage is
 * corruption, and nothing after it is used. Throws {@link NewerFormat}.
 */
export function readGeneration(files: Files, path: string): GenerationContents {
  const [digests, commits, adoptions]: [string[], PlacedCommit[], PlacedAdoption[]] = [[], [], []]
  const contents = { path, digests, commits, adoptions }
  let header: Header | undefined
  for (const { offset, line, ended } of readLines(files, path)) {
    if (!ended) return { ...contents, header, torn: offset }
    const corrupt = (detail: string): GenerationContents => {
      return { ...contents, header, corrupt: new LogCorrupt(path, offset, detail) }
    }
    if (line === undefined) return corrupt('a damaged line begins here')
    if (isHeader(line)) header ??= line
    if (header === undefined) return corrupt('the log has no header')
    if (header.log > LOG_FORMAT) throw new NewerFormat(path, header.log, LOG_FORMAT)
    if (isCommit(line)) commits.push({ commit: line, path, offset })
    else if (isAdoption(line)) adoptions.push({ ...line, path, offset })
    else if (line.base !== null) digests.push(line.base.sha256)
  }
  return { ...contents, header }
}

/**
 * The commits after a revision, in order, up to the first place at which one is missing or damaged; and that place.
 */
export function follow(
  generations: readonly GenerationContents[],
  revision: number,
): { readonly commits: readonly PlacedCommit[]; readonly corrupt: LogCorrupt | undefined } {
  const commits: PlacedCommit[] = []
  let last = revision
  for (const { path, header, commits: own, corrupt } of generations) {
    if (header !== undefined && header.revision > last) {
      return { commits, corrupt: new LogCorrupt(path, 0, gap(last, header.revision + 1)) }
    }
    for (const placed of own) {
      const next = placed.commit.revision
      if (next <= revision) continue
      if (next !== last + 1) return { commits, corrupt: new LogCorrupt(path, placed.offset, gap(last, next)) }
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

// Reads in pieces: a log may be larger than what fits into one buffer.
function* readLines(files: Files, path: string): Generator<RawLine> {
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
