import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import { expect, test } from 'vitest'
import { aBatch, batchEmulator, bring, createBatch, linesOf, retrieve } from '../support/batches.ts'
import { type TestEmulator, testEmulator } from '../support/emulator.ts'
import { MESSAGE, sampleCalls, sampleRecords } from '../support/sample-calls.ts'

// biome-ignore lint/suspicious/noExplicitAny: OpenAPI documents are looked into at every depth.
type Any = any

async function documentOf(emulator: TestEmulator, api = 'workspace'): Promise<Any> {
  return (await emulator.control('GET', `/openapi.json?api=${api}`)).body
}

function operationsIn(document: Any): { name: string; path: string; item: Any }[] {
  return Object.entries<Any>(document.paths).flatMap(([path, methods]) =>
    Object.values<Any>(methods).map((item) => ({ name: item.operationId, path, item })),
  )
}

const itemOf = (document: Any, name: string): Any =>
  operationsIn(document).find((each) => each.name === name)?.item

/** Whether a value is valid against a schema of a document. */
function judgeOf(document: Any): (schema: Any, value: unknown) => boolean {
  const ajv = new Ajv2020({ strict: false })
  formats.default(ajv)
  ajv.addSchema({ $id: 'api', components: document.components })
  return (schema, value) => ajv.validate({ $ref: `api${schema.$ref}` }, value)
}

const bodySchema = (document: Any, name: string): Any =>
  itemOf(document, name).requestBody.content['application/json'].schema

test('the result stream is described as a text, and each line has the schema of its lines', {
  tags: ['R100', 'R213'],
}, async () => {
  const emulator = await batchEmulator()
  const { id } = await createBatch(emulator, { items: 5 })
  await bring(emulator, id, 'completed')
  const document = await documentOf(emulator)
  const { content, description } = itemOf(document, 'batch-predictions.results').responses[200]
  const { schema } = content['application/x-ndjson']
  expect(schema).toEqual({
    type: 'string',
    format: 'binary',
    contentMediaType: 'application/x-ndjson',
    contentSchema: { $ref: '#/components/schemas/BatchPredictionResult' },
  })
  expect(description).toContain('Each line')
  const isValid = judgeOf(document)
  const lines = await linesOf(emulator, id)
  expect(lines.map((line) => isValid(schema.contentSchema, line))).toEqual(Array(5).fill(true))
  expect(isValid(schema.contentSchema, { ...lines[0], status: 'completed' })).toBe(false)
})

test('every request body has a name, and so has every object in it', async () => {
  const document = await documentOf(await testEmulator())
  const { schemas } = document.components
  const nameless: string[] = []
  const names = operationsIn(document).flatMap(({ name, item: { requestBody } }) => {
    if (requestBody === undefined) return []
    const { $ref: ref = '' } = requestBody.content['application/json'].schema
    const body = ref.split('/').at(-1)
    if (schemas[body] === undefined) nameless.push(name)
    const parts = { ...schemas[body]?.properties }
    for (const [key, { type, items }] of Object.entries<Any>(parts))
      if (type === 'object' || (items !== undefined && items.$ref === undefined))
        nameless.push(`${name}/${key}`)
    return [body]
  })
  expect(nameless).toEqual([])
  expect(names).toContain('BatchPredictionsCreateRequest')
  const { output_schema, metadata, items } = schemas.BatchPredictionsCreateRequest.properties
  expect([output_schema.$ref, metadata.$ref, items.items.$ref]).toEqual([
    '#/components/schemas/OutputSchema',
    '#/components/schemas/BatchMetadata',
    '#/components/schemas/BatchPredictionItem',
  ])
  expect(schemas.PagesCreateRequest.properties.parent).toEqual({ $ref: '#/components/schemas/PageParent' })
})

const { files: _, ...collections } = sampleRecords

test('the document accepts the body of each request that succeeds', async () => {
  const emulator = await batchEmulator({}, { collections })
  const document = await documentOf(emulator)
  const isValid = judgeOf(document)
  const judged: string[] = []
  for (const { name, options } of await sampleCalls(emulator)) {
    if (itemOf(document, name)?.requestBody === undefined || options?.json === undefined) continue
    expect([name, isValid(bodySchema(document, name), options.json)]).toEqual([name, true])
    judged.push(name)
  }
  expect(judged).toContain('batch-predictions.create')
})

test('the error of a batch is an object or null', { tags: ['R091'] }, async () => {
  const emulator = await batchEmulator()
  const document = await documentOf(emulator)
  const isValid = judgeOf(document)
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
  const emulator = await batchEmulator({ 'limits.admission.concurrency': 1 })
  const document = await documentOf(emulator)
  await createBatch(emulator)
  const refused = await emulator.post('/batch-predictions', aBatch())
  expect(refused.status).toBe(429)
  const { headers } = itemOf(document, 'batch-predictions.create').responses[429]
  for (const name of ['RateLimit', 'RateLimit-Policy', 'Retry-After', 'X-RateLimit-Limit']) {
    expect([name, refused.headers.has(name), headers[name] !== undefined]).toEqual([name, true, true])
  }
  const standard = itemOf(document, 'pages.create').responses[429].headers
  expect([standard.RateLimit, standard['RateLimit-Policy']]).toEqual([undefined, undefined])
})

test('each 401 is described with the header WWW-Authenticate, which is required and sent', async () => {
  const emulator = await testEmulator()
  const document = await documentOf(emulator)
  for (const { name, item } of operationsIn(document)) {
    for (const [status, { headers }] of Object.entries<Any>(item.responses)) {
      const required = headers['WWW-Authenticate']?.required === true
      expect([name, status, required]).toEqual([name, status, status === '401'])
    }
  }
  const { status, headers } = await emulator.get('/data-views', { key: 'none' })
  expect([status, headers.get('www-authenticate')]).toEqual([401, 'Bearer'])
})

test('the document names error codes as the settings name them', async () => {
  const emulator = await testEmulator({ settings: { 'errors.codes': { validation_failed: 'invalid' } } })
  const document = await documentOf(emulator)
  const { description, content } = itemOf(document, 'pages.create').responses[400]
  expect(description).toContain('(invalid)')
  const { body } = await emulator.post('/pages', {})
  const isValid = judgeOf(document)
  const { anyOf } = content['application/json'].schema
  const verdicts = (error: string) => anyOf.filter((schema: Any) => isValid(schema, { ...body, error }))
  expect([body.error, verdicts('invalid').length, verdicts('validation_failed')]).toEqual(['invalid', 1, []])
})

test('like is an integer, 1 or -1', { tags: ['R126'] }, async () => {
  const document = await documentOf(await testEmulator())
  const schema = bodySchema(document, 'messages.feedback')
  expect(document.components.schemas.MessagesFeedbackRequest.properties.like).toEqual({
    type: 'integer',
    enum: [1, -1],
  })
  const isValid = judgeOf(document)
  const verdicts = [1, -1, 0, 2, '1', true, null, 1.5].map((like) => isValid(schema, { like }))
  expect(verdicts).toEqual([true, true, false, false, false, false, false, false])
})

test('the pattern of message_id and the emulator agree', { tags: ['R124'] }, async () => {
  const emulator = await testEmulator()
  const { parameters } = itemOf(await documentOf(emulator), 'messages.feedback')
  const { schema } = parameters.find(({ name }: Any) => name === 'message_id')
  const ids = [MESSAGE, MESSAGE.toUpperCase(), MESSAGE.slice(1), 'm-1']
  for (const suffix of ['user', 'agent', 'voice', 'AGENT', '']) ids.push(`${MESSAGE}-${suffix}`)
  for (const id of ids) {
    const { body } = await emulator.post(`/conversations/none/messages/${id}`, { like: 1 })
    const isWellFormed = body.error !== 'malformed_message_id'
    expect([id, new RegExp(schema.pattern, 'u').test(id)]).toEqual([id, isWellFormed])
  }
})

test('the pattern of redirect_uri and the emulator agree', { tags: ['R145'] }, async () => {
  const emulator = await testEmulator({ collections })
  const document = await documentOf(emulator)
  const judge = judgeOf(document)
  for (const redirect_uri of [
    'https://app.example/callback',
    'HTTPS://app.example',
    'http://localhost:3000/callback',
    'http://127.0.0.1',
    'http://[::1]?x=1',
    'http://app.example/callback',
    'http://localhost.evil.example',
    'http://user@localhost',
    'http://127.1',
    '/callback',
  ]) {
    const call = { code: 'c', state: 'another state', redirect_uri }
    const path = '/organization/mcp-servers/server-1/oauth-callback'
    const { body } = await emulator.post(path, call)
    const refused: string[] = body.details.errors.map(({ pointer }: Any) => pointer)
    const isValid = judge(bodySchema(document, 'mcp-servers.oauth-callback'), call)
    expect([redirect_uri, isValid]).toEqual([redirect_uri, !refused.includes('/redirect_uri')])
  }
})

test('the document refuses the same keywords at the root of output_schema as the emulator', async () => {
  const emulator = await batchEmulator()
  const document = await documentOf(emulator)
  const [schema, isValid] = [bodySchema(document, 'batch-predictions.create'), judgeOf(document)]
  const plain = aBatch()
  expect(isValid(schema, plain)).toBe(true)
  for (const keyword of ['$defs', '$ref', 'allOf', 'anyOf', 'not', 'oneOf', 'patternProperties']) {
    const body = { ...plain, output_schema: { ...plain.output_schema, [keyword]: {} } }
    expect([keyword, isValid(schema, body)]).toEqual([keyword, false])
    expect([keyword, (await emulator.post('/batch-predictions', body)).status]).toEqual([keyword, 400])
  }
})

test.for(['workspace', 'control'])(
  'the document %s has a license, the security of each operation, only components that it uses, and no ambiguous path',
  async (api) => {
    const document = await documentOf(await testEmulator(), api)
    expect(document.info.license).toEqual({ name: 'MIT', identifier: 'MIT' })
    const schemes = Object.keys(document.components.securitySchemes)
    for (const { path, item } of operationsIn(document)) {
      const named = (item.security ?? document.security).flatMap(Object.keys)
      expect([path, named.filter((name: string) => !schemes.includes(name))]).toEqual([path, []])
      if (item.security === undefined) expect([path, named]).toEqual([path, schemes])
    }
    const text = JSON.stringify(document)
    const kinds = Object.entries<object>(document.components).filter(([kind]) => kind !== 'securitySchemes')
    const components = kinds.flatMap(([kind, all]) => Object.keys(all).map((name) => `${kind}/${name}`))
    expect(components.filter((name) => !text.includes(`"#/components/${name}"`))).toEqual([])
    const paths = Object.keys(document.paths)
    const ambiguous = paths.flatMap((path) =>
      paths.filter((other) => path < other && areAmbiguous(path, other)),
    )
    expect(ambiguous).toEqual([])
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
