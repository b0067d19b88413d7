import { crc32 } from 'node:zlib'
import { isObject } from '../../kernel/json.ts'
import { type Commit, type LoggedChange, type LoggedCommit, logged } from '../../kernel/state/commit.ts'
import { WORLD } from '../../kernel/state/state.ts'

/** The version of the log's shape. A newer one is refused. */
export const LOG_FORMAT = 1

/** The state file that a log stands on: a file with another digest has been edited. */
export interface Base {
  /** Number of the last commit that the file contains. */
  readonly revision: number
  readonly sha256: string
}

/** The first line of a log. */
export interface Header {
  readonly log: number
  /** Number of the last commit before this log's first. */
  readonly revision: number
  /** The state file as it was when the log was begun; null where there was none. */
  readonly base: Base | null
}

/** The line that says which state file is about to take the place of the old one. */
export interface Mark {
  readonly base: Base
}

/**
 * The line behind the commit of an edit of the state file: what turns the world of the edited file into the one before that
 * commit. The lines before are differences to the file that the edit has overwritten.
 */
export interface Adoption {
  /** SHA-256 of the edited file. */
  readonly adopts: string
  readonly commit: LoggedCommit
}

export type Line = Header | Mark | Adoption | LoggedCommit

const CRC_DIGITS = 8
const BEFORE = CRC_DIGITS + 1

// Most lines are small: they are put together in one buffer that is used again.
const scratch = Buffer.allocUnsafe(64 * 1024)

/**
 * One line: the CRC-32 of the JSON in eight hexadecimal digits, a space, the JSON, a newline. The bytes are good until the
 * next call. Throws when the value cannot be written as JSON, so that nothing is committed that could not be saved.
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

/** The line in these bytes, without their newline; undefined when they are damaged. */
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
  return 'log' in line
}

export function isAdoption(line: Line): line is Adoption {
  return 'adopts' in line
}

export function isCommit(line: Line): line is LoggedCommit {
  return 'changes' in line
}

/**
 * What the line of a commit says. The world's own rows stand there whole, never as a difference: the clock of a state file
 * is the clock of the moment at which it was written, which no commit has ever put.
 */
export function commitLine(commit: Commit): LoggedCommit {
  const line = logged(commit)
  if (!commit.changes.some(({ table }) => table === WORLD)) return line
  const changes = line.changes.map((change, n): LoggedChange => {
    const source = commit.changes[n]
    return source?.table === WORLD && source.after !== undefined ? ['put', WORLD, source.after] : change
  })
  return { ...line, changes }
}
