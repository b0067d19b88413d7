import { expect, test } from 'vitest'
import { testEmulator } from '../../support/emulator.ts'
import { sampleRecords } from '../../support/sample-calls.ts'

test.for([
  ['POST /converse', 'POST', '/converse'],
  ['GET /search', 'GET', '/search?query=x&knowledge_ids=k1'],
] as const)(
  '%s is known and responds with 501: nothing is invented',
  { tags: ['R223'] },
  async ([, method, path]) => {
    const emulator = await testEmulator()
    const before = emulator.digest()
    const { status, body, headers, assumed } = await emulator.request(
      method,
      path,
      method === 'POST' ? { json: {} } : {},
    )
    expect(status).toBe(501)
    expect(body).toMatchObject({
      status_code: 501,
      error: 'emulator_contract_unspecified',
      mitigation: expect.stringContaining('call GET /operations'),
      retryable: false,
      details: {},
    })
    expect(headers.get('x-ratelimit-limit')).toBe('200')
    expect(headers.get('x-ratelimit-remaining')).toBe('199')
    expect(assumed).toContain('U043')
    expect(emulator.digest()).toBe(before)
  },
)

test('under --strict every operation without a contract is a 501 that changes nothing, before any record is loaded', {
  tags: ['R223', 'U043'],
}, async () => {
  const emulator = await testEmulator({ collections: sampleRecords, strict: true })
  const before = emulator.digest()
  for (const { name, method, path, contract } of emulator.sandbox.service.operations.values()) {
    if (contract) continue
    for (const id of ['agent-1', 'none']) {
      const target = path.replace('{agent_id}', id).replaceAll(/\{\w+\}/g, 'conversation-1')
      const how = method === 'POST' || method === 'PATCH' ? { json: {} } : {}
      const { status, body, headers, assumed } = await emulator.request(method, target, how)
      expect([name, status, body.error]).toEqual([name, 501, 'emulator_contract_unspecified'])
      expect(body).toMatchObject({ mitigation: expect.stringMatching(/./), retryable: false, details: {} })
      expect([headers.get('x-ratelimit-limit'), assumed.includes('U043')]).toEqual(['200', true])
    }
  }
  expect(emulator.digest()).toBe(before)
})

test('parameters of converse and search are ignored: the response is always the same', {
  tags: ['R223'],
}, async () => {
  const emulator = await testEmulator({ settings: { unknown_fields: 'reject' } })
  const [first, ...others] = await Promise.all([
    emulator.post('/converse', { knowledge_ids: ['k1'] }),
    emulator.post('/converse', { knowledge_ids: 1, nobody: 'knows' }),
    emulator.request('POST', '/converse', { raw: 'not JSON', type: 'text/plain' }),
    emulator.post('/converse'),
  ])
  for (const response of others) expect([response.status, response.body]).toEqual([501, first.body])
  const searches = await Promise.all(
    ['', '?a=1&a=2', '?knowledge_ids=%00'].map((query) => emulator.get(`/search${query}`)),
  )
  expect(searches.map(({ status }) => status)).toEqual([501, 501, 501])
})

test('a record with citations is returned with every field of them', {
  tags: ['R101', 'R292'],
}, async () => {
  const citations = [{ source: { fields: ['a'], status: 'ok', item_type: 'page', later: { added: [null] } } }]
  const agent = { id: 'a1', citations, _emulator: { teamspace_id: 'ts-a' } }
  const emulator = await testEmulator({ collections: { agents: [agent] } })
  expect((await emulator.get('/agents')).body.data).toEqual([{ id: 'a1', citations }])
})

test('neither an agent nor an automation is returned with a model that it was not given', {
  tags: ['R293'],
}, async () => {
  const agent = { id: 'a1', _emulator: { teamspace_id: 'ts-a' } }
  const emulator = await testEmulator({ collections: { agents: [agent] } })
  expect((await emulator.get('/agents')).body.data).toEqual([{ id: 'a1' }])
  const { body } = await emulator.post('/agents/a1/automations', {})
  expect(Object.keys(body)).toEqual(['id'])
})

test.for([
  '/knowledge',
  '/webhooks',
  '/conversations/c1/messages',
  '/conversations/c1/messages/m1/citations',
  '/agents/a1',
  '/mcp-servers',
])(
  'GET %s is not an endpoint, so it is a 404 with rate-limit headers',
  { tags: ['R223', 'U045'] },
  async (path) => {
    const { status, body, headers } = await (await testEmulator()).get(path)
    expect([status, body.error]).toEqual([404, 'route_not_found'])
    expect(headers.get('x-ratelimit-limit')).toBe('200')
  },
)

test('an endpoint without a contract requires a key like any other', { tags: ['R223'] }, async () => {
  const emulator = await testEmulator()
  expect((await emulator.get('/search', { key: 'none' })).status).toBe(401)
  expect((await emulator.post('/converse', {}, { token: 'live_nobody' })).status).toBe(401)
})

test('an endpoint without a contract is rate limited like any other', { tags: ['R223'] }, async () => {
  const emulator = await testEmulator({
    settings: { 'limits.overrides': [{ operation: 'search.query', limit: 1, window_s: 60 }] },
  })
  expect((await emulator.get('/search')).status).toBe(501)
  expect((await emulator.get('/search')).status).toBe(429)
})

test('a number that no double keeps is text in a record without contract', {
  tags: ['R223', 'U011'],
}, async () => {
  const emulator = await testEmulator({ collections: sampleRecords })
  const raw = '{"name":"n","order":9007199254740993,"limit":1e400,"count":3}'
  const created = await emulator.request('POST', '/agents/agent-1/automations', { raw })
  expect(created.status).toBe(200)
  const expected = { order: '9007199254740993', limit: '1e400', count: 3 }
  expect(created.body).toMatchObject(expected)
  expect((await emulator.get(`/agents/agent-1/automations/${created.body.id}`)).body).toMatchObject(expected)
})
