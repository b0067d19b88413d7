import { expect, test } from 'vitest'
import { testEmulator } from '../../support/emulator.ts'
import { sampleRecords } from '../../support/sample-calls.ts'

test.for([
  ['POST', '/converse', { json: {} }],
  ['POST', '/converse', { json: { knowledge_ids: 1, nobody: 'knows' } }],
  ['POST', '/converse', { raw: 'not JSON', type: 'text/plain' }],
  ['POST', '/converse', {}],
  ['GET', '/search?query=x&knowledge_ids=k1', {}],
  ['GET', '/search?a=1&a=2', {}],
  ['GET', '/search?knowledge_ids=%00', {}],
] as const)(
  '%s %s with %o is a 501 that invents nothing',
  { tags: ['R223'] },
  async ([method, path, how]) => {
    const emulator = await testEmulator({ settings: { unknown_fields: 'reject' } })
    const before = emulator.digest()
    const { status, body, headers } = await emulator.request(method, path, how)
    expect([status, body.error, body.retryable]).toEqual([501, 'emulator_contract_unspecified', false])
    expect(body.mitigation).toContain('call GET /operations')
    expect(headers.get('x-ratelimit-remaining')).toBe('199')
    expect(emulator.digest()).toBe(before)
  },
)

test('under --strict only an operation without a contract is a 501', {
  tags: ['R184', 'R223', 'U043'],
}, async () => {
  const emulator = await testEmulator({ collections: sampleRecords, strict: true })
  const before = emulator.digest()
  for (const { name, method, path, contract } of emulator.sandbox.service.operations.values()) {
    if (contract) continue
    for (const id of ['agent-1', 'none']) {
      const target = path.replace('{agent_id}', id).replaceAll(/\{\w+\}/g, 'conversation-1')
      const how = method === 'POST' || method === 'PATCH' ? { json: {} } : {}
      const { status, body } = await emulator.request(method, target, how)
      expect([name, status, body.error]).toEqual([name, 501, 'emulator_contract_unspecified'])
    }
  }
  expect(emulator.digest()).toBe(before)
  expect((await emulator.delete('/agents/agent-1/automations/automation-1')).status).toBe(204)
})

test('an agent has its citations, and no invented model', { tags: ['R101', 'R292', 'R293'] }, async () => {
  const citations = [{ source: { fields: ['a'], status: 'ok', item_type: 'page', later: { added: [null] } } }]
  const agent = { id: 'a1', citations, _emulator: { teamspace_id: 'ts-a' } }
  const emulator = await testEmulator({ collections: { agents: [agent] } })
  expect((await emulator.get('/agents')).body.data).toEqual([{ id: 'a1', citations }])
})

test('a path that is only mentioned is a 404 with rate-limit headers', {
  tags: ['R223', 'U045'],
}, async () => {
  const emulator = await testEmulator()
  const messages = '/conversations/c1/messages'
  for (const path of ['/knowledge', '/webhooks', messages, `${messages}/m1/citations`, '/agents/a1']) {
    const { status, body, headers } = await emulator.get(path)
    expect([path, status, body.error]).toEqual([path, 404, 'route_not_found'])
    expect(headers.get('x-ratelimit-limit')).toBe('200')
  }
})

test('an endpoint without a contract requires a key and is rate limited', { tags: ['R223'] }, async () => {
  const overrides = [{ operation: 'search.query', limit: 1, window_s: 60 }]
  const emulator = await testEmulator({ settings: { 'limits.overrides': overrides } })
  expect((await emulator.get('/search', { key: 'none' })).status).toBe(401)
  expect((await emulator.get('/search')).status).toBe(501)
  expect((await emulator.get('/search')).status).toBe(429)
})

test('a number that no double keeps is text in a record', { tags: ['R223', 'U011'] }, async () => {
  const emulator = await testEmulator({ collections: sampleRecords })
  const raw = '{"name":"n","order":9007199254740993,"limit":1e400,"count":3}'
  const created = await emulator.request('POST', '/agents/agent-1/automations', { raw })
  expect(created.status).toBe(200)
  const expected = { order: '9007199254740993', limit: '1e400', count: 3 }
  expect(created.body).toMatchObject(expected)
  expect((await emulator.get(`/agents/agent-1/automations/${created.body.id}`)).body).toMatchObject(expected)
})
