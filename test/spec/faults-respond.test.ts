import { expect, test } from 'vitest'
import type { Respond } from '../../src/core/faults/respond.ts'
import { aBatch, batchEmulator, expectProblem } from '../support/batches.ts'
import { type TestEmulator, type TestResponse, testEmulator } from '../support/emulator.ts'
import { armRule } from '../support/faults.ts'
import { sampleCalls, sampleRecords } from '../support/sample-calls.ts'
import { lastEntry } from '../support/send.ts'
import { underRule } from '../support/under-rule.ts'

const CREATE = '/batch-predictions'

const responding = (said: Respond, starting?: Promise<TestEmulator>): Promise<TestEmulator> =>
  underRule({ do: [{ respond: said }] }, starting)

/** All that a request may change, except the counters of rules. */
function content({ sandbox }: TestEmulator): unknown {
  const { collections, schedule, idempotency, counters } = sandbox.document()
  return { collections, schedule, idempotency, counters: { ...counters, requests: 0 } }
}

const quotaOf = ({ headers }: TestResponse): (string | null)[] =>
  ['limit', 'remaining', 'reset'].map((name) => headers.get(`x-ratelimit-${name}`))

test('an injected error has the standard body and quota headers', { tags: ['R239', 'R246'] }, async () => {
  const emulator = await responding({ status: 500 })
  const response = await emulator.post('/pages', { name: 'Plan' })
  expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8')
  const message = 'The service failed to handle the request.'
  const statuses = { status_code: 500, statusCode: 500 }
  const error = { ...statuses, error: 'internal_error', message, retryable: true, details: {} }
  expect([response.status, response.body]).toEqual([500, error])
  expect(quotaOf(response)).toEqual(['200', '199', expect.stringMatching(/^\d+$/)])
})

test('an injected error without effects changes nothing but quota', { tags: ['T04'] }, async () => {
  const emulator = await responding({ status: 503 }, batchEmulator())
  const before = content(emulator)
  const key = { headers: { 'idempotency-key': 'key-1' } }
  for (const remaining of ['199', '198']) {
    const response = await emulator.post(CREATE, aBatch(), key)
    expect([response.status, quotaOf(response)[1]]).toEqual([503, remaining])
  }
  expect(content(emulator)).toEqual(before)
})

test.for([
  ...['401 unauthorized', '403 forbidden', '404 not_found', '408 request_timeout', '409 conflict'],
  ...['410 results_gone', '413 payload_too_large', '418 bad_request', '422 validation_failed'],
  ...['429 rate_limit_exceeded', '500 internal_error', '502 bad_gateway', '503 service_unavailable'],
  ...['504 gateway_timeout', '507 internal_error'],
])('an injected error has the code of its status: %s', async (expected) => {
  const emulator = await responding({ status: Number(expected.slice(0, 3)) })
  const response = await emulator.get('/agents')
  const { status_code, error } = response.body
  expect([`${response.status} ${error}`, `${status_code} ${error}`]).toEqual([expected, expected])
  expect(response.text).not.toMatch(/fault|rule-1|inject|emulator/i)
})

test('on batch endpoints a rule sets code and detail of a problem', { tags: ['R245', 'R246'] }, async () => {
  const said: Respond = { status: 409, code: 'idempotency_key_reused', detail: 'Seen before.' }
  const emulator = await responding(said, batchEmulator())
  const response = await emulator.post(CREATE, aBatch())
  expectProblem(response, 409, 'idempotency_key_reused')
  expect(response.body.detail).toMatch(/^Seen before\./)
})

test('an injected 429 has nothing remaining and a Retry-After', { tags: ['R268'] }, async () => {
  const emulator = await responding({ status: 429 })
  const response = await emulator.get('/agents')
  const details = { reason: expect.stringMatching(/./) }
  expect(response.body).toMatchObject({ error: 'rate_limit_exceeded', retryable: true, details })
  expect(quotaOf(response).slice(0, 2)).toEqual(['200', '0'])
  const reset = Number(quotaOf(response)[2])
  expect(Number(response.headers.get('retry-after'))).toBe(reset - emulator.now() / 1000)
})

test('headers of a fault are added or replace the standard ones in any letter case, but not the framing', async () => {
  const framing = { 'Content-Length': '1', 'transfer-encoding': 'chunked', Trailer: 'Expires' }
  const headers = { 'retry-after': '7', 'X-RATELIMIT-LIMIT': 'many', 'X-Node': 'n1', ...framing }
  const emulator = await responding({ status: 503, body: { ok: true }, headers })
  const response = await emulator.get('/agents')
  const names = ['x-ratelimit-limit', 'retry-after', 'x-node', 'content-length']
  expect(names.map((name) => response.headers.get(name))).toEqual(['many', '7', 'n1', '11'])
  expect(response.body).toEqual({ ok: true })
})

test.for<[said: Respond, type: string | null, text: string]>([
  [{ status: 200, body: { data: [] } }, 'application/json; charset=utf-8', '{"data":[]}'],
  [{ status: 200, body: 'hello' }, 'text/plain; charset=utf-8', 'hello'],
  [{ status: 200, body: '<p>', headers: { 'content-type': 'text/html' } }, 'text/html', '<p>'],
  [{ status: 422, body: { type: 'about:blank' } }, 'application/problem+json', '{"type":"about:blank"}'],
  [{ status: 200, body: null }, 'application/json; charset=utf-8', 'null'],
  [{ status: 202 }, null, ''],
  [{ status: 204, body: { never: 'sent' } }, null, ''],
])('a body is sent unchanged: %j is %s', async ([said, type, text]) => {
  const emulator = await responding(said, batchEmulator())
  const response = await emulator.post(CREATE, aBatch())
  const seen = [response.status, response.headers.get('content-type'), response.text]
  expect(seen).toEqual([said.status, type, text])
  expect(emulator.state('batch_predictions')).toEqual([])
})

test('a response of a proxy has no rate-limit headers, no error format and no assumptions', async () => {
  const emulator = await responding({ status: 502, proxy: true }, batchEmulator())
  const response = await emulator.post(CREATE, aBatch())
  expect(response).toMatchObject({ status: 502, text: 'Bad Gateway\n' })
  expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8')
  const names = [...response.headers.keys()].filter((name) => /ratelimit|retry|assumed/.test(name))
  expect(names).toEqual([])
  expect(response.headers.get('x-emulator-request-id')).toMatch(/./)
})

test('an injected error also replaces refusals, such as an unknown key or a used-up limit', async () => {
  const emulator = await responding({ status: 503 })
  const code = 'service_unavailable'
  await emulator.control('POST', '/limits/agents.list/fill', { remaining: 0 })
  for (const response of [
    await emulator.get('/agents', { key: 'none' }),
    await emulator.get('/agents'),
    await emulator.get('/agents', { token: 'nobody' }),
    await emulator.delete('/conversations/nothing'),
  ])
    expect([response.status, response.body.error]).toEqual([503, code])
  expect(lastEntry(emulator.sandbox)).toMatchObject({ decided: 'faultsBefore', error: { code } })
})

test('an injected error with effects replaces the refusal of the handler', async () => {
  const emulator = await responding({ status: 502, effects: 'apply' })
  expect((await emulator.post('/pages', { name: 5 })).body.error).toBe('bad_gateway')
  expect(emulator.state('pages')).toEqual([])
  expect(lastEntry(emulator.sandbox)).toMatchObject({ decided: 'faultsAfter', status: 502 })
})

test('a fault can respond to a path without an operation, for every method', async () => {
  const found = { status: 200, body: 'found' }
  const emulator = await underRule({ match: { path: '/v1/search*' }, do: [{ respond: found }] })
  expect(await emulator.get('/search-things?query=x')).toMatchObject({ status: 200, text: 'found' })
  expect((await emulator.delete('/search-things')).status).toBe(200)
  expect((await emulator.get('/elsewhere')).status).toBe(404)
  const decided = emulator.sandbox.log.entries().map((entry) => entry.decided)
  expect(decided).toEqual(['faultsBefore', 'faultsBefore', 'route'])
})

test('wire actions also apply on an unknown route', async () => {
  const emulator = await underRule({ do: [{ head: { set: { 'X-Node': 'n1' } } }] })
  const response = await emulator.get('/nowhere')
  expect([response.status, response.headers.get('x-node')]).toEqual([404, 'n1'])
})

test('a malformed path is refused before any rule matches', async () => {
  const emulator = await testEmulator()
  const rule = armRule(emulator.sandbox, { do: [{ respond: { status: 200, body: 'in' } }] })
  const response = await emulator.get('/agents/%zz/automations')
  expect(response.status).toBe(400)
  expect(emulator.sandbox.store.get('$fault_counters', rule.id)).toBeUndefined()
})

test('a body action with effects: none prevents the handler', async () => {
  const emulator = await underRule({ do: [{ body: { effects: 'none', text: '{' } }] })
  const response = await emulator.post('/pages', { name: 'Plan' })
  expect(response.status).toBe(200)
  expect(emulator.state('pages')).toEqual([])
  expect(lastEntry(emulator.sandbox)).toMatchObject({ decided: 'faultsBefore', status: 200 })
})

test('the rule with the higher priority responds', async () => {
  const emulator = await responding({ status: 500 })
  const first = { then: 'continue', priority: 1 } as const
  armRule(emulator.sandbox, { ...first, do: [{ respond: { status: 503, effects: 'apply' } }] })
  expect((await emulator.post('/pages', { name: 'Plan' })).status).toBe(503)
  expect(emulator.state('pages')).toHaveLength(1)
})

test('responses are the same bytes without rules and with rules that do not match', async () => {
  const plain = await testEmulator({ collections: sampleRecords })
  const rule = { match: { query: { nothing: 'like this' } }, do: [{ respond: { status: 500 } }] }
  const armed = await underRule(rule, testEmulator({ collections: sampleRecords }))
  const calls = await sampleCalls(plain)
  expect(await sampleCalls(armed)).toEqual(calls)
  const bytes = async (emulator: TestEmulator, { method, path, options }: (typeof calls)[number]) => {
    const { status, headers, text } = await emulator.request(method, path, options)
    return JSON.stringify([status, [...headers], text]).replaceAll(/127\.0\.0\.1:\d+/g, '127.0.0.1:0')
  }
  for (const call of calls) expect(await bytes(armed, call)).toBe(await bytes(plain, call))
})
