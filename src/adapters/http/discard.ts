import type { IncomingMessage } from 'node:http'

/** Maximum bytes of a refused body that are read and discarded: 256 MiB, over twice the largest limit of the API. */
const MAX_DISCARDED_BYTES = 256 * 1024 * 1024

/** True when the headers of the request announce a body. */
export function announcesBody(req: IncomingMessage): boolean {
  return req.headers['transfer-encoding'] !== undefined || Number(req.headers['content-length'] ?? 0) > 0
}

/** True when a part of the announced body may still be unread. */
export function hasUnreadBody(req: IncomingMessage): boolean {
  return !req.readableEnded && announcesBody(req)
}

/**
 * Reads and discards the rest of a refused body. After `maxBytes` (default 256 MiB) the connection ends.
 * Resolves when the response should be written. On a connection that stays open that is at once, and discarding goes on
 * after the response. When the client asked for the connection to be closed, it is after discarding: Node closes the
 * connection right after the response, and a client that is still sending may then never read it. For the same reason the
 * emulator adds no `Connection: close` to the response to a refused body.
 */
export async function discardBody(req: IncomingMessage, maxBytes = MAX_DISCARDED_BYTES): Promise<void> {
  if (hasUnreadBody(req)) await discardAnnounced(req, maxBytes)
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

/** Records that the client waits for `100 Continue` before it sends its body; `send` writes that interim response. */
export function holdContinue(req: IncomingMessage, send: () => void): void {
  pending.set(req, send)
}

/** True while the client waits for `100 Continue`: a final response now would save it the upload. */
export function awaitsContinue(req: IncomingMessage): boolean {
  return pending.has(req)
}

/** Sends `100 Continue` to a client that waits for it; does nothing for other clients, or the second time. */
export function sendContinue(req: IncomingMessage): void {
  const send = pending.get(req)
  pending.delete(req)
  send?.()
}

/** Suppresses the `100 Continue` for a client that waits for it. */
export function withholdContinue(req: IncomingMessage): void {
  if (pending.has(req)) pending.set(req, () => {})
}
