import { expect, test } from 'vitest'
import { Settings } from '../../src/core/assumptions.ts'
import { workspaceService } from '../../src/emulator/service.ts'
import { controlRoutes } from '../../src/server/control/routes/index.ts'
import { controlEmulator } from '../support/control-emulator.ts'
import { testEmulator } from '../support/emulator.ts'

// biome-ignore lint/suspicious/noExplicitAny: OpenAPI documents are looked into at every depth.
type Any = any

/** What an emulator without a control token serves, the same for every test: making it takes most of the time here. */
let plain: Promise<Any> | undefined

function described(): Promise<Any> {
  plain ??= testEmulator().then(async ({ control }) => (await control('GET', '/openapi.json')).body)
  return plain
}

const routes = controlRoutes(workspaceService)
const nameOf = ({ method, path }: { method: string; path: string }) => `${method} ${path}`

function operationsIn(document: Any): { method: string; path: string; item: Any }[] {
  return Object.entries(document.paths as Record<string, Record<string, Any>>).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, item]) => ({ path, method: method.toUpperCase(), item })),
  )
}

function refsIn(value: Any): string[] {
  if (value === null || typeof value !== 'object') return []
  return Object.entries(value).flatMap(([key, member]) =>
    key === '$ref' ? [String(member)] : refsIn(member),
  )
}

function resolves(document: Any, ref: string): boolean {
  let found = document
  for (const part of ref.replace(/^#\//, '').split('/')) found = found?.[part]
  return ref.startsWith('#/') && found !== undefined
}

function expectSound(document: Any): void {
  expect(document.openapi).toBe('3.1.0')
  expect(refsIn(document).filter((ref) => !resolves(document, ref))).toEqual([])
  const operations = operationsIn(document)
  const names = operations.map(({ item }) => item.operationId)
  expect(new Set(names).size).toBe(names.length)
  for (const { path, item } of operations) {
    const wanted = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
    const declared = item.parameters.filter((parameter: Any) => parameter.in === 'path')
    expect([path, declared.map(({ name }: Any) => name)]).toEqual([path, wanted])
    expect(declared.every(({ required }: Any) => required === true)).toBe(true)
    expect(Object.keys(item.responses).some((status) => /^2\d\d$/.test(status))).toBe(true)
    expect(item.summary).toMatch(/\S/)
  }
}

test('the document of the API is complete and marked', { tags: ['R286', 'R287', 'R288'] }, async () => {
  const { control, sandbox } = await testEmulator()
  const { body: api, headers } = await control('GET', '/openapi.json?api=workspace')
  expect(headers.get('content-type')).toBe('application/json; charset=utf-8')
  expectSound(api)
  expect(api.info.version).toBe('0.1.1')
  expect(api.components.securitySchemes.bearer).toMatchObject({ type: 'http', scheme: 'bearer' })
  const marks = operationsIn(api).map(({ path, method, item }) => {
    return [item.operationId, method, path, item['x-beta'] === true, item['x-contract'] !== false]
  })
  const declared = [...sandbox.service.operations.values()].map(({ name, method, path, beta, contract }) => {
    return [name, method, path, beta === true, contract]
  })
  expect(marks.sort()).toEqual(declared.sort())
  const beta = marks.flatMap(([name, , , isBeta]) => (isBeta ? [name] : []))
  expect(beta).toEqual(['mcp-servers.list', 'mcp-servers.oauth-callback'])
  const { statusCode, status_code } = api.components.schemas.StandardError.properties
  expect([statusCode.deprecated, status_code.deprecated]).toEqual([true, undefined])
})

test('an operation is described by its declaration: parameters, body, responses, errors', async () => {
  const emulator = await controlEmulator({ settings: { 'status.validation': 422 } })
  const { paths, components } = (await emulator.call('GET', '/openapi.json?api=workspace')).body
  const refTo = (name: string) => ({ $ref: `#/components/schemas/${name}` })
  const { parameters, requestBody, responses } = paths['/books'].get
  expect(parameters).toEqual([
    { name: 'limit', in: 'query', required: false, schema: { type: 'integer', minimum: 1, maximum: 100 } },
  ])
  expect(requestBody).toBeUndefined()
  expect(responses[200].content['application/json'].schema).toEqual(refTo('BooksListResponse'))
  expect(components.schemas.BooksListResponse.properties.data.items).toEqual(refTo('BooksListRow'))
  expect(responses[429].content).toEqual({ 'application/json': { schema: refTo('RateLimitExceededError') } })
  expect(responses[429].headers['Retry-After'].required).toBe(true)
  const create = paths['/shelves/{shelf_id}/books'].post
  expect(create.requestBody.required).toBe(true)
  expect(create.requestBody.content['application/json'].schema).toEqual(refTo('BooksCreateRequest'))
  const title = { type: 'string', minLength: 1, maxLength: 10 }
  expect(components.schemas.BooksCreateRequest).toMatchObject({ required: ['title'], properties: { title } })
  expect(create.parameters.map(({ name }: Any) => name)).toEqual(['shelf_id', 'Idempotency-Key'])
  const { anyOf } = create.responses[422].content['application/problem+json'].schema
  expect(anyOf).toContainEqual(refTo('ValidationFailedProblem'))
  const close = paths['/shelves/{shelf_id}'].delete
  expect([close.responses[204].content, close.responses[501]]).toEqual([undefined, expect.any(Object)])
})

test('operations are listed as data, with the limits in force', async () => {
  const emulator = await controlEmulator()
  await emulator.call('PUT', '/limits/books.create', { limit: 7, window_s: 30 })
  const { data } = (await emulator.call('GET', '/operations')).body
  expect(data.map(({ name }: Any) => name)).toEqual(['books.list', 'books.create', 'shelves.close'])
  const declared = { method: 'POST', path: '/shelves/{shelf_id}/books', success: 201, idempotent: true }
  const limits = { body_limit: 1_048_576, limit: { limit: 7, window_s: 30 } }
  expect(data[1]).toMatchObject({ ...declared, ...limits, errorFormat: 'problem' })
})

test('the type of a problem leads to its meaning', async () => {
  const emulator = await controlEmulator({ settings: { 'status.validation': 422 } })
  const { body } = await emulator.call('GET', '/problems/validation_failed')
  const status = { status: 422, status_setting: 'status.validation', retryable: false }
  expect(body).toMatchObject({ code: 'validation_failed', title: 'Validation Failed', ...status })
  expect(body.type).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/__emulator\/problems\/validation_failed$/)
  expect(body.meaning).toMatch(/breaks a rule/)
  expect((await emulator.call('GET', '/problems')).body.data).toContainEqual(body)
  const unknown = await emulator.call('GET', '/problems/validation_faild')
  expect(unknown.status).toBe(404)
  expect(unknown.body.message).toContain('Did you mean "validation_failed"?')
  expect((await emulator.call('GET', '/problems/constructor')).status).toBe(404)
})

test('problems of lines and batches have a meaning', { tags: ['R251'] }, async () => {
  const { control } = await testEmulator()
  for (const code of ['prediction_failed', 'batch_expired', 'canceled'])
    expect((await control('GET', `/problems/${code}`)).body).toMatchObject({ code, status: 422 })
})

test('GET /openapi.json of the server describes the API, with its own URL and names of schemas', async () => {
  const { emulator } = await testEmulator()
  const api: Any = await (await fetch(`${emulator.url}/openapi.json`)).json()
  expect(api.servers).toEqual([{ url: `${emulator.url}/v1` }])
  const inSandbox = { headers: { 'X-Emulator-Sandbox': 'w1' } }
  await fetch(`${emulator.url}/@w1/v1/data-views`)
  for (const path of ['/@w1/openapi.json', '/openapi.json']) {
    const own: Any = await (await fetch(emulator.url + path, inSandbox)).json()
    expect(own.servers).toEqual([{ url: `${emulator.url}/@w1/v1` }])
  }
  const named = ['Page', 'TeamspaceUserList', 'UnauthorizedError', 'RateLimitExceededProblem']
  expect(Object.keys(api.components.schemas)).toEqual(expect.arrayContaining(named))
})

test('the document of the control interface is sound and describes exactly the routes that it has, as does the index', async () => {
  const document = await described()
  expectSound(document)
  const names = routes.map(nameOf).sort()
  expect(operationsIn(document).map(nameOf).sort()).toEqual(names)
  const index = (await (await testEmulator()).control('GET', '')).body.routes
  expect(index.map((each: Any) => nameOf(each).replace('/__emulator', '')).sort()).toEqual(names)
})

test('a sandbox is named by the second server, or by a header of exactly the routes about a sandbox', async () => {
  const document = await described()
  const [plain, named] = document.servers
  expect([plain.url, named.url]).toEqual(['/__emulator', '/@{sandbox}/__emulator'])
  expect(Object.keys(named.variables)).toEqual(['sandbox'])
  const { name, schema } = document.components.parameters.Sandbox
  expect([name, schema.default]).toEqual(['X-Emulator-Sandbox', 'default'])
  expect(['w3', '-w3'].map((text) => new RegExp(schema.pattern).test(text))).toEqual([true, false])
  const stateful = operationsIn(document).filter(({ item }) =>
    refsIn(item).includes('#/components/parameters/Sandbox'),
  )
  const declared = routes.filter(({ withoutSandbox }) => withoutSandbox !== true)
  expect(stateful.map(nameOf).sort()).toEqual(declared.map(nameOf).sort())
})

test('successes have the statuses that the routes declare, refusals the error body', async () => {
  const document = await described()
  for (const { method, path, success = [200] } of routes) {
    const { responses } = document.paths[path][method.toLowerCase()]
    const declared = success.map(String)
    const statuses = Object.keys(responses).filter((status) => /^2/.test(status) || declared.includes(status))
    expect([method, path, statuses]).toEqual([method, path, declared])
    expect([method, path, responses[204]?.content]).toEqual([method, path, undefined])
    for (const status of success.filter((each) => each !== 204)) {
      const [[media, { schema }], ...more] = Object.entries<Any>(responses[status].content) as [[string, Any]]
      expect(more).toEqual([])
      if (media === 'application/json') expect(schema, path).not.toEqual({ type: 'object' })
    }
    for (const status of Object.keys(responses).filter((each) => !statuses.includes(each))) {
      const response = document.components.responses[responses[status].$ref.split('/').at(-1)]
      const { $ref } = response.content['application/json'].schema
      expect($ref).toBe('#/components/schemas/StandardError')
    }
    expect(Object.keys(responses)).toEqual(expect.arrayContaining(['400', '403', 'default']))
    expect([method, path, responses[404] !== undefined]).toEqual([method, path, path.includes('{')])
    expect([method, path, responses[415] !== undefined]).toEqual([method, path, method !== 'GET'])
  }
})

test('a refusal has the body that is described', async () => {
  const { required, properties } = (await described()).components.schemas.StandardError
  const { control } = await testEmulator()
  const { status, body } = await control('PATCH', '/clock', { now: '2020-01-01T00:00:00Z' })
  expect([status, Object.keys(body)]).toEqual([409, expect.arrayContaining(required)])
  expect(Object.keys(body).filter((key) => !(key in properties))).toEqual([])
})

test('routes describe their body with its bound if they have one, which no GET has', async () => {
  const document = await described()
  for (const { method, path, item } of operationsIn(document)) {
    const route = routes.find((each) => nameOf(each) === nameOf({ method, path }))
    const hasBody = route?.input?.(new Settings()).body !== undefined && method !== 'GET'
    expect([method, path, item.requestBody !== undefined]).toEqual([method, path, hasBody])
    if (hasBody) expect(item.requestBody.content['application/json'].schema).toBeTypeOf('object')
  }
  const { paths } = document
  expect(paths['/state'].put.requestBody.description).toBe('At most 33554432 bytes.')
  expect(paths['/reset'].post.requestBody.required).toBe(false)
  const { required, content } = paths['/clock/advance'].post.requestBody
  expect([required, content['application/json'].schema.properties]).toMatchObject([true, { by: {} }])
})

test('the feed of events is described as an event stream, everything else as JSON', async () => {
  const document = await described()
  const isStream = ({ item }: Any) => item.responses[200]?.content['text/event-stream'] !== undefined
  expect(operationsIn(document).filter(isStream).map(nameOf)).toEqual(['GET /events'])
  const [types] = document.paths['/events'].get.parameters
  expect(types).toMatchObject({ name: 'types', in: 'query', required: false, schema: { type: 'string' } })
  expect(types.description).toContain('request, event, delivery')
})

test('with a control token set, all routes but the probes require it', async () => {
  expect((await described()).security).toEqual([{}, { token: [] }])
  const emulator = await controlEmulator({ token: 'canary-token' })
  const headers = { authorization: 'Bearer canary-token' }
  const { body: document } = await emulator.call('GET', '/openapi.json', undefined, { headers })
  expect(document.security).toEqual([{ token: [] }])
  expect(JSON.stringify(document)).not.toContain('canary')
  for (const { method, path, probe } of controlRoutes(emulator.sandbox.service)) {
    const { security, responses } = document.paths[path][method.toLowerCase()]
    expect([path, security]).toEqual([path, probe === true ? [] : undefined])
    expect([path, responses[401] === undefined]).toEqual([path, probe === true])
  }
})
