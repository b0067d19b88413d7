import type { IncomingMessage } from 'node:http'
import { awaitsContinue } from './expect-continue.ts'

/** So much of a refused body is taken off the wire: 256 MiB, over twice the largest limit of the API. */
const MAX_DISCARDED_BYTES = 256 * 1024 * 1024

/** True when the head of the request says that a body follows. */
export function announcesBody(req: IncomingMessage): boolean {
  return req.headers['transfer-encoding'] !== undefined || Number(req.headers['content-length'] ?? 0) > 0
}

/**
 * Takes the rest of a refused body off the wire, holding none of it; past `maxBytes` the connection is destroyed.
 * Resolves when the answer should be written: at once on a connection that stays open, where discarding goes on
 * behind the answer; but after the discarding when the client asked for the connection to be closed, because Node
 * closes it right behind the answer, and a client that still writes then may never read the answer. For the same
 * reason the answer to a refused body carries no `Connection: close` of our own.
 */
export async function discardBody(req: IncomingMessage, maxBytes = MAX_DISCARDED_BYTES): Promise<void> {
  if (announcesBody(req)) await discardAnnounced(req, maxBytes)
}

function discardAnnounced(req: IncomingMessage, maxBytes: number): Promise<void> {
  const closing = closesAfterAnswer(req) && !awaitsContinue(req) && !req.destroyed
  return new Promise((resolve) => {
    let discarded = 0
    req.on('end', resolve)
    req.on('close', resolve)
    req.on('data', (chunk: Buffer) => {
      discarded += chunk.length
      if (discarded <= maxBytes) return
      if (closing) resolve()
      else req.socket.destroy()
    })
    req.resume()
    if (!closing) resolve()
  })
}

function closesAfterAnswer(req: IncomingMessage): boolean {
  return req.httpVersion === '1.0' || /\bclose\b/i.test(req.headers.connection ?? '')
}
