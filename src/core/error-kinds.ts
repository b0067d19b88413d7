import { type Setting, setting } from './assumptions.ts'
import { intBetween } from './fields.ts'

/** One entry of the catalog. */
export interface ErrorKind {
  readonly status: number | Setting<number>
  readonly title: string
  /** Whether the same request can succeed later. */
  readonly retryable: boolean
  /** One sentence, shown at the URL in the `type` of a problem. */
  readonly meaning: string
  /** The detail of such a response from a fault. Default: it is made of the title. */
  readonly sentence?: string
  /** How to fix the problem, when the advice is always the same. */
  readonly mitigation?: string
  /** True when the specification itself names this code. */
  readonly documented?: boolean
}

/** A setting of a status that the specification does not show. @param when completes the sentence "Sets the HTTP status of a response ..." */
export function statusSetting(word: string, item: string, value: number, when: string): Setting<number> {
  return setting({
    key: `status.${word}`,
    item,
    description: `Sets the HTTP status of a response ${when}.`,
    schema: () => intBetween(400, 599),
    default: value,
  })
}

/** The statuses that the specification does not show, each a setting. */
export const statusSettings = {
  validation: statusSetting('validation', 'U067', 400, 'to a request that breaks a rule of its fields'),
  unauthenticated: statusSetting('unauthenticated', 'U068', 401, 'to a request without a known key'),
  forbidden: statusSetting('forbidden', 'U071', 403, 'to a caller who lacks a permission'),
  notFound: statusSetting('not_found', 'U023', 404, 'about an object that does not exist for the caller'),
  conflict: statusSetting('conflict', 'U041', 409, 'to a request that the object is in the wrong state for'),
  tooLarge: statusSetting('too_large', 'U067', 413, 'to a body over its limit'),
  unsupportedMedia: statusSetting('unsupported_media', 'U072', 415, 'to a body that is not JSON'),
} as const

/** A kind of error. By default, the same request cannot succeed later. */
function kind(
  status: ErrorKind['status'],
  title: string,
  meaning: string,
  more: Partial<ErrorKind> = {},
): ErrorKind {
  return { status, title, meaning, retryable: false, ...more }
}

/** The errors of any service. Resources declare theirs by {@link declareError}. */
const catalog = {
  validation_failed: kind(
    statusSettings.validation,
    'Validation Failed',
    'A field of the body or the query breaks a rule; the list of errors has a pointer to each such field.',
    { sentence: 'A field of the request is not valid.' },
  ),
  malformed_json: kind(
    statusSettings.validation,
    'Malformed JSON',
    'The body is not JSON text; the message names the line and column.',
  ),
  bad_request: kind(400, 'Bad Request', 'The request is not valid HTTP, so no operation has received it.', {
    sentence: 'The request was not understood.',
  }),
  unauthorized: kind(
    statusSettings.unauthenticated,
    'Unauthorized',
    'The request has no key, or a key that this sandbox does not have.',
    {
      mitigation:
        'Send "Authorization: Bearer <key>" with a key of this sandbox; the banner and the fixtures list them.',
      sentence: 'The key is not valid.',
    },
  ),
  forbidden: kind(statusSettings.forbidden, 'Forbidden', 'The key is valid, but its owner may not do this.', {
    sentence: 'The key is not allowed to do this.',
  }),
  not_found: kind(
    statusSettings.notFound,
    'Not Found',
    'The object does not exist, or not for this caller.',
    { sentence: 'There is no such object.' },
  ),
  route_not_found: kind(404, 'Route Not Found', 'No operation has this path.'),
  method_not_allowed: kind(
    405,
    'Method Not Allowed',
    'The path does not accept this method; the Allow header lists the methods that it accepts.',
  ),
  request_timeout: kind(
    408,
    'Request Timeout',
    'The request did not arrive completely within the time limit.',
    { retryable: true, sentence: 'The request did not arrive in time.' },
  ),
  conflict: kind(statusSettings.conflict, 'Conflict', 'The state of the object does not allow this.', {
    sentence: 'The object is in a state that does not allow this.',
  }),
  idempotency_key_reused: kind(
    409,
    'Idempotency Key Reused',
    'The Idempotency-Key belongs to an earlier request with another body.',
    {
      mitigation: 'Send the first body again to replay its response, or a new key with another body.',
      sentence: 'The Idempotency-Key was used before with a different body.',
    },
  ),
  idempotency_key_in_use: kind(
    409,
    'Idempotency Key In Use',
    'The first request with this Idempotency-Key is still in progress.',
    {
      retryable: true,
      mitigation: 'Wait until the first request with the key has its response, then send this one again.',
      sentence: 'A request with the same Idempotency-Key is still in progress.',
    },
  ),
  precondition_failed: kind(
    412,
    'Precondition Failed',
    'The record no longer has the ETag that If-Match names. Only the control interface has conditional requests.',
  ),
  payload_too_large: kind(
    statusSettings.tooLarge,
    'Payload Too Large',
    'The body has more bytes than the operation accepts.',
    { sentence: 'The body is too large.' },
  ),
  unsupported_media_type: kind(
    statusSettings.unsupportedMedia,
    'Unsupported Media Type',
    'The Content-Type of the body is not JSON, or its encoding is not supported.',
    { mitigation: 'Send the body as JSON with "Content-Type: application/json".' },
  ),
  expectation_failed: kind(
    417,
    'Expectation Failed',
    'The Expect header has a value other than 100-continue.',
  ),
  rate_limit_exceeded: kind(
    429,
    'Rate Limit Exceeded',
    'The limit of requests in this window is reached; Retry-After contains the seconds to wait.',
    { retryable: true, documented: true, sentence: 'More requests were sent than the limit allows.' },
  ),
  header_fields_too_large: kind(
    431,
    'Request Header Fields Too Large',
    'The request line and the headers are longer than the server accepts.',
  ),
  internal_error: kind(
    500,
    'Internal Error',
    'A defect of the emulator, or the effect of a fault rule. A defect changes no data.',
    { sentence: 'The service failed to handle the request.' },
  ),
  emulator_contract_unspecified: kind(
    501,
    'Contract Unspecified',
    'The specification names this operation, but does not describe its request and response.',
  ),
  bad_gateway: kind(
    502,
    'Bad Gateway',
    'A gateway in front of the service got no usable response from it; only a fault sends this response.',
    { retryable: true, sentence: 'The service sent no usable response.' },
  ),
  service_unavailable: kind(
    503,
    'Service Unavailable',
    'The service does not accept requests for a while; only a fault sends this response.',
    { retryable: true, sentence: 'The service is not available at the moment.' },
  ),
  gateway_timeout: kind(
    504,
    'Gateway Timeout',
    'A gateway in front of the service got no response in time; only a fault sends this response.',
    { retryable: true, sentence: 'The service did not respond in time.' },
  ),
  storage_unavailable: kind(
    507,
    'Storage Unavailable',
    'The change could not be written to disk, so it was not made.',
    {
      retryable: true,
      mitigation:
        'Free disk space or fix the permissions of the data directory; writing then resumes automatically.',
    },
  ),
}

/** The code of an error that a resource has declared. */
type DeclaredCode = string & { readonly [declared]: true }
declare const declared: unique symbol

export type ErrorCode = keyof typeof catalog | DeclaredCode

const kinds = new Map<string, ErrorKind>(Object.entries(catalog))

/** Every error that the emulator can respond with, by its machine-readable code. */
export const errorKinds: ReadonlyMap<string, ErrorKind> = kinds

/** Declares an error of a resource, next to its code. @returns the code, to refuse with */
export function declareError(code: string, kind: ErrorKind): ErrorCode {
  kinds.set(code, kind)
  return code as DeclaredCode
}

/** Whether a text is the code of an error. */
export function isErrorCode(code: string | undefined): code is ErrorCode {
  return code !== undefined && kinds.has(code)
}

/** The error of a resource whose status is always this one. */
export function declaredWith(status: number): ErrorCode | undefined {
  const code = [...kinds].find(([code, kind]) => !(code in catalog) && kind.status === status)?.[0]
  return isErrorCode(code) ? code : undefined
}

export function errorKindOf(code: ErrorCode): ErrorKind {
  return kinds.get(code) ?? catalog.internal_error
}
