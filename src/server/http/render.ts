import type { ServerResponse } from 'node:http'
import type { ApiResponse } from '../../core/request/response.ts'
import type { StreamBody } from '../../core/request/stream.ts'
import { Turn } from '../../core/time/turn.ts'
import type { HeaderPair } from './guard.ts'

/** Writes a response, whose body the pipeline has already serialised. Undefined when there was nothing to wait for. */
export function render(
  res: ServerResponse,
  response: ApiResponse,
  extra: readonly HeaderPair[],
  withBody: boolean,
): Promise<void> | undefined {
  const headers = flatten(response.headers, extra)
  if (response.stream !== undefined) return writeStream(res, response, response.stream, headers, withBody)
  if (response.lines === undefined) writeWhole(res, response, headers, withBody)
  else return writeLines(res, response.status, headers, withBody ? response.lines : [])
  return undefined
}

// A part waits for its pause and for a client that reads slowly, and no longer for one that has left.
async function writeStream(
  res: ServerResponse,
  { status, pauses, kept }: ApiResponse,
  { parts }: StreamBody,
  headers: string[],
  withBody: boolean,
): Promise<void> {
  res.on('close', () => pauses?.stop())
  res.writeHead(status, headers)
  if (withBody) res.flushHeaders()
  for (const { bytes, after } of withBody ? parts : []) {
    if ((await pauses?.next(after)) === false || res.destroyed) break
    kept?.write(bytes.toString(), bytes.length)
    if (!res.write(bytes)) await drained(res)
  }
  res.end()
}

/** Lines are joined into pieces of about this many characters: one write per line costs twice the time. */
const PIECE = 65_536

// Lines are created only as fast as the client reads them, and only while it is connected. Other requests are served between
// two pieces. A piece also ends by time: a short line can take long to create.
async function writeLines(
  res: ServerResponse,
  status: number,
  headers: string[],
  lines: Iterable<string>,
): Promise<void> {
  res.writeHead(status, headers)
  const turn = new Turn()
  let piece = ''
  for (const line of lines) {
    piece += line
    if (piece.length < PIECE && !turn.isOver) continue
    if (!res.write(piece, encodingOf(piece))) await drained(res)
    await turn.next()
    if (res.destroyed) return
    piece = ''
  }
  res.end(piece, encodingOf(piece))
}

function writeWhole(res: ServerResponse, response: ApiResponse, headers: string[], withBody: boolean): void {
  if (response.bytes !== undefined) {
    headers.push('Content-Length', String(response.bytes.length))
    res.writeHead(response.status, headers).end(withBody ? response.bytes : undefined)
    return
  }
  if (response.text === undefined) {
    if (response.status !== 204) headers.push('Content-Length', '0')
    res.writeHead(response.status, headers).end()
    return
  }
  const { text } = response
  const bytes = Buffer.byteLength(text)
  headers.push('Content-Length', String(bytes))
  res.writeHead(response.status, headers)
  if (withBody) {
    // Head and body in one write: end(text) would pass them to the socket in two pieces, which takes twice the system time.
    const { socket } = res
    socket?.cork()
    res.write(text, encodingOf(text, bytes))
    socket?.uncork()
  }
  res.end()
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
