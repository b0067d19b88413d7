import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { MAX_FILE, unreadableKind } from '../../adapters/text.ts'
import { CommandFailed } from '../../terminal/command.ts'
import { codeOf } from '../../terminal/print.ts'

const CHUNK = 1_048_576

/** The depth of the items of `log.entries`: below the document, `log` and the list. */
const DEPTH = 4

const [QUOTE, BACKSLASH] = [0x22, 0x5c]
const [OPENING, CLOSING] = [new Set([0x7b, 0x5b]), new Set([0x7d, 0x5d])]

/** Why a part of the file is no entry. */
export interface DamagedEntry {
  readonly reason: string
}

/**
 * Reads the entries of a HAR file one after another, so that one entry at a time is in memory. What is after a damaged place
 * is read as far as possible. Throws `CommandFailed` for a file that cannot be read.
 */
export function* harEntries(file: string): Iterable<unknown | DamagedEntry> {
  let entry: Buffer[] = []
  let [depth, isText, isEscaped, isFirst] = [0, false, false, true]
  for (const chunk of chunksOf(file)) {
    if (isFirst && unreadableKind(chunk) !== undefined)
      throw new CommandFailed(`${file}: ${unreadableKind(chunk)}.`)
    isFirst = false
    let start = 0
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at] as number // at is in range
      if (isText) {
        if (isEscaped) isEscaped = false
        else if (byte === BACKSLASH) isEscaped = true
        else if (byte === QUOTE) isText = false
      } else if (byte === QUOTE) isText = true
      else if (OPENING.has(byte)) {
        depth += 1
        if (depth === DEPTH) start = at
      } else if (CLOSING.has(byte)) {
        depth -= 1
        if (depth !== DEPTH - 1) continue
        entry.push(chunk.subarray(start, at + 1))
        yield parsed(Buffer.concat(entry).toString())
        entry = []
      }
    }
    // Copied, because the buffer of the chunk is filled again.
    if (depth >= DEPTH) entry.push(Buffer.from(chunk.subarray(start)))
  }
  if (depth > 0) yield { reason: 'the file ends too early' }
}

export function isDamaged(entry: unknown): entry is DamagedEntry {
  return typeof entry === 'object' && entry !== null && 'reason' in entry
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return { reason: 'no JSON' }
  }
}

function* chunksOf(file: string): Iterable<Buffer> {
  const fail = (error: unknown): never => {
    throw new CommandFailed(`${file} cannot be read (${codeOf(error)}). Give the path of a HAR file.`)
  }
  let handle = 0
  try {
    handle = openSync(file, 'r')
  } catch (error) {
    fail(error)
  }
  try {
    const { size } = fstatSync(handle)
    if (size > MAX_FILE)
      throw new CommandFailed(
        `${file} has ${size} bytes, more than the ${MAX_FILE} that are read. Record fewer pages at a time and give several files, or keep only the requests to the service: jq '.log.entries |= map(select(.request.url | contains("/v1/")))'.`,
      )
    const chunk = Buffer.alloc(CHUNK)
    for (;;) {
      const length = readSync(handle, chunk, 0, CHUNK, null)
      if (length === 0) return
      yield chunk.subarray(0, length)
    }
  } catch (error) {
    if (error instanceof CommandFailed) throw error
    fail(error)
  } finally {
    closeSync(handle)
  }
}
