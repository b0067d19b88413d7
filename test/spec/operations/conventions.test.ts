import { aSkillRecord } from 'agent-workspace-emulator'
import { expect, test } from 'vitest'
import { testEmulator } from '../../support/emulator.ts'

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
  skills: [aSkillRecord({ id: 's-1', creator_id: 'user-owner' })],
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
