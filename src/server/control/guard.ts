import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { Refusal } from '../../core/errors.ts'
import { refusePage, refuseRemote } from '../http/guard.ts'
import type { ControlHost } from './host.ts'

/**
 * Checks host, origin and control token before the body is read. Returns undefined if the request may continue. A probe needs
 * no token.
 */
export function refuseRequest(
  host: Pick<ControlHost, 'hosts' | 'pages' | 'token'>,
  req: Pick<IncomingMessage, 'rawHeaders' | 'headers' | 'socket'>,
  isProbe = false,
): Refusal | undefined {
  const refusal = refusePage(req, host.hosts, host.pages) ?? refuseRemote(req, host.token)
  if (refusal !== undefined) return refusal
  if (isProbe || host.token === undefined || isToken(req.headers.authorization, host.token)) return undefined
  const detail =
    req.headers.authorization === undefined
      ? 'The control interface requires its token, and the request has no Authorization header.'
      : 'The Authorization header does not contain the control token. API keys are not accepted here.'
  return new Refusal('unauthorized', {
    detail,
    mitigation:
      'Send "Authorization: Bearer <control token>" with the token that the emulator was started with or printed.',
    headers: [['WWW-Authenticate', 'Bearer realm="control"']],
  })
}

// Digests have the same length, so the time of the comparison does not depend on the token.
function isToken(authorization: string | undefined, token: string): boolean {
  const given = /^bearer +([^\s,]+) *$/i.exec(authorization ?? '')?.[1]
  return given !== undefined && timingSafeEqual(digest(given), digest(token))
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
