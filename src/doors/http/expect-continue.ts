import type { IncomingMessage } from 'node:http'

const pending = new WeakMap<IncomingMessage, () => void>()

/** Notes that the client holds its body back until `100 Continue`; `send` writes that interim answer. */
export function holdContinue(req: IncomingMessage, send: () => void): void {
  pending.set(req, send)
}

/** True while the client has not been told to send its body: a final answer may still spare it the upload. */
export function awaitsContinue(req: IncomingMessage): boolean {
  return pending.has(req)
}

/** Tells a waiting client to send its body; nothing happens for every other client, or the second time. */
export function sendContinue(req: IncomingMessage): void {
  const send = pending.get(req)
  pending.delete(req)
  send?.()
}

/** Never tells a waiting client to send its body. */
export function withholdContinue(req: IncomingMessage): void {
  if (pending.has(req)) pending.set(req, () => {})
}
