import { expect, test } from 'vitest'
import { Settings } from '../../src/core/assumptions.ts'
import { workspaceService } from '../../src/emulator/service.ts'
import { controlRoutes } from '../../src/server/control/routes/index.ts'
import { callControl } from '../support/control-emulator.ts'
import { testEmulator } from '../support/emulator.ts'

// biome-ignore lint/suspicious/noExplicitAny: OpenAPI documents are looked into at every depth.
type Any = any

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

/** What an emulator without a control token serves, the same for every test: making it takes most of the time here. */
let plain: Promise<Any> | undefined

/** A running emulator and the OpenAPI document that its control interface serves. */
async function described(options: Parameters<typeof testEmulator>[0] = {}) {
  const emulator = await testEmulator(options)
  const { controlUrl, port } = emulator.emulator
  const read = async (headers: Record<string, string>): Promise<Any> =>
    (await fetch(`${controlUrl}/openapi.json`, { headers })).json()
  if (options.controlToken === undefined) plain ??= read({})
  const document = await (options.controlToken === undefined
    ? plain
    : read({ authorization: `Bearer ${options.controlToken}` }))
  return { emulator, document, port }
}

const routes = controlRoutes(workspaceService)
const nameOf = ({ method, path }: { method: string; path: string }) => `${method} ${path}`

function operationsIn(document: Any): { method: string; path: string; item: Any }[] {
  return Object.entries(document.paths as Record<string, Record<string, Any>>).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, item]) => ({ path, method: method.toUpperCase(), item })),
  )
}

test('the emulator describes exactly the routes that it has', async () => {
  const { document } = await described()
  expect(operationsIn(document).map(nameOf).sort()).toEqual(routes.map(nameOf).sort())
})

test('the emulator serves each described method of each path, and no other method', async () => {
  const silent = { info: () => {}, warn: () => {}, error: () => {} }
  const { document, port } = await described({ logger: silent })
  for (const [path, methods] of Object.entries<object>(document.paths)) {
    const target = path.replaceAll(/\{\w+\}/g, 'x')
    for (const method of METHODS) {
      const { status, body } = await callControl(port, method, target, undefined)
      const isServed = Object.hasOwn(methods, method.toLowerCase())
      expect([method, path, status === 405]).toEqual([method, path, !isServed])
      expect([method, path, body?.error]).not.toEqual([method, path, 'route_not_found'])
    }
  }
})

test('both servers of the document lead to the routes, and the variable of the second names a sandbox', async () => {
  const { document, emulator } = await described()
  await emulator.emulator.sandboxes.open('w3')
  const [plain, named] = document.servers
  expect([plain.url, named.url]).toEqual(['/__emulator', '/@{sandbox}/__emulator'])
  expect(Object.keys(named.variables)).toEqual(['sandbox'])
  for (const [url, sandbox] of [
    [plain.url, 'default'],
    [named.url.replace('{sandbox}', 'w3'), 'w3'],
  ]) {
    const response = await fetch(`http://127.0.0.1:${emulator.emulator.port}${url}/state`)
    expect(((await response.json()) as Any).sandbox).toBe(sandbox)
  }
})

test('exactly the routes about a sandbox accept the header that names one', async () => {
  const { document, emulator } = await described()
  const ref = '#/components/parameters/Sandbox'
  const taking = operationsIn(document)
    .filter(({ item }) => item.parameters.some(({ $ref }: Any) => $ref === ref))
    .map(nameOf)
  const stateful = routes.filter(({ withoutSandbox }) => withoutSandbox !== true).map(nameOf)
  expect(taking.sort()).toEqual(stateful.sort())
  const { name, schema } = document.components.parameters.Sandbox
  await emulator.emulator.sandboxes.open('w3')
  const response = await fetch(`${emulator.emulator.controlUrl}/state`, { headers: { [name]: 'w3' } })
  expect(((await response.json()) as Any).sandbox).toBe('w3')
  expect([schema.default, new RegExp(schema.pattern).test('-w3')]).toEqual(['default', false])
})

test('successes have the statuses that the routes declare, refusals the error body', async () => {
  const { document } = await described()
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
      expect(response.content['application/json'].schema).toEqual({
        $ref: '#/components/schemas/StandardError',
      })
    }
    expect(Object.keys(responses)).toEqual(expect.arrayContaining(['400', '403', 'default']))
    expect([method, path, responses[404] !== undefined]).toEqual([method, path, path.includes('{')])
    expect([method, path, responses[415] !== undefined]).toEqual([method, path, method !== 'GET'])
  }
})

test('a refusal has the described status and body', async () => {
  const { document, port } = await described()
  const { StandardError } = document.components.schemas
  for (const [status, method, path, json] of [
    [400, 'GET', '/clock?x=1', undefined],
    [404, 'GET', '/problems/x', undefined],
    [409, 'PATCH', '/clock', { now: '2020-01-01T00:00:00Z' }],
  ] as const) {
    const response = await callControl(port, method, path, json)
    expect([path, response.status]).toEqual([path, status])
    expect(Object.keys(response.body)).toEqual(expect.arrayContaining(StandardError.required))
    const unknown = Object.keys(response.body).filter((key) => !(key in StandardError.properties))
    expect(unknown).toEqual([])
  }
})

test('routes with a body describe it with its bound, and GET routes never do', async () => {
  const { document } = await described()
  for (const { method, path, item } of operationsIn(document)) {
    const route = routes.find((each) => nameOf(each) === nameOf({ method, path }))
    const hasBody = route?.input?.(new Settings()).body !== undefined && method !== 'GET'
    expect([method, path, item.requestBody !== undefined]).toEqual([method, path, hasBody])
    if (hasBody) expect(item.requestBody.content['application/json'].schema).toBeTypeOf('object')
  }
  const { description } = document.paths['/state'].put.requestBody
  expect(description).toBe('At most 33554432 bytes.')
})

test('the feed of events is described as an event stream, everything else as JSON', async () => {
  const { document } = await described()
  const streams = operationsIn(document).filter(
    ({ item }) => item.responses[200]?.content['text/event-stream'] !== undefined,
  )
  expect(streams.map(nameOf)).toEqual(['GET /events'])
  const [types] = document.paths['/events'].get.parameters
  expect(types).toMatchObject({ name: 'types', in: 'query', schema: { type: 'string' } })
  expect(types.description).toContain('request, event, delivery')
})

test('with a control token set, all routes but the probes require it', async () => {
  const { document } = await described({ controlToken: 'canary-token' })
  expect(document.security).toEqual([{ token: [] }])
  expect(JSON.stringify(document)).not.toContain('canary')
  for (const { method, path, probe } of routes) {
    const { security, responses } = document.paths[path][method.toLowerCase()]
    expect([path, security]).toEqual([path, probe === true ? [] : undefined])
    expect([path, responses[401] === undefined]).toEqual([path, probe === true])
  }
})
