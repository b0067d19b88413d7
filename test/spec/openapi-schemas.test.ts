import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import { expect, test } from 'vitest'
import { aBatch, batchEmulator, bring, createBatch, linesOf, retrieve } from '../support/batches.ts'
import { type TestEmulator, testEmulator } from '../support/emulator.ts'
import { CONTRACT, MESSAGE, sampleCalls, sampleRecords } from '../support/sample-calls.ts'

// biome-ignore lint/suspicious/noExplicitAny: OpenAPI documents are looked into at every depth.
type Any = any

/** An emulator, the operations of its OpenAPI document, and whether a value is valid against a schema of that. */
async function described(given?: Promise<TestEmulator>, api = 'workspace') {
  const emulator = await (given ?? testEmulator())
  const document: Any = (await emulator.control('GET', `/openapi.json?api=${api}`)).body
  const operations = Object.entries<Any>(document.paths).flatMap(([path, methods]) =>
    Object.values<Any>(methods).map((item) => ({ name: item.operationId, path, item })),
  )
  const itemOf = (name: string): Any => operations.find((each) => each.name === name)?.item
  const bodySchema = (name: string): Any => itemOf(name)?.requestBody?.content['application/json'].schema
  const ajv = new Ajv2020({ strict: false })
  formats.default(ajv)
  ajv.addSchema({ $id: 'api', components: document.components })
  const isValid = (schema: Any, value: unknown) => ajv.validate({ $ref: `api${schema.$ref}` }, value)
  return { emulator, document, operations, itemOf, bodySchema, isValid }
}

test('results are a text whose lines have a schema', { tags: ['R100', 'R213'] }, async () => {
  const { emulator, itemOf, isValid } = await described(batchEmulator())
  const { id } = await createBatch(emulator, { items: 5 })
  await bring(emulator, id, 'completed')
  const { content, description } = itemOf('batch-predictions.results').responses[200]
  const { schema } = content['application/x-ndjson']
  expect(schema).toMatchObject({ type: 'string', format: 'binary', contentMediaType: 'application/x-ndjson' })
  expect(description).toContain('Each line')
  const lines = await linesOf(emulator, id)
  expect(lines.map((line) => isValid(schema.contentSchema, line))).toEqual(Array(5).fill(true))
  expect(isValid(schema.contentSchema, { ...lines[0], status: 'completed' })).toBe(false)
})

test('every request body has a name, and so has every object in it', async () => {
  const { document, operations, bodySchema } = await described()
  const { schemas } = document.components
  for (const { name } of operations.filter(({ item }) => item.requestBody !== undefined)) {
    const ref: string = bodySchema(name).$ref ?? ''
    const body = schemas[ref.split('/').at(-1) ?? '']
    expect([name, body]).toEqual([name, expect.any(Object)])
    for (const { type, items } of Object.values<Any>(body.properties ?? {}))
      expect([name, type === 'object', items?.$ref]).toEqual([name, false, items && expect.any(String)])
  }
  const { output_schema, metadata, items } = schemas.BatchPredictionsCreateRequest.properties
  const { parent } = schemas.PagesCreateRequest.properties
  const names = ['OutputSchema', 'BatchMetadata', 'BatchPredictionItem', 'PageParent']
  const refs = names.map((name) => ({ $ref: `#/components/schemas/${name}` }))
  expect([output_schema, metadata, items.items, parent]).toEqual(refs)
})

const { files: _, ...collections } = sampleRecords

test('the document accepts the body of each request that succeeds', async () => {
  const { emulator, bodySchema, isValid } = await described(batchEmulator({}, { collections }))
  const judged: string[] = []
  for (const { name, options } of await sampleCalls(emulator)) {
    if (bodySchema(name) === undefined || options?.json === undefined) continue
    expect([name, isValid(bodySchema(name), options.json)]).toEqual([name, true])
    judged.push(name)
  }
  expect(judged).toContain('batch-predictions.create')
})

/** The statuses in the specification of an operation, and those that follow from its text. */
const DOCUMENTED: Readonly<Record<string, readonly number[]>> = {
  'messages.feedback': [204, 400, 404],
  'agents.claim': [404],
  'conversations.delete': [400],
  'mcp-servers.oauth-callback': [403],
  'skills.promote': [403],
  'batch-predictions.create': [400, 409],
  'batch-predictions.retrieve': [401, 404],
  'batch-predictions.results': [401, 404, 409, 410],
  'batch-predictions.cancel': [401, 404, 409],
}

const LIMITED = [...CONTRACT, 'conversations.delete']

test('every documented status of an operation is described', { tags: ['R216', 'R221'] }, async () => {
  const { itemOf } = await described()
  for (const name of LIMITED) {
    const statuses = Object.keys(itemOf(name).responses)
    expect(statuses, name).toEqual(expect.arrayContaining([429, ...(DOCUMENTED[name] ?? [])].map(String)))
  }
})

test('the error of a batch is an object or null', { tags: ['R091'] }, async () => {
  const { emulator, isValid } = await described(batchEmulator())
  const schema = { $ref: '#/components/schemas/BatchPrediction' }
  const { id } = await createBatch(emulator)
  const running = await retrieve(emulator, id)
  await bring(emulator, id, 'failed')
  const failed = await retrieve(emulator, id)
  expect([running.error, isValid(schema, running)]).toEqual([null, true])
  expect([typeof failed.error, isValid(schema, failed)]).toEqual(['object', true])
  for (const error of ['failed', 7, true, []]) expect(isValid(schema, { ...failed, error })).toBe(false)
})

test('the 429 of creating a batch is described with the headers that an admission policy sends', async () => {
  const { emulator, itemOf } = await described(batchEmulator({ 'limits.admission.concurrency': 1 }))
  await createBatch(emulator)
  const refused = await emulator.post('/batch-predictions', aBatch())
  expect(refused.status).toBe(429)
  const { headers } = itemOf('batch-predictions.create').responses[429]
  for (const name of ['RateLimit', 'RateLimit-Policy', 'Retry-After', 'X-RateLimit-Limit'])
    expect([name, refused.headers.has(name), headers[name] !== undefined]).toEqual([name, true, true])
  const standard = itemOf('pages.create').responses[429].headers
  expect([standard.RateLimit, standard['RateLimit-Policy']]).toEqual([undefined, undefined])
})

test('each 401 is described with the header WWW-Authenticate, which is required and sent', async () => {
  const { emulator, operations } = await described()
  for (const { name, item } of operations) {
    for (const [status, { headers }] of Object.entries<Any>(item.responses)) {
      const required = headers['WWW-Authenticate']?.required === true
      expect([name, status, required]).toEqual([name, status, status === '401'])
    }
  }
  const { status, headers } = await emulator.get('/data-views', { key: 'none' })
  expect([status, headers.get('www-authenticate')]).toEqual([401, 'Bearer'])
})

test('the document names error codes as the settings name them', async () => {
  const settings = { 'errors.codes': { validation_failed: 'invalid' } }
  const { emulator, itemOf, isValid } = await described(testEmulator({ settings }))
  const { description, content } = itemOf('pages.create').responses[400]
  expect(description).toContain('(invalid)')
  const { body } = await emulator.post('/pages', {})
  const { anyOf } = content['application/json'].schema
  const verdicts = (error: string) => anyOf.filter((schema: Any) => isValid(schema, { ...body, error }))
  expect([body.error, verdicts('invalid').length, verdicts('validation_failed')]).toEqual(['invalid', 1, []])
})

test('like is an integer, 1 or -1', { tags: ['R126'] }, async () => {
  const { like } = (await described()).document.components.schemas.MessagesFeedbackRequest.properties
  expect(like).toEqual({ type: 'integer', enum: [1, -1] })
})

test('the pattern of message_id and the emulator agree', { tags: ['R124'] }, async () => {
  const { emulator, itemOf } = await described()
  const { parameters } = itemOf('messages.feedback')
  const { schema } = parameters.find(({ name }: Any) => name === 'message_id')
  const suffixed = ['user', 'agent', 'voice', 'AGENT', ''].map((suffix) => `${MESSAGE}-${suffix}`)
  for (const id of [MESSAGE, MESSAGE.toUpperCase(), MESSAGE.slice(1), 'm-1', ...suffixed]) {
    const { body } = await emulator.post(`/conversations/none/messages/${id}`, { like: 1 })
    const isWellFormed = body.error !== 'malformed_message_id'
    expect([id, new RegExp(schema.pattern, 'u').test(id)]).toEqual([id, isWellFormed])
  }
})

test.for([
  ...['https://app.example/callback', 'HTTPS://app.example', 'http://localhost:3000/callback'],
  ...['http://127.0.0.1', 'http://[::1]?x=1', 'http://app.example/callback', 'http://127.1', '/callback'],
  ...['http://localhost.evil.example', 'http://user@localhost'],
])('the pattern of redirect_uri and the emulator agree on %s', { tags: ['R145'] }, async (redirect_uri) => {
  const { emulator, bodySchema, isValid } = await described(testEmulator({ collections }))
  const call = { code: 'c', state: 'another state', redirect_uri }
  const { body } = await emulator.post('/organization/mcp-servers/server-1/oauth-callback', call)
  const refused = body.details.errors.map(({ pointer }: Any) => pointer).includes('/redirect_uri')
  expect(isValid(bodySchema('mcp-servers.oauth-callback'), call)).toBe(!refused)
})

test('the document refuses the same keywords at the root of output_schema as the emulator', async () => {
  const { emulator, bodySchema, isValid } = await described(batchEmulator())
  const schema = bodySchema('batch-predictions.create')
  const plain = aBatch()
  expect(isValid(schema, plain)).toBe(true)
  for (const keyword of ['$defs', '$ref', 'allOf', 'anyOf', 'not', 'oneOf', 'patternProperties']) {
    const body = { ...plain, output_schema: { ...plain.output_schema, [keyword]: {} } }
    const { status } = await emulator.post('/batch-predictions', body)
    expect([keyword, isValid(schema, body), status]).toEqual([keyword, false, 400])
  }
})

test.for(['workspace', 'control'])(
  'the document %s has a license, the security of each operation, only components that it uses, and no ambiguous path',
  async (api) => {
    const { document, operations } = await described(undefined, api)
    expect(document.info.license).toEqual({ name: 'MIT', identifier: 'MIT' })
    const schemes = Object.keys(document.components.securitySchemes)
    for (const { path, item } of operations) {
      const named = (item.security ?? document.security).flatMap(Object.keys)
      expect([path, named.filter((name: string) => !schemes.includes(name))]).toEqual([path, []])
      if (item.security === undefined) expect([path, named]).toEqual([path, schemes])
    }
    const text = JSON.stringify(document)
    const kinds = Object.entries<object>(document.components).filter(([kind]) => kind !== 'securitySchemes')
    const components = kinds.flatMap(([kind, all]) => Object.keys(all).map((name) => `${kind}/${name}`))
    expect(components.filter((name) => !text.includes(`"#/components/${name}"`))).toEqual([])
    const paths = Object.keys(document.paths)
    const pairs = paths.flatMap((path) => paths.map((other) => [path, other] as const))
    expect(pairs.filter(([path, other]) => path < other && areAmbiguous(path, other))).toEqual([])
  },
)

/** Whether a path exists that fits both templates, neither of which is the more literal one. */
function areAmbiguous(one: string, other: string): boolean {
  const [left, right] = [one.split('/'), other.split('/')]
  if (left.length !== right.length) return false
  const isVariable = (part = '') => part.startsWith('{')
  if (!left.every((part, n) => part === right[n] || isVariable(part) || isVariable(right[n]))) return false
  const isMoreLiteral = (a: string[], b: string[]) =>
    a.some((part, n) => !isVariable(part) && isVariable(b[n]))
  return isMoreLiteral(left, right) === isMoreLiteral(right, left)
}
