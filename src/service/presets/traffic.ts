import type { Preset } from '../../core/faults/preset.ts'
import type { Action, Primitives } from '../../core/faults/primitive.ts'

/**
 * Returns a function that creates presets of one family. They apply to every request until they are removed, unless a field says
 * otherwise.
 * @param shared the fields that its presets have in common
 */
export function inFamily(family: string, shared: Partial<Preset> = {}) {
  return (
    name: string,
    description: string,
    actions: readonly Action[],
    own: Partial<Preset> = {},
  ): Preset => ({ name, family, description, match: 'everything', do: actions, ...shared, ...own })
}

const limited = inFamily('rate limit')
const limitedCreate = inFamily('rate limit', { match: { operation: 'batch-predictions.create' } })
const retried = inFamily('retry')
const disturbed = inFamily('connection')
const connected = inFamily('connection', { times: 1 })
const withKey = inFamily('retry', {
  match: { operation: 'batch-predictions.create', headers: { 'idempotency-key': '*' } },
  when: { nth: 1, by: 'idempotency_key' },
  times: 1,
})

/** A preset with a 429; `quota` has its deviations. */
function rejection(name: string, description: string, quota: Primitives['quota']): Preset {
  return limited(name, description, [{ quota: { reject: true, remaining: 0, reset_in_s: 2, ...quota } }])
}

function refusal(kind: string, description: string, quota: Primitives['quota']): Preset {
  return limitedCreate(`batch-admission-${kind}`, description, [
    { quota: { reject: true, remaining: 0, reset_in_s: 30, fields: 'both', ...quota } },
  ])
}

/** Rate limit headers in all forms, correct and wrong. Specification: Limits / Rate limits. */
export const rateLimits: readonly Preset[] = [
  rejection('rate-limited', 'A 429 with Retry-After: 2, as the service sends it.', {}),
  rejection('retry-after-http-date', 'A 429 whose Retry-After is a date two seconds ahead.', {
    retry_after: 'http-date',
  }),
  rejection('retry-after-date-past', 'A 429 whose Retry-After is a date one minute in the past.', {
    retry_after: 'http-date',
    reset_in_s: -60,
  }),
  rejection('retry-after-fractional', 'A 429 with Retry-After: 1.5, which is not an integer.', {
    reset_in_s: 1.5,
  }),
  rejection('retry-after-zero', 'A 429 with Retry-After: 0: retry at once.', { reset_in_s: 0 }),
  rejection('retry-after-garbage', 'A 429 whose Retry-After is neither a number nor a date.', {
    retry_after: { text: 'soon' },
  }),
  rejection('retry-after-partly-numeric', 'A 429 whose Retry-After begins like a number: 60abc.', {
    retry_after: { text: '60abc' },
  }),
  rejection('retry-after-negative', 'A 429 with Retry-After: -1, which is not a number of seconds.', {
    retry_after: { text: '-1' },
  }),
  rejection(
    'retry-after-rfc850-date',
    'A 429 whose Retry-After is a date two seconds ahead, in the obsolete form of RFC 850.',
    { retry_after: 'rfc850-date' },
  ),
  rejection(
    'retry-after-asctime-date',
    'A 429 whose Retry-After is a date two seconds ahead, in the obsolete form of asctime.',
    { retry_after: 'asctime-date' },
  ),
  rejection(
    'retry-after-61s',
    'A 429 with Retry-After: 61, above the maximum of a minute that some clients have.',
    {
      reset_in_s: 61,
    },
  ),
  rejection(
    'retry-after-121s',
    'A 429 with Retry-After: 121, above the maximum of two minutes that some clients have.',
    {
      reset_in_s: 121,
    },
  ),
  rejection('retry-after-huge', 'A 429 whose Retry-After is one year.', { reset_in_s: 31_536_000 }),
  rejection(
    'retry-after-int32-overflow',
    'A 429 whose seconds fit into 32 bits, while their milliseconds do not: a timer fires at once.',
    { reset_in_s: 2_147_484 },
  ),
  rejection('retry-after-missing', 'A 429 without Retry-After: the client must choose its own wait.', {
    retry_after: 'missing',
  }),
  limited('rate-headers-lowercase', 'Every header name of the response is in lower case.', [
    { head: { case: 'lower' } },
  ]),
  rejection('remaining-positive-but-429', 'A 429 whose X-RateLimit-Remaining is more than 0.', {
    remaining: 17,
  }),
  refusal('concurrency', 'A 429: the organization has the maximum number of unfinished batches.', {
    policy: 'org-concurrency',
    limit: 5,
    unit: 'concurrent-requests',
  }),
  refusal('enqueued-items', 'A 429: the organization has the maximum number of unfinished items.', {
    policy: 'org-enqueued-items',
    limit: 10_000,
  }),
  refusal('create-rate', 'A 429: the organization creates batches too fast.', {
    policy: 'org-create-rate',
    limit: 10,
    window_s: 60,
  }),
  refusal('capacity', 'A 429: the service has no capacity for more batches.', {
    policy: 'global-capacity',
    limit: 100,
    unit: 'concurrent-requests',
  }),
]

/** Failures after which a client has to decide whether to send the request again. */
export const retries: readonly Preset[] = [
  retried('server-error', 'A 500 in the error format of the operation; nothing has happened.', [
    { respond: { status: 500 } },
  ]),
  retried('unavailable-with-retry-after', 'A 503 with Retry-After: 2; nothing has happened.', [
    { respond: { status: 503, headers: { 'Retry-After': '2' } } },
  ]),
  retried(
    'ambiguous-gateway-5xx',
    'The request takes effect, but a gateway responds with 504 and an HTML page.',
    [
      { respond: { status: 504, effects: 'apply', proxy: true, body: '' } },
      { body: { fixture: 'html-gateway-timeout' } },
    ],
  ),
  withKey(
    'lost-response-after-commit',
    'The batch is created, then the connection is reset before a byte of the response. A repetition with the same key gets the stored response. Chromium repeats the request itself, so your code may see only the response to the repetition.',
    [{ cut: { at: 'after-handler', how: 'rst' } }],
  ),
  withKey('concurrent-same-key', 'A 409: another request with the same key is still in progress.', [
    { idem: { concurrent: true } },
  ]),
  withKey('key-reuse-different-body', 'A 409: the key was used before with another body.', [
    { respond: { status: 409, code: 'idempotency_key_reused' } },
  ]),
  withKey(
    'timeout-then-late-success',
    'The batch is created, but no response comes until the client gives up. A repetition with the same key gets the stored response.',
    [{ cut: { at: 'after-handler', how: 'pause' } }],
  ),
]

// A preflight leaves an open connection, on which Chromium then sends the actual request.
const REPEATED =
  'Chromium automatically repeats a request, also a POST, on a connection that was used before, for example for the preflight: the page gets no error.'
const HALF_READ = 'In a page, fetch resolves and reading the body rejects.'

/** Two different lengths: Chromium ends the request with an error, and repeats it on no connection. */
const TWO_LENGTHS = Buffer.from(
  'HTTP/1.1 502 Bad Gateway\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n',
).toString('base64')

/** Faults of connections. The request has taken effect, unless the description states otherwise. */
export const connectionFaults: readonly Preset[] = [
  connected(
    'fin-before-headers',
    `The connection is closed cleanly before a byte of the response. ${REPEATED}`,
    [{ cut: { at: 'before-head', how: 'fin' } }],
  ),
  connected('rst-before-headers', `The connection is reset before a byte of the response. ${REPEATED}`, [
    { cut: { at: 'before-head', how: 'rst' } },
  ]),
  connected(
    'browser-network-error',
    "The response is not valid HTTP, so a page's fetch rejects with a TypeError and Chromium does not repeat it; the request has no effect.",
    [{ respond: { status: 502, proxy: true, body: '' } }, { raw: { base64: TWO_LENGTHS } }],
  ),
  connected(
    'cut-after-headers',
    `The head of the response arrives, then the connection is reset. ${HALF_READ}`,
    [{ cut: { at: 'after-head', how: 'rst' } }],
  ),
  connected('cut-mid-body', `Half of the body arrives, then the connection is reset. ${HALF_READ}`, [
    { cut: { at: { fraction: 0.5 }, how: 'rst' } },
  ]),
  connected(
    'chunked-truncated',
    `A chunked body arrives whole, but the connection is closed before the chunk that ends it. ${HALF_READ}`,
    [{ frame: { mode: 'chunked' } }, { cut: { at: 'before-last-chunk', how: 'fin' } }],
  ),
  connected('content-length-too-long', `Content-Length is ten bytes more than the body. ${HALF_READ}`, [
    { frame: { mode: 'length', length_delta: 10 } },
  ]),
  connected(
    'stale-keepalive',
    `The second request on a connection is reset, as when a server has closed an idle connection; it has no effect. ${REPEATED}`,
    [{ cut: { at: 'before-read', how: 'rst' } }],
    { match: { connection_request_index: 2 } },
  ),
  disturbed('never-answers', 'The connection stays open without a response; the request has no effect.', [
    { cut: { at: 'before-handler', how: 'pause' } },
  ]),
  connected(
    'stall-after-headers',
    'The head of the response arrives, then nothing more. In a page, fetch resolves and reading the body does not end.',
    [{ pace: { stall_at: 'after-head' } }],
  ),
  disturbed('slow-drip', 'The body is sent in pieces of 16 bytes, 50 ms apart, for at most ten seconds.', [
    { pace: { bytes: 16, gap_ms: 50, max_ms: 10_000 } },
  ]),
  disturbed('slow', 'Every response begins half a second late.', [{ pace: { before_head_ms: 500 } }]),
  disturbed(
    'offline',
    "Every request is reset, as without a network; it has no effect. A page's fetch rejects with a TypeError.",
    [{ cut: { at: 'before-read', how: 'rst' } }],
  ),
]
