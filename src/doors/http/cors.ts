import type { IncomingHttpHeaders } from 'node:http'
import type { HeaderPair } from './headers.ts'

/** The origin of a cross-origin request, undefined when there is none, and whether it may read the answers. */
export interface OriginDecision {
  readonly origin: string | undefined
  readonly allowed: boolean
}

/** The answer to a preflight: status and headers, no body. */
export interface PreflightAnswer {
  readonly status: 204
  readonly headers: readonly HeaderPair[]
}

/** The methods of the API. `OPTIONS` is not among them: browsers send it on their own. */
const CORS_METHODS = 'GET, HEAD, POST, PATCH, DELETE'

// Without this list a page sees none of them: only a handful of headers are readable by default.
const EXPOSED = [
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'Retry-After',
  'RateLimit',
  'RateLimit-Policy',
  'X-Emulator-Request-Id',
  'X-Emulator-Assumed',
  'X-Emulator-Fault',
].join(', ')

const PREFLIGHT_SECONDS = '600'
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/

/**
 * The CORS headers of every answer of the API, errors included. The origin is reflected, credentials are never
 * allowed (keys travel in `Authorization`), and `Vary` is there even without an origin, so that no cache hands one
 * origin's answer to another.
 */
export function corsHeaders({ origin, allowed }: OriginDecision): HeaderPair[] {
  const vary: HeaderPair = ['Vary', 'Origin']
  if (origin === undefined || !allowed) return [vary]
  return [vary, ['Access-Control-Allow-Origin', origin], ['Access-Control-Expose-Headers', EXPOSED]]
}

/** True for the request with which a browser asks before the real one. It carries no key and uses no quota. */
export function isPreflight(method: string | undefined, headers: IncomingHttpHeaders): boolean {
  return (
    method === 'OPTIONS' &&
    headers.origin !== undefined &&
    headers['access-control-request-method'] !== undefined
  )
}

/**
 * The answer to a preflight. For an origin that is not allowed it grants nothing, and the browser tells its page.
 * Requested headers are all granted, those that are no header names left out.
 */
export function answerPreflight(decision: OriginDecision, headers: IncomingHttpHeaders): PreflightAnswer {
  const vary: HeaderPair = [
    'Vary',
    'Origin, Access-Control-Request-Headers, Access-Control-Request-Private-Network',
  ]
  if (decision.origin === undefined || !decision.allowed) return { status: 204, headers: [vary] }
  const granted: HeaderPair[] = [
    vary,
    ['Access-Control-Allow-Origin', decision.origin],
    ['Access-Control-Allow-Methods', CORS_METHODS],
    ['Access-Control-Max-Age', PREFLIGHT_SECONDS],
  ]
  const names = requestedNames(headers['access-control-request-headers'])
  if (names !== '') granted.push(['Access-Control-Allow-Headers', names])
  if (headers['access-control-request-private-network'] === 'true') {
    granted.push(['Access-Control-Allow-Private-Network', 'true'])
  }
  return { status: 204, headers: granted }
}

function requestedNames(header: string | undefined): string {
  const names = (header ?? '').split(',').map((name) => name.trim())
  return names.filter((name) => HEADER_NAME.test(name)).join(', ')
}
