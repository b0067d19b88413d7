import { expect, test } from 'vitest'
import { testEmulator } from '../../support/emulator.ts'
import { expectStandardError } from '../../support/refusal.ts'

const skill = {
  id: 's-1',
  scope: 'user',
  category: 'research',
  slash_key: '/dig',
  name: 'Dig',
  description: '',
  instructions: '',
  required_tools: [],
  preferred_tools: [],
  enabled: true,
  account_id: null,
  builtin_key: null,
  promoted_at: null,
  creator_id: 'user-owner',
  created_at: '-1d',
  updated_at: '-1d',
}

const consumption_row = {
  id: 'r-1',
  credits: 1,
  created_at: '-1h',
  action: 'a',
  organization: 'o',
  resource: 'r',
  resource_type: 't',
  credit_source: 'c',
  _emulator: { organization_id: 'org-1' },
}

const data_view = {
  id: 'v-1',
  dataset_name: 'd',
  created_at: '-1d',
  knowledge_id: 'k',
  service_account_id: 's',
  _emulator: { teamspace_id: 'ts-a' },
}

const MESSAGE = 'aaaaaaaa-0a0b-4c0d-8e0f-aaaaaaaaaaaa'

const collections = {
  skills: [skill],
  consumption_rows: [consumption_row],
  data_views: [data_view],
  conversations: [{ id: 'c-1', _emulator: { teamspace_id: 'ts-a' } }],
  messages: [{ id: MESSAGE, _emulator: { conversation_id: 'c-1', kind: 'agent' } }],
}

const CONSUMPTION = '/organization/reports/consumption-breakdown'
const TEAMSPACES = '/organization/teamspaces'

test.for([
  ['page', 'POST', '/pages', { name: 'x' }],
  ['skill', 'POST', '/skills/s-1/promote', undefined],
  ['redirect_url', 'POST', '/connections', {}],
  ['list', 'GET', `${TEAMSPACES}/ts-a/users`, undefined],
  ['list', 'GET', CONSUMPTION, undefined],
  ['list', 'GET', '/data-views', undefined],
] as const)('the object field is %s: %s %s', { tags: ['R006'] }, async ([object, method, path, json]) => {
  const emulator = await testEmulator({ collections })
  expect((await emulator.request(method, path, { json })).body.object).toBe(object)
})

test('list items have the object consumption_breakdown or data_view', {
  tags: ['R006'],
}, async () => {
  const emulator = await testEmulator({ collections })
  expect((await emulator.get(CONSUMPTION)).body.data[0].object).toBe('consumption_breakdown')
  expect((await emulator.get('/data-views')).body.data[0].object).toBe('data_view')
})

test('teamspaces and teamspace users have no object field', { tags: ['R006', 'T01'] }, async () => {
  const emulator = await testEmulator({ collections })
  expect((await emulator.post(TEAMSPACES, { name: 'x' })).body).not.toHaveProperty('object')
  expect((await emulator.patch(`${TEAMSPACES}/ts-a`, { name: 'x' })).body).not.toHaveProperty('object')
  const { data } = (await emulator.get(`${TEAMSPACES}/ts-a/users`)).body
  expect(data).toHaveLength(3)
  for (const user of data) expect(user).not.toHaveProperty('object')
})

test.for([
  ['users', `${TEAMSPACES}/ts-a/users?search=nobody`, ['data', 'has_more', 'object']],
  [
    'consumption',
    `${CONSUMPTION}?end_date=2000-01-01`,
    ['data', 'first_id', 'has_more', 'last_id', 'object'],
  ],
  ['data views', '/data-views?knowledge_id=none', ['data', 'object']],
] as const)('an empty list of %s is an array in its envelope', { tags: ['R007'] }, async ([, path, keys]) => {
  const emulator = await testEmulator({ collections })
  const { body } = await emulator.get(path)
  expect(Object.keys(body).sort()).toEqual(keys)
  expect([body.object, body.data]).toEqual(['list', []])
  if ('has_more' in body) expect(body.has_more).toBe(false)
})

test.for([
  ['', 'messages.feedback', 'POST', `/conversations/c-1/messages/${MESSAGE}`, { like: 1 }],
  ['', 'pages.create', 'POST', '/pages', { name: 'x' }],
  ['', 'teamspaces.update', 'PATCH', `${TEAMSPACES}/ts-a`, { name: 'x' }],
  ['', 'teamspaces.create', 'POST', TEAMSPACES, { name: 'x' }],
  ['', 'teamspace-users.list', 'GET', `${TEAMSPACES}/ts-a/users`, undefined],
  ['', 'teamspace-users.delete', 'DELETE', `${TEAMSPACES}/ts-a/users/user-outsider`, undefined],
  ['', 'consumption.list', 'GET', CONSUMPTION, undefined],
  ['', 'skills.promote', 'POST', '/skills/s-1/promote', undefined],
  ['', 'connections.create', 'POST', '/connections', {}],
  ['', 'data-views.list', 'GET', '/data-views', undefined],
] as const)(
  '%s %s responds to a request over its limit with a 429 in the standard body',
  { tags: ['R133', 'R140', 'R151', 'R154', 'R159', 'R161', 'R171', 'R122', 'R177', 'R181'] },
  async (each) => {
    const [, operation, method, path, json] = each
    const settings = { 'limits.overrides': [{ operation, limit: 1, window_s: 60 }] }
    const emulator = await testEmulator({ collections, settings })
    const first = await emulator.request(method, path, { json })
    expect(first.status).toBeLessThan(300)
    const before = emulator.digest()
    const second = await emulator.request(method, path, { json })
    expectStandardError(second, 429, 'rate_limit_exceeded')
    expect(second.body.details).toEqual({ reason: expect.any(String) })
    expect(Number(second.headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
    expect(emulator.digest()).toBe(before)
  },
)
