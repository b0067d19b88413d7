import type { ServerResponse } from 'node:http'
import type { Answer } from '../../kernel/request/answer.ts'
import type { HeaderPair } from './headers.ts'

/** Lines of a stream are joined into pieces of about this many characters: one write per line costs twice the time. */
const PIECE = 65_536

/** Writes an answer. Headers go out once, as one flat list; the body was serialised by the pipeline. */
export async function render(
  res: ServerResponse,
  answer: Answer,
  extra: readonly HeaderPair[],
  withBody: boolean,
): Promise<void> {
  if (answer.durable !== undefined) await answer.durable
  const headers = flatten(answer.headers, extra)
  if (answer.lines !== undefined) {
    res.writeHead(answer.status, headers)
    if (withBody) await stream(res, answer.lines)
    res.end()
    return
  }
  if (answer.text === undefined) {
    if (answer.status !== 204) headers.push('Content-Length', '0')
    res.writeHead(answer.status, headers).end()
    return
  }
  const { text } = answer
  headers.push('Content-Length', String(Buffer.byteLength(text)))
  res.writeHead(answer.status, headers)
  if (withBody) res.end(text)
  else res.end()
}

function flatten(...lists: readonly (readonly HeaderPair[])[]): string[] {
  const flat: string[] = []
  for (const list of lists) for (const [name, value] of list) flat.push(name, value)
  return flat
}

// Lines are made only as fast as the client reads them, and no longer than it stays.
async function stream(res: ServerResponse, lines: Iterable<string>): Promise<void> {
  let piece = ''
  for (const line of lines) {
    piece += line
    if (piece.length < PIECE) continue
    const more = res.write(piece)
    piece = ''
    if (!more) await drained(res)
    if (res.destroyed) return
  }
  if (piece !== '') res.write(piece)
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
