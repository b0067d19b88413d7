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
  type Ask,
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

test('the shipped records of demo are those that faker generates for the default seed', {
  tags: ['R296'],
}, async () => {
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
  expect(JSON.stringify(await documentOf('demo', options))).toBe(
    JSON.stringify(await documentOf(generating as unknown as JsonObject, options)),
  )
})

test('the two teamspaces of demo are on different clouds, one open and one closed', {
  tags: ['R019'],
}, async () => {
  const facts = (await demo('teamspaces')).map(({ cloud_provider, access }) => [cloud_provider, access])
  expect(facts.sort()).toEqual([
    ['cloud_a', 'open'],
    ['cloud_b', 'closed'],
  ])
})

test('demo has skills of each of the eleven categories', { tags: ['R035'] }, async () => {
  expect(skillCategories).toHaveLength(11)
  const used = new Set((await demo('skills')).map(({ category }) => category))
  expect([...used].sort()).toEqual([...skillCategories].sort())
})

test('demo has skills of each scope, and an account skill that overrides a built-in one', {
  tags: ['R034'],
}, async () => {
  const skills = await demo('skills')
  expect(new Set(skills.map(({ scope }) => scope))).toEqual(new Set(['user', 'account', 'builtin']))
  const overrides = skills.filter(({ scope, builtin_key }) => scope === 'account' && builtin_key !== null)
  expect(overrides).toMatchObject([{ id: 'skill-clause-finder-larkmoor' }])
})

test('the keys of demo have the kinds, teamspaces and rights that their names suggest', {
  tags: ['R227'],
}, async () => {
  const keys = (await demo('api_keys')).map(({ id, kind, teamspace_id, account_admin, permissions }) => [
    id,
    kind,
    teamspace_id,
    account_admin,
    permissions,
  ])
  expect(keys).toEqual([
    ['key-owner', 'user', 'teamspace-harbor', true, ['ep:skills:write', 'organization:edit']],
    ['key-member', 'user', 'teamspace-harbor', false, []],
    ['key-outsider', 'user', 'teamspace-depot', false, []],
    ['key-service', 'service', 'teamspace-harbor', false, []],
  ])
})

test.for([
  [OWNER, 200, 404],
  [MEMBER, 200, 404],
  [OUTSIDER, 404, 200],
  [SERVICE, 200, 404],
] as const)('%s can access its own teamspace but not the other', async ([token, harbor, depot]) => {
  const ask = await serve('demo')
  const statusIn = async (id: string) =>
    (await ask(token, 'GET', `/organization/teamspaces/${id}/users`)).status
  expect([await statusIn('teamspace-harbor'), await statusIn('teamspace-depot')]).toEqual([harbor, depot])
})

test('the outsider of demo sees the data views and MCP servers of its own teamspace only', {
  tags: ['R229'],
}, async () => {
  const ask = await serve('demo')
  const idsAt = async (token: string, path: string) =>
    (await ask(token, 'GET', path)).body.data.map(({ id }: AnyRecord) => id).sort()
  expect(await idsAt(OWNER, '/data-views')).toEqual(['view-defects', 'view-invoices', 'view-invoices-audit'])
  expect(await idsAt(OUTSIDER, '/data-views')).toEqual(['view-possessions'])
  const harbor = ['mcp-drawings', 'mcp-inspections', 'mcp-weather']
  expect(await idsAt(OWNER, '/organization/mcp-servers')).toEqual(harbor)
  expect(await idsAt(SERVICE, '/organization/mcp-servers')).toEqual(harbor)
  expect(await idsAt(OUTSIDER, '/organization/mcp-servers')).toEqual(['mcp-track-access'])
})

test('the owner of demo can promote a skill, the member cannot promote even an own skill', {
  tags: ['R174'],
}, async () => {
  const ask = await serve('demo')
  const promote = (token: string, id: string) => ask(token, 'POST', `/skills/${id}/promote`)
  const promoted = await promote(OWNER, 'skill-takeoff')
  expect(promoted.status).toBeLessThan(300)
  expect(promoted.body).toMatchObject({ scope: 'account', account_id: 'org-larkmoor', promoted_at: START })
  // The private skill of another user is hidden from the member, hence 404 and not 403.
  expect((await promote(MEMBER, 'skill-tender-letter')).status).toBe(404)
  expect((await promote(MEMBER, 'skill-site-diary')).status).toBe(403)
})

const complete = (ask: Ask, token: string, name: string, redirect_uri: string) =>
  ask(token, 'POST', `/organization/mcp-servers/mcp-${name}/oauth-callback`, {
    state: `state-demo-${name}`,
    code: `code-demo-${name}`,
    redirect_uri,
  })

const LOCAL = 'http://localhost:3000/oauth/callback'

test('the pending flow of demo completes with its documented state and code, for a user only', {
  tags: ['R147'],
}, async () => {
  const ask = await serve('demo')
  expect((await complete(ask, SERVICE, 'drawings', LOCAL)).body.error).toBe(
    'mcp_oauth_requires_user_principal',
  )
  const done = await complete(ask, OWNER, 'drawings', LOCAL)
  expect(done.body).toMatchObject({ oauth_configured: true, tools_synced: true })
})

test('demo completes the flow of a member without a sync, and the sync of one server always fails', async () => {
  const ask = await serve('demo')
  const withoutRight = await complete(ask, MEMBER, 'drawings', LOCAL)
  expect(withoutRight.body).toMatchObject({ oauth_configured: true, tools_synced: false })
  const failing = await complete(ask, OWNER, 'inspections', 'https://app.example.com/oauth/callback')
  expect(failing.body).toMatchObject({ oauth_configured: true, tools_synced: false })
})

test('each claim token of demo works once, and only in its teamspace', {
  tags: ['R119'],
}, async () => {
  const ask = await serve('demo')
  const claim = async (token: string, claim_token: string) =>
    (await ask(token, 'POST', '/agents/claim', { claim_token })).body
  expect(await claim(OWNER, 'claim-demo-1')).toMatchObject({ id: 'template-snag-list' })
  expect(await claim(OWNER, 'claim-demo-1')).toMatchObject({ error: 'not_found' })
  expect(await claim(SERVICE, 'claim-demo-2')).toMatchObject({ id: 'template-tender-reader' })
  expect(await claim(OWNER, 'claim-demo-3')).toMatchObject({ error: 'not_found' })
  expect(await claim(OUTSIDER, 'claim-demo-3')).toMatchObject({ id: 'template-delivery-planner' })
  expect(await claim(OWNER, 'claim-demo-used')).toMatchObject({ error: 'not_found' })
})

test.for(['direct', 'channel', 'chats'])(
  'the root conversation %s of demo cannot be deleted',
  { tags: ['R225'] },
  async (name) => {
    const ask = await serve('demo')
    expect((await ask(OWNER, 'DELETE', `/conversations/conversation-${name}`)).status).toBe(400)
  },
)

test('demo shows conversations only to users who may see them', { tags: ['R229'] }, async () => {
  const ask = await serve('demo')
  const seenBy = async (token: string) =>
    (await ask(token, 'GET', '/conversations')).body.data.map(({ id }: AnyRecord) => id.slice(13)).sort()
  expect(await seenBy(OWNER)).toEqual(['budget', 'channel', 'chats', 'direct', 'takeoff', 'toolbox'])
  expect(await seenBy(MEMBER)).toEqual(['channel', 'chats', 'takeoff', 'toolbox'])
  expect(await seenBy(SERVICE)).toEqual(['channel', 'chats', 'takeoff'])
  expect(await seenBy(OUTSIDER)).toEqual(['deliveries'])
})

test.for([
  ['takeoff', 1, 400],
  ['takeoff', 2, 204],
  ['toolbox', 3, 204],
] as const)(
  'feedback in demo, conversation %s, message %i: %i',
  { tags: ['R131'] },
  async ([conversation, n, status]) => {
    const ask = await serve('demo')
    const id = `d0000000-0000-4000-8000-00000000000${n}`
    const given = await ask(OWNER, 'POST', `/conversations/conversation-${conversation}/messages/${id}`, {
      like: 1,
    })
    expect(given.status).toBe(status)
  },
)

test('content blocks of type json and of an unknown type are returned as written', {
  tags: ['R290'],
}, async () => {
  const written: AnyRecord[] = shipped('demo').collections.messages
  const types = written.flatMap(({ content }) => content.map(({ type }: AnyRecord) => type))
  expect(new Set(types)).toEqual(new Set(['text', 'json', 'hologram']))
  expect((await demo('messages')).map(({ content }) => content)).toEqual(
    written.map(({ content }) => content),
  )
})

test('the deleted automation of demo is hidden, and its runs are kept', {
  tags: ['R120'],
}, async () => {
  const ask = await serve('demo')
  const path = '/agents/agent-site-diary/automations'
  expect((await ask(OWNER, 'GET', path)).body.data).toMatchObject([{ id: 'automation-morning-brief' }])
  expect((await ask(OWNER, 'GET', `${path}/automation-tide-table`)).status).toBe(404)
  const runs = (await demo('agent_runs')).filter(
    ({ automation_id }) => automation_id === 'automation-tide-table',
  )
  expect(runs).toHaveLength(3)
})

test('schedules in demo have the five fields of cron', async () => {
  const schedules = (await demo('automations')).flatMap(({ _emulator }) => _emulator.schedule ?? [])
  expect(schedules.length).toBeGreaterThan(2)
  expect(schedules.filter((schedule) => !/^([\d*/,-]+ ){4}[\d*/,-]+$/.test(schedule))).toEqual([])
})

test('demo has event triggers of every kind', async () => {
  const triggers = await demo('event_triggers')
  const kinds = (fact: (trigger: AnyRecord) => unknown) => new Set(triggers.map(fact)).size
  expect(kinds(({ trigger_source }) => trigger_source)).toBe(3)
  expect(kinds(({ enabled }) => enabled)).toBe(2)
  expect(kinds(({ warnings }) => Math.min(1, warnings.length))).toBe(2)
  expect(kinds((trigger) => Object.hasOwn(trigger, 'response_thread'))).toBe(2)
  expect(kinds(({ run_conditions }) => run_conditions === null)).toBe(2)
  expect(kinds(({ _emulator }) => _emulator.condition_verdict)).toBe(2)
})

test('demo has files with and without pages, one of an unsupported type, and one that is unreadable', async () => {
  const files = (await demo('files')).filter(({ teamspace_id }) => teamspace_id === 'teamspace-harbor')
  const usable = files.filter(({ supported, readable }) => supported && readable)
  expect(usable.some(({ kind, pages }) => kind === 'pdf' && pages > 1)).toBe(true)
  expect(usable.some(({ pages }) => pages === null)).toBe(true)
  expect(files.filter(({ supported }) => !supported)).toMatchObject([{ id: 'file-scan-point-cloud' }])
  expect(files.filter(({ readable }) => !readable)).toMatchObject([{ id: 'file-locked' }])
})
