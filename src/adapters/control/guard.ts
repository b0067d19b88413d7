import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { Refusal } from '../../core/errors.ts'
import type { ControlHost } from './host.ts'

/** Decides whether a request may go on, before anybody looks at its body. A probe needs no token. */
export function refuseRequest(
  host: Pick<ControlHost, 'guard' | 'token'>,
  req: Pick<IncomingMessage, 'rawHeaders' | 'headers' | 'socket'>,
  isProbe = false,
): Refusal | undefined {
  const refusal = host.guard(req)
  if (refusal !== undefined) return refusal
  if (isProbe || host.token === undefined || isToken(req.headers.authorization, host.token)) return undefined
  const detail =
    req.headers.authorization === undefined
      ? 'The control interface asks for its token, and the request has no Authorization header.'
      : 'The Authorization header does not carry the control token. API keys are not accepted here.'
  return new Refusal('unauthorized', {
    detail,
    mitigation:
      'Send "Authorization: Bearer <control token>" with the token that the emulator was started with or printed.',
    headers: [['WWW-Authenticate', 'Bearer realm="control"']],
  })
}

// Digests have one length, so that the time of the comparison tells nothing about the token.
function isToken(authorization: string | undefined, token: string): boolean {
  const given = /^bearer +([^\s,]+) *$/i.exec(authorization ?? '')?.[1]
  return given !== undefined && timingSafeEqual(digest(given), digest(token))
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
