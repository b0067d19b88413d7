import type { Preset } from '../preset.ts'
import { onceIn } from './once.ts'

const once = onceIn('retry')

/** Failures behind which a client has to decide whether to send the request again. */
export const retryPresets: readonly Preset[] = [
  once('server-error', 'A 500 in the error format of the operation; nothing has happened.', [
    { respond: { status: 500 } },
  ]),
  once('unavailable-with-retry-after', 'A 503 with Retry-After: 2; nothing has happened.', [
    { respond: { status: 503, headers: { 'Retry-After': '2' } } },
  ]),
  {
    name: 'ambiguous-gateway-5xx',
    family: 'retry',
    description: 'The request takes effect, but a gateway in front answers 504 with a page of HTML.',
    match: 'everything',
    when: { nth: 1, by: ['operation', 'idempotency_key'] },
    do: [
      { respond: { status: 504, effects: 'apply', proxy: true, body: '' } },
      { body: { fixture: 'html-error' } },
    ],
  },
]
