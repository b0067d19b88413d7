import { aBatch } from '../../support/batches.ts'
import { type PresetCase, USERS } from './preset-case.ts'
import { limitView, split } from './views.ts'

const FINE = { status: 200, retry_after: null, remaining: '199', error: null }

function refused(retry_after: string | null, remaining = '0') {
  return { status: 429, retry_after, remaining, error: 'rate_limit_exceeded' }
}

function limit(preset: string, first: object): PresetCase {
  return {
    preset,
    run: async (subject) => {
      await subject.arm(preset)
      const views = [await subject.call('GET', USERS), await subject.call('GET', USERS)]
      await subject.clear()
      return [...views, await subject.call('GET', USERS)].map(limitView)
    },
    // Refused requests use no quota.
    expected: [first, first, FINE],
  }
}

function admission(kind: string, policy: string, state: string): PresetCase {
  const preset = `batch-admission-${kind}`
  return {
    preset,
    run: async (subject) => {
      await subject.arm(preset)
      const first = await subject.call('POST', '/batch-predictions', { json: aBatch() })
      const second = await subject.call('POST', '/batch-predictions', { json: aBatch() })
      await subject.clear()
      const third = await subject.call('POST', '/batch-predictions', { json: aBatch() })
      const { headers } = first
      return {
        status: first.status,
        type: headers['content-type'],
        policy: headers['ratelimit-policy'],
        state: headers.ratelimit,
        retry_after: headers['retry-after'],
        then: [second.status, third.status],
        batches: subject.sandbox.store.rows('batch_predictions').size,
      }
    },
    expected: {
      status: 429,
      type: 'application/problem+json',
      policy,
      state,
      retry_after: '30',
      then: [429, 200],
      batches: 1,
    },
  }
}

export const limitCases: readonly PresetCase[] = [
  limit('rate-limited', refused('2')),
  limit('retry-after-http-date', refused('Sun, 01 Mar 2026 12:00:02 GMT')),
  limit('retry-after-date-past', refused('Sun, 01 Mar 2026 11:59:00 GMT')),
  limit('retry-after-fractional', refused('1.5')),
  limit('retry-after-zero', refused('0')),
  limit('retry-after-garbage', refused('soon')),
  limit('retry-after-partly-numeric', refused('60abc')),
  limit('retry-after-negative', refused('-1')),
  limit('retry-after-rfc850-date', refused('Sunday, 01-Mar-26 12:00:02 GMT')),
  limit('retry-after-asctime-date', refused('Sun Mar  1 12:00:02 2026')),
  limit('retry-after-61s', refused('61')),
  limit('retry-after-121s', refused('121')),
  limit('retry-after-huge', refused('31536000')),
  limit('retry-after-int32-overflow', refused('2147484')),
  limit('retry-after-missing', refused(null)),
  limit('remaining-positive-but-429', refused('2', '17')),
  {
    preset: 'rate-headers-lowercase',
    run: async (subject) => {
      await subject.arm('rate-headers-lowercase')
      const { head } = split((await subject.raw('GET', USERS)).text)
      const names = head
        .split('\r\n')
        .slice(1)
        .map((line) => line.slice(0, line.indexOf(':')))
      const { headers } = await subject.call('GET', USERS)
      return {
        upper: names.filter((name) => name !== name.toLowerCase() && name.startsWith('X-')),
        lower: names.includes('x-ratelimit-limit'),
        client: headers['x-ratelimit-limit'],
      }
    },
    expected: { upper: [], lower: true, client: '200' },
  },
  admission('concurrency', '"org-concurrency";q=5;qu="concurrent-requests"', '"org-concurrency";r=0;t=30'),
  admission('enqueued-items', '"org-enqueued-items";q=10000', '"org-enqueued-items";r=0;t=30'),
  admission('create-rate', '"org-create-rate";q=10;w=60', '"org-create-rate";r=0;t=30'),
  admission('capacity', '"global-capacity";q=100;qu="concurrent-requests"', '"global-capacity";r=0;t=30'),
]
