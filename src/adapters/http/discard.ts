import type { IncomingMessage } from 'node:http'

/** Bytes of a refused body that are taken off the wire: 256 MiB, over twice the largest limit of the API. */
const MAX_DISCARDED_BYTES = 256 * 1024 * 1024

/** True when the head of the request says that a body follows. */
export function announcesBody(req: IncomingMessage): boolean {
  return req.headers['transfer-encoding'] !== undefined || Number(req.headers['content-length'] ?? 0) > 0
}

/**
 * Takes the rest of a refused body off the wire, holding none of it; past `maxBytes` the connection is destroyed.
 * Resolves when the response should be written: at once on a connection that stays open, where discarding goes on
 * after the response; but after the discarding when the client asked for the connection to be closed, because Node
 * closes it right after the response, and a client that still writes then may never read the response. For the same
 * reason the response to a refused body carries no `Connection: close` of our own.
 */
export async function discardBody(req: IncomingMessage, maxBytes = MAX_DISCARDED_BYTES): Promise<void> {
  if (announcesBody(req)) await discardAnnounced(req, maxBytes)
}

function discardAnnounced(req: IncomingMessage, maxBytes: number): Promise<void> {
  const closing = closesAfterResponse(req) && !awaitsContinue(req) && !req.destroyed
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

function closesAfterResponse(req: IncomingMessage): boolean {
  return req.httpVersion === '1.0' || /\bclose\b/i.test(req.headers.connection ?? '')
}

const pending = new WeakMap<IncomingMessage, () => void>()

/** Notes that the client holds its body back until `100 Continue`; `send` writes that interim response. */
export function holdContinue(req: IncomingMessage, send: () => void): void {
  pending.set(req, send)
}

/** True while the client has not been asked for its body: a final response may still spare it the upload. */
export function awaitsContinue(req: IncomingMessage): boolean {
  return pending.has(req)
}

/** Asks a waiting client for its body; nothing happens for every other client, or the second time. */
export function sendContinue(req: IncomingMessage): void {
  const send = pending.get(req)
  pending.delete(req)
  send?.()
}

/** Never asks a waiting client for its body. */
export function withholdContinue(req: IncomingMessage): void {
  if (pending.has(req)) pending.set(req, () => {})
}
