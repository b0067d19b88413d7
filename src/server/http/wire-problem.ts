import type { ErrorCode } from '../../core/error-kinds.ts'

/** An error in received bytes that never become a request for the API. */
export interface WireProblem {
  readonly status: 400 | 405 | 408 | 417 | 431
  readonly code: ErrorCode
  /** The problem and its fix. */
  readonly detail: string
}

/** CONNECT asks for a tunnel. */
export const CONNECT_REFUSED: WireProblem = {
  status: 405,
  code: 'method_not_allowed',
  detail: 'CONNECT requests a tunnel, but this server is not a proxy. Send requests to it directly.',
}

/** An `Expect` header other than `100-continue`. */
export const EXPECTATION_FAILED: WireProblem = {
  status: 417,
  code: 'expectation_failed',
  detail: 'The only supported expectation is `100-continue`. Leave the Expect header out.',
}

/** A `Transfer-Encoding` other than `chunked` alone. */
export const TRANSFER_CODING_REFUSED: WireProblem = {
  status: 400,
  code: 'bad_request',
  detail:
    'The only supported Transfer-Encoding is `chunked`, alone. Put a compression in Content-Encoding, or send the body uncompressed.',
}

/** A request that does not arrive within the timeouts of the server. */
export const REQUEST_TIMEOUT: WireProblem = {
  status: 408,
  code: 'request_timeout',
  detail: 'The request did not arrive in time. Send it again, without pauses.',
}

const HEADERS_TOO_LARGE: WireProblem = {
  status: 431,
  code: 'header_fields_too_large',
  detail:
    'Request line and headers together are too large. Shorten the URL, or send fewer or shorter headers.',
}

const TLS_HANDSHAKE = 0x16

const UNKNOWN = 'The bytes received are not an HTTP/1.1 request. Check the client, and any proxy in between.'

const MALFORMED = new Map([
  ['HPE_INVALID_METHOD', 'The request line does not start with an HTTP method.'],
  ['HPE_INVALID_URL', 'The request target is malformed. Percent-encode what a URL may not contain.'],
  ['HPE_INVALID_VERSION', 'The HTTP version in the request line is not supported. Use HTTP/1.1.'],
  ['HPE_INVALID_HEADER_TOKEN', 'A header has a character that headers may not contain. Remove or encode it.'],
  [
    'HPE_INVALID_CONTENT_LENGTH',
    'The Content-Length header is not a number of bytes. Send the length of the body in bytes.',
  ],
  [
    'HPE_UNEXPECTED_CONTENT_LENGTH',
    'The length of the body is given twice. Send either one Content-Length or Transfer-Encoding: chunked.',
  ],
  [
    'HPE_INVALID_TRANSFER_ENCODING',
    'The length of the body cannot be determined. Send either one Content-Length or Transfer-Encoding: chunked.',
  ],
  ['HPE_INVALID_CHUNK_SIZE', 'The chunked body has a malformed chunk size. Send hexadecimal sizes.'],
  ['HPE_CHUNK_EXTENSIONS_OVERFLOW', 'The extensions of one chunk have more than 16 KiB. Send shorter ones.'],
  [
    'HPE_INVALID_EOF_STATE',
    'The connection was half closed before the request was complete. Send all of it.',
  ],
])

/** The problem that a `clientError` of node:http reports; undefined when the connection itself is broken. */
export function wireProblemOf(error: Error & { code?: string; rawPacket?: Buffer }): WireProblem | undefined {
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') return REQUEST_TIMEOUT
  if (error.code === 'HPE_HEADER_OVERFLOW') return HEADERS_TOO_LARGE
  if (!error.code?.startsWith('HPE_')) return undefined
  const known = MALFORMED.get(error.code) ?? UNKNOWN
  const detail =
    error.rawPacket?.[0] === TLS_HANDSHAKE
      ? 'This port uses plain HTTP. Use http:// instead of https://.'
      : known
  return { status: 400, code: 'bad_request', detail }
}
