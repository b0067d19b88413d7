import { expect, test } from 'vitest'
import { command, nodeClient } from '../cli/in-process.ts'
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

test('a glob is no name of an operation', async () => {
  const { control } = await notes()
  const rule = { match: { operation: 'notes.*' }, do: [{ respond: { status: 503 } }] }
  const { status, body } = await control('POST', '/faults', rule)
  expect([status, body.message]).toEqual([400, expect.stringContaining('"notes.*" is no operation')])
})

/** Reads a stream to its end, or to the point where it is cut. */
async function pieces({ baseUrl }: TestEmulator) {
  const response = await fetch(`${baseUrl}/words`, { headers: { authorization: 'Bearer live_owner' } })
  const bytes: Buffer[] = []
  const read = async () => {
    for await (const piece of response.body as ReadableStream<Uint8Array>) bytes.push(Buffer.from(piece))
  }
  const whole = await read().then(
    () => true,
    () => false,
  )
  return { whole, text: Buffer.concat(bytes).toString() }
}

test.for([
  ['cut', { do: [{ cut: { at: { bytes: 9 }, how: 'fin' } }] }, false, WORDS.slice(0, 8)],
  ['paced', { do: [{ pace: { bytes: 4, gap_ms: 5 } }] }, true, WORDS],
  ['in another order', { do: [{ lines: { order: 'reverse' } }] }, true, '"rot"\n"blau"\n"grün"\n'],
  ['split inside a character', { preset: 'ndjson-utf8-split' }, true, WORDS],
] as const)('a fault acts inside a stream, which is %s', async ([, fault, whole, text]) => {
  const emulator = await notes()
  await arm(emulator, { match: { operation: 'words.list' }, ...fault })
  expect(await pieces(emulator)).toEqual({ whole, text })
  expect((await emulator.control('GET', '/faults')).body.data).toMatchObject([{ fired: 1 }])
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
    {
      ...{ operation: 'notes.create', status: 201, caller: { key_id: 'key-owner' } },
      place: expect.stringMatching(/notes\.ts:6$/),
    },
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
  expect(traces[0].steps).toContainEqual(expect.objectContaining({ step: 'handle', outcome: 'decided' }))
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

const READER = `
  const lines = (await (await api('/words')).text()).trim().split('\\n').map((line) => JSON.parse(line))
  if (lines.length !== 3) throw new Error('three words')`

test('hunt runs the tests under faults at operations of the user', async () => {
  const folder = folderWith({ 'notes.ts': NOTES })
  const flags = ['--endpoints', folder, '--run', 'words.list/{html-error-page,stale-keepalive}', '--json']
  const script = `(async () => {${READER}})()`
  const env = { PATH: process.env.PATH ?? '' }
  const { code, out, err } = await command(['hunt', ...flags, '--', ...nodeClient(script)], env)
  expect(code, err).toBe(1)
  const finding = { kind: 'crash', name: 'words.list/html-error-page' }
  expect(JSON.parse(out).findings).toMatchObject([finding])
})
