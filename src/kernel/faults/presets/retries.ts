import type { Preset } from '../preset.ts'

/** Failures behind which a client has to decide whether to send the request again. */
export const retryPresets: readonly Preset[] = [
  {
    name: 'server-error',
    family: 'retry',
    says: 'A 500 in the dialect of the operation; nothing has happened.',
    match: 'everything',
    when: { nth: 1 },
    do: [{ respond: { status: 500 } }],
  },
  {
    name: 'unavailable-with-retry-after',
    family: 'retry',
    says: 'A 503 with Retry-After: 2; nothing has happened.',
    match: 'everything',
    when: { nth: 1 },
    do: [{ respond: { status: 503, headers: { 'Retry-After': '2' } } }],
  },
  {
    name: 'ambiguous-gateway-5xx',
    family: 'retry',
    says: 'The request takes effect, but a gateway in front answers 504 with a page of HTML.',
    match: 'everything',
    when: { nth: 1, by: ['operation', 'idempotency_key'] },
    do: [
      { respond: { status: 504, effects: 'apply', proxy: true, body: '' } },
      { body: { fixture: 'html-error' } },
    ],
  },
]
