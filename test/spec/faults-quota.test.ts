import { expect, test } from 'vitest'
import type { QuotaFault } from '../../src/core/faults/quota.ts'
import { aBatch, batchEmulator } from '../support/batches.ts'
import { type TestResponse, testEmulator } from '../support/emulator.ts'
import { armRule } from '../support/faults.ts'
import { expectStandardError } from '../support/refusal.ts'
import { underRule } from '../support/under-rule.ts'

const NAMES = [
  ['limit', 'x-ratelimit-limit'],
  ['remaining', 'x-ratelimit-remaining'],
  ['reset', 'x-ratelimit-reset'],
  ['retry_after', 'retry-after'],
  ['policy', 'ratelimit-policy'],
  ['state', 'ratelimit'],
] as const

/** The rate-limit headers that a response has, by short names. */
function fieldsOf({ headers }: TestResponse): Partial<Record<string, string>> {
  const present = NAMES.map(([short, name]) => [short, headers.get(name)] as const)
  return Object.fromEntries(present.flatMap(([name, value]) => (value === null ? [] : [[name, value]])))
}

async function under(quota: QuotaFault): Promise<TestResponse> {
  const emulator = await underRule({ do: [{ quota }] })
  return emulator.get('/agents')
}

const REJECT: QuotaFault = { reject: true, remaining: 0, reset_in_s: 2 }
const LISTED: QuotaFault = { policy: 'org-concurrency', limit: 5, reset_in_s: 30, reject: true }
const DRAFT = 'retry_after 30, policy "org-concurrency";q=5, state "org-concurrency";r=0;t=30'
const ESCAPED = '"a \\"b\\" \\\\c"'

// The virtual time is 1772366400.
test.for<[quota: QuotaFault, status: number, fields: string]>([
  [REJECT, 429, 'limit 200, remaining 0, reset 1772366402, retry_after 2'],
  [{ reject: true, remaining: 17 }, 429, 'limit 200, remaining 17, reset 1772366460, retry_after 60'],
  [{ remaining: 0, reset_in_s: 9 }, 200, 'limit 200, remaining 0, reset 1772366409, retry_after 9'],
  [{ limit: 5 }, 200, 'limit 5, remaining 4, reset 1772366460'],
  [{ ...LISTED, fields: 'both' }, 429, `limit 5, remaining 0, reset 1772366430, ${DRAFT}`],
  [{ ...LISTED, fields: 'ietf' }, 429, DRAFT],
  [
    { policy: 'a "b" \\c', window_s: 9, fields: 'ietf' },
    200,
    `policy ${ESCAPED};q=200;w=9, state ${ESCAPED};r=199;t=60`,
  ],
  [{ fields: 'ietf' }, 200, 'policy "default";q=200;w=60, state "default";r=199;t=60'],
  // An integer of these fields has at most 15 digits, and is not negative.
  [
    { reset_in_s: 1e300, window_s: 0.5, fields: 'ietf' },
    200,
    'policy "default";q=200;w=1, state "default";r=199;t=999999999999999',
  ],
  [{ reset_in_s: -4, fields: 'ietf' }, 200, 'policy "default";q=200;w=60, state "default";r=199;t=0'],
  [{ fields: 'none' }, 200, ''],
  [{ ...REJECT, fields: 'none' }, 429, 'retry_after 2'],
])('%j: a %i with %s', { tags: ['R259', 'R262', 'R264', 'R265', 'R268'] }, async ([quota, ...seen]) => {
  const response = await under(quota)
  const sent = Object.entries(fieldsOf(response)).map(([name, value]) => `${name} ${value}`)
  expect([response.status, sent.join(', ')]).toEqual(seen)
})

test('an injected 429 has the body of the service, or names its policy', { tags: ['R264'] }, async () => {
  const response = await under(REJECT)
  expectStandardError(response, 429, 'rate_limit_exceeded')
  expect(response.body.details).toEqual({ reason: 'rate_limit_exceeded' })
  expect(response.text).not.toMatch(/fault|rule|inject/i)
  expect((await under(LISTED)).body.message).toContain('org-concurrency')
})

// The presets of limits have the usual forms.
test.for<readonly [QuotaFault, string]>([
  [{ reset_in_s: -60 }, '-60'],
  [{ reset_in_s: 1e21 }, '1000000000000000000000'],
  [{ retry_after: 'rfc850-date', reset_in_s: 61.5 }, 'Sunday, 01-Mar-26 12:01:02 GMT'],
  [{ retry_after: 'rfc850-date', reset_in_s: 10 * 86_400 }, 'Wednesday, 11-Mar-26 12:00:00 GMT'],
  [{ retry_after: 'asctime-date', reset_in_s: 10 * 86_400 }, 'Wed Mar 11 12:00:00 2026'],
  [{ retry_after: 'http-date', reset_in_s: 0.2 }, 'Sun, 01 Mar 2026 12:00:01 GMT'],
  [{ retry_after: 'http-date', reset_in_s: 1e300 }, 'Thu, 31 Dec 9998 23:59:59 GMT'],
  [{ retry_after: 'http-date', reset_in_s: -1e300 }, 'Thu, 01 Jan 1970 00:00:00 GMT'],
])('%j is sent as Retry-After: %s', { tags: ['R268'] }, async ([quota, expected]) => {
  const response = await under({ ...REJECT, ...quota })
  expect([response.status, fieldsOf(response).retry_after]).toEqual([429, expected])
})

test.for<readonly [NonNullable<QuotaFault['reset_format']>, injected: string, real: string]>([
  ['epoch-seconds', '1772366402', '1772366460'],
  ['epoch-milliseconds', '1772366402000', '1772366460000'],
  ['seconds', '2', '60'],
  ['http-date', 'Sun, 01 Mar 2026 12:00:02 GMT', 'Sun, 01 Mar 2026 12:01:00 GMT'],
  ['iso', '2026-03-01T12:00:02.000Z', '2026-03-01T12:01:00.000Z'],
])('a reset can be written as %s', { tags: ['R261'] }, async ([reset_format, injected, real]) => {
  expect(fieldsOf(await under({ ...REJECT, reset_format })).reset).toBe(injected)
  const response = await under({ reset_format })
  expect([response.status, fieldsOf(response).reset]).toEqual([200, real])
})

test('the quota headers of a rule replace those of an admission policy', { tags: ['R265'] }, async () => {
  const quota: QuotaFault = { policy: 'other', limit: 7, reset_in_s: 4, fields: 'both' }
  const full = batchEmulator({ 'limits.admission.concurrency': 0 })
  const emulator = await underRule({ do: [{ quota }] }, full)
  const response = await emulator.post('/batch-predictions', aBatch())
  const fields = { limit: '7', retry_after: '4', policy: '"other";q=7', state: '"other";r=7;t=4' }
  expect([response.status, fieldsOf(response)]).toMatchObject([429, fields])
})

test('a 401 and an injected error have the quota headers of the rule', { tags: ['T06'] }, async () => {
  const emulator = await underRule({ when: { nth: 1 }, do: [{ quota: { ...REJECT, limit: 3 } }] })
  const unknown = await emulator.get('/agents', { key: 'none' })
  expect([unknown.status, fieldsOf(unknown).limit]).toEqual([401, '3'])
  const quota = { remaining: 3, retry_after: 'seconds' } as const
  armRule(emulator.sandbox, { do: [{ respond: { status: 503 } }, { quota }] })
  const response = await emulator.get('/agents')
  expect([response.status, fieldsOf(response)]).toMatchObject([503, { remaining: '3', retry_after: '60' }])
})

test('the last value of a quota header applies, and other headers keep theirs', async () => {
  const emulator = await testEmulator()
  const rule = { then: 'continue' } as const
  armRule(emulator.sandbox, { ...rule, do: [{ quota: { limit: 1, remaining: 1 } }, { quota: { limit: 7 } }] })
  armRule(emulator.sandbox, { ...rule, priority: 1, do: [{ quota: { limit: 9, reset_in_s: 5 } }] })
  expect(fieldsOf(await emulator.get('/agents'))).toEqual({ limit: '7', remaining: '1', reset: '1772366405' })
})
