import type { ServerResponse } from 'node:http'
import type { ApiResponse } from '../../core/request/response.ts'
import { elapsedTime } from '../../core/time/clock.ts'
import type { HeaderPair } from './guard.ts'

/**
 * Writes a response, whose body the pipeline has already serialised. Undefined when there was nothing to wait for.
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

// Lines are created only as fast as the client reads them, and only while it is connected.
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

// Head and body in one write: end(text) would pass them to the socket in two pieces, which takes twice the system time.
function writeAtOnce(res: ServerResponse, text: string, bytes: number): void {
  const { socket } = res
  socket?.cork()
  res.write(text, encodingOf(text, bytes))
  socket?.uncork()
}

// Text of only ASCII characters needs no conversion to UTF-8.
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

/** Maximum lines of a piece, because short lines cost time, too. */
const MAX_LINES = 100

/** Real milliseconds after which a piece ends. Before the code is optimised, two lines can take ten. */
const MAX_MS = 3

/**
 * Yields the lines of a stream in pieces, one piece per turn of the event loop, however fast they are read. All streams of the
 * process share these turns, so that other work waits for at most one piece, however many streams there are.
 */
export async function* inPieces(lines: Iterable<string>, elapsed = elapsedTime): AsyncGenerator<string> {
  let piece = ''
  let count = 0
  await nextTurn()
  let begun = elapsed()
  for (const line of lines) {
    piece += line
    count += 1
    // An empty text means that creating a line has taken long: end the piece here.
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

/** Resolves in a turn of the event loop that no other stream uses. */
function nextTurn(): Promise<void> {
  latest = latest.then(() => new Promise((resolve) => void setImmediate(resolve)))
  return latest
}
