import type { Preset } from '../preset.ts'
import type { Primitives } from '../primitive.ts'
import { onceIn } from './once.ts'

const once = onceIn('rate limit')

/** A 429 on the next request; `quota` says what is odd about it. */
function rejection(name: string, description: string, quota: Primitives['quota']): Preset {
  return once(name, description, [{ quota: { reject: true, remaining: 0, reset_in_s: 2, ...quota } }])
}

/** Every way in which a rate limit can be told, and mistold. */
export const rateLimitPresets: readonly Preset[] = [
  rejection('rate-limited', 'A 429 with Retry-After: 2, as the service sends it.', {}),
  rejection('retry-after-http-date', 'A 429 whose Retry-After is a date two seconds ahead.', {
    retry_after: 'http-date',
  }),
  rejection('retry-after-date-past', 'A 429 whose Retry-After is a date that is over by a minute.', {
    retry_after: 'http-date',
    reset_in_s: -60,
  }),
  rejection('retry-after-fractional', 'A 429 with Retry-After: 1.5, which is no integer.', {
    reset_in_s: 1.5,
  }),
  rejection('retry-after-zero', 'A 429 with Retry-After: 0: retry at once.', { reset_in_s: 0 }),
  rejection('retry-after-garbage', 'A 429 whose Retry-After is neither a number nor a date.', {
    retry_after: { text: 'soon' },
  }),
  rejection('retry-after-huge', 'A 429 that asks for a year of waiting.', { reset_in_s: 31_536_000 }),
  rejection(
    'retry-after-int32-overflow',
    'A 429 whose seconds fit into 32 bits, while their milliseconds do not: a timer fires at once.',
    { reset_in_s: 2_147_484 },
  ),
  rejection('retry-after-missing', 'A 429 without Retry-After: the client has to back off by itself.', {
    retry_after: 'missing',
  }),
  {
    name: 'rate-headers-lowercase',
    family: 'rate limit',
    description: 'Every header name of the answer is in lower case.',
    match: 'everything',
    do: [{ head: { case: 'lower' } }],
  },
  rejection('remaining-positive-but-429', 'A 429 whose X-RateLimit-Remaining says that requests are left.', {
    remaining: 17,
  }),
]
