import type { Preset } from '../../core/faults/preset.ts'
import { bodies, lists, streams } from './content.ts'
import { connectionFaults, inFamily, rateLimits, retries } from './traffic.ts'

const CREATE = { operation: 'batch-predictions.create' }
const RETRIEVE = { operation: 'batch-predictions.retrieve' }

const batch = inFamily('batch')
const created = inFamily('batch', { match: CREATE, times: 1 })
/** For the first poll of each batch, or another operation on it. */
const polled = inFamily('batch', { match: RETRIEVE, when: { nth: 1, by: 'resource_id' }, times: 1 })
const webhook = inFamily('webhook', { match: { webhook: 'batch_prediction.*' }, times: 1 })
const key = inFamily('auth')

/** Unusual courses of a batch. */
const batches: readonly Preset[] = [
  created('batch-instant-terminal', 'A batch is completed before its first poll.', [
    { state: { at: 'after-handler', batch: 'instant' } },
  ]),
  batch(
    'batch-stuck',
    'A batch stays in progress until it expires or is released.',
    [{ state: { at: 'after-handler', batch: { hold: 'in_progress' } } }],
    { match: CREATE },
  ),
  polled(
    'batch-404-after-create',
    'The first two polls of a batch respond with 404: the reader lags behind the writer.',
    [{ state: { visible_after_reads: 2 } }],
    { when: { first: 2, by: 'resource_id' }, times: 2 },
  ),
  polled(
    'batch-poll-transient-error',
    'The second poll of a batch responds with 503.',
    [{ respond: { status: 503 } }],
    { when: { nth: 2, by: 'resource_id' } },
  ),
  polled(
    'batch-cancel-racing-completion',
    'A batch completes just before its cancel arrives.',
    [{ state: { batch: 'complete' } }],
    { match: { operation: 'batch-predictions.cancel' } },
  ),
  batch(
    'batch-results-410',
    'Results are cleaned up as soon as a batch is terminal: results_url is null and reading them responds with 410.',
    [{ state: { cleanup: true } }],
    { match: { method: 'GET', path: '/v1/batch-predictions/*' } },
  ),
  polled(
    'batch-results-410-race',
    'Results are cleaned up between the poll that shows their URL and the read, which responds with 410.',
    [{ state: { cleanup: true } }],
    { match: { operation: 'batch-predictions.results' } },
  ),
  polled(
    'batch-expired-partial',
    'At its first poll the completion window of a batch ends with half of the items finished.',
    [{ state: { batch: { do: 'expire', finished: 0.5 } } }],
  ),
  created(
    'batch-all-errored',
    'A batch is completed, but every item is errored: its results have no output.',
    [
      {
        state: {
          at: 'after-handler',
          batch: { outcomes: [{ status: 'errored', detail: 'The file cannot be read.' }] },
        },
      },
    ],
  ),
  created('batch-failed-validation', 'A batch fails while it is validating.', [
    {
      state: {
        at: 'after-handler',
        batch: { do: 'fail', detail: 'Two items refer to files that cannot be read.' },
      },
    },
  ]),
]

/** Webhooks that are duplicated, late, out of order or missing. */
const webhooks: readonly Preset[] = [
  webhook('webhook-duplicate', 'A webhook is delivered twice, with the same id.', [
    { deliver: { copies: 2 } },
  ]),
  webhook('webhook-out-of-order', 'A webhook is delivered after the one that follows it.', [
    { deliver: { order: 'after-next' } },
  ]),
  webhook(
    'webhook-before-create-response',
    'The webhook of a batch arrives before the response that has its id.',
    [{ state: { at: 'after-handler', batch: 'instant' } }, { deliver: { when: 'before-response' } }],
    { match: CREATE },
  ),
  webhook('webhook-late', 'A webhook is delivered ten minutes late.', [{ deliver: { delay: '10m' } }]),
  webhook('webhook-dropped', 'A webhook is never delivered.', [{ deliver: { drop: true } }]),
  webhook(
    'webhook-stale-signature',
    'The signature of a webhook is correct, but its timestamp is older than the tolerance. A webhook that has no timestamp gets a wrong signature instead.',
    [{ deliver: { sign: 'old' } }],
  ),
  webhook(
    'webhook-wrong-signature-once',
    'The first attempt of a webhook has a wrong signature. If the receiver refuses it, a retry ten seconds later has the same id and a valid signature.',
    [{ deliver: { sign: 'wrong', sign_attempts: 1, retries: ['10s'] } }],
  ),
]

/** Faults of API keys. */
const keys: readonly Preset[] = [
  key(
    'token-expired-mid-session',
    'Each key works for two calls, then responds with 401: it has expired.',
    [{ auth: { expire_after_calls: 2 } }],
    { when: { by: 'api_key' } },
  ),
  key(
    'token-revoked',
    'Each key is revoked by its next request: that one and all later ones respond with 401.',
    [{ auth: { revoke: true } }],
  ),
]

/** A barrier for requests. */
const gates: readonly Preset[] = [
  inFamily('order')(
    'gate',
    'A request waits before its handler until a test releases it.',
    [{ gate: { at: 'before-handler' } }],
    { then: 'continue' },
  ),
]

/** Every preset, in the order of lists: the reference, the control interface, the command line and the header use this list. */
export const presets: readonly Preset[] = [
  ...rateLimits,
  ...retries,
  ...connectionFaults,
  ...bodies,
  ...streams,
  ...lists,
  ...batches,
  ...webhooks,
  ...keys,
  ...gates,
]
