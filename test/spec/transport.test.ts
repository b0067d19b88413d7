import { get } from 'node:http'
import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { KEYS } from '../support/base-world.ts'
import { CONTRACT, type SampleCall, sampleCalls, sampleRecords } from '../support/sample-calls.ts'
import { type TestAnswer, type TestWorld, testWorld } from '../support/world.ts'

const withSamples = () => testWorld({ collections: sampleRecords })
const METHODS = ['GET', 'POST', 'PATCH', 'DELETE', 'PUT']

async function contractCalls(world: TestWorld): Promise<SampleCall[]> {
  const calls = await sampleCalls(world)
  return CONTRACT.map((name) => calls.find((call) => call.name === name) as SampleCall)
}

function send(world: TestWorld, { method, path, options }: SampleCall, more = {}): Promise<TestAnswer> {
  return world.request(method, path, { ...options, ...more })
}

function expectErrorForm(answer: TestAnswer, problem: boolean): void {
  if (problem) {
    expect(answer.headers.get('content-type')).toBe('application/problem+json')
    expect(answer.body).toMatchObject({
      status: answer.status,
      title: expect.any(String),
      detail: expect.any(String),
      instance: expect.stringMatching(/^\/v1\//),
    })
    expect(answer.body.type).toMatch(/^http:\/\/127\.0\.0\.1:4010\/__emulator\/problems\/[a-z_]+$/)
    expect(answer.body).not.toHaveProperty('status_code')
    return
  }
  expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8')
  expect(answer.body).toMatchObject({
    status_code: answer.status,
    statusCode: answer.status,
    error: expect.stringMatching(/^[a-z0-9_]+$/),
    message: expect.any(String),
    retryable: expect.any(Boolean),
    details: expect.any(Object),
  })
  expect(['string', 'undefined']).toContain(typeof answer.body.mitigation)
  for (const member of ['type', 'title', 'detail', 'instance']) expect(answer.body).not.toHaveProperty(member)
}

function expectQuota(answer: TestAnswer): void {
  for (const name of ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset']) {
    expect(answer.headers.get(name), name).toMatch(/^\d+$/)
  }
}

test('R001 R285 paths are below /v1 and nowhere else', async () => {
  const world = await testWorld()
  expect((await world.get('/data-views')).status).toBe(200)
  const root = world.baseUrl.slice(0, -'/v1'.length)
  for (const prefix of ['', '/v2', '/V1', '/v1/v1']) {
    const answer = await fetch(`${root}${prefix}/data-views`, {
      headers: { authorization: `Bearer ${KEYS.KU}` },
    })
    expect(answer.status, prefix).toBe(404)
  }
})

test('R005 R222 the nineteen operations exist at their method and path, and succeed with 2xx', async () => {
  const world = await withSamples()
  for (const call of await contractCalls(world)) {
    const answer = await send(world, call)
    expect([call.name, answer.status, answer.text]).toEqual([
      call.name,
      expect.toSatisfy((s) => s >= 200 && s < 300),
      answer.text,
    ])
  }
})

test('R005 every other method on their paths is refused with Allow and changes nothing', async () => {
  const world = await withSamples()
  const calls = await contractCalls(world)
  const operations = [...world.sandbox.service.operations.values()]
  const before = world.digest()
  for (const { name, path } of calls) {
    const template = operations.find((operation) => operation.name === name)?.path
    const taken = operations
      .filter((operation) => operation.path === template)
      .map(({ method }) => method as string)
    for (const method of METHODS.filter((each) => !taken.includes(each))) {
      const answer = await world.request(method, path)
      expect([name, method, answer.status]).toEqual([name, method, 405])
      expect(answer.headers.get('allow')?.split(', ')).toEqual(expect.arrayContaining(taken))
    }
  }
  expect(world.digest()).toBe(before)
})

test('R002 R211 bodies are JSON of the announced type, NDJSON for results, nothing for 204', async () => {
  const world = await withSamples()
  for (const call of await contractCalls(world)) {
    const answer = await send(world, call)
    const type = answer.headers.get('content-type')
    if (answer.status === 204) expect([answer.text, type]).toEqual(['', null])
    else if (call.name === 'batch-predictions.results') expect(type).toBe('application/x-ndjson')
    else expect([type, typeof JSON.parse(answer.text)]).toEqual(['application/json; charset=utf-8', 'object'])
  }
})

test('R121 R245 R246 without a key every operation answers 401 in its own form of errors, and nothing changes', async () => {
  const world = await withSamples()
  const calls = await contractCalls(world)
  const before = world.digest()
  for (const call of calls) {
    const answer = await send(world, call, { key: 'none' })
    expect([call.name, answer.status]).toEqual([call.name, 401])
    expect(answer.headers.get('www-authenticate')).toBe('Bearer')
    expectErrorForm(answer, call.name.startsWith('batch-predictions'))
    expect(answer.assumed).toContain('U068')
  }
  expect(world.digest()).toBe(before)
})

test.for([
  ['another scheme', { authorization: 'Basic bGl2ZV9vd25lcg==' }],
  ['an empty token', { authorization: 'Bearer ' }],
  ['an unknown token', { authorization: 'Bearer live_nobody' }],
  ['a token with something behind it', { authorization: `Bearer ${KEYS.KU} x` }],
] as const)('R226 %s gives no access', async ([, headers]) => {
  const world = await testWorld()
  expect((await world.get('/data-views', { key: 'none', headers })).status).toBe(401)
})

test('R226 a token in the query gives no access, and the scheme may be written in any case', async () => {
  const world = await testWorld()
  expect((await world.get(`/data-views?access_token=${KEYS.KU}`, { key: 'none' })).status).toBe(401)
  const headers = { authorization: `bearer ${KEYS.KU}` }
  expect((await world.get('/data-views', { key: 'none', headers })).status).toBe(200)
})

test('R227 a key is of the kind that its record says', async () => {
  const world = await withSamples()
  const [callback] = (await sampleCalls(world)).filter(({ name }) => name === 'mcp-servers.oauth-callback')
  const service = await send(world, callback as SampleCall, { key: 'KS' })
  expect(service.body.error).toBe('mcp_oauth_requires_user_principal')
  expect((await send(world, callback as SampleCall, { key: 'KU' })).status).toBe(200)
})

test('R227 under --auth any an unknown key acts by its prefix', async () => {
  const world = await testWorld({ auth: 'any' })
  expect((await world.get('/data-views', { token: 'live_whoever' })).status).toBe(200)
  expect((await world.get('/data-views', { token: 'service_whoever' })).status).toBe(200)
  expect((await world.get('/data-views', { token: 'other_whoever' })).status).toBe(401)
})

test('R122 R264 R244 R252 request 201 in a window is refused on each of the nineteen, in the right form, and changes nothing', async () => {
  const world = await withSamples()
  const calls = await contractCalls(world)
  for (const { name } of calls) {
    world.sandbox.limiter.fill(`ts-a ${name}`, world.sandbox.limitOf(name), world.now(), 0)
  }
  const before = world.digest()
  for (const call of calls) {
    const answer = await send(world, call)
    expect([call.name, answer.status]).toEqual([call.name, 429])
    expect(answer.headers.get('retry-after')).toBe('60')
    if (call.name.startsWith('batch-predictions')) {
      expectErrorForm(answer, true)
      expect(answer.body).toMatchObject({ title: 'Rate Limit Exceeded' })
      expect(answer.body.type).toMatch(/\/rate_limit_exceeded$/)
    } else {
      expectErrorForm(answer, false)
      expect(answer.body).toMatchObject({ error: 'rate_limit_exceeded', retryable: true })
      expect(answer.body.details.reason).toEqual(expect.any(String))
    }
  }
  expect(world.digest()).toBe(before)
})

test('R255 R258 R260 R262 R267 a limit of 5 admits five, counts down and then refuses until the oldest leaves', async () => {
  const settings = { 'limits.overrides': [{ operation: 'pages.create', limit: 5, window_s: 60 }] }
  const world = await testWorld({ settings })
  for (let k = 1; k <= 5; k++) {
    const answer = await world.post('/pages', { name: 'x' })
    expect(answer.status).toBe(200)
    expect(answer.headers.get('x-ratelimit-limit')).toBe('5')
    expect(answer.headers.get('x-ratelimit-remaining')).toBe(String(5 - k))
    expect(answer.headers.get('retry-after')).toBe(k === 5 ? '60' : null)
  }
  const before = world.digest()
  const refused = await world.post('/pages', { name: 'x' })
  expect([refused.status, refused.headers.get('x-ratelimit-remaining')]).toEqual([429, '0'])
  expect(refused.body.mitigation).toContain('clock')
  expect(world.digest()).toBe(before)
  world.advance('60s')
  expect((await world.post('/pages', { name: 'x' })).status).toBe(200)
})

test('R257 each teamspace, path and method has its own window; two keys of a teamspace share one', async () => {
  const world = await withSamples()
  await world.get('/data-views')
  const remaining = async (answer: Promise<TestAnswer>) => (await answer).headers.get('x-ratelimit-remaining')
  expect(await remaining(world.get('/data-views', { key: 'KM' }))).toBe('198')
  expect(await remaining(world.get('/data-views', { key: 'K2' }))).toBe('199')
  expect(await remaining(world.get('/organization/mcp-servers'))).toBe('199')
  expect(await remaining(world.get('/agents/agent-1/event-triggers'))).toBe('199')
  expect(await remaining(world.post('/agents/agent-1/event-triggers', {}))).toBe('199')
})

test('R259 R261 every kind of answer carries the three headers, with a reset within the window', async () => {
  const world = await withSamples()
  const [first] = await contractCalls(world)
  const answers = [
    await send(world, first as SampleCall),
    await world.get('/data-views'),
    await world.request('HEAD', '/data-views'),
    await world.post('/pages', { name: 5 }),
    await world.get('/data-views', { key: 'none' }),
    await world.get('/batch-predictions/unknown'),
    await world.get('/nothing-here'),
    await world.get('/pages'),
    await world.post('/converse', {}),
    await world.request('POST', '/pages', { raw: '{' }),
    await world.request('POST', '/pages', { raw: 'x', type: 'text/plain' }),
    await world.request('POST', '/pages', { raw: 'x'.repeat(2_000_000) }),
    await world.get('/batch-predictions/%E0%A4%A'),
    await world.request('OPTIONS', '/pages', {
      key: 'none',
      headers: { origin: 'http://localhost:3000', 'access-control-request-method': 'POST' },
    }),
  ]
  expect(answers.map(({ status }) => status)).toEqual([
    204, 200, 200, 400, 401, 404, 404, 405, 501, 400, 415, 413, 400, 204,
  ])
  const now = world.now() / 1000
  for (const answer of answers) {
    expectQuota(answer)
    if (answer !== answers.at(-1)) expect(answer.headers.get('x-emulator-request-id')).toBeTruthy()
    const reset = Number(answer.headers.get('x-ratelimit-reset'))
    expect(reset).toBeGreaterThanOrEqual(now)
    expect(reset).toBeLessThanOrEqual(now + 60)
  }
})

test('R239 R240 R241 R242 R243 standard errors have exactly the members of the table, in every condition', async () => {
  const world = await withSamples()
  const answers = [
    await world.post('/pages', { name: 5 }),
    await world.post('/pages'),
    await world.get('/nothing-here'),
    await world.request('PUT', '/pages'),
    await world.get('/data-views?limit=0'),
    await world.request('POST', '/pages', { raw: '{"name": }' }),
    await world.request('POST', '/pages', { raw: 'x', type: 'text/plain' }),
    await world.request('POST', '/pages', { raw: 'x'.repeat(2_000_000) }),
    await world.post('/converse', {}),
    await world.get('/data-views', { key: 'none' }),
  ]
  const known = ['status_code', 'statusCode', 'error', 'message', 'mitigation', 'retryable', 'details']
  for (const answer of answers) {
    expectErrorForm(answer, false)
    expect(Object.keys(answer.body).filter((key) => !known.includes(key))).toEqual([])
    expect(answer.body.retryable).toBe(false)
  }
})

test('R240 R288 a setting removes the deprecated twin of status_code', async () => {
  const world = await testWorld({ settings: { 'errors.deprecated_status_code': false } })
  const answer = await world.get('/nothing-here')
  expect(answer.body).toMatchObject({ status_code: 404 })
  expect(answer.body).not.toHaveProperty('statusCode')
})

test('every field that is wrong is named at once, by JSON Pointer', async () => {
  const world = await withSamples()
  const answer = await world.patch('/agents/agent-1/event-triggers/trigger-1', {
    enabled: 'yes',
    trigger_event: 'x'.repeat(256),
    description: 'd'.repeat(1001),
  })
  const pointers = answer.body.details.errors.map(({ pointer }: { pointer: string }) => pointer)
  expect([...new Set(pointers)].sort()).toEqual(['/description', '/enabled', '/trigger_event'])
})

test('an unknown route names the nearest operations', async () => {
  const world = await testWorld()
  const answer = await world.post('/batch-prediction', {})
  expect(answer.status).toBe(404)
  expect(JSON.stringify(answer.body)).toContain('POST /batch-predictions')
})

test('U072 paths are exact: case and trailing slashes count, and HEAD is GET without a body', async () => {
  const world = await testWorld()
  for (const path of ['/Data-Views', '/data-views/', '//data-views', '/data-views#x']) {
    const status = await rawStatus(world, `GET /v1${path} HTTP/1.1`)
    expect([path, status]).toEqual([path, 404])
  }
  const head = await world.request('HEAD', '/data-views')
  expect([head.status, head.text]).toEqual([200, ''])
  expect((await world.get('/data-views')).headers.get('x-ratelimit-remaining')).toBe('198')
})

test('R254 R259 what is no HTTP is answered in the form of the API, with its headers', async () => {
  const world = await testWorld()
  for (const [request, status] of [
    ['GET /v1/pages HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n', 400],
    [
      'POST /v1/pages HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\nabc',
      400,
    ],
    [`GET /v1/pages HTTP/1.1\r\nHost: localhost\r\nX-Long: ${'x'.repeat(17_000)}\r\n\r\n`, 431],
    ['NOT HTTP\r\n\r\n', 400],
  ] as const) {
    const text = await rawExchange(world, request)
    expect(text).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
    expect(text).toMatch(/X-RateLimit-Limit: 200\r\n/)
    const body = JSON.parse(text.slice(text.indexOf('\r\n\r\n')))
    expect(body).toMatchObject({ status_code: status, error: expect.any(String), retryable: false })
  }
})

test('R253 no error shows a stack, a path of the machine or HTML', async () => {
  const world = await testWorld()
  const answers = [
    await world.get('/nothing'),
    await world.get('/batch-predictions/%E0%A4%A'),
    await world.request('POST', '/pages', { raw: '{"a":' }),
    await world.request('POST', '/pages', { raw: '{}', type: 'application/json; charset=latin1' }),
    await world.request('POST', '/pages', { raw: '{}', headers: { 'content-encoding': 'zip' } }),
  ]
  for (const { text, status } of answers) {
    expect(status).toBeGreaterThanOrEqual(400)
    expect(text).not.toMatch(/ at \/|node_modules|<!DOCTYPE|<html|\.ts:/i)
  }
})

test('a request to a foreign host is refused before anything else', async () => {
  const world = await testWorld()
  const text = await rawExchange(
    world,
    'GET /v1/data-views HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n',
  )
  expect(text).toMatch(/^HTTP\/1.1 403 /)
  expect(text).toContain('--allow-host')
})

test('R231 tokens are nowhere in the state, in answers or in the request log', async () => {
  const world = await withSamples()
  const answers: TestAnswer[] = []
  for (const call of await sampleCalls(world)) answers.push(await send(world, call))
  const seen = JSON.stringify([
    world.sandbox.document(),
    world.sandbox.log.entries(),
    answers.map(({ text }) => text),
  ])
  for (const token of [...Object.values(KEYS), 'state-of-flow', 'claim-1']) {
    expect(seen.includes(`"${token}"`), token).toBe(false)
  }
})

test('R296 the same seed, clock and requests give the same bytes', async () => {
  const run = async () => {
    const world = await withSamples()
    const transcript: unknown[] = []
    for (const call of await sampleCalls(world)) {
      const { status, text, headers } = await send(world, call)
      transcript.push([
        call.name,
        status,
        text,
        [...headers].filter(([name]) => !/^(connection|keep-alive)$/.test(name)),
      ])
    }
    return JSON.stringify([transcript, world.sandbox.document()])
  }
  expect(await run()).toBe(await run())
})

async function rawStatus(world: TestWorld, line: string): Promise<number> {
  const text = await rawExchange(
    world,
    `${line}\r\nHost: localhost:${world.emulator.port}\r\nAuthorization: Bearer ${KEYS.KU}\r\nConnection: close\r\n\r\n`,
  )
  return Number(text.slice(9, 12))
}

function rawExchange(world: TestWorld, request: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    const socket = connect(world.emulator.port, '127.0.0.1', () => socket.write(request))
    socket.on('data', (chunk) => {
      text += chunk
    })
    socket.on('error', reject)
    socket.on('close', () => resolve(text))
  })
}

test('a whole URL as the target, which clients of a proxy send, is served like its path; one of another host is not', async () => {
  const world = await testWorld()
  const { port } = world.emulator
  const ask = (target: string) =>
    new Promise<number>((resolve, reject) => {
      const headers = { authorization: `Bearer ${KEYS.KU}` }
      get({ host: '127.0.0.1', port, path: target, headers }, (res) => {
        res.resume()
        resolve(res.statusCode ?? 0)
      }).on('error', reject)
    })
  expect(await ask(`http://127.0.0.1:${port}/v1/data-views`)).toBe(200)
  expect(await ask(`HTTP://127.0.0.1:${port}/__emulator/health`)).toBe(200)
  expect(await ask(`http://127.0.0.1:${port}`)).toBe(404)
  expect(await ask('http://evil.example/v1/data-views')).toBe(404)
})
