import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { readFixtures } from '../src/adapters/fixtures.ts'
import type { JsonObject } from '../src/core/json.ts'
import { openEmulator } from '../src/emulator/emulator.ts'
import { skillCategories } from '../src/service/skills.ts'
import { START } from './support/base-state.ts'
import { readyRecordsOfDemo } from './support/ready-records.ts'
import {
  type AnyRecord,
  documentOf,
  records,
  serve,
  shipped,
  shippedEmulator,
} from './support/starting-states.ts'

const OWNER = 'live_demo_owner'
const MEMBER = 'live_demo_member'
const OUTSIDER = 'live_demo_outsider'
const SERVICE = 'service_demo'

const demo = async (collection: string) => records(await shippedEmulator('demo'), collection)

test('an emulator without fixtures starts with demo', async () => {
  const emulator = await openEmulator({ port: 0, ephemeral: true, rate: 0, clock: START })
  await emulator.close()
  expect(emulator.sandbox.document().collections).toEqual((await shippedEmulator('demo')).collections)
})

test('the shipped records of demo are those of the default seed', { tags: ['R296'] }, async () => {
  const shipped = readFileSync('fixtures/demo.seed-1.json', 'utf8')
  expect(shipped, 'run "npm run fixtures"').toBe(await readyRecordsOfDemo())
})

test.for([
  { clock: START },
  { clock: '2028-02-29T23:59:59.999Z' },
  { clock: START, settings: { 'page.parent.missing': 'null' } },
])('demo is the same with its shipped records as with faker ($clock, $settings)', async (options) => {
  const { ready, ...generating } = await readFixtures('demo')
  expect(ready).toBeDefined()
  const generated = await documentOf(generating as unknown as JsonObject, options)
  expect(JSON.stringify(await documentOf('demo', options))).toBe(JSON.stringify(generated))
})

type Rows = readonly AnyRecord[]

const each = (field: string) => (rows: Rows) => [...new Set(rows.map((row) => row[field]))].sort()
const idsOf = (rows: Rows) => rows.map(({ id }) => id)
const harborFiles = (rows: Rows) => rows.filter(({ teamspace_id }) => teamspace_id === 'teamspace-harbor')
const usable = (rows: Rows) => harborFiles(rows).filter(({ supported, readable }) => supported && readable)

test.for<[what: string, collection: string, read: (rows: Rows) => unknown, expected: unknown]>([
  ['teamspaces on two clouds', 'teamspaces', each('cloud_provider'), ['cloud_a', 'cloud_b']],
  ['an open and a closed teamspace', 'teamspaces', each('access'), ['closed', 'open']],
  ['skills of the eleven categories', 'skills', each('category'), [...skillCategories].sort()],
  ['skills of each scope', 'skills', each('scope'), ['account', 'builtin', 'user']],
  [
    'an account skill that overrides a built-in one',
    'skills',
    (rows) => idsOf(rows.filter(({ scope, builtin_key }) => scope === 'account' && builtin_key !== null)),
    ['skill-clause-finder-larkmoor'],
  ],
  ['event triggers of three sources', 'event_triggers', (rows) => each('trigger_source')(rows).length, 3],
  ['event triggers that are on and off', 'event_triggers', each('enabled'), [false, true]],
  ['a PDF of several pages', 'files', (rows) => usable(rows).some(({ pages }) => pages > 1), true],
  ['a file without pages', 'files', (rows) => usable(rows).some(({ pages }) => pages === null), true],
  [
    'one file of an unsupported type',
    'files',
    (rows) => idsOf(harborFiles(rows).filter(({ supported }) => !supported)),
    ['file-scan-point-cloud'],
  ],
  [
    'one file that is unreadable',
    'files',
    (rows) => idsOf(harborFiles(rows).filter(({ readable }) => !readable)),
    ['file-locked'],
  ],
  [
    'runs of a deleted automation',
    'agent_runs',
    (rows) => rows.filter(({ automation_id }) => automation_id === 'automation-tide-table').length,
    3,
  ],
])('demo has %s', { tags: ['R019', 'R034', 'R035', 'R120'] }, async ([, collection, read, expected]) => {
  expect(read(await demo(collection))).toEqual(expected)
})

test.for<[what: string, hasIt: (trigger: AnyRecord) => boolean]>([
  ['warnings', ({ warnings }) => warnings.length > 0],
  ['a thread for the response', (trigger) => Object.hasOwn(trigger, 'response_thread')],
  ['conditions', ({ run_conditions }) => run_conditions !== null],
  ['a verdict about its conditions', ({ _emulator }) => _emulator.condition_verdict],
])('demo has event triggers with and without %s', async ([, hasIt]) => {
  expect(new Set((await demo('event_triggers')).map(hasIt))).toEqual(new Set([true, false]))
})

test('content blocks of any type are returned as written', { tags: ['R290'] }, async () => {
  const contentsOf = (messages: Rows) => messages.map(({ content }) => content)
  const written = contentsOf(shipped('demo').collections.messages)
  expect(new Set(written.flat().map(({ type }) => type))).toEqual(new Set(['text', 'json', 'hologram']))
  expect(contentsOf(await demo('messages'))).toEqual(written)
})

test('the keys of demo are what their names suggest', { tags: ['R227'] }, async () => {
  const harbor = { teamspace_id: 'teamspace-harbor', account_admin: false, permissions: [] }
  const all = ['ep:skills:write', 'organization:edit']
  expect(await demo('api_keys')).toMatchObject([
    { ...harbor, id: 'key-owner', kind: 'user', account_admin: true, permissions: all },
    { ...harbor, id: 'key-member', kind: 'user' },
    { ...harbor, id: 'key-outsider', kind: 'user', teamspace_id: 'teamspace-depot' },
    { ...harbor, id: 'key-service', kind: 'service' },
  ])
})

const HARBOR = ['mcp-drawings', 'mcp-inspections', 'mcp-weather']
const chats = (...names: readonly string[]) => names.map((name) => `conversation-${name}`)

test.for<[token: string, path: string, ids: readonly string[]]>([
  [OWNER, '/data-views', ['view-defects', 'view-invoices', 'view-invoices-audit']],
  [OUTSIDER, '/data-views', ['view-possessions']],
  [OWNER, '/organization/mcp-servers', HARBOR],
  [OUTSIDER, '/organization/mcp-servers', ['mcp-track-access']],
  [OWNER, '/conversations', chats('budget', 'channel', 'chats', 'direct', 'takeoff', 'toolbox')],
  [MEMBER, '/conversations', chats('channel', 'chats', 'takeoff', 'toolbox')],
  [SERVICE, '/conversations', chats('channel', 'chats', 'takeoff')],
  [OUTSIDER, '/conversations', chats('deliveries')],
  [OWNER, '/agents/agent-site-diary/automations', ['automation-morning-brief']],
])('in demo %s finds at %s what it may see', { tags: ['R229', 'R120'] }, async ([token, path, ids]) => {
  const { body } = await (await serve('demo'))(token, 'GET', path)
  expect(idsOf(body.data).toSorted()).toEqual(ids)
})

const feedback = (conversation: string, n: number) =>
  `/conversations/conversation-${conversation}/messages/d0000000-0000-4000-8000-00000000000${n}`

test.for<[token: string, method: string, path: string, status: number, body?: object]>([
  [OUTSIDER, 'GET', '/organization/teamspaces/teamspace-harbor/users', 404],
  [OUTSIDER, 'GET', '/organization/teamspaces/teamspace-depot/users', 200],
  [OWNER, 'POST', '/skills/skill-takeoff/promote', 200],
  // The private skill of another user is hidden from the member, hence 404 and not 403.
  [MEMBER, 'POST', '/skills/skill-tender-letter/promote', 404],
  [MEMBER, 'POST', '/skills/skill-site-diary/promote', 403],
  [OWNER, 'DELETE', '/conversations/conversation-direct', 400],
  [OWNER, 'DELETE', '/conversations/conversation-channel', 400],
  [OWNER, 'DELETE', '/conversations/conversation-chats', 400],
  [OWNER, 'POST', feedback('takeoff', 1), 400, { like: 1 }],
  [OWNER, 'POST', feedback('takeoff', 2), 204, { like: 1 }],
  [OWNER, 'POST', feedback('toolbox', 3), 204, { like: 1 }],
  [OWNER, 'GET', '/agents/agent-site-diary/automations/automation-tide-table', 404],
  [OWNER, 'POST', '/agents/claim', 200, { claim_token: 'claim-demo-1' }],
  [SERVICE, 'POST', '/agents/claim', 200, { claim_token: 'claim-demo-2' }],
  [OWNER, 'POST', '/agents/claim', 404, { claim_token: 'claim-demo-3' }],
  [OUTSIDER, 'POST', '/agents/claim', 200, { claim_token: 'claim-demo-3' }],
  [OWNER, 'POST', '/agents/claim', 404, { claim_token: 'claim-demo-used' }],
])(
  'in demo %s %s %s is answered with %i',
  { tags: ['R119', 'R120', 'R131', 'R174', 'R225'] },
  async ([token, method, path, status, body]) => {
    const ask = await serve('demo')
    expect((await ask(token, method, path, body)).status).toBe(status)
  },
)

const LOCAL = 'http://localhost:3000/oauth/callback'
const REMOTE = 'https://app.example.com/oauth/callback'

// The flow of drawings needs a user, the sync of the tools a right; the sync of inspections always fails.
test.for<[token: string, name: string, redirect_uri: string, told: object]>([
  [SERVICE, 'drawings', LOCAL, { error: 'mcp_oauth_requires_user_principal' }],
  [OWNER, 'drawings', LOCAL, { oauth_configured: true, tools_synced: true }],
  [MEMBER, 'drawings', LOCAL, { oauth_configured: true, tools_synced: false }],
  [OWNER, 'inspections', REMOTE, { oauth_configured: true, tools_synced: false }],
])('in demo %s ends the flow of %s at %s', { tags: ['R147'] }, async ([token, name, redirect_uri, told]) => {
  const ask = await serve('demo')
  const grant = { state: `state-demo-${name}`, code: `code-demo-${name}`, redirect_uri }
  const { body } = await ask(token, 'POST', `/organization/mcp-servers/mcp-${name}/oauth-callback`, grant)
  expect(body).toMatchObject(told)
})

test('schedules in demo have the five fields of cron', async () => {
  const schedules = (await demo('automations')).flatMap(({ _emulator }) => _emulator.schedule ?? [])
  expect(schedules.length).toBeGreaterThan(2)
  for (const schedule of schedules) expect(schedule).toMatch(/^([\d*/,-]+ ){4}[\d*/,-]+$/)
})
