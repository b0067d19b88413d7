import { createServer, get } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import express from 'express'
import { expect, onTestFinished, test } from 'vitest'
import { workspaceService } from '../../../src/emulator/service.ts'
import { Api } from '../../../src/server/http/api.ts'
import { createApp } from '../../../src/server/http/app.ts'
import { allowHosts } from '../../../src/server/http/guard.ts'
import { KEYS } from '../../support/base-state.ts'
import { type TestEmulator, type TestResponse, testEmulator } from '../../support/emulator.ts'
import { CONTRACT, type SampleCall, sampleCalls, sampleRecords } from '../../support/sample-calls.ts'
import { mountPath } from '../../support/transport.ts'
import { overSocket } from '../../support/wire-client.ts'

const withSamples = () => testEmulator({ collections: sampleRecords })
const METHODS = ['GET', 'POST', 'PATCH', 'DELETE', 'PUT']

async function contractCalls(emulator: TestEmulator): Promise<SampleCall[]> {
  const calls = await sampleCalls(emulator)
  return CONTRACT.map((name) => calls.find((call) => call.name === name) as SampleCall)
}

function send(
  emulator: TestEmulator,
  { method, path, options }: SampleCall,
  more = {},
): Promise<TestResponse> {
  return emulator.request(method, path, { ...options, ...more })
}

function expectErrorForm(response: TestResponse, problem: boolean): void {
  if (problem) {
    expect(response.headers.get('content-type')).toBe('application/problem+json')
    expect(response.body).toMatchObject({
      status: response.status,
      title: expect.any(String),
      detail: expect.any(String),
      instance: expect.stringMatching(new RegExp(`^(?:${mountPath()})?/v1/`)),
    })
    expect(response.body.type).toMatch(
      new RegExp(`^http://(127\\.0\\.0\\.1|localhost):\\d+(?:${mountPath()})?/__emulator/problems/[a-z_]+$`),
    )
    expect(response.body).not.toHaveProperty('status_code')
    return
  }
  expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8')
  expect(response.body).toMatchObject({
    status_code: response.status,
    statusCode: response.status,
    error: expect.stringMatching(/^[a-z0-9_]+$/),
    message: expect.any(String),
    retryable: expect.any(Boolean),
    details: expect.any(Object),
  })
  expect(['string', 'undefined']).toContain(typeof response.body.mitigation)
  for (const member of ['type', 'title', 'detail', 'instance'])
    expect(response.body).not.toHaveProperty(member)
}

function expectQuota(response: TestResponse): void {
  for (const name of ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset']) {
    expect(response.headers.get(name), name).toMatch(/^\d+$/)
  }
}

test.for([
  ['/v1/batch-predictions', true],
  ['/v1/pages', false],
] as const)(
  'a body in another transfer coding is refused in the error format of %s, with the quota headers',
  { tags: ['R259'] },
  async ([path, problem]) => {
    const emulator = await testEmulator()
    const head = `POST ${path} HTTP/1.1\r\nHost: localhost:${emulator.emulator.port}\r\nAuthorization: Bearer ${KEYS.KU}\r\n`
    const coded = `${head}Content-Type: application/json\r\nTransfer-Encoding: gzip, chunked\r\nConnection: close\r\n\r\n`
    const { text } = await overSocket(emulator.emulator.port, `${coded}2\r\n{}\r\n0\r\n\r\n`)
    const [top = '', body = ''] = text.split('\r\n\r\n')
    const [status = '', ...lines] = top.split('\r\n')
    expect(status).toBe('HTTP/1.1 400 Bad Request')
    const headers = new Headers(lines.map((line) => line.split(': ') as [string, string]))
    const response = { status: 400, headers, body: JSON.parse(body) } as TestResponse
    expectErrorForm(response, problem)
    expectQuota(response)
    expect(body).toContain('`chunked`')
  },
)

test('paths are only below /v1', { tags: ['R001', 'R285'] }, async () => {
  const emulator = await testEmulator()
  expect((await emulator.get('/data-views')).status).toBe(200)
  const root = emulator.baseUrl.slice(0, -'/v1'.length)
  for (const prefix of ['', '/v2', '/V1', '/v1/v1']) {
    const response = await fetch(`${root}${prefix}/data-views`, {
      headers: { authorization: `Bearer ${KEYS.KU}` },
    })
    expect(response.status, prefix).toBe(404)
  }
})

test('the nineteen operations exist at their method and path, and succeed with 2xx', {
  tags: ['R005', 'R222'],
}, async () => {
  const emulator = await withSamples()
  for (const call of await contractCalls(emulator)) {
    const response = await send(emulator, call)
    expect([call.name, response.status, response.text]).toEqual([
      call.name,
      expect.toSatisfy((s) => s >= 200 && s < 300),
      response.text,
    ])
  }
})

test('every other method on their paths is refused with Allow and changes nothing', {
  tags: ['R005'],
}, async () => {
  const emulator = await withSamples()
  const calls = await contractCalls(emulator)
  const operations = [...emulator.sandbox.service.operations.values()]
  const before = emulator.digest()
  for (const { name, path } of calls) {
    const template = operations.find((operation) => operation.name === name)?.path
    const taken = operations
      .filter((operation) => operation.path === template)
      .map(({ method }) => method as string)
    for (const method of METHODS.filter((each) => !taken.includes(each))) {
      const response = await emulator.request(method, path)
      expect([name, method, response.status]).toEqual([name, method, 405])
      expect(response.headers.get('allow')?.split(', ')).toEqual(expect.arrayContaining(taken))
    }
  }
  expect(emulator.digest()).toBe(before)
})

test('bodies are JSON of the announced type, NDJSON for results, nothing for 204', {
  tags: ['R002', 'R211'],
}, async () => {
  const emulator = await withSamples()
  for (const call of await contractCalls(emulator)) {
    const response = await send(emulator, call)
    const type = response.headers.get('content-type')
    if (response.status === 204) expect([response.text, type]).toEqual(['', null])
    else if (call.name === 'batch-predictions.results') expect(type).toBe('application/x-ndjson')
    else
      expect([type, typeof JSON.parse(response.text)]).toEqual(['application/json; charset=utf-8', 'object'])
  }
})

test('without a key every operation responds with 401 in its error format, and nothing changes', {
  tags: ['R121', 'R245', 'R246'],
}, async () => {
  const emulator = await withSamples()
  const calls = await contractCalls(emulator)
  const before = emulator.digest()
  for (const call of calls) {
    const response = await send(emulator, call, { key: 'none' })
    expect([call.name, response.status]).toEqual([call.name, 401])
    expect(response.headers.get('www-authenticate')).toBe('Bearer')
    expectErrorForm(response, call.name.startsWith('batch-predictions'))
    expect(response.assumed).toContain('U068')
  }
  expect(emulator.digest()).toBe(before)
})

test.for([
  ['another scheme', { authorization: 'Basic bGl2ZV9vd25lcg==' }],
  ['an empty token', { authorization: 'Bearer ' }],
  ['an unknown token', { authorization: 'Bearer live_nobody' }],
  ['a token with text after it', { authorization: `Bearer ${KEYS.KU} x` }],
] as const)('%s gives no access', { tags: ['R226'] }, async ([, headers]) => {
  const emulator = await testEmulator()
  expect((await emulator.get('/data-views', { key: 'none', headers })).status).toBe(401)
})

test('a token in the query gives no access, and the scheme may be written in any case', {
  tags: ['R226'],
}, async () => {
  const emulator = await testEmulator()
  expect((await emulator.get(`/data-views?access_token=${KEYS.KU}`, { key: 'none' })).status).toBe(401)
  const headers = { authorization: `bearer ${KEYS.KU}` }
  expect((await emulator.get('/data-views', { key: 'none', headers })).status).toBe(200)
})

test('a key has the kind of its record', { tags: ['R227'] }, async () => {
  const emulator = await withSamples()
  const [callback] = (await sampleCalls(emulator)).filter(({ name }) => name === 'mcp-servers.oauth-callback')
  const service = await send(emulator, callback as SampleCall, { key: 'KS' })
  expect(service.body.error).toBe('mcp_oauth_requires_user_principal')
  expect((await send(emulator, callback as SampleCall, { key: 'KU' })).status).toBe(200)
})

test('under --auth any an unknown key acts by its prefix', { tags: ['R227'] }, async () => {
  const emulator = await testEmulator({ auth: 'any' })
  expect((await emulator.get('/data-views', { token: 'live_whoever' })).status).toBe(200)
  expect((await emulator.get('/data-views', { token: 'service_whoever' })).status).toBe(200)
  expect((await emulator.get('/data-views', { token: 'other_whoever' })).status).toBe(401)
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
    'R264',
  ],
}, async () => {
  const emulator = await withSamples()
  const calls = await contractCalls(emulator)
  for (const { name } of calls) {
    emulator.sandbox.limits.windows.fill(`ts-a ${name}`, emulator.sandbox.limits.of(name), emulator.now(), 0)
  }
  const before = emulator.digest()
  for (const call of calls) {
    const response = await send(emulator, call)
    expect([call.name, response.status]).toEqual([call.name, 429])
    expect(response.headers.get('retry-after')).toBe('60')
    if (call.name.startsWith('batch-predictions')) {
      expectErrorForm(response, true)
      expect(response.body).toMatchObject({ title: 'Rate Limit Exceeded' })
      expect(response.body.type).toMatch(/\/rate_limit_exceeded$/)
    } else {
      expectErrorForm(response, false)
      expect(response.body).toMatchObject({ error: 'rate_limit_exceeded', retryable: true })
      expect(response.body.details.reason).toEqual(expect.any(String))
    }
  }
  expect(emulator.digest()).toBe(before)
})

test('a limit of 5 accepts five requests, then refuses until the oldest leaves the window', {
  tags: ['R255', 'R258', 'R260', 'R262', 'R267'],
}, async () => {
  const settings = { 'limits.overrides': [{ operation: 'pages.create', limit: 5, window_s: 60 }] }
  const emulator = await testEmulator({ settings })
  for (let k = 1; k <= 5; k++) {
    const response = await emulator.post('/pages', { name: 'x' })
    expect(response.status).toBe(200)
    expect(response.headers.get('x-ratelimit-limit')).toBe('5')
    expect(response.headers.get('x-ratelimit-remaining')).toBe(String(5 - k))
    expect(response.headers.get('retry-after')).toBe(k === 5 ? '60' : null)
  }
  const before = emulator.digest()
  const refused = await emulator.post('/pages', { name: 'x' })
  expect([refused.status, refused.headers.get('x-ratelimit-remaining')]).toEqual([429, '0'])
  expect(refused.body.mitigation).toContain('clock')
  expect(emulator.digest()).toBe(before)
  emulator.advance('60s')
  expect((await emulator.post('/pages', { name: 'x' })).status).toBe(200)
})

test('each teamspace, path and method has its own window; two keys of a teamspace share one', {
  tags: ['R257'],
}, async () => {
  const emulator = await withSamples()
  await emulator.get('/data-views')
  const remaining = async (response: Promise<TestResponse>) =>
    (await response).headers.get('x-ratelimit-remaining')
  expect(await remaining(emulator.get('/data-views', { key: 'KM' }))).toBe('198')
  expect(await remaining(emulator.get('/data-views', { key: 'K2' }))).toBe('199')
  expect(await remaining(emulator.get('/organization/mcp-servers'))).toBe('199')
  expect(await remaining(emulator.get('/agents/agent-1/event-triggers'))).toBe('199')
  expect(await remaining(emulator.post('/agents/agent-1/event-triggers', {}))).toBe('199')
})

test('every kind of response has the three headers, with a reset within the window', {
  tags: ['R259', 'R261'],
}, async () => {
  const emulator = await withSamples()
  const [first] = await contractCalls(emulator)
  emulator.advance('400ms')
  const responses = [
    await send(emulator, first as SampleCall),
    await emulator.get('/data-views'),
    await emulator.request('HEAD', '/data-views'),
    await emulator.post('/pages', { name: 5 }),
    await emulator.get('/data-views', { key: 'none' }),
    await emulator.get('/batch-predictions/unknown'),
    await emulator.get('/nothing-here'),
    await emulator.get('/pages'),
    await emulator.post('/converse', {}),
    await emulator.request('POST', '/pages', { raw: '{' }),
    await emulator.request('POST', '/pages', { raw: 'x', type: 'text/plain' }),
    await emulator.request('POST', '/pages', { raw: 'x'.repeat(2_000_000) }),
    await emulator.get('/batch-predictions/%E0%A4%A'),
    await emulator.request('OPTIONS', '/pages', {
      key: 'none',
      headers: { origin: 'http://localhost:3000', 'access-control-request-method': 'POST' },
    }),
  ]
  expect(responses.map(({ status }) => status)).toEqual([
    204, 200, 200, 400, 401, 404, 404, 405, 501, 400, 415, 413, 400, 204,
  ])
  const now = emulator.now() / 1000
  for (const response of responses) {
    expectQuota(response)
    if (response !== responses.at(-1)) expect(response.headers.get('x-emulator-request-id')).toBeTruthy()
    const reset = Number(response.headers.get('x-ratelimit-reset'))
    expect(reset).toBeGreaterThanOrEqual(now)
    expect(reset).toBeLessThanOrEqual(Math.ceil(now + 60))
  }
})

test('standard errors have exactly the fields of the table, in every case', {
  tags: ['R239', 'R240', 'R241', 'R242', 'R243'],
}, async () => {
  const emulator = await withSamples()
  const responses = [
    await emulator.post('/pages', { name: 5 }),
    await emulator.post('/pages'),
    await emulator.get('/nothing-here'),
    await emulator.request('PUT', '/pages'),
    await emulator.get('/data-views?limit=0'),
    await emulator.request('POST', '/pages', { raw: '{"name": }' }),
    await emulator.request('POST', '/pages', { raw: 'x', type: 'text/plain' }),
    await emulator.request('POST', '/pages', { raw: 'x'.repeat(2_000_000) }),
    await emulator.post('/converse', {}),
    await emulator.get('/data-views', { key: 'none' }),
  ]
  const known = ['status_code', 'statusCode', 'error', 'message', 'mitigation', 'retryable', 'details']
  for (const response of responses) {
    expectErrorForm(response, false)
    expect(Object.keys(response.body).filter((key) => !known.includes(key))).toEqual([])
    expect(response.body.retryable).toBe(false)
  }
})

test('a setting removes the deprecated statusCode', { tags: ['R240', 'R288'] }, async () => {
  const emulator = await testEmulator({ settings: { 'errors.deprecated_status_code': false } })
  const response = await emulator.get('/nothing-here')
  expect(response.body).toMatchObject({ status_code: 404 })
  expect(response.body).not.toHaveProperty('statusCode')
})

test('all invalid fields are named at once, by JSON Pointer', async () => {
  const emulator = await withSamples()
  const response = await emulator.patch('/agents/agent-1/event-triggers/trigger-1', {
    enabled: 'yes',
    trigger_event: 'x'.repeat(256),
    description: 'd'.repeat(1001),
  })
  const pointers = response.body.details.errors.map(({ pointer }: { pointer: string }) => pointer)
  expect([...new Set(pointers)].sort()).toEqual(['/description', '/enabled', '/trigger_event'])
})

test('an unknown route names the nearest operations', async () => {
  const emulator = await testEmulator()
  const response = await emulator.post('/batch-prediction', {})
  expect(response.status).toBe(404)
  expect(JSON.stringify(response.body)).toContain('POST /batch-predictions')
})

test('paths are exact: case and trailing slashes count, and HEAD is GET without a body', {
  tags: ['U072'],
}, async () => {
  const emulator = await testEmulator()
  for (const path of ['/Data-Views', '/data-views/', '//data-views', '/data-views#x']) {
    const status = await rawStatus(emulator, `GET /v1${path} HTTP/1.1`)
    expect([path, status]).toEqual([path, 404])
  }
  const head = await emulator.request('HEAD', '/data-views')
  expect([head.status, head.text]).toEqual([200, ''])
  expect((await emulator.get('/data-views')).headers.get('x-ratelimit-remaining')).toBe('198')
})

test('invalid HTTP gets an error in the format of the API, with its headers', {
  tags: ['R254', 'R259'],
}, async () => {
  const emulator = await testEmulator()
  for (const [request, status] of [
    ['GET /v1/pages HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n', 400],
    [
      'POST /v1/pages HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\nabc',
      400,
    ],
    [`GET /v1/pages HTTP/1.1\r\nHost: localhost\r\nX-Long: ${'x'.repeat(17_000)}\r\n\r\n`, 431],
    ['NOT HTTP\r\n\r\n', 400],
  ] as const) {
    const text = await rawExchange(emulator, request)
    expect(text).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
    expect(text).toMatch(/X-RateLimit-Limit: 200\r\n/)
    const body = JSON.parse(text.slice(text.indexOf('\r\n\r\n')))
    expect(body).toMatchObject({ status_code: status, error: expect.any(String), retryable: false })
  }
})

test('no error shows a stack, a path of the machine or HTML', { tags: ['R253'] }, async () => {
  const emulator = await testEmulator()
  const responses = [
    await emulator.get('/nothing'),
    await emulator.get('/batch-predictions/%E0%A4%A'),
    await emulator.request('POST', '/pages', { raw: '{"a":' }),
    await emulator.request('POST', '/pages', { raw: '{}', type: 'application/json; charset=latin1' }),
    await emulator.request('POST', '/pages', { raw: '{}', headers: { 'content-encoding': 'zip' } }),
  ]
  for (const { text, status } of responses) {
    expect(status).toBeGreaterThanOrEqual(400)
    expect(text).not.toMatch(/ at \/|node_modules|<!DOCTYPE|<html|\.ts:/i)
  }
})

test('a request to a foreign host is refused before all other checks', async () => {
  const emulator = await testEmulator()
  const text = await rawExchange(
    emulator,
    'GET /v1/data-views HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n',
  )
  expect(text).toMatch(/^HTTP\/1.1 403 /)
  expect(text).toContain('--allow-host')
})

test('tokens are nowhere in the state, in responses or in the request log', { tags: ['R231'] }, async () => {
  const emulator = await withSamples()
  const responses: TestResponse[] = []
  for (const call of await sampleCalls(emulator)) responses.push(await send(emulator, call))
  const seen = JSON.stringify([
    emulator.sandbox.document(),
    emulator.sandbox.log.entries(),
    responses.map(({ text }) => text),
  ])
  for (const token of [...Object.values(KEYS), 'state-of-flow', 'claim-1']) {
    expect(seen.includes(`"${token}"`), token).toBe(false)
  }
})

test('the same seed, clock and requests give the same bytes', { tags: ['R296'] }, async () => {
  const run = async () => {
    const emulator = await withSamples()
    const transcript: unknown[] = []
    for (const call of await sampleCalls(emulator)) {
      const { status, text, headers } = await send(emulator, call)
      transcript.push([
        call.name,
        status,
        text.replaceAll(/http:..127.0.0.1:[0-9]+/g, 'http://127.0.0.1:4010'),
        [...headers].filter(([name]) => !/^(connection|keep-alive)$/.test(name)),
      ])
    }
    return JSON.stringify([transcript, emulator.sandbox.document()])
  }
  expect(await run()).toBe(await run())
})

async function rawStatus(emulator: TestEmulator, line: string): Promise<number> {
  const text = await rawExchange(
    emulator,
    `${line}\r\nHost: localhost:${emulator.emulator.port}\r\nAuthorization: Bearer ${KEYS.KU}\r\nConnection: close\r\n\r\n`,
  )
  return Number(text.slice(9, 12))
}

function rawExchange(emulator: TestEmulator, request: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    const socket = connect(emulator.emulator.port, '127.0.0.1', () => socket.write(request))
    socket.on('data', (chunk) => {
      text += chunk
    })
    socket.on('error', reject)
    socket.on('close', () => resolve(text))
  })
}

test('an absolute URL as the request target is served like its path, but not with another host', async () => {
  const emulator = await testEmulator()
  const { port } = emulator.emulator
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
  expect(await ask(`http://127.0.0.1:${port}`)).toBe(200)
  expect(await ask('http://evil.example/v1/data-views')).toBe(404)
})

test('the Express application works in a server of the user, under the port of that server', async () => {
  const { emulator } = await withSamples()
  const api = new Api({
    service: workspaceService,
    sandboxes: emulator.sandboxes,
    hosts: allowHosts('127.0.0.1'),
    corsOrigins: [],
    onUnreadParameter: () => {},
    closing: new AbortController().signal,
  })
  const server = createServer(
    express().use(
      createApp(api, {
        control: express.Router(),
        consent: express.Router(),
        dashboard: express.Router(),
        refusal: () => undefined,
      }),
    ),
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  const status = (host: string) =>
    new Promise((resolve, reject) => {
      const headers = { host, authorization: `Bearer ${KEYS.KU}` }
      get({ port, path: '/v1/data-views', headers, agent: false }, (response) => {
        response.resume()
        resolve(response.statusCode)
      }).on('error', reject)
    })
  expect(await status(`127.0.0.1:${port}`)).toBe(200)
  expect(await status(`localhost:${emulator.port}`)).toBe(403)
})
