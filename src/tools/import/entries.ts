import { decodedText, fileBytes } from '../../adapters/text.ts'
import { CommandFailed } from '../../terminal/command.ts'
import { codeOf } from '../../terminal/print.ts'
import { type HarEntry, readEntry } from '../traffic/har.ts'

/** The depth of the items of `log.entries`: below the document, `log` and the list. */
const DEPTH = 4

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
  const bytes = bytesOf(file)
  let [depth, start, isText] = [0, 0, false]
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] as number // at is in range
    if (isText) {
      if (byte === BACKSLASH) at += 1
      else if (byte === QUOTE) isText = false
    } else if (byte === QUOTE) isText = true
    else if (OPENING?.includes(byte)) {
      depth += 1
      if (depth === DEPTH) start = at
    } else if (CLOSING?.includes(byte)) {
      depth -= 1
      if (depth !== DEPTH - 1) continue
      const raw = parsed(bytes.toString('utf8', start, at + 1))
      if (raw === undefined) leaveOut('no JSON')
      else if ('request' in raw) yield readEntry(raw)
    }
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

function bytesOf(file: string): Buffer {
  const fail = (problem: string): never => {
    throw new CommandFailed(`${file}: ${problem}.`)
  }
  try {
    const bytes = fileBytes(file, (problem) =>
      fail(`${problem}, or keep only the requests to the service with jq`),
    )
    // The first characters tell what the bytes are; a text of all of them would take too much memory.
    decodedText(bytes.subarray(0, 4), fail)
    return bytes
  } catch (error) {
    if (error instanceof CommandFailed) throw error
    return fail(`cannot be read (${codeOf(error)}); give the path of a HAR file`)
  }
}
