import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { decodedText, MAX_FILE } from '../../adapters/text.ts'
import { CommandFailed } from '../../terminal/command.ts'
import { codeOf } from '../../terminal/print.ts'
import { type HarEntry, readEntry } from '../drift/har.ts'

/** The depth of the items of `log.entries`: below the document, `log` and the list. */
const DEPTH = 4

const CHUNK = 1_048_576

const [QUOTE, BACKSLASH] = [0x22, 0x5c]
const [OPENING, CLOSING] = ['{['.split(''), '}]'.split('')].map((all) =>
  all.map((each) => each.charCodeAt(0)),
)

/**
 * Reads the entries of a HAR file one after another, so that the document is never in memory as a whole; undefined: no exchange.
 * @param leaveOut gets the reason for each damaged place; what is after it is read. Throws `CommandFailed` for a file that cannot be read.
 */
export function* harEntries(
  file: string,
  leaveOut: (reason: string) => void = () => {},
): Iterable<HarEntry | undefined> {
  let entry: Buffer[] = []
  let [depth, isText, isEscaped] = [0, false, false]
  for (const chunk of chunksOf(file)) {
    let start = 0
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at] as number // at is in range
      if (isText) {
        if (byte === QUOTE && !isEscaped) isText = false
        isEscaped = byte === BACKSLASH && !isEscaped
      } else if (byte === QUOTE) isText = true
      else if (OPENING?.includes(byte)) {
        depth += 1
        if (depth === DEPTH) start = at
      } else if (CLOSING?.includes(byte)) {
        depth -= 1
        if (depth !== DEPTH - 1) continue
        const raw = parsed(Buffer.concat([...entry, chunk.subarray(start, at + 1)]).toString())
        entry = []
        if (raw === undefined) leaveOut('no JSON')
        else if ('request' in raw) yield readEntry(raw)
      }
    }
    // Copied, because the chunk is filled again.
    if (depth >= DEPTH) entry.push(Buffer.from(chunk.subarray(start)))
  }
  if (depth > 0) leaveOut('the file ends too early')
}

function parsed(text: string): object | undefined {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function* chunksOf(file: string): Iterable<Buffer> {
  const fail = (problem: string): never => {
    throw new CommandFailed(`${file}: ${problem}.`)
  }
  let handle: number | undefined
  try {
    handle = openSync(file, 'r')
    const { size } = fstatSync(handle)
    if (size > MAX_FILE)
      fail(
        `has ${size} bytes, more than the ${MAX_FILE} that are read; keep the requests to the service only: jq '.log.entries |= map(select(.request.url | contains("/v1/")))'`,
      )
    const chunk = Buffer.alloc(CHUNK)
    for (let at = 0; at < size; at += CHUNK) {
      const read = chunk.subarray(0, readSync(handle, chunk))
      // The first characters tell what the bytes are.
      if (at === 0) decodedText(read.subarray(0, 4), fail)
      yield read
    }
  } catch (error) {
    if (error instanceof CommandFailed) throw error
    fail(`cannot be read (${codeOf(error)}); give the path of a HAR file`)
  } finally {
    if (handle !== undefined) closeSync(handle)
  }
}
