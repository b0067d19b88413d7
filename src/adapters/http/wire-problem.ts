import type { ErrorCode } from '../../core/errors.ts'

/** Something on the wire that never becomes a request for the API. */
export interface WireProblem {
  readonly status: 400 | 405 | 408 | 413 | 417 | 431 | 503
  readonly code: ErrorCode
  /** What is wrong, and the way out. */
  readonly detail: string
}

/** CONNECT asks for a tunnel. */
export const CONNECT_REFUSED: WireProblem = {
  status: 405,
  code: 'method_not_allowed',
  detail: 'CONNECT asks for a tunnel, and this server is no proxy. Address it directly.',
}

/** An `Expect` header other than `100-continue`. */
export const EXPECTATION_FAILED: WireProblem = {
  status: 417,
  code: 'expectation_failed',
  detail: 'The only expectation that is understood here is `100-continue`. Leave the Expect header out.',
}

/** A `Transfer-Encoding` with more in it than `chunked`. */
export const TRANSFER_CODING_REFUSED: WireProblem = {
  status: 400,
  code: 'bad_request',
  detail:
    'The only Transfer-Encoding that is understood here is `chunked`, alone. Name a compression in Content-Encoding, or send the body plain.',
}

/** There are as many connections as are held, and each of them has something to do. */
export const TOO_MANY_CONNECTIONS: WireProblem = {
  status: 503,
  code: 'service_unavailable',
  detail:
    'As many connections are open as are held, and none of them is idle. Close those that are not needed, and send the request again.',
}

/** A request that takes longer than a connection may. */
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

const CHUNK_EXTENSIONS_TOO_LARGE: WireProblem = {
  status: 413,
  code: 'payload_too_large',
  detail: 'The extensions of the chunked body are too large. Send chunks without extensions.',
}

const TLS_HANDSHAKE = 0x16

const MALFORMED = new Map([
  ['HPE_INVALID_METHOD', 'The request line does not start with a method that HTTP knows.'],
  ['HPE_INVALID_URL', 'The request target is malformed. Percent-encode what a URL may not contain.'],
  ['HPE_INVALID_VERSION', 'The request line does not end in a version that is served here. Use HTTP/1.1.'],
  ['HPE_INVALID_HEADER_TOKEN', 'A header has a character that headers may not contain. Remove or encode it.'],
  [
    'HPE_INVALID_CONTENT_LENGTH',
    'The Content-Length header is no plain number. Send the count of body bytes.',
  ],
  [
    'HPE_UNEXPECTED_CONTENT_LENGTH',
    'The length of the body is given twice. Send either one Content-Length or Transfer-Encoding: chunked.',
  ],
  [
    'HPE_INVALID_TRANSFER_ENCODING',
    'The length of the body cannot be told. Send either one Content-Length or Transfer-Encoding: chunked.',
  ],
  ['HPE_INVALID_CHUNK_SIZE', 'The chunked body has a malformed chunk size. Send hexadecimal sizes.'],
  [
    'HPE_INVALID_EOF_STATE',
    'The connection was half closed before the request was complete. Send all of it.',
  ],
])

/** What a `clientError` of node:http means; undefined when the connection itself is gone. */
export function wireProblemOf(error: Error & { code?: string; rawPacket?: Buffer }): WireProblem | undefined {
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') return REQUEST_TIMEOUT
  if (error.code === 'HPE_HEADER_OVERFLOW') return HEADERS_TOO_LARGE
  if (error.code === 'HPE_CHUNK_EXTENSIONS_OVERFLOW') return CHUNK_EXTENSIONS_TOO_LARGE
  if (!error.code?.startsWith('HPE_')) return undefined
  const detail = malformedDetail(error.code, error.rawPacket?.[0])
  return { status: 400, code: 'bad_request', detail }
}

function malformedDetail(code: string, firstByte: number | undefined): string {
  if (firstByte === TLS_HANDSHAKE) return 'This port speaks plain HTTP. Use http:// instead of https://.'
  return (
    MALFORMED.get(code) ??
    'The bytes received are not an HTTP/1.1 request. Check the client, or a proxy between.'
  )
}
