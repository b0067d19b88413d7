import type { Preset } from '../../core/faults/preset.ts'
import { bodies, lists, streams } from './content.ts'
import { connectionFaults, rateLimits, retries } from './traffic.ts'

const CREATE = { operation: 'batch-predictions.create' }
const RETRIEVE = { operation: 'batch-predictions.retrieve' }
const RESULTS = { operation: 'batch-predictions.results' }

const EACH_BATCH = { nth: 1, by: 'resource_id' } as const

/** Unusual courses of a batch. */
const batches: readonly Preset[] = [
  {
    name: 'batch-instant-terminal',
    family: 'batch',
    description: 'A batch is completed before its first poll.',
    match: CREATE,
    times: 1,
    do: [{ state: { at: 'after-handler', batch: 'instant' } }],
  },
  {
    name: 'batch-stuck',
    family: 'batch',
    description: 'A batch stays in progress until it expires or is released.',
    match: CREATE,
    do: [{ state: { at: 'after-handler', batch: { hold: 'in_progress' } } }],
  },
  {
    name: 'batch-404-after-create',
    family: 'batch',
    description: 'The first two polls of a batch respond with 404: the reader lags behind the writer.',
    match: RETRIEVE,
    when: { first: 2, by: 'resource_id' },
    times: 2,
    do: [{ state: { visible_after_reads: 2 } }],
  },
  {
    name: 'batch-poll-transient-error',
    family: 'batch',
    description: 'The second poll of a batch responds with 503.',
    match: RETRIEVE,
    when: { nth: 2, by: 'resource_id' },
    times: 1,
    do: [{ respond: { status: 503 } }],
  },
  {
    name: 'batch-cancel-racing-completion',
    family: 'batch',
    description: 'A batch completes just before its cancel arrives.',
    match: { operation: 'batch-predictions.cancel' },
    when: EACH_BATCH,
    times: 1,
    do: [{ state: { batch: 'complete' } }],
  },
  {
    name: 'batch-results-410',
    family: 'batch',
    description:
      'Results are cleaned up as soon as a batch is terminal: results_url is null and reading them responds with 410.',
    match: { method: 'GET', path: '/v1/batch-predictions/*' },
    do: [{ state: { cleanup: true } }],
  },
  {
    name: 'batch-results-410-race',
    family: 'batch',
    description:
      'Results are cleaned up between the poll that shows their URL and the read, which responds with 410.',
    match: RESULTS,
    when: EACH_BATCH,
    times: 1,
    do: [{ state: { cleanup: true } }],
  },
  {
    name: 'batch-expired-partial',
    family: 'batch',
    description: 'At its first poll the completion window of a batch ends with half of the items finished.',
    match: RETRIEVE,
    when: EACH_BATCH,
    times: 1,
    do: [{ state: { batch: { do: 'expire', finished: 0.5 } } }],
  },
  {
    name: 'batch-all-errored',
    family: 'batch',
    description: 'A batch is completed, but every item is errored: its results have no output.',
    match: CREATE,
    times: 1,
    do: [
      {
        state: {
          at: 'after-handler',
          batch: { outcomes: [{ status: 'errored', detail: 'The file cannot be read.' }] },
        },
      },
    ],
  },
  {
    name: 'batch-failed-validation',
    family: 'batch',
    description: 'A batch fails while it is validating.',
    match: CREATE,
    times: 1,
    do: [
      {
        state: {
          at: 'after-handler',
          batch: { do: 'fail', detail: 'Two items refer to files that cannot be read.' },
        },
      },
    ],
  },
]

/** Webhooks that are duplicated, late, out of order or missing. */
const webhooks: readonly Preset[] = [
  {
    name: 'webhook-duplicate',
    family: 'webhook',
    description: 'A webhook is delivered twice, with the same id.',
    match: { webhook: 'batch_prediction.*' },
    times: 1,
    do: [{ deliver: { copies: 2 } }],
  },
  {
    name: 'webhook-out-of-order',
    family: 'webhook',
    description: 'A webhook is delivered after the one that follows it.',
    match: { webhook: 'batch_prediction.*' },
    times: 1,
    do: [{ deliver: { order: 'after-next' } }],
  },
  {
    name: 'webhook-before-create-response',
    family: 'webhook',
    description: 'The webhook of a batch arrives before the response that has its id.',
    match: CREATE,
    times: 1,
    do: [{ state: { at: 'after-handler', batch: 'instant' } }, { deliver: { when: 'before-response' } }],
  },
  {
    name: 'webhook-late',
    family: 'webhook',
    description: 'A webhook is delivered ten minutes late.',
    match: { webhook: 'batch_prediction.*' },
    times: 1,
    do: [{ deliver: { delay: '10m' } }],
  },
  {
    name: 'webhook-dropped',
    family: 'webhook',
    description: 'A webhook is never delivered.',
    match: { webhook: 'batch_prediction.*' },
    times: 1,
    do: [{ deliver: { drop: true } }],
  },
  {
    name: 'webhook-stale-signature',
    family: 'webhook',
    description:
      'The signature of a webhook is correct, but its timestamp is older than the tolerance. Without a timestamp_header in the setting webhooks.signature, the signature is wrong instead.',
    match: { webhook: 'batch_prediction.*' },
    times: 1,
    do: [{ deliver: { sign: 'old' } }],
  },
  {
    name: 'webhook-wrong-signature-once',
    family: 'webhook',
    description:
      'The first attempt of a webhook has a wrong signature. If the receiver refuses it, a retry ten seconds later has the same id and a valid signature.',
    match: { webhook: 'batch_prediction.*' },
    times: 1,
    do: [{ deliver: { sign: 'wrong', sign_attempts: 1, retries: ['10s'] } }],
  },
]

/** Faults of API keys. */
const keys: readonly Preset[] = [
  {
    name: 'token-expired-mid-session',
    family: 'auth',
    description: 'Each key works for two calls, then responds with 401: it has expired.',
    match: 'everything',
    when: { by: 'api_key' },
    do: [{ auth: { expire_after_calls: 2 } }],
  },
  {
    name: 'token-revoked',
    family: 'auth',
    description: 'Each key is revoked by its next request: that one and all later ones respond with 401.',
    match: 'everything',
    do: [{ auth: { revoke: true } }],
  },
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
]
