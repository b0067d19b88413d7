import type { ServerResponse } from 'node:http'
import type { ApiResponse } from '../../core/request/response.ts'
import { elapsedTime } from '../../core/time/clock.ts'
import type { HeaderPair } from './guard.ts'

/**
 * Writes a response. Headers go out once, as one flat list; the body was serialised by the pipeline. Undefined where nothing
 * had to be waited for.
 * @param elapsed real milliseconds; for tests
 */
export function render(
  res: ServerResponse,
  response: ApiResponse,
  extra: readonly HeaderPair[],
  withBody: boolean,
  elapsed = elapsedTime,
): Promise<void> | undefined {
  const write = () => {
    const headers = flatten(response.headers, extra)
    if (response.lines === undefined) writeWhole(res, response, headers, withBody)
    else return writeLines(res, response.status, headers, withBody ? inPieces(response.lines, elapsed) : [])
    return undefined
  }
  return response.durable === undefined ? write() : response.durable.then(write)
}

// Lines are made only as fast as the client reads them, and no longer than it stays.
async function writeLines(
  res: ServerResponse,
  status: number,
  headers: string[],
  pieces: AsyncIterable<string> | Iterable<string>,
): Promise<void> {
  res.writeHead(status, headers)
  for await (const piece of pieces) {
    if (!res.write(piece, encodingOf(piece))) await drained(res)
    if (res.destroyed) break
  }
  res.end()
}

function writeWhole(res: ServerResponse, response: ApiResponse, headers: string[], withBody: boolean): void {
  if (response.text === undefined) {
    if (response.status !== 204) headers.push('Content-Length', '0')
    res.writeHead(response.status, headers).end()
    return
  }
  const { text } = response
  const bytes = Buffer.byteLength(text)
  headers.push('Content-Length', String(bytes))
  res.writeHead(response.status, headers)
  if (withBody) writeAtOnce(res, text, bytes)
  res.end()
}

// Head and body in one write: end(text) hands them to the socket in two pieces, which takes the system twice the time.
function writeAtOnce(res: ServerResponse, text: string, bytes: number): void {
  const { socket } = res
  socket?.cork()
  res.write(text, encodingOf(text, bytes))
  socket?.uncork()
}

// Text of ASCII alone is written without a conversion.
function encodingOf(text: string, bytes = Buffer.byteLength(text)): 'latin1' | 'utf8' {
  return bytes === text.length ? 'latin1' : 'utf8'
}

function flatten(...lists: readonly (readonly HeaderPair[])[]): string[] {
  const flat: string[] = []
  for (const list of lists) for (const [name, value] of list) flat.push(name, value)
  return flat
}

function drained(res: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      res.off('drain', done)
      res.off('close', done)
      resolve()
    }
    res.on('drain', done)
    res.on('close', done)
    if (res.destroyed) done()
  })
}

/** Lines are joined into pieces of about this many characters: one write per line costs twice the time. */
const PIECE = 32_768

/** Short lines cost time, too. */
const MAX_LINES = 100

/** Real milliseconds: while code and values are cold, two lines can take ten. */
const MAX_MS = 3

/**
 * Makes the lines of a stream in pieces, one piece in each turn of the event loop, whatever takes them. All streams of the
 * process share these turns, so that the others wait for one piece at most, however many streams there are.
 */
export async function* inPieces(lines: Iterable<string>, elapsed = elapsedTime): AsyncGenerator<string> {
  let piece = ''
  let count = 0
  await nextTurn()
  let begun = elapsed()
  for (const line of lines) {
    piece += line
    count += 1
    // An empty line has been long in the making, or more of it is.
    const isShort = piece.length < PIECE && count < MAX_LINES && elapsed() - begun < MAX_MS
    if (line !== '' && isShort) continue
    if (piece !== '') yield piece
    piece = ''
    count = 0
    await nextTurn()
    begun = elapsed()
  }
  if (piece !== '') yield piece
}

let latest = Promise.resolve()

/** Resolves in a turn of the event loop that no other stream has. */
function nextTurn(): Promise<void> {
  latest = latest.then(() => new Promise((resolve) => void setImmediate(resolve)))
  return latest
}
