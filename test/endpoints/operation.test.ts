import { Client, InMemoryTransport } from '@modelcontextprotocol/client'
import { expect, onTestFinished, test } from 'vitest'
import { mcpServer } from '../../src/tools/mcp/server.ts'
import { command, nodeClient, temporaryDirectory } from '../cli/in-process.ts'
import { type TestEmulator, testEmulator } from '../support/emulator.ts'
import { folderWith, put } from '../support/endpoint-folder.ts'

const NOTES = `import { defineEndpoint } from 'agent-workspace-emulator'

const text = { type: 'object', required: ['text'], properties: { text: { type: 'string', maxLength: 40 } } }

export default [
  defineEndpoint({
    method: 'POST',
    path: '/notes',
    summary: 'Write a note',
    body: text,
    handle: ({ body, records }) => ({ status: 201, body: records('notes').insert(body) }),
  }),
  defineEndpoint({ method: 'GET', path: '/notes', handle: ({ records, list }) => ({ body: list(records('notes').all()) }) }),
  defineEndpoint({
    method: 'POST',
    path: '/orders',
    idempotent: true,
    handle: ({ body, records }) => ({ status: 201, body: records('orders').insert(body) }),
  }),
  defineEndpoint({
    method: 'GET',
    path: '/words',
    handle: ({ stream }) => stream.lines([{ data: 'grün' }, { data: 'blau' }, { data: 'rot' }]),
  }),
]
`

const WORDS = '"grün"\n"blau"\n"rot"\n'

const notes = (options = {}) => testEmulator({ endpoints: folderWith({ 'notes.ts': NOTES }), ...options })

async function arm({ control }: TestEmulator, rule: object) {
  const { status, body } = await control('POST', '/faults', rule)
  expect(status, JSON.stringify(body)).toBe(201)
  return body
}

test.for([
  ['name', { operation: 'notes.create' }],
  ['glob', { method: 'POST', path: '*/not*' }],
] as const)('rules and presets act on an operation of the user by %s, and count it', async ([, match]) => {
  const emulator = await notes()
  await arm(emulator, { id: 'own', match, do: [{ respond: { status: 503 } }], times: 1 })
  expect((await emulator.post('/notes', { text: 'a' })).status).toBe(503)
  await emulator.control('DELETE', '/faults/own')
  await arm(emulator, { id: 'lost', preset: 'rst-before-headers', match })
  await expect(emulator.post('/notes', { text: 'b' })).rejects.toThrow()
  await emulator.control('DELETE', '/faults/lost')
  await arm(emulator, { id: 'busy', preset: 'rate-limited', match, when: { first: 1 } })
  expect((await emulator.post('/notes', { text: 'c' })).headers.get('retry-after')).not.toBeNull()
  expect((await emulator.post('/notes', { text: 'd' })).status).toBe(201)
  expect((await emulator.get('/notes')).status).toBe(200)
  expect((await emulator.control('GET', '/faults')).body.data).toMatchObject([
    { id: 'busy', matched: 2, fired: 1 },
  ])
})

test('a glob is no name of an operation', async () => {
  const { control } = await notes()
  const rule = { match: { operation: 'notes.*' }, do: [{ respond: { status: 503 } }] }
  const { status, body } = await control('POST', '/faults', rule)
  expect([status, body.message]).toEqual([400, expect.stringContaining('"notes.*" is no operation')])
})

test('a preset about keys acts on an operation of the user that honours them', async () => {
  const emulator = await notes()
  const headers = { 'idempotency-key': 'k' }
  const match = { operation: 'orders.create' }
  await arm(emulator, { preset: 'lost-response-after-commit', match, times: 1 })
  await expect(emulator.post('/orders', { n: 1 }, { headers })).rejects.toThrow()
  const again = await emulator.post('/orders', { n: 1 }, { headers })
  expect([again.status, emulator.state('orders')]).toEqual([201, [again.body]])
})

/** Reads a stream to its end, or to the point where it is cut. */
async function pieces(emulator: TestEmulator) {
  const response = await fetch(`${emulator.baseUrl}/words`, {
    headers: { authorization: 'Bearer live_owner' },
  })
  const bytes: Buffer[] = []
  try {
    for await (const piece of response.body as ReadableStream<Uint8Array>) bytes.push(Buffer.from(piece))
  } catch {
    return { whole: false, text: Buffer.concat(bytes).toString() }
  }
  return { whole: true, text: Buffer.concat(bytes).toString() }
}

test('faults act inside a stream: it is cut, paced, split inside a character, and its lines are changed', async () => {
  const emulator = await notes()
  const match = { operation: 'words.list' }
  await arm(emulator, { match, times: 1, do: [{ cut: { at: { bytes: 9 }, how: 'fin' } }] })
  expect(await pieces(emulator)).toEqual({ whole: false, text: WORDS.slice(0, 8) })
  await arm(emulator, { match, times: 1, do: [{ pace: { bytes: 4, gap_ms: 5 } }] })
  expect(await pieces(emulator)).toEqual({ whole: true, text: WORDS })
  const [paced] = (await emulator.control('GET', '/requests')).body.data.slice(-1)
  expect(paced.faults).toHaveLength(1)
  await arm(emulator, { match, times: 1, do: [{ lines: { order: 'reverse' } }] })
  expect((await pieces(emulator)).text).toBe('"rot"\n"blau"\n"grün"\n')
  await arm(emulator, { preset: 'ndjson-utf8-split', match })
  expect(await pieces(emulator)).toEqual({ whole: true, text: WORDS })
  await arm(emulator, { preset: 'cut-mid-body', match })
  expect((await pieces(emulator)).whole).toBe(false)
  const { data } = (await emulator.control('GET', '/faults')).body
  expect(data.map(({ fired }: { fired: number }) => fired)).toEqual([1, 1, 1, 1, 1])
})

test('the log has the name, the explanation file and line, also of a response that does not fit its output', async () => {
  const file = `import { defineEndpoint } from 'agent-workspace-emulator'

export default defineEndpoint({
  method: 'GET',
  path: '/wrong',
  output: { type: 'object', required: ['id'] },
  handle: () => ({ body: {} }),
})
`
  const emulator = await testEmulator({ endpoints: folderWith({ 'notes.ts': NOTES, 'wrong.ts': file }) })
  await emulator.post('/notes', { text: 'a' })
  await emulator.get('/wrong')
  const { data } = (await emulator.control('GET', '/requests')).body
  expect(data).toMatchObject([
    { operation: 'notes.create', place: expect.stringMatching(/notes\.ts:6$/) },
    { operation: 'wrong.list', place: expect.stringMatching(/wrong\.ts:3$/) },
  ])
  expect(data[1].remark).toContain('does not fit its output: /id')
  const traces = []
  for (const { id } of data) traces.push((await emulator.control('GET', `/explain/${id}`)).body)
  const described = (trace: { steps: { step: string; description: string }[] }, step: string) =>
    trace.steps.find((each) => each.step === step)?.description
  expect(described(traces[0], 'route')).toMatch(
    /^It is notes\.create: POST \/notes, defined at \S*notes\.ts:6\.$/,
  )
  expect(described(traces[0], 'handle')).toMatch(/The endpoint at \S*notes\.ts:6 responded with 201/)
  expect(traces[0].changes).toMatchObject([{ action: 'created', ref: expect.stringMatching(/^notes\//) }])
  expect(described(traces[1], 'handle')).toMatch(/wrong\.ts:3 .*the response does not fit its output: \/id/)
})

/** What conduct says about the keys of a client that sends a request again after a response without its effect being undone. */
async function verdicts(path: string, ...keys: readonly string[]) {
  const emulator = await notes()
  const match = { path: `*${path}` }
  await arm(emulator, { match, times: 1, do: [{ respond: { status: 500, effects: 'apply' } }] })
  for (const key of keys)
    await emulator.post(path, { text: 'a' }, { headers: key === 'none' ? {} : { 'idempotency-key': key } })
  const { data } = (await emulator.control('GET', '/conduct')).body
  return data.filter(({ code }: { code: string }) => code.startsWith('key.'))
}

test('conduct knows that an operation of the user has no keys, unless it says so', async () => {
  const [plain] = await verdicts('/notes', 'none', 'none')
  expect(plain).toMatchObject({ code: 'key.missing', severity: 'warning', evidence: { attempts: 2 } })
  expect(plain.message).toMatch(/^POST \/v1\/notes may have taken effect .* 2 records exist: notes\//)
  expect(await verdicts('/notes', 'k', 'k')).toMatchObject([{ code: 'key.missing', severity: 'warning' }])
  expect(await verdicts('/orders', 'none', 'none')).toMatchObject([
    { code: 'key.missing', severity: 'error' },
  ])
  expect(await verdicts('/orders', 'k', 'k')).toEqual([])
  expect(await verdicts('/orders', 'k', 'l')).toMatchObject([{ code: 'key.changed', severity: 'error' }])
})

test('coverage counts the points of operations of the user, also of those that are defined later', async () => {
  const endpoints = folderWith({ 'notes.ts': NOTES })
  const emulator = await testEmulator({ endpoints, countCoverage: true })
  const met = async () => {
    const { data } = (await emulator.control('GET', '/coverage')).body
    return Object.fromEntries(data.map(({ id, met }: { id: string; met: string | null }) => [id, met]))
  }
  expect(await met()).toMatchObject({ 'status notes.create 200': null })
  await emulator.post('/notes', { text: 'x'.repeat(40) })
  expect(await met()).toMatchObject({ 'status notes.create 200': 'service' })
  const more = { method: 'POST', path: '/more', response: { status: 202 } }
  put(endpoints, { 'more.js': `export default ${JSON.stringify(more)}` })
  await emulator.control('GET', '/endpoints')
  expect((await emulator.post('/more', {})).status).toBe(202)
  expect(await met()).toMatchObject({
    'status more.create 202': 'service',
    'status more.create 429': null,
    'status notes.create 200': 'service',
  })
})

test('OpenAPI has the operation with its schemas, errors and header of keys', async () => {
  const emulator = await notes()
  const { paths, components } = (await emulator.control('GET', '/openapi.json?api=workspace')).body
  const { post, get } = paths['/notes']
  const named = [post.operationId, post.summary, get.operationId]
  expect(named).toEqual(['notes.create', 'Write a note', 'notes.list'])
  expect(components.schemas.NotesCreateRequest).toMatchObject({
    required: ['text'],
    properties: { text: { type: 'string', maxLength: 40 } },
  })
  expect(Object.keys(post.responses)).toEqual(expect.arrayContaining(['200', '400', '401', '429']))
  const parameters = (operation: { parameters: { name: string }[] }) =>
    operation.parameters.map(({ name }) => name)
  expect(parameters(post)).not.toContain('Idempotency-Key')
  expect(parameters(paths['/orders'].post)).toContain('Idempotency-Key')
})

test('tools of MCP list, describe and explain an operation of the user, and read its records', async () => {
  const emulator = await notes()
  await emulator.post('/notes', { text: 'a' })
  const find = async () => ({ url: emulator.emulator.url, isOwn: false })
  const server = mcpServer({ readOnly: false, find })
  const client = new Client({ name: 'test', version: '1' })
  const [own, other] = InMemoryTransport.createLinkedPair()
  await server.connect(other)
  await client.connect(own)
  onTestFinished(() => client.close())
  const call = async (name: string, given = {}) => {
    const { content } = await client.callTool({ name, arguments: given })
    return content.map((each) => (each.type === 'text' ? each.text : '')).join('\n')
  }
  expect(await call('describe_api')).toMatch(/notes\.create\s+.*POST.*\/notes/)
  expect(await call('describe_api', { operation: 'notes.create' })).toContain('"maxLength": 40')
  expect(await call('list_requests')).toContain('notes.create')
  expect(await call('explain_request', { request_id: 'default-000001' })).toMatch(/notes\.ts:6/)
  expect(await call('read_state')).toMatch(/notes\s+1/)
  expect(await call('read_state', { collection: 'notes' })).toContain('"text": "a"')
  const fault = { preset: 'rate-limited', match: { operation: 'notes.list' } }
  expect(await call('arm_fault', fault)).toContain('notes.list')
  expect((await emulator.get('/notes')).status).toBe(429)
  expect(await call('why_did_this_fail')).toMatch(/rate-limited/)
})

const READER = `
  const { WORKSPACE_BASE_URL: base, WORKSPACE_API_KEY: key } = process.env
  const response = await fetch(base + '/words', { headers: { authorization: 'Bearer ' + key } })
  const lines = (await response.text()).trim().split('\\n').map((line) => JSON.parse(line))
  if (lines.length !== 3) throw new Error('three words')`

test('hunt runs the tests under faults at operations of the user', async () => {
  const folder = temporaryDirectory()
  put(folder, { 'notes.ts': NOTES })
  const flags = ['--endpoints', folder, '--run', 'words.list/{html-error-page,stale-keepalive}', '--json']
  const script = `(async () => {${READER}})()`
  const env = { PATH: process.env.PATH ?? '' }
  const { code, out, err } = await command(['hunt', ...flags, '--', ...nodeClient(script)], env)
  expect(code, err).toBe(1)
  const finding = { kind: 'crash', name: 'words.list/html-error-page' }
  expect(JSON.parse(out).findings).toMatchObject([finding])
})
