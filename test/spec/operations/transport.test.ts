import { expect, test } from 'vitest'
import { KEYS } from '../../support/base-state.ts'
import { expectProblem } from '../../support/batches.ts'
import { type TestEmulator, type TestResponse, testEmulator } from '../../support/emulator.ts'
import { expectStandardError } from '../../support/refusal.ts'
import { CONTRACT, type SampleCall, sampleCalls, sampleRecords } from '../../support/sample-calls.ts'
import { bearer, overSocket, requestBytes } from '../../support/wire-client.ts'

const withSamples = () => testEmulator({ collections: sampleRecords })
const METHODS = ['GET', 'POST', 'PATCH', 'DELETE', 'PUT']

async function contractCalls(emulator: TestEmulator): Promise<SampleCall[]> {
  const calls = await sampleCalls(emulator)
  return CONTRACT.map((name) => calls.find((call) => call.name === name) as SampleCall)
}

const send = (emulator: TestEmulator, { method, path, options }: SampleCall, more = {}) =>
  emulator.request(method, path, { ...options, ...more })

/** Asserts an error in the format of its operation. */
function expectErrorOf(name: string, response: TestResponse, status: number, code?: string): void {
  const expectForm = name.startsWith('batch-predictions') ? expectProblem : expectStandardError
  expectForm(response, status, code)
}

function expectQuota(response: TestResponse): void {
  for (const name of ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset']) {
    expect(response.headers.get(name), name).toMatch(/^\d+$/)
  }
}

/** Sends a request on a connection of its own, with a method and a path that no client would send. */
async function rawStatus({ emulator }: TestEmulator, target: string): Promise<number> {
  const headers = { Host: `localhost:${emulator.port}`, ...bearer(KEYS.KU) }
  const { text } = await overSocket(emulator.port, requestBytes({ path: target, headers }))
  return Number(text.slice(9, 12))
}

test.for([
  ['/v1/data-views', 200],
  ['/data-views', 404],
  ['/v2/data-views', 404],
  ['/V1/data-views', 404],
  ['/v1/v1/data-views', 404],
  ['/v1/Data-Views', 404],
  ['/v1/data-views/', 404],
  ['/v1//data-views', 404],
  ['/v1/data-views#x', 404],
] as const)(
  'the exact path counts: %s is a %i',
  { tags: ['R001', 'R285', 'U072'] },
  async ([path, status]) => {
    expect(await rawStatus(await testEmulator(), path)).toBe(status)
  },
)

test('an absolute URL as the request target is served like its path', async () => {
  const emulator = await testEmulator()
  const { port } = emulator.emulator
  for (const path of ['/v1/data-views', '/__emulator/health', ''])
    expect(await rawStatus(emulator, `HTTP://localhost:${port}${path}`)).toBe(200)
})

test('a setting removes the deprecated statusCode', { tags: ['R240', 'R288'] }, async () => {
  const emulator = await testEmulator({ settings: { 'errors.deprecated_status_code': false } })
  const { body } = await emulator.get('/nothing-here')
  expect([body.status_code, Object.hasOwn(body, 'statusCode')]).toEqual([404, false])
})

test('HEAD is GET without a body', { tags: ['U072'] }, async () => {
  const emulator = await testEmulator()
  const head = await emulator.request('HEAD', '/data-views')
  expect([head.status, head.text]).toEqual([200, ''])
  expect((await emulator.get('/data-views')).headers.get('x-ratelimit-remaining')).toBe('198')
})

test('the nineteen operations succeed at their method and path, with JSON, NDJSON for results, nothing for 204', {
  tags: ['R002', 'R005', 'R211', 'R222'],
}, async () => {
  const emulator = await withSamples()
  for (const call of await contractCalls(emulator)) {
    const { status, headers, text } = await send(emulator, call)
    const type = headers.get('content-type')
    // HTTP (RFC 9110, 8.6) forbids a Content-Length of a 204, also of 0.
    if (status === 204)
      expect([call.name, text, type, headers.get('content-length')]).toEqual([call.name, '', null, null])
    else expect([call.name, status]).toEqual([call.name, 200])
    if (call.name === 'batch-predictions.results') expect(type).toBe('application/x-ndjson')
    else if (status !== 204) expect([type, text[0]]).toEqual(['application/json; charset=utf-8', '{'])
  }
})

test('every other method is refused with Allow, and changes nothing', { tags: ['R005'] }, async () => {
  const emulator = await withSamples()
  const calls = await contractCalls(emulator)
  const operations = [...emulator.sandbox.service.operations.values()]
  const before = emulator.digest()
  for (const { name, path } of calls) {
    const template = operations.find((operation) => operation.name === name)?.path
    const taken: string[] = operations.flatMap(({ path, method }) => (path === template ? [method] : []))
    for (const method of METHODS.filter((each) => !taken.includes(each))) {
      const response = await emulator.request(method, path)
      expect([name, method, response.status]).toEqual([name, method, 405])
      expect(response.headers.get('allow')?.split(', ')).toEqual(expect.arrayContaining(taken))
    }
  }
  expect(emulator.digest()).toBe(before)
})

test('without a key every operation is a 401 in its format', {
  tags: ['R121', 'R226', 'R245', 'R246'],
}, async () => {
  const emulator = await withSamples()
  const calls = await contractCalls(emulator)
  const before = emulator.digest()
  for (const call of calls) {
    const response = await send(emulator, call, { key: 'none' })
    expectErrorOf(call.name, response, 401)
    expect(response.headers.get('www-authenticate')).toBe('Bearer')
  }
  const asked = await emulator.get(`/data-views?access_token=${KEYS.KU}`, { key: 'none' })
  expect([asked.status, emulator.digest()]).toEqual([401, before])
})

test('request 201 in a window is refused on each of the nineteen, in its error format, and changes nothing', {
  tags: [
    'R122',
    'R133',
    'R140',
    'R148',
    'R151',
    'R154',
    'R159',
    'R161',
    'R171',
    'R177',
    'R181',
    'R183',
    'R187',
    'R196',
    'R244',
    'R252',
    'R257',
    'R264',
  ],
}, async () => {
  const emulator = await withSamples()
  const calls = await contractCalls(emulator)
  const { limits } = emulator.sandbox
  for (const { name } of calls) limits.windows.fill(`ts-a ${name}`, limits.of(name), emulator.now(), 0)
  const before = emulator.digest()
  for (const call of calls) {
    const response = await send(emulator, call)
    expectErrorOf(call.name, response, 429, 'rate_limit_exceeded')
    expect(response.headers.get('retry-after')).toBe('60')
    const { title, details } = response.body
    if (call.name.startsWith('batch-predictions')) expect(title).toBe('Rate Limit Exceeded')
    else expect(details.reason).toEqual(expect.any(String))
  }
  expect(emulator.digest()).toBe(before)
})

test('a limit of 5 accepts five requests, then refuses until the oldest leaves the window', {
  tags: ['R255', 'R256', 'R258', 'R260', 'R262', 'R267'],
}, async () => {
  const settings = { 'limits.overrides': [{ operation: 'pages.create', limit: 5, window_s: 60 }] }
  const emulator = await testEmulator({ settings })
  for (let k = 1; k <= 5; k++) {
    const { status, headers } = await emulator.post('/pages', { name: 'x' })
    const quota = ['x-ratelimit-limit', 'x-ratelimit-remaining', 'retry-after'].map((name) =>
      headers.get(name),
    )
    expect([status, ...quota]).toEqual([200, '5', String(5 - k), k === 5 ? '60' : null])
  }
  const before = emulator.digest()
  const refused = await emulator.post('/pages', { name: 'x' })
  expect([refused.status, refused.headers.get('x-ratelimit-remaining')]).toEqual([429, '0'])
  expect(refused.body.mitigation).toContain('clock')
  expect(emulator.digest()).toBe(before)
  emulator.advance('60s')
  expect((await emulator.post('/pages', { name: 'x' })).status).toBe(200)
})

test('every kind of response has the three headers with a reset within the window, and a standard error its form', {
  tags: ['R239', 'R240', 'R241', 'R242', 'R243', 'R253', 'R259', 'R261'],
}, async () => {
  const emulator = await withSamples()
  const [first] = await contractCalls(emulator)
  emulator.advance('400ms')
  const origin = { origin: 'http://localhost:3000', 'access-control-request-method': 'POST' }
  const responses = [
    await send(emulator, first as SampleCall),
    await emulator.get('/data-views'),
    await emulator.request('HEAD', '/data-views'),
    await emulator.post('/converse', {}),
    await emulator.get('/batch-predictions/%E0%A4%A'),
    await emulator.request('OPTIONS', '/pages', { key: 'none', headers: origin }),
  ]
  const errors = [
    await emulator.post('/pages', { name: 5 }),
    await emulator.post('/pages'),
    await emulator.get('/data-views', { key: 'none' }),
    await emulator.get('/data-views?limit=0'),
    await emulator.get('/nothing-here'),
    await emulator.get('/pages'),
    await emulator.request('POST', '/pages', { raw: '{' }),
    await emulator.request('POST', '/pages', { raw: 'x', type: 'text/plain' }),
    await emulator.request('POST', '/pages', { raw: 'x'.repeat(2_000_000) }),
  ]
  expect(responses.map(({ status }) => status)).toEqual([204, 200, 200, 501, 400, 204])
  expect(errors.map(({ status }) => status)).toEqual([400, 400, 401, 400, 404, 405, 400, 415, 413])
  for (const response of errors) expectStandardError(response)
  const now = emulator.now() / 1000
  for (const response of [...responses, ...errors]) {
    expectQuota(response)
    if (response !== responses.at(-1)) expect(response.headers.get('x-emulator-request-id')).toBeTruthy()
    const reset = Number(response.headers.get('x-ratelimit-reset'))
    expect(reset).toBeGreaterThanOrEqual(now)
    expect(reset).toBeLessThanOrEqual(Math.ceil(now + 60))
  }
})

test('tokens are nowhere in the state, in responses or in the request log', { tags: ['R231'] }, async () => {
  const emulator = await withSamples()
  const texts: string[] = []
  for (const call of await sampleCalls(emulator)) texts.push((await send(emulator, call)).text)
  const seen = JSON.stringify([emulator.sandbox.document(), emulator.sandbox.log.entries(), texts])
  for (const token of [...Object.values(KEYS), 'state-of-flow', 'claim-1']) {
    expect(seen.includes(`"${token}"`), token).toBe(false)
  }
})
