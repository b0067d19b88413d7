import { expect, test } from 'vitest'
import { testWorld } from '../support/world.ts'

test.for([
  ['R223 POST /converse', 'POST', '/converse'],
  ['R223 GET /search', 'GET', '/search?query=x&knowledge_ids=k1'],
] as const)('%s is known and answered with 501: nothing is invented', async ([, method, path]) => {
  const world = await testWorld()
  const before = world.digest()
  const { status, body, headers, assumed } = await world.request(
    method,
    path,
    method === 'POST' ? { json: {} } : {},
  )
  expect(status).toBe(501)
  expect(body).toMatchObject({
    status_code: 501,
    error: 'emulator_contract_unspecified',
    mitigation: expect.stringContaining('/__emulator/operations'),
    retryable: false,
    details: {},
  })
  expect(headers.get('x-ratelimit-limit')).toBe('200')
  expect(headers.get('x-ratelimit-remaining')).toBe('199')
  expect(assumed).toContain('U043')
  expect(world.digest()).toBe(before)
})

test('R223 no parameter of converse or search is read: whatever they hold, the answer is the same', async () => {
  const world = await testWorld({ settings: { unknown_fields: 'reject' } })
  const [first, ...others] = await Promise.all([
    world.post('/converse', { knowledge_ids: ['k1'] }),
    world.post('/converse', { knowledge_ids: 1, nobody: 'knows' }),
    world.request('POST', '/converse', { raw: 'not JSON', type: 'text/plain' }),
    world.post('/converse'),
  ])
  for (const answer of others) expect([answer.status, answer.body]).toEqual([501, first.body])
  const searches = await Promise.all(
    ['', '?a=1&a=2', '?knowledge_ids=%00'].map((query) => world.get(`/search${query}`)),
  )
  expect(searches.map(({ status }) => status)).toEqual([501, 501, 501])
})

test('R101 R292 a record that holds citations is passed through with every member of them', async () => {
  const citations = [{ source: { fields: ['a'], status: 'ok', item_type: 'page', later: { added: [null] } } }]
  const agent = { id: 'a1', citations, _emulator: { teamspace_id: 'ts-a' } }
  const world = await testWorld({ collections: { agents: [agent] } })
  expect((await world.get('/agents')).body.data).toEqual([{ id: 'a1', citations }])
})

test('R293 neither a passed-through agent nor an automation gets a model that nobody gave', async () => {
  const agent = { id: 'a1', _emulator: { teamspace_id: 'ts-a' } }
  const world = await testWorld({ collections: { agents: [agent] } })
  expect((await world.get('/agents')).body.data).toEqual([{ id: 'a1' }])
  const { body } = await world.post('/agents/a1/automations', {})
  expect(Object.keys(body)).toEqual(['id'])
})

test.for([
  '/knowledge',
  '/webhooks',
  '/conversations/c1/messages',
  '/conversations/c1/messages/m1/citations',
  '/agents/a1',
  '/mcp-servers',
])('R223 U045 GET %s is not named, so it is a 404 with rate-limit headers', async (path) => {
  const { status, body, headers } = await (await testWorld()).get(path)
  expect([status, body.error]).toEqual([404, 'route_not_found'])
  expect(headers.get('x-ratelimit-limit')).toBe('200')
})

test('R223 an endpoint without a contract asks for a key like any other', async () => {
  const world = await testWorld()
  expect((await world.get('/search', { key: 'none' })).status).toBe(401)
  expect((await world.post('/converse', {}, { token: 'live_nobody' })).status).toBe(401)
})

test('R223 an endpoint without a contract is rate limited like any other', async () => {
  const world = await testWorld({
    settings: { 'limits.overrides': [{ operation: 'search.query', limit: 1, window_s: 60 }] },
  })
  expect((await world.get('/search')).status).toBe(501)
  expect((await world.get('/search')).status).toBe(429)
})
