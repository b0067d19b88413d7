import { aBatch } from '../../support/batches.ts'
import { armed, type PresetCase, USERS } from './setup.ts'
import { parse, seen, split } from './views.ts'

/** A list is refused, which uses no quota. */
function limit(preset: string, retry_after: string | undefined, remaining = '0'): PresetCase {
  return armed(
    preset,
    async ({ get, clear }) => {
      const refused = await get(USERS)
      await clear()
      const quotas = [refused, await get(USERS)].map(({ headers }) => headers['x-ratelimit-remaining'])
      return [seen(refused), refused.headers['retry-after'], ...quotas]
    },
    ['429 rate_limit_exceeded', retry_after, remaining, '199'],
  )
}

function admission(kind: string, policy: string, state: string): PresetCase {
  return armed(
    `batch-admission-${kind}`,
    async ({ post, sandbox }) => {
      const { status, headers } = await post('/batch-predictions', aBatch())
      const fields = ['content-type', 'ratelimit-policy', 'ratelimit', 'retry-after']
      return [status, ...fields.map((name) => headers[name]), sandbox.store.rows('batch_predictions').size]
    },
    [429, 'application/problem+json', policy, state, '30', 0],
  )
}

export const limitCases: readonly PresetCase[] = [
  limit('rate-limited', '2'),
  limit('retry-after-http-date', 'Sun, 01 Mar 2026 12:00:02 GMT'),
  limit('retry-after-date-past', 'Sun, 01 Mar 2026 11:59:00 GMT'),
  limit('retry-after-fractional', '1.5'),
  limit('retry-after-zero', '0'),
  limit('retry-after-garbage', 'soon'),
  limit('retry-after-partly-numeric', '60abc'),
  limit('retry-after-negative', '-1'),
  limit('retry-after-rfc850-date', 'Sunday, 01-Mar-26 12:00:02 GMT'),
  limit('retry-after-asctime-date', 'Sun Mar  1 12:00:02 2026'),
  limit('retry-after-61s', '61'),
  limit('retry-after-121s', '121'),
  limit('retry-after-huge', '31536000'),
  limit('retry-after-int32-overflow', '2147484'),
  limit('retry-after-missing', undefined),
  limit('remaining-positive-but-429', '2', '17'),
  armed(
    'rate-headers-lowercase',
    async ({ raw }) => split((await raw('GET', USERS)).text).head.match(/^x-ratelimit-\w+(?=:)/gim),
    ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset'],
  ),
  admission('concurrency', '"org-concurrency";q=5;qu="concurrent-requests"', '"org-concurrency";r=0;t=30'),
  admission('enqueued-items', '"org-enqueued-items";q=10000', '"org-enqueued-items";r=0;t=30'),
  admission('create-rate', '"org-create-rate";q=10;w=60', '"org-create-rate";r=0;t=30'),
  admission('capacity', '"global-capacity";q=100;qu="concurrent-requests"', '"global-capacity";r=0;t=30'),
]

const KEYED = { json: aBatch(), headers: { 'Idempotency-Key': 'k-1' } }

/**
 * Creates a batch twice with one key, which makes one batch.
 * @param made the number of batches after the first creation
 * @param how `stays`: the rule is removed before the second creation
 */
function twice(preset: string, first: string, made: 0 | 1, how?: 'untilHeld' | 'stays'): PresetCase {
  return armed(
    preset,
    async ({ call, clear, sandbox }) => {
      const batches = () => [...sandbox.store.rows('batch_predictions').keys()]
      const one = await call('POST', '/batch-predictions', { ...KEYED, untilHeld: how === 'untilHeld' })
      const made = batches().length
      if (how === 'stays') await clear()
      const two = await call('POST', '/batch-predictions', KEYED)
      const isOnly = `${batches()}` === parse(two.body)?.id
      return [seen(one), made, two.status, sandbox.log.entries().at(-1)?.idempotency, isOnly]
    },
    [first, made, 200, made === 0 ? 'fresh' : 'replay', true],
  )
}

export const retryCases: readonly PresetCase[] = [
  twice('lost-response-after-commit', 'broken', 1),
  twice('timeout-then-late-success', 'timeout', 1, 'untilHeld'),
  twice('ambiguous-gateway-5xx', '504', 1, 'stays'),
  twice('concurrent-same-key', '409 Idempotency Key In Use', 0),
  twice('key-reuse-different-body', '409 Idempotency Key Reused', 0),
  armed(
    'server-error',
    async ({ post, clear, sandbox }) => {
      const failed = await post('/pages', { name: 'x' })
      await clear()
      const { status } = await post('/pages', { name: 'x' })
      return [seen(failed), failed.headers['x-ratelimit-remaining'], status, sandbox.store.rows('pages').size]
    },
    ['500 internal_error', '199', 200, 1],
  ),
  armed(
    'unavailable-with-retry-after',
    async ({ get }) => {
      const view = await get(USERS)
      return [seen(view), view.headers['retry-after']]
    },
    ['503 service_unavailable', '2'],
  ),
]
