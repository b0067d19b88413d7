import type { FaultDraft } from 'agent-workspace-emulator'

/** One client of the gallery, and the verdict on it. Its code is `clients/NAME.ts`. */
export interface GalleryCase {
  readonly name: string
  readonly did: string
  /** The presets that are armed, with changed fields. */
  readonly faults: readonly FaultDraft[]
  /** The call of the program: the command of an adapter that it belongs to, if there is one. */
  readonly call: 'create_page' | 'create_batch' | 'wait' | 'get' | 'results' | 'list_all'
  /** Retries that the client declares; absent if it declares none. */
  readonly retries?: number
  /** Whether a client hangs in real time, so that its run has no end. */
  readonly hangs?: true
  /** Number of clients at the same time; default 1. */
  readonly copies?: number
  /** Severity and code, as `error key.changed`. */
  readonly verdict: string
  /**
   * The case of the certification that shows it, where only the client knows what it concluded, so that an adapter has to say it.
   * Without one, what the server sees is enough.
   */
  readonly certified?: string
}

const CREATE = { operation: 'batch-predictions.create' }
const RETRIEVE = { operation: 'batch-predictions.retrieve' }

/** The bugs of public clients, in the order of the page. */
export const cases: readonly GalleryCase[] = [
  {
    name: 'retry-after-as-nan',
    did: 'It parsed a malformed Retry-After to NaN and repeated the request in a tight loop.',
    faults: [{ preset: 'retry-after-garbage', times: 3 }],
    call: 'create_page',
    verdict: 'warning wait.none',
  },
  {
    name: 'retry-after-date-as-number',
    did: 'It parsed the date in Retry-After as a number and waited 0 ms.',
    faults: [{ preset: 'retry-after-http-date', times: 2 }],
    call: 'create_page',
    verdict: 'warning wait.date-ignored',
  },
  {
    name: 'long-retry-after-ignored',
    did: 'It ignored a Retry-After over 60 seconds and used its own short back-off.',
    faults: [{ preset: 'retry-after-61s', times: 2 }],
    call: 'list_all',
    verdict: 'warning wait.too-short',
  },
  {
    name: 'wait-without-cap',
    did: 'It waited for as long as the service asked, because the cap was lost: for a year.',
    faults: [{ preset: 'retry-after-huge', times: 1 }],
    call: 'create_page',
    verdict: 'note wait.uncapped',
  },
  {
    name: 'zero-means-no-retry',
    did: 'It took Retry-After: 0 for "do not retry".',
    faults: [{ preset: 'retry-after-zero', times: 1 }],
    call: 'create_page',
    retries: 3,
    verdict: 'error retry.missing',
  },
  {
    name: 'timer-overflow',
    did: 'It set a timer of more than 2^31 ms, which fired at once.',
    faults: [{ preset: 'retry-after-int32-overflow', times: 3 }],
    call: 'list_all',
    verdict: 'warning wait.none',
  },
  {
    name: 'same-wait-for-all',
    did: 'Twenty clients repeated their requests in the same millisecond.',
    faults: [{ preset: 'rate-limited', times: 20 }],
    call: 'create_page',
    copies: 20,
    verdict: 'note herd.lockstep',
  },
  {
    name: 'zero-retries-ignored',
    did: 'It repeated a request although retries were switched off.',
    faults: [{ preset: 'rst-before-headers' }],
    call: 'list_all',
    retries: 0,
    verdict: 'error retry.over-budget',
  },
  {
    name: 'retries-multiplied',
    did: 'The library and its wrapper both retried: 36 attempts for one call.',
    faults: [{ preset: 'rate-limited' }],
    call: 'list_all',
    verdict: 'warning retry.amplified',
  },
  {
    name: 'every-conflict-repeated',
    did: 'It repeated every 409, also for a key that was used with another body.',
    faults: [{ preset: 'key-reuse-different-body', when: {}, times: 10 }],
    call: 'create_batch',
    verdict: 'warning retry.pointless',
  },
  {
    name: 'poll-gives-up',
    did: 'It gave up a poll at the first 503, although the batch succeeded.',
    faults: [{ preset: 'batch-poll-transient-error' }],
    call: 'wait',
    retries: 2,
    verdict: 'error retry.missing',
  },
  {
    name: 'key-per-attempt',
    did: 'It sent a new idempotency key with each attempt.',
    faults: [{ preset: 'lost-response-after-commit' }],
    call: 'create_batch',
    verdict: 'error key.changed',
  },
  {
    name: 'key-replaced',
    did: 'It replaced the key of the program when retries were on.',
    faults: [{ preset: 'lost-response-after-commit' }],
    call: 'create_batch',
    verdict: 'error key.replaced',
    certified: 'create-with-key/lost-response-after-commit',
  },
  {
    name: 'timed-out-without-key',
    did: 'It repeated a creation that had timed out, without a key.',
    // The preset timeout-then-late-success waits for a request with a key.
    faults: [{ match: CREATE, when: { nth: 1 }, do: [{ cut: { at: 'after-handler', how: 'pause' } }] }],
    call: 'create_batch',
    verdict: 'error key.missing',
  },
  {
    name: 'empty-body-on-retry',
    did: 'It sent an empty body with the retry, because the first attempt had consumed the stream.',
    faults: [{ preset: 'server-error', match: CREATE, times: 1 }],
    call: 'create_batch',
    verdict: 'error body.changed',
  },
  {
    name: 'timeout-ends-with-head',
    did: 'Its time-out ended with the headers, so it waited for the body for ever.',
    faults: [{ preset: 'stall-after-headers', match: RETRIEVE }],
    call: 'get',
    hangs: true,
    verdict: 'warning timeout.body',
  },
  {
    name: 'cut-body-never-settles',
    did: 'Its promise never settled when the connection broke inside the body.',
    faults: [{ preset: 'cut-mid-body', match: RETRIEVE }],
    call: 'get',
    hangs: true,
    verdict: 'warning timeout.body',
    certified: 'read/cut-mid-body',
  },
  {
    name: 'stale-connection',
    did: 'Its request failed because the server had closed the idle connection.',
    faults: [{ preset: 'stale-keepalive' }],
    call: 'list_all',
    retries: 1,
    verdict: 'error retry.missing',
  },
  {
    name: 'unread-responses',
    did: 'It never read the response of a failed attempt, so each attempt left a connection open.',
    faults: [{ preset: 'unavailable-with-retry-after', times: 3 }],
    call: 'list_all',
    verdict: 'warning connection.leaked',
  },
  {
    name: 'crlf-split',
    did: 'It took CR and LF in two pieces for two line ends.',
    faults: [{ preset: 'ndjson-crlf-split' }],
    call: 'results',
    verdict: 'error stream.framing',
    certified: 'stream/ndjson-crlf-split',
  },
  {
    name: 'split-characters',
    did: 'It decoded each piece by itself, so a character in two pieces became U+FFFD.',
    faults: [{ preset: 'ndjson-utf8-split' }],
    call: 'results',
    verdict: 'error stream.corrupted',
    certified: 'stream/ndjson-utf8-split',
  },
  {
    name: 'blank-lines',
    did: 'It threw at a blank line between two results.',
    faults: [{ preset: 'ndjson-blank-lines' }],
    call: 'results',
    verdict: 'error stream.framing',
    certified: 'stream/ndjson-blank-lines',
  },
  {
    name: 'last-line-lost',
    did: 'It lost the last result when the stream did not end with a newline.',
    faults: [{ preset: 'ndjson-no-final-newline' }],
    call: 'results',
    verdict: 'error stream.item-lost',
    certified: 'stream/ndjson-no-final-newline',
  },
  {
    name: 'early-end-accepted',
    did: 'It took a stream that ended early for a success.',
    faults: [{ preset: 'ndjson-truncated-at-newline' }],
    call: 'results',
    verdict: 'error stream.truncation-accepted',
    certified: 'stream/ndjson-truncated-at-newline',
  },
  {
    name: 'empty-page-ends-list',
    did: 'It stopped at the first page without rows, although has_more was true.',
    faults: [{ preset: 'page-empty-has-more' }],
    call: 'list_all',
    verdict: 'warning page.stopped-early',
  },
  {
    name: 'repeated-cursor-followed',
    did: 'It followed a cursor that never advanced, in an endless loop.',
    faults: [{ preset: 'page-cursor-repeated' }],
    call: 'list_all',
    verdict: 'error page.loop',
  },
  {
    name: 'unknown-status-polled',
    did: 'It polled for ever, because it did not know the terminal status.',
    faults: [{ preset: 'unknown-terminal-status', times: 30 }],
    call: 'wait',
    verdict: 'warning poll.endless',
  },
  {
    name: 'new-field-refused',
    did: 'It took a response with a field that it did not know for a failed attempt, and repeated the call.',
    faults: [{ preset: 'tomorrow' }],
    call: 'create_batch',
    verdict: 'warning evolve.unknown-value',
  },
  {
    name: 'only-errors-crash',
    did: 'It crashed at every completed batch that had only errors.',
    faults: [{ preset: 'batch-all-errored' }],
    call: 'wait',
    verdict: 'error job.all-failed',
    certified: 'create-with-key/batch-all-errored',
  },
  {
    name: 'results-by-position',
    did: 'It matched results with items by their position instead of custom_id.',
    faults: [{ preset: 'ndjson-out-of-order' }],
    call: 'results',
    verdict: 'error job.by-index',
    certified: 'stream/ndjson-out-of-order',
  },
  {
    name: 'html-parsed-as-json',
    did: 'It parsed an HTML page with the status 502 as JSON and lost the status.',
    faults: [{ preset: 'html-error-page', match: RETRIEVE, times: 1 }],
    call: 'get',
    verdict: 'error error.status-hidden',
    certified: 'read/html-error-page',
  },
]
