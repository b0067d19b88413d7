import { aBatch } from '../../support/batches.ts'
import { armed, type PresetCase, USERS } from './preset-case.ts'
import { limitView, split } from './views.ts'

/** A list is refused twice, and a third time not: refused requests use no quota. */
function limit(preset: string, retry_after: string | null, remaining = '0'): PresetCase {
  const refused = { status: 429, retry_after, remaining, error: 'rate_limit_exceeded' }
  const fine = { status: 200, retry_after: null, remaining: '199', error: null }
  return armed(
    preset,
    async ({ get, clear }) => {
      const views = [await get(USERS), await get(USERS)]
      await clear()
      return [...views, await get(USERS)].map(limitView)
    },
    [refused, refused, fine],
  )
}

function admission(kind: string, policy: string, state: string): PresetCase {
  return armed(
    `batch-admission-${kind}`,
    async ({ post, clear, sandbox }) => {
      const create = () => post('/batch-predictions', aBatch())
      const [first, second] = [await create(), await create()]
      await clear()
      const third = await create()
      const fields = ['content-type', 'ratelimit-policy', 'ratelimit', 'retry-after']
      return {
        statuses: [first, second, third].map(({ status }) => status),
        headers: fields.map((name) => first.headers[name]),
        batches: sandbox.store.rows('batch_predictions').size,
      }
    },
    { statuses: [429, 429, 200], headers: ['application/problem+json', policy, state, '30'], batches: 1 },
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
  limit('retry-after-missing', null),
  limit('remaining-positive-but-429', '2', '17'),
  armed(
    'rate-headers-lowercase',
    async ({ raw, get }) => {
      const { head } = split((await raw('GET', USERS)).text)
      const names = head.match(/^x-ratelimit-\w+(?=:)/gim)
      return [names?.join(' '), (await get(USERS)).headers['x-ratelimit-limit']]
    },
    ['x-ratelimit-limit x-ratelimit-remaining x-ratelimit-reset', '200'],
  ),
  admission('concurrency', '"org-concurrency";q=5;qu="concurrent-requests"', '"org-concurrency";r=0;t=30'),
  admission('enqueued-items', '"org-enqueued-items";q=10000', '"org-enqueued-items";r=0;t=30'),
  admission('create-rate', '"org-create-rate";q=10;w=60', '"org-create-rate";r=0;t=30'),
  admission('capacity', '"global-capacity";q=100;qu="concurrent-requests"', '"global-capacity";r=0;t=30'),
]
