import { expect, test } from 'vitest'
import {
  type RequestOptions,
  type TestEmulator,
  type TestEmulatorOptions,
  testEmulator,
} from '../../support/emulator.ts'
import { interveneBy } from '../../support/intervene.ts'
import { pointersOf, refused } from '../../support/refusal.ts'

const CREATED = '2026-02-01T00:00:00.000Z'
const CALLBACK = 'https://app.example/cb'
const metadata = { requires_oauth: true, oauth_configured: false, tool_count: 3, last_synced_at: 'long ago' }

const measured = (change: object) => ({ metadata: { ...metadata, ...change } })

function aServer(id: string, changes: object = {}, facts: object = {}) {
  return {
    ...{ object: 'mcp_server', id, name: `Server ${id}`, icon_url: 'https://mcp.example/icon.svg' },
    ...{ base_url: 'https://mcp.example', transport: 'carrier pigeon', protocol_version: '7' },
    ...{ authorization_secret_id: 'secret-ref-1', status: 'dozing' },
    metadata,
    ...{ created_at: CREATED, updated_at: CREATED },
    managed_by_app: { app_uuid: 'app-1', app_name: 'Registry' },
    ...changes,
    _emulator: { teamspace_id: 'ts-a', ...facts },
  }
}

const aFlow = (id: string, changes: object = {}) => ({
  ...{ id, server_id: 's1', state: `state-${id}`, redirect_uri: CALLBACK, created_at: CREATED },
  ...changes,
})

/** An emulator with two servers and one pending flow of the first. */
function mcpEmulator(options: TestEmulatorOptions = {}): Promise<TestEmulator> {
  const mcp_servers = [aServer('s1'), aServer('s2')]
  const collections = { mcp_servers, oauth_flows: [aFlow('f1')], ...options.collections }
  return testEmulator({ ...options, collections })
}

const proof = { code: 'code-1', state: 'state-f1', redirect_uri: CALLBACK }

function callback(emulator: TestEmulator, body: object, options?: RequestOptions, server = 's1') {
  return emulator.post(`/organization/mcp-servers/${server}/oauth-callback`, body, options)
}

/** Starts a flow as the control API does. */
function startFlow({ sandbox }: TestEmulator, server_id: string, redirect_uri: string) {
  return interveneBy(sandbox, 'POST /mcp-oauth-flows', {}, { server_id, redirect_uri })
}

/** Asserts that the callback refuses a body because of one of its fields. */
async function refusedAt(emulator: TestEmulator, body: object, pointer: string, server?: string) {
  const response = await refused(
    emulator,
    () => callback(emulator, body, {}, server),
    400,
    'validation_failed',
  )
  expect(pointersOf(response)).toContain(pointer)
  return response
}

test('a list shows every field of a server as in its record', {
  tags: ['R044', 'R045', 'R046', 'R047', 'R048', 'R183', 'U005'],
}, async () => {
  const emulator = await mcpEmulator()
  const { status, body } = await emulator.get('/organization/mcp-servers')
  const { _emulator: _, ...shown } = aServer('s1')
  expect(status).toBe(200)
  expect(body).toEqual({
    object: 'list',
    data: [{ ...shown, id: 's2', name: 'Server s2' }, shown],
    has_more: false,
  })
})

test.for<[title: string, change: object, pointer: string]>([
  ['another object', { object: 'server' }, '/object'],
  ['a status that is no string', { status: 1 }, '/status'],
  ['a transport that is missing', { transport: undefined }, '/transport'],
  ['a negative tool_count', measured({ tool_count: -1 }), '/metadata/tool_count'],
  ['a fractional tool_count', measured({ tool_count: 0.5 }), '/metadata/tool_count'],
  ['a last_synced_at that is null', measured({ last_synced_at: null }), '/metadata/last_synced_at'],
  ['an update before the creation', { updated_at: '2026-01-31T23:59:59.999Z' }, '/updated_at'],
  ['a created_at that is no instant', { created_at: 'yesterday' }, '/created_at'],
  ['a managed_by_app that is null', { managed_by_app: null }, '/managed_by_app'],
  ['a managed_by_app without its name', { managed_by_app: { app_uuid: 'a' } }, '/managed_by_app/app_name'],
  ['a secret beside its id', { authorization_secret: 'hush' }, '/authorization_secret'],
])(
  '%s is refused in a fixture',
  { tags: ['R044', 'R045', 'R046', 'R047', 'R048', 'R049'] },
  async ([, change, pointer]) => {
    const collections = { mcp_servers: [aServer('s1', change)] }
    await expect(testEmulator({ collections })).rejects.toThrow(`/collections/mcp_servers/0${pointer}`)
  },
)

test('a setting lets the two fields be null', { tags: ['R046', 'R048'] }, async () => {
  const nulls = { ...measured({ last_synced_at: null }), managed_by_app: null }
  const emulator = await testEmulator({
    settings: { 'mcp.null_values': true },
    collections: { mcp_servers: [aServer('s1', nulls)] },
  })
  expect((await emulator.get('/organization/mcp-servers')).body.data[0]).toMatchObject(nulls)
})

test('a flow ends with the callback result', { tags: ['R050', 'R051', 'R053', 'R146'] }, async () => {
  const { status, body } = await callback(await mcpEmulator(), proof)
  expect(status).toBe(200)
  const message = expect.stringMatching(/\w/)
  expect(body).toEqual({ object: 'mcp_oauth_callback', oauth_configured: true, tools_synced: true, message })
  const told = await callback(await mcpEmulator({ settings: { 'mcp.oauth.message': 'All set.' } }), proof)
  expect(told.body).toEqual({ ...body, message: 'All set.' })
})

const NOW = '2026-03-01T12:00:00.000Z'

test.for([
  ['of a server that lists no tools', {}, 'KU', true, {}],
  ['that finds tools', { tools: ['read', 'write'] }, 'KU', true, { tool_count: 2, last_synced_at: NOW }],
  ['that fails', { sync: 'fails', tools: ['a'] }, 'KU', false, {}],
  ['for a caller who may not edit the organization', { tools: ['a'] }, 'KM', false, {}],
] as const)(
  'a sync %s: the flow is completed',
  { tags: ['R047', 'R051', 'R052', 'T37'] },
  async ([, facts, key, tools_synced, changes]) => {
    const emulator = await mcpEmulator({
      collections: { mcp_servers: [aServer('s1', {}, facts), aServer('s2')] },
    })
    const [first, second] = emulator.state('mcp_servers')
    const { status, body } = await callback(emulator, proof, { key })
    expect([status, body.oauth_configured, body.tools_synced]).toEqual([200, true, tools_synced])
    const after = { ...metadata, oauth_configured: true, ...changes }
    expect(emulator.state('mcp_servers')).toEqual([{ ...first, metadata: after, updated_at: NOW }, second])
  },
)

test('updated_at of a server stays at a created_at in the future', { tags: ['R047'] }, async () => {
  const later = '2026-06-01T00:00:00.000Z'
  const mcp_servers = [aServer('s1', { created_at: later, updated_at: later })]
  const emulator = await mcpEmulator({ collections: { mcp_servers } })
  expect((await callback(emulator, proof)).status).toBe(200)
  expect(emulator.state('mcp_servers')[0].updated_at).toBe(later)
})

test('a setting keeps the server unchanged, with the same result (T37)', { tags: ['R051'] }, async () => {
  const emulator = await mcpEmulator({ settings: { 'mcp.oauth_configured': 'keep' } })
  const before = emulator.state('mcp_servers')
  expect((await callback(emulator, proof)).body.oauth_configured).toBe(true)
  expect(emulator.state('mcp_servers')).toEqual(before)
})

test('an unknown server and one of another teamspace get the same response', { tags: ['R141'] }, async () => {
  const other = aServer('s9', {}, { teamspace_id: 'ts-b' })
  const flow = aFlow('f9', { server_id: 's9' })
  const emulator = await mcpEmulator({
    collections: { mcp_servers: [aServer('s1'), other], oauth_flows: [flow] },
  })
  const ask = (server: string) => () => callback(emulator, { ...proof, state: 'state-f9' }, {}, server)
  const unknown = await refused(emulator, ask('s8'), 404)
  const foreign = await refused(emulator, ask('s9'), 404)
  expect(foreign.text).toBe(unknown.text.replace('s8', 's9'))
})

test.for<[member: string, bound: number, longest: string]>([
  ['code', 4096, '\u{1F600}'.repeat(4096)],
  ['state', 512, 's'.repeat(512)],
  ['redirect_uri', 2048, CALLBACK.padEnd(2048, 'x')],
])(
  'the %s may have %i characters',
  { tags: ['R142', 'R143', 'R144', 'R284'] },
  async ([member, , longest]) => {
    const emulator = await mcpEmulator({ collections: { oauth_flows: [aFlow('f1', { [member]: longest })] } })
    await refusedAt(emulator, { ...proof, [member]: `${longest}x` }, `/${member}`)
    expect((await callback(emulator, { ...proof, [member]: longest })).status).toBe(200)
  },
)

const WRONG = {
  code: [1, null, ['c'], undefined],
  state: ['state-f2', 'State-f1', 'state-f1 ', '', null, 1, undefined],
  redirect_uri: [
    `${CALLBACK}/`,
    'https://APP.example/cb',
    'https://app.example:443/cb',
    'ftp://localhost',
    '',
  ],
}

test.for(
  Object.entries(WRONG).flatMap(([member, values]) => values.map((value) => [member, value] as const)),
)('the %s of a flow cannot be %j', { tags: ['R142', 'R143', 'R144', 'R145'] }, async ([member, value]) => {
  await refusedAt(await mcpEmulator(), { ...proof, [member]: value }, `/${member}`)
})

test('a digest, the state of another server and another code are refused', {
  tags: ['R049', 'R142', 'R143', 'U032', 'U033'],
}, async () => {
  const emulator = await mcpEmulator({
    collections: { oauth_flows: [aFlow('f1'), aFlow('f2', { code: 'right' })] },
  })
  await refusedAt(emulator, { ...proof, state: emulator.state('oauth_flows')[0].state }, '/state')
  await refusedAt(emulator, proof, '/state', 's2')
  const wrong = await refusedAt(emulator, { ...proof, state: 'state-f2' }, '/code')
  expect(wrong.text).not.toMatch(/code-1|right/)
  expect((await callback(emulator, { ...proof, state: 'state-f2', code: 'right' })).status).toBe(200)
})

test('a state works once, also across a restart, or again by a setting', { tags: ['R143'] }, async () => {
  const emulator = await mcpEmulator()
  expect((await callback(emulator, proof)).status).toBe(200)
  await refusedAt(emulator, proof, '/state')
  await refusedAt(await emulator.restart(), proof, '/state')
  const lenient = await mcpEmulator({ settings: { 'mcp.oauth.state_reuse': 'accept' } })
  for (let n = 0; n < 2; n++) expect((await callback(lenient, proof)).status).toBe(200)
})

test('a flow that begins has its own state and code, and needs a server and a safe redirect_uri', {
  tags: ['R143', 'R144', 'R145', 'R284'],
}, async () => {
  const emulator = await mcpEmulator()
  const flow = startFlow(emulator, 's2', 'http://localhost:3000/cb')
  await refusedAt(emulator, { ...flow, code: 'another' }, '/code', 's2')
  expect((await callback(emulator, flow, {}, 's2')).status).toBe(200)
  expect(() => startFlow(emulator, 's8', CALLBACK)).toThrow('no MCP server with the id "s8"')
  expect(() => startFlow(emulator, 's1', 'http://x.example')).toThrow('must be https')
  const collections = { oauth_flows: [aFlow('f2', { redirect_uri: 'http://x.example' })] }
  await expect(mcpEmulator({ collections })).rejects.toThrow('/collections/oauth_flows/0/redirect_uri')
})

test('a service key is refused, whatever it may do', { tags: ['R147', 'R227', 'R228'] }, async () => {
  const facts = { kind: 'service', organization_id: 'org-1', teamspace_id: 'ts-a', account_admin: true }
  const strong = { ...facts, id: 'key-strong', token: 'service_strong', permissions: ['organization:edit'] }
  const emulator = await mcpEmulator({ collections: { api_keys: [strong] } })
  const code = 'mcp_oauth_requires_user_principal'
  for (const who of [{ key: 'KS' }, { token: 'service_strong' }] as const)
    await refused(emulator, () => callback(emulator, proof, who), 403, code)
  await refused(emulator, () => callback(emulator, { code: 1 }, { key: 'KS' }, 'nobody'), 403, code)
  expect((await callback(emulator, proof)).status).toBe(200)
})

test('a setting changes the status for a service key', { tags: ['R147'] }, async () => {
  const emulator = await mcpEmulator({ settings: { 'status.oauth_principal': 401 } })
  const { status, body, headers } = await callback(emulator, proof, { key: 'KS' })
  expect([status, body.status_code, headers.get('www-authenticate')]).toEqual([401, 401, 'Bearer'])
})

test.for([
  ['KU', ['s1']],
  ['KS', ['s1']],
  ['K2', ['s9']],
  ['KO', []],
] as const)('the list for %s has the servers of its teamspace', { tags: ['R182'] }, async ([key, ids]) => {
  const mcp_servers = [aServer('s1'), aServer('s9', {}, { teamspace_id: 'ts-b' })]
  const emulator = await mcpEmulator({ collections: { mcp_servers } })
  const { data } = (await emulator.get('/organization/mcp-servers', { key })).body
  expect(data.map(({ id }: { id: string }) => id)).toEqual(ids)
})

test('query parameters are ignored, and a setting removes has_more', { tags: ['R183', 'U031'] }, async () => {
  const emulator = await mcpEmulator({ settings: { 'mcp.list.has_more': 'absent' } })
  const { body } = await emulator.get('/organization/mcp-servers?limit=1&after=zzz&limit=x')
  expect([Object.keys(body), body.data.length]).toEqual([['object', 'data'], 2])
})
