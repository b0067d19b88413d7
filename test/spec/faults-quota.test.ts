import { expect, test } from 'vitest'
import type { QuotaFault } from '../../src/core/faults/quota.ts'
import { aBatch, batchEmulator } from '../support/batches.ts'
import { type TestResponse, testEmulator } from '../support/emulator.ts'
import { armRule } from '../support/faults.ts'
import { expectStandardError } from '../support/refusal.ts'

const NAMES = [
  'x-ratelimit-limit',
  'x-ratelimit-remaining',
  'x-ratelimit-reset',
  'retry-after',
  'ratelimit-policy',
  'ratelimit',
] as const

/** The rate-limit headers that a response has. */
function fieldsOf({ headers }: TestResponse): Record<string, string> {
  const present = NAMES.map((name) => [name, headers.get(name)] as const)
  return Object.fromEntries(present.flatMap(([name, value]) => (value === null ? [] : [[name, value]])))
}

async function under(quota: QuotaFault, path = '/agents'): Promise<TestResponse & { readonly now: number }> {
  const emulator = await testEmulator()
  armRule(emulator.sandbox, { do: [{ quota }] })
  return { ...(await emulator.get(path)), now: emulator.now() / 1000 }
}

const REJECT: QuotaFault = { reject: true, remaining: 0, reset_in_s: 2 }

test('an injected 429 equals the 429 of the service: body, Retry-After, nothing remaining', {
  tags: ['R264'],
}, async () => {
  const response = await under(REJECT)
  expectStandardError(response, 429, 'rate_limit_exceeded')
  expect(response.body.details).toEqual({ reason: 'rate_limit_exceeded' })
  expect(response.text).not.toMatch(/fault|rule|inject/i)
  expect(fieldsOf(response)).toEqual({
    'x-ratelimit-limit': '200',
    'x-ratelimit-remaining': '0',
    'x-ratelimit-reset': String(response.now + 2),
    'retry-after': '2',
  })
})

test('a request with an injected 429 uses no quota and changes nothing', {
  tags: ['T04', 'R267'],
}, async () => {
  const emulator = await testEmulator()
  armRule(emulator.sandbox, { when: { nth: 1 }, do: [{ quota: REJECT }] })
  expect((await emulator.post('/pages', { name: 'Plan' })).status).toBe(429)
  expect(emulator.state('pages')).toEqual([])
  expect(fieldsOf(await emulator.post('/pages', { name: 'Plan' }))['x-ratelimit-remaining']).toBe('199')
})

test('a fault can inject a 429 although limits are off', { tags: ['R268'] }, async () => {
  const emulator = await testEmulator({ limits: false })
  armRule(emulator.sandbox, { do: [{ quota: { reject: true } }] })
  const response = await emulator.get('/agents')
  expect([response.status, fieldsOf(response)['retry-after']]).toEqual([429, '60'])
})

test.for<readonly [QuotaFault, string | undefined]>([
  [{}, '2'],
  [{ reset_in_s: 1.5 }, '1.5'],
  [{ reset_in_s: 0 }, '0'],
  [{ reset_in_s: -60 }, '-60'],
  [{ reset_in_s: 2_147_484 }, '2147484'],
  [{ reset_in_s: 31_536_000 }, '31536000'],
  [{ reset_in_s: 1e21 }, '1000000000000000000000'],
  [{ retry_after: 'missing' }, undefined],
  [{ retry_after: { text: 'soon' } }, 'soon'],
  [{ retry_after: 'http-date' }, 'Sun, 01 Mar 2026 12:00:02 GMT'],
  [{ retry_after: 'rfc850-date', reset_in_s: 61.5 }, 'Sunday, 01-Mar-26 12:01:02 GMT'],
  [{ retry_after: 'rfc850-date', reset_in_s: 10 * 86_400 }, 'Wednesday, 11-Mar-26 12:00:00 GMT'],
  [{ retry_after: 'asctime-date' }, 'Sun Mar  1 12:00:02 2026'],
  [{ retry_after: 'asctime-date', reset_in_s: 10 * 86_400 }, 'Wed Mar 11 12:00:00 2026'],
  [{ retry_after: 'http-date', reset_in_s: 0.2 }, 'Sun, 01 Mar 2026 12:00:01 GMT'],
  [{ retry_after: 'http-date', reset_in_s: -60 }, 'Sun, 01 Mar 2026 11:59:00 GMT'],
  [{ retry_after: 'http-date', reset_in_s: 1e300 }, 'Thu, 31 Dec 9998 23:59:59 GMT'],
  [{ retry_after: 'http-date', reset_in_s: -1e300 }, 'Thu, 01 Jan 1970 00:00:00 GMT'],
])('%j is sent as Retry-After: %s', { tags: ['R268'] }, async ([quota, expected]) => {
  const response = await under({ ...REJECT, ...quota })
  expect([response.status, fieldsOf(response)['retry-after']]).toEqual([429, expected])
})

test.for<readonly [QuotaFault['reset_format'], string]>([
  [undefined, '1772366402'],
  ['epoch-seconds', '1772366402'],
  ['epoch-milliseconds', '1772366402000'],
  ['seconds', '2'],
  ['http-date', 'Sun, 01 Mar 2026 12:00:02 GMT'],
  ['iso', '2026-03-01T12:00:02.000Z'],
])('the reset can be written as %s', { tags: ['R261'] }, async ([reset_format, expected]) => {
  const response = await under({ ...REJECT, reset_format })
  expect(fieldsOf(response)['x-ratelimit-reset']).toBe(expected)
})

test.for<readonly [QuotaFault['reset_format'], string]>([
  ['epoch-milliseconds', '1772366460000'],
  ['seconds', '60'],
  ['iso', '2026-03-01T12:01:00.000Z'],
])('the true reset can be written as %s', { tags: ['R261'] }, async ([reset_format, expected]) => {
  const response = await under({ reset_format })
  expect([response.status, fieldsOf(response)['x-ratelimit-reset']]).toEqual([200, expected])
})

test('a 429 can have remaining requests', { tags: ['R268'] }, async () => {
  const response = await under({ reject: true, remaining: 17 })
  expect([response.status, fieldsOf(response)]).toMatchObject([
    429,
    { 'x-ratelimit-remaining': '17', 'retry-after': '60' },
  ])
})

test('a success can have no remaining requests, or another limit', {
  tags: ['R262'],
}, async () => {
  const none = await under({ remaining: 0, reset_in_s: 9 })
  expect([none.status, fieldsOf(none)]).toMatchObject([
    200,
    { 'x-ratelimit-limit': '200', 'x-ratelimit-remaining': '0', 'retry-after': '9' },
  ])
  const less = await under({ limit: 5 })
  expect([less.status, fieldsOf(less)]).toMatchObject([
    200,
    { 'x-ratelimit-limit': '5', 'x-ratelimit-remaining': '4' },
  ])
  expect(fieldsOf(less)['retry-after']).toBeUndefined()
})

test('a policy can be in the fields of the IETF draft, in addition to the standard headers or instead of them', {
  tags: ['R265'],
}, async () => {
  const policy = { policy: 'org-concurrency', limit: 5, reset_in_s: 30, reject: true } as const
  const both = await under({ ...policy, fields: 'both' })
  expect(fieldsOf(both)).toEqual({
    'x-ratelimit-limit': '5',
    'x-ratelimit-remaining': '0',
    'x-ratelimit-reset': String(both.now + 30),
    'retry-after': '30',
    'ratelimit-policy': '"org-concurrency";q=5',
    ratelimit: '"org-concurrency";r=0;t=30',
  })
  expect(both.body.message).toContain('org-concurrency')
  const ietf = fieldsOf(await under({ ...policy, policy: 'a "b" \\c', window_s: 60, fields: 'ietf' }))
  expect(ietf).toEqual({
    'retry-after': '30',
    'ratelimit-policy': '"a \\"b\\" \\\\c";q=5;w=60',
    ratelimit: '"a \\"b\\" \\\\c";r=0;t=30',
  })
  expect(fieldsOf(await under({ fields: 'ietf' }))).toEqual({
    'ratelimit-policy': '"default";q=200;w=60',
    ratelimit: '"default";r=199;t=60',
  })
})

test('structured fields have integers of at most 15 digits, whatever the rule has', {
  tags: ['R265'],
}, async () => {
  const odd = fieldsOf(await under({ remaining: 3, reset_in_s: 1e300, window_s: 0.5, fields: 'ietf' }))
  expect(odd).toEqual({
    'ratelimit-policy': '"default";q=200;w=1',
    ratelimit: '"default";r=3;t=999999999999999',
  })
  expect(fieldsOf(await under({ reset_in_s: -4, fields: 'ietf' })).ratelimit).toBe('"default";r=199;t=0')
})

test('a response can lack every rate-limit header', { tags: ['R259'] }, async () => {
  expect(fieldsOf(await under({ fields: 'none' }))).toEqual({})
  expect(fieldsOf(await under({ ...REJECT, fields: 'none' }))).toEqual({ 'retry-after': '2' })
})

test('a refused creation is problem details, does not use its idempotency key and creates no batch', {
  tags: ['R265', 'R266'],
}, async () => {
  const emulator = await batchEmulator()
  const quota = { ...REJECT, policy: 'org-create-rate', limit: 10, window_s: 60, fields: 'both' } as const
  armRule(emulator.sandbox, { when: { nth: 1 }, do: [{ quota }] })
  const create = () =>
    emulator.post('/batch-predictions', aBatch(), { headers: { 'idempotency-key': 'key-1' } })
  const rules = () => emulator.sandbox.store.get('$fault_counters', 'rule-1')
  expect(rules()).toBeUndefined()
  const response = await create()
  expect(response.headers.get('content-type')).toBe('application/problem+json')
  expect([response.status, response.body.title]).toEqual([429, 'Rate Limit Exceeded'])
  expect(fieldsOf(response)['ratelimit-policy']).toBe('"org-create-rate";q=10;w=60')
  expect(rules()).toMatchObject({ matched: 1, fired: 1 })
  expect([(await create()).status, emulator.state('batch_predictions').length]).toEqual([200, 1])
})

test('the quota headers of a rule replace those of an admission policy', {
  tags: ['R265'],
}, async () => {
  const emulator = await batchEmulator({ 'limits.admission.concurrency': 0 })
  armRule(emulator.sandbox, { do: [{ quota: { policy: 'other', limit: 7, reset_in_s: 4, fields: 'both' } }] })
  const response = await emulator.post('/batch-predictions', aBatch())
  expect([response.status, fieldsOf(response)]).toMatchObject([
    429,
    {
      'x-ratelimit-limit': '7',
      'retry-after': '4',
      'ratelimit-policy': '"other";q=7',
      ratelimit: '"other";r=7;t=4',
    },
  ])
})

test('a request without a known key is a 401 with the quota headers of the rule', {
  tags: ['T06'],
}, async () => {
  const emulator = await testEmulator()
  armRule(emulator.sandbox, { do: [{ quota: { ...REJECT, limit: 3 } }] })
  const response = await emulator.get('/agents', { key: 'none' })
  expect([response.status, fieldsOf(response)['x-ratelimit-limit']]).toEqual([401, '3'])
})

test('an injected error has the quota headers of the rule', async () => {
  const emulator = await testEmulator()
  armRule(emulator.sandbox, {
    do: [{ respond: { status: 503 } }, { quota: { remaining: 3, retry_after: 'seconds' } }],
  })
  const response = await emulator.get('/agents')
  expect([response.status, fieldsOf(response)]).toMatchObject([
    503,
    { 'x-ratelimit-remaining': '3', 'retry-after': '60' },
  ])
})

test('the last value of a quota header applies, and other headers keep theirs', async () => {
  const emulator = await testEmulator()
  armRule(emulator.sandbox, {
    then: 'continue',
    do: [{ quota: { limit: 1, remaining: 1 } }, { quota: { limit: 7 } }],
  })
  armRule(emulator.sandbox, { then: 'continue', priority: 1, do: [{ quota: { limit: 9, reset_in_s: 5 } }] })
  expect(fieldsOf(await emulator.get('/agents'))).toEqual({
    'x-ratelimit-limit': '7',
    'x-ratelimit-remaining': '1',
    'x-ratelimit-reset': String(emulator.now() / 1000 + 5),
  })
})
