import { expect, test } from 'vitest'
import { service } from '../../src/core/service.ts'
import { serviceFacts } from '../../src/emulator/service.ts'
import { controlRoutes } from '../../src/server/control/routes/index.ts'
import { mcpServersResource } from '../../src/service/mcp-servers/index.ts'
import { pagesResource } from '../../src/service/pages.ts'
import { controlEmulator } from '../support/control-emulator.ts'
import { testEmulator } from '../support/emulator.ts'
import { library } from '../support/library.ts'

// biome-ignore lint/suspicious/noExplicitAny: OpenAPI documents are looked into at every depth.
type Any = any

interface Described {
  readonly path: string
  readonly method: string
  readonly item: Any
}

function operationsIn(document: Any): Described[] {
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
  const shapes = operations.map(({ path, method }) => `${method} ${path.replaceAll(/\{\w+\}/g, '{}')}`)
  expect(new Set(shapes).size).toBe(shapes.length)
}

test('the document of the emulated API has the version 0.1.1 and every operation', {
  tags: ['R286'],
}, async () => {
  const emulator = await controlEmulator()
  const { body, headers } = await emulator.call('GET', '/openapi.json?api=workspace')
  expect(headers['content-type']).toBe('application/json; charset=utf-8')
  expectSound(body)
  expect(body.info.version).toBe('0.1.1')
  expect(body.servers[0].url).toMatch(/^http:\/\/[^/]+\/v1$/)
  expect(body.components.securitySchemes.bearer).toMatchObject({ type: 'http', scheme: 'bearer' })
  const described = operationsIn(body).map(({ path, method, item }) => [item.operationId, method, path])
  const declared = [...emulator.sandbox.service.operations.values()].map(({ name, method, path }) => [
    name,
    method,
    path,
  ])
  expect(described.sort()).toEqual(declared.sort())
})

test('the documents of the running emulator are sound and complete, and mark operations that are beta or have no contract', {
  tags: ['R286', 'R287'],
}, async () => {
  const emulator = await testEmulator()
  const fetched = async (path: string): Promise<Any> =>
    (await fetch(emulator.emulator.controlUrl + path)).json()
  const api = await fetched('/openapi.json?api=workspace')
  expectSound(api)
  expect(api.info.version).toBe('0.1.1')
  const described = operationsIn(api)
  const { operations } = emulator.sandbox.service
  expect(described.map(({ item }) => item.operationId).sort()).toEqual([...operations.keys()].sort())
  for (const { item } of described) {
    const { beta, contract } = operations.get(item.operationId) ?? {}
    expect([item.operationId, item['x-beta'] === true]).toEqual([item.operationId, beta === true])
    expect([item.operationId, item['x-contract'] !== false]).toEqual([item.operationId, contract])
  }
  const beta = described.filter(({ item }) => item['x-beta']).map(({ path }) => path)
  expect(beta.length).toBeGreaterThan(0)
  expect(beta.every((path) => path.startsWith('/organization/mcp-servers'))).toBe(true)
  expectSound(await fetched('/openapi.json'))
})

test('the document marks the MCP server endpoints as beta, and no others', { tags: ['R287'] }, async () => {
  const emulator = await controlEmulator({
    resources: [pagesResource, mcpServersResource],
    fixtures: { collections: {} },
  })
  const { body } = await emulator.call('GET', '/openapi.json?api=workspace')
  expectSound(body)
  const marks = Object.fromEntries(
    operationsIn(body).map(({ item }) => [item.operationId, item['x-beta'] ?? false]),
  )
  expect(marks).toEqual({
    'pages.create': false,
    'mcp-servers.list': true,
    'mcp-servers.oauth-callback': true,
  })
  const listed = (await emulator.call('GET', '/operations')).body.data
  expect(listed.filter(({ beta }: Any) => beta).map(({ name }: Any) => name)).toEqual([
    'mcp-servers.oauth-callback',
    'mcp-servers.list',
  ])
})

test('the standard error of the document marks statusCode as deprecated', { tags: ['R288'] }, async () => {
  const emulator = await controlEmulator()
  const { components } = (await emulator.call('GET', '/openapi.json?api=workspace')).body
  expect(components.schemas.StandardError.properties.statusCode.deprecated).toBe(true)
  expect(components.schemas.StandardError.properties.status_code.deprecated).toBeUndefined()
})

test('an operation is described by its declaration: parameters, body, responses, errors, marks', async () => {
  const emulator = await controlEmulator({ settings: { 'status.validation': 422 } })
  const { paths, components } = (await emulator.call('GET', '/openapi.json?api=workspace')).body
  const list = paths['/books'].get
  expect(list.parameters).toEqual([
    { name: 'limit', in: 'query', required: false, schema: { type: 'integer', minimum: 1, maximum: 100 } },
  ])
  expect(list.requestBody).toBeUndefined()
  const shape = components.schemas.BooksListResponse
  expect(list.responses[200].content['application/json'].schema).toEqual({
    $ref: '#/components/schemas/BooksListResponse',
  })
  expect(shape.properties.data.items).toEqual({ $ref: '#/components/schemas/BooksListRow' })
  expect(shape.properties.object).toMatchObject({ const: 'list' })
  expect(list.responses[200].headers['X-RateLimit-Limit']).toEqual({
    $ref: '#/components/headers/X-RateLimit-Limit',
  })
  expect(list.responses[429].content).toEqual({
    'application/json': { schema: { $ref: '#/components/schemas/RateLimitExceededError' } },
  })
  expect(list.responses[429].headers['Retry-After'].required).toBe(true)
  const create = paths['/shelves/{shelf_id}/books'].post
  expect(create['x-beta']).toBe(true)
  expect(create.requestBody.required).toBe(true)
  expect(create.requestBody.content['application/json'].schema).toEqual({
    $ref: '#/components/schemas/BooksCreateRequest',
  })
  expect(components.schemas.BooksCreateRequest).toMatchObject({
    type: 'object',
    required: ['title'],
    properties: { title: { type: 'string', minLength: 1, maxLength: 10 } },
  })
  expect(create.parameters.map(({ name }: Any) => name)).toEqual(['shelf_id', 'Idempotency-Key'])
  expect(Object.keys(create.responses)).toEqual(
    expect.arrayContaining(['201', '401', '403', '404', '409', '413', '415', '422', '429', 'default']),
  )
  expect(create.responses[422].content['application/problem+json'].schema.anyOf).toContainEqual({
    $ref: '#/components/schemas/ValidationFailedProblem',
  })
  const close = paths['/shelves/{shelf_id}'].delete
  expect(close['x-contract']).toBe(false)
  expect(close.responses[204].content).toBeUndefined()
  expect(close.responses[501]).toBeDefined()
})

test('the document of the control interface has every route, and every route is in it', async () => {
  const emulator = await controlEmulator()
  const { body } = await emulator.call('GET', '/openapi.json')
  expectSound(body)
  expect(body.servers.map(({ url }: Any) => url)).toEqual(['/__emulator', '/@{sandbox}/__emulator'])
  expect(body.servers[1].variables.sandbox.default).toBe('default')
  expect(body.security).toEqual([{}, { token: [] }])
  const described = operationsIn(body).map(({ path, method }) => `${method} ${path}`)
  const declared = controlRoutes(service([library], serviceFacts)).map(
    ({ path, method }) => `${method} ${path}`,
  )
  expect(described.sort()).toEqual(declared.sort())
  const index = (await emulator.call('GET', '/')).body.routes
  expect(
    index.map(({ method, path }: Any) => `${method} ${path.slice('/__emulator'.length)}`).sort(),
  ).toEqual(declared.sort())
})

test('the document describes bodies, and requires the token if one is set', async () => {
  const emulator = await controlEmulator({ token: 'secret-token-value' })
  const headers = { authorization: 'Bearer secret-token-value' }
  const { body, text } = await emulator.call('GET', '/openapi.json', undefined, { headers })
  expect(body.security).toEqual([{ token: [] }])
  expect(text).not.toContain('secret-token-value')
  const { paths } = body
  expect(paths['/reset'].post.requestBody.required).toBe(false)
  expect(paths['/clock/advance'].post.requestBody.required).toBe(true)
  expect(
    Object.keys(paths['/clock/advance'].post.requestBody.content['application/json'].schema.properties),
  ).toEqual(['by', 'to', 'steps', 'max_events', 'max_to'])
  expect(paths['/openapi.json'].get.parameters).toEqual([
    {
      name: 'api',
      in: 'query',
      required: false,
      schema: { type: 'string', enum: ['control', 'workspace'], default: 'control' },
    },
    { $ref: '#/components/parameters/Sandbox' },
  ])
  expect(paths['/state/{collection}/{id}'].delete.responses[204]).toEqual({ description: 'Nothing.' })
})

test('operations are listed as data, with the limits in force', async () => {
  const emulator = await controlEmulator()
  await emulator.call('PUT', '/limits/books.create', { limit: 7, window_s: 30 })
  const { data } = (await emulator.call('GET', '/operations')).body
  expect(data.map(({ name }: Any) => name)).toEqual(['books.list', 'books.create', 'shelves.close'])
  expect(data[1]).toEqual({
    name: 'books.create',
    method: 'POST',
    path: '/shelves/{shelf_id}/books',
    summary: 'Create a book',
    section: 'Create book',
    errorFormat: 'problem',
    contract: true,
    beta: true,
    idempotent: true,
    principal: null,
    success: 201,
    body_limit: 1_048_576,
    limit: { limit: 7, window_s: 30 },
  })
})

test('the type of a problem leads to its meaning', async () => {
  const emulator = await controlEmulator({ settings: { 'status.validation': 422 } })
  const { body } = await emulator.call('GET', '/problems/validation_failed')
  expect(body).toMatchObject({
    code: 'validation_failed',
    type: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/__emulator\/problems\/validation_failed$/),
    title: 'Validation Failed',
    status: 422,
    status_setting: 'status.validation',
    retryable: false,
  })
  expect(body.meaning).toMatch(/breaks a rule/)
  const all = (await emulator.call('GET', '/problems')).body.data
  expect(all).toContainEqual(body)
  const unknown = await emulator.call('GET', '/problems/validation_faild')
  expect(unknown.status).toBe(404)
  expect(unknown.body.message).toContain('Did you mean "validation_failed"?')
  expect((await emulator.call('GET', '/problems/constructor')).status).toBe(404)
})

test('an unknown document is refused', async () => {
  const emulator = await controlEmulator()
  const response = await emulator.call('GET', '/openapi.json?api=other')
  expect([response.status, response.body.details.errors[0].pointer]).toEqual([400, '/query/api'])
})

test('GET /openapi.json of the server describes the API, with its own URL and a name for each schema', async () => {
  const { emulator } = await testEmulator()
  const api: Any = await (await fetch(`${emulator.url}/openapi.json`)).json()
  expectSound(api)
  expect(api.servers).toEqual([{ url: `${emulator.url}/v1` }])
  const inSandbox = { headers: { 'X-Emulator-Sandbox': 'w1' } }
  await fetch(`${emulator.url}/@w1/v1/data-views`)
  for (const url of [`${emulator.url}/@w1/openapi.json`, `${emulator.url}/openapi.json`]) {
    const own: Any = await (await fetch(url, inSandbox)).json()
    expect(own.servers).toEqual([{ url: `${emulator.url}/@w1/v1` }])
  }
  const names = Object.keys(api.components.schemas)
  expect(names).toEqual(
    expect.arrayContaining([
      'Page',
      'Teamspace',
      'TeamspaceUserList',
      'AgentTemplate',
      'BatchPrediction',
      'UnauthorizedError',
      'RateLimitExceededProblem',
    ]),
  )
  for (const { item } of operationsIn(api)) {
    for (const [status, { content = {} }] of Object.entries<Any>(item.responses)) {
      for (const { schema } of Object.values<Any>(content)) {
        const parts: Any[] = schema.anyOf ?? [schema.contentSchema ?? schema]
        const isNamed = parts.every((part) => part.$ref !== undefined || Object.keys(part).length === 0)
        expect([item.operationId, status, isNamed]).toEqual([item.operationId, status, true])
      }
    }
  }
})
