import { expect, test } from 'vitest'
import { change } from '../../../src/core/sandboxes/change.ts'
import {
  type RequestOptions,
  type TestEmulator,
  type TestEmulatorOptions,
  testEmulator,
} from '../../support/emulator.ts'
import { interveneBy } from '../../support/intervene.ts'

const CREATED = '2026-02-01T00:00:00.000Z'
const CALLBACK = 'https://app.example/cb'

function aServer(id: string, changes: Readonly<Record<string, unknown>> = {}, facts: object = {}) {
  return {
    object: 'mcp_server',
    id,
    name: `Server ${id}`,
    icon_url: 'https://mcp.example/icon.svg',
    base_url: 'https://mcp.example',
    transport: 'carrier pigeon',
    protocol_version: '7',
    authorization_secret_id: 'secret-ref-1',
    status: 'dozing',
    metadata: { requires_oauth: true, oauth_configured: false, tool_count: 3, last_synced_at: 'long ago' },
    created_at: CREATED,
    updated_at: CREATED,
    managed_by_app: { app_uuid: 'app-1', app_name: 'Registry' },
    ...changes,
    _emulator: { teamspace_id: 'ts-a', ...facts },
  }
}

function aFlow(id: string, changes: Readonly<Record<string, unknown>> = {}) {
  return {
    id,
    server_id: 's1',
    state: `state-${id}`,
    redirect_uri: CALLBACK,
    created_at: CREATED,
    ...changes,
  }
}

/** An emulator with two servers and one pending flow of the first. */
function mcpEmulator(options: TestEmulatorOptions = {}): Promise<TestEmulator> {
  const mcp_servers = [aServer('s1'), aServer('s2')]
  return testEmulator({
    ...options,
    collections: { mcp_servers, oauth_flows: [aFlow('f1')], ...options.collections },
  })
}

const proof = { code: 'code-1', state: 'state-f1', redirect_uri: CALLBACK }

function callback(emulator: TestEmulator, body: object, options?: RequestOptions, server = 's1') {
  return emulator.post(`/organization/mcp-servers/${server}/oauth-callback`, body, options)
}

/** Starts a flow as the control API does. */
function startFlow({ sandbox }: TestEmulator, server_id: string, redirect_uri: string) {
  return interveneBy(sandbox, 'POST /mcp-oauth-flows', {}, { server_id, redirect_uri })
}

async function refused(emulator: TestEmulator, body: object, pointer: string, server?: string) {
  const before = emulator.digest()
  const response = await callback(emulator, body, {}, server)
  expect(response.status).toBe(400)
  expect(response.body.error).toBe('validation_failed')
  expect(response.body.details.errors.map((issue: { pointer: string }) => issue.pointer)).toContain(pointer)
  expect(emulator.digest()).toBe(before)
  return response
}

test('a list shows every field of a server as in its record', {
  tags: ['R044', 'R045', 'R046', 'R047', 'R048', 'R183'],
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

test('a server can have any status and transport', { tags: ['R045', 'U005'] }, async () => {
  const emulator = await mcpEmulator()
  const server = { ...emulator.state('mcp_servers')[0], status: 'ablaze', transport: '' }
  change(emulator.sandbox, ({ tx }) => tx.put('mcp_servers', server))
  const { body } = await emulator.get('/organization/mcp-servers')
  expect(body.data.at(-1)).toMatchObject({ id: 's1', status: 'ablaze', transport: '' })
})

test.for<[title: string, change: object, pointer: string]>([
  ['another object', { object: 'server' }, '/object'],
  ['a status that is no string', { status: 1 }, '/status'],
  ['a transport that is missing', { transport: undefined }, '/transport'],
  [
    'a negative tool_count',
    { metadata: { ...aServer('').metadata, tool_count: -1 } },
    '/metadata/tool_count',
  ],
  [
    'a fractional tool_count',
    { metadata: { ...aServer('').metadata, tool_count: 0.5 } },
    '/metadata/tool_count',
  ],
  [
    'a last_synced_at that is null',
    { metadata: { ...aServer('').metadata, last_synced_at: null } },
    '/metadata/last_synced_at',
  ],
  ['an update before the creation', { updated_at: '2026-01-31T23:59:59.999Z' }, '/updated_at'],
  ['a created_at that is no instant', { created_at: 'yesterday' }, '/created_at'],
  ['a managed_by_app that is null', { managed_by_app: null }, '/managed_by_app'],
  ['a managed_by_app without its name', { managed_by_app: { app_uuid: 'a' } }, '/managed_by_app/app_name'],
  ['a secret beside its id', { authorization_secret: 'hush' }, '/authorization_secret'],
])(
  '%s is refused in a fixture',
  { tags: ['R044', 'R045', 'R046', 'R047', 'R048', 'R049'] },
  async ([, change, pointer]) => {
    const collections = { mcp_servers: [aServer('s1', change as Readonly<Record<string, unknown>>)] }
    await expect(testEmulator({ collections })).rejects.toThrow(`/collections/mcp_servers/0${pointer}`)
  },
)

test('a setting lets the two fields be null', {
  tags: ['R046', 'R048'],
}, async () => {
  const nulls = { metadata: { ...aServer('').metadata, last_synced_at: null }, managed_by_app: null }
  const emulator = await testEmulator({
    settings: { 'mcp.null_values': true },
    collections: { mcp_servers: [aServer('s1', nulls)] },
  })
  const { body } = await emulator.get('/organization/mcp-servers')
  expect(body.data[0]).toMatchObject(nulls)
})

test('neither responses nor the state document contain the state or the code of a flow', {
  tags: ['R049'],
}, async () => {
  const emulator = await mcpEmulator({ collections: { oauth_flows: [aFlow('f1', { code: 'code-1' })] } })
  const list = await emulator.get('/organization/mcp-servers')
  const wrong = await callback(emulator, { ...proof, code: 'code-2' })
  const right = await callback(emulator, proof)
  const everything = [list.text, wrong.text, right.text, JSON.stringify(emulator.sandbox.document())].join()
  expect(right.status).toBe(200)
  expect(list.body.data.at(-1).authorization_secret_id).toBe('secret-ref-1')
  expect(everything).not.toMatch(/state-f1|code-1|code-2/)
})

test('the response to a completed flow is the callback result and nothing else', {
  tags: ['R050', 'R051', 'R146'],
}, async () => {
  const emulator = await mcpEmulator()
  const { status, body, assumed } = await callback(emulator, proof)
  expect(status).toBe(200)
  expect(body).toEqual({
    object: 'mcp_oauth_callback',
    oauth_configured: true,
    tools_synced: true,
    message: expect.stringMatching(/\w/),
  })
  expect(assumed).toContain('T37')
})

test('tools are not synced for a caller without the permission to edit the organization', {
  tags: ['R052'],
}, async () => {
  const emulator = await mcpEmulator()
  const { status, body } = await callback(emulator, proof, { key: 'KM' })
  expect([status, body.oauth_configured, body.tools_synced]).toEqual([200, true, false])
})

test('a sync that fails leaves the flow completed', { tags: ['R051', 'R052'] }, async () => {
  const emulator = await mcpEmulator({
    collections: { mcp_servers: [aServer('s1', {}, { sync: 'fails', tools: ['a'] })] },
  })
  const { status, body } = await callback(emulator, proof)
  expect([status, body.oauth_configured, body.tools_synced]).toEqual([200, true, false])
  expect(emulator.state('mcp_servers')[0].metadata).toMatchObject({ oauth_configured: true, tool_count: 3 })
})

test('a setting changes the message, and nothing else in the result', {
  tags: ['R053'],
}, async () => {
  const plain = await callback(await mcpEmulator(), proof)
  const told = await callback(await mcpEmulator({ settings: { 'mcp.oauth.message': 'All set.' } }), proof)
  expect(plain.body.message).not.toBe('')
  expect(told.body).toEqual({ ...plain.body, message: 'All set.' })
})

test('a completed flow sets oauth_configured of its server only (T37)', {
  tags: ['R047', 'R051'],
}, async () => {
  const emulator = await mcpEmulator()
  const [first, second] = emulator.state('mcp_servers')
  emulator.advance('1h')
  await callback(emulator, proof)
  expect(emulator.state('mcp_servers')).toEqual([
    {
      ...first,
      metadata: { ...first.metadata, oauth_configured: true },
      updated_at: '2026-03-01T13:00:00.000Z',
    },
    second,
  ])
})

test('updated_at of a server stays at a created_at in the future', { tags: ['R047'] }, async () => {
  const later = '2026-06-01T00:00:00.000Z'
  const emulator = await mcpEmulator({
    collections: { mcp_servers: [aServer('s1', { created_at: later, updated_at: later })] },
  })
  expect((await callback(emulator, proof)).status).toBe(200)
  expect((await emulator.get('/organization/mcp-servers')).body.data[0].updated_at).toBe(later)
})

test('a sync that finds tools stores their number and its instant', { tags: ['R052'] }, async () => {
  const emulator = await mcpEmulator({
    collections: { mcp_servers: [aServer('s1', {}, { tools: ['read', 'write'] })] },
  })
  await callback(emulator, proof)
  expect(emulator.state('mcp_servers')[0].metadata).toMatchObject({
    tool_count: 2,
    last_synced_at: '2026-03-01T12:00:00.000Z',
  })
})

test('a setting keeps the server unchanged, with the same result (T37)', {
  tags: ['R051'],
}, async () => {
  const emulator = await mcpEmulator({ settings: { 'mcp.oauth_configured': 'keep' } })
  const before = emulator.state('mcp_servers')
  const { body } = await callback(emulator, proof)
  expect(body.oauth_configured).toBe(true)
  expect(emulator.state('mcp_servers')).toEqual(before)
})

test('an unknown server and one of another teamspace get the same response', { tags: ['R141'] }, async () => {
  const other = aServer('s9', {}, { teamspace_id: 'ts-b' })
  const flow = aFlow('f9', { server_id: 's9' })
  const emulator = await mcpEmulator({
    collections: { mcp_servers: [aServer('s1'), other], oauth_flows: [flow] },
  })
  const before = emulator.digest()
  const unknown = await callback(emulator, { ...proof, state: 'state-f9' }, {}, 's8')
  const foreign = await callback(emulator, { ...proof, state: 'state-f9' }, {}, 's9')
  expect([unknown.status, foreign.status]).toEqual([404, 404])
  expect(foreign.text).toBe(unknown.text.replace('s8', 's9'))
  expect(emulator.digest()).toBe(before)
})

test.for<[member: string, bound: number, longest: string]>([
  ['code', 4096, '\u{1F600}'.repeat(4096)],
  ['state', 512, 's'.repeat(512)],
  ['redirect_uri', 2048, CALLBACK.padEnd(2048, 'x')],
])(
  'the %s of a callback may have %i characters, and not one more',
  { tags: ['R142', 'R143', 'R144', 'R284'] },
  async ([member, , longest]) => {
    const emulator = await mcpEmulator({ collections: { oauth_flows: [aFlow('f1', { [member]: longest })] } })
    await refused(emulator, { ...proof, [member]: `${longest}x` }, `/${member}`)
    expect((await callback(emulator, { ...proof, [member]: longest })).status).toBe(200)
  },
)

test('a code has to be a string', { tags: ['R142'] }, async () => {
  const emulator = await mcpEmulator()
  for (const code of [1, null, ['c'], undefined]) await refused(emulator, { ...proof, code }, '/code')
})

test('a flow with a code accepts only that code', { tags: ['R142', 'U032'] }, async () => {
  const emulator = await mcpEmulator({ collections: { oauth_flows: [aFlow('f1', { code: 'right' })] } })
  const { assumed } = await refused(emulator, { ...proof, code: 'wrong' }, '/code')
  expect(assumed).toContain('U033')
  expect((await callback(emulator, { ...proof, code: 'right' })).status).toBe(200)
})

test('a state that differs, is missing or belongs to another server is refused', {
  tags: ['R143'],
}, async () => {
  const emulator = await mcpEmulator()
  for (const state of ['state-f2', 'State-f1', 'state-f1 ', '', null, 1, undefined]) {
    await refused(emulator, { ...proof, state }, '/state')
  }
  const { assumed } = await refused(emulator, proof, '/state', 's2')
  expect(assumed).toContain('U033')
})

test('the digest in the state file is refused as a state', { tags: ['R143'] }, async () => {
  const emulator = await mcpEmulator()
  await refused(emulator, { ...proof, state: emulator.state('oauth_flows')[0].state }, '/state')
})

test('a setting lets a state work again', { tags: ['R143'] }, async () => {
  const emulator = await mcpEmulator({ settings: { 'mcp.oauth.state_reuse': 'accept' } })
  expect((await callback(emulator, proof)).status).toBe(200)
  expect((await callback(emulator, proof)).status).toBe(200)
})

test('a state works once, also across a restart', { tags: ['R143'] }, async () => {
  const emulator = await mcpEmulator()
  expect((await callback(emulator, proof)).status).toBe(200)
  const { assumed } = await refused(emulator, proof, '/state')
  expect(assumed).toContain('U032')
  await refused(await emulator.restart(), proof, '/state')
})

test('a redirect_uri other than the one of the flow is refused, even if similar', {
  tags: ['R144'],
}, async () => {
  const emulator = await mcpEmulator()
  for (const redirect_uri of [
    `${CALLBACK}/`,
    'https://APP.example/cb',
    'https://app.example:443/cb',
    'http://localhost',
  ]) {
    const { assumed } = await refused(emulator, { ...proof, redirect_uri }, '/redirect_uri')
    expect(assumed).toContain('U033')
  }
})

test('https and the three loopback hosts are accepted', { tags: ['R145'] }, async () => {
  const uris = [
    'https://x.example/cb',
    'http://localhost:3000/cb',
    'http://127.0.0.1/cb?a=1',
    'http://[::1]:8080',
  ]
  const emulator = await mcpEmulator({
    collections: { oauth_flows: uris.map((redirect_uri, n) => aFlow(`f${n}`, { redirect_uri })) },
  })
  for (const [n, redirect_uri] of uris.entries()) {
    expect((await callback(emulator, { ...proof, state: `state-f${n}`, redirect_uri })).status).toBe(200)
  }
})

test.for(['ftp://localhost', 'javascript:alert(1)', '//localhost', 'localhost', ''])(
  '%j is refused',
  { tags: ['R145'] },
  async (redirect_uri) => {
    await refused(await mcpEmulator(), { ...proof, redirect_uri }, '/redirect_uri')
  },
)

test('a redirect_uri over http is refused in a fixture', { tags: ['R145', 'R284'] }, async () => {
  const collections = { oauth_flows: [aFlow('f1', { redirect_uri: 'http://x.example' })] }
  await expect(testEmulator({ collections })).rejects.toThrow('/collections/oauth_flows/0/redirect_uri')
})

test('a service key is refused in the standard body, and the state is not consumed', {
  tags: ['R147', 'R228'],
}, async () => {
  const emulator = await mcpEmulator()
  const before = emulator.digest()
  const { status, body, assumed } = await callback(emulator, proof, { key: 'KS' })
  expect(status).toBe(403)
  expect(body).toMatchObject({
    status_code: 403,
    error: 'mcp_oauth_requires_user_principal',
    retryable: false,
    details: {},
  })
  expect(assumed).toContain('U033')
  expect(emulator.digest()).toBe(before)
  expect((await callback(emulator, proof)).status).toBe(200)
})

test('a service key is refused before the path or the body is checked', {
  tags: ['R147'],
}, async () => {
  const emulator = await mcpEmulator()
  const { body } = await callback(emulator, { code: 1 }, { key: 'KS' }, 'nobody')
  expect(body.error).toBe('mcp_oauth_requires_user_principal')
})

test('a service key is refused whatever its permissions', { tags: ['R228'] }, async () => {
  const facts = { kind: 'service', organization_id: 'org-1', teamspace_id: 'ts-a', account_admin: true }
  const strong = { ...facts, id: 'key-strong', token: 'service_strong', permissions: ['organization:edit'] }
  const emulator = await mcpEmulator({ collections: { api_keys: [strong] } })
  const { status, body } = await callback(emulator, proof, { token: 'service_strong' })
  expect([status, body.error]).toEqual([403, 'mcp_oauth_requires_user_principal'])
  expect((await emulator.get('/organization/mcp-servers', { token: 'service_strong' })).status).toBe(200)
})

test('a setting changes the status for a service key', { tags: ['R147'] }, async () => {
  const emulator = await mcpEmulator({ settings: { 'status.oauth_principal': 401 } })
  const { status, body, headers } = await callback(emulator, proof, { key: 'KS' })
  expect([status, body.status_code, headers.get('www-authenticate')]).toEqual([401, 401, 'Bearer'])
})

test('the list contains only the servers of the teamspace of the key', { tags: ['R182'] }, async () => {
  const emulator = await mcpEmulator({
    collections: { mcp_servers: [aServer('s1'), aServer('s9', {}, { teamspace_id: 'ts-b' })] },
  })
  const ids = async (key: 'KU' | 'KS' | 'K2' | 'KO') =>
    (await emulator.get('/organization/mcp-servers', { key })).body.data.map(({ id }: { id: string }) => id)
  expect(await Promise.all([ids('KU'), ids('KS'), ids('K2'), ids('KO')])).toEqual([
    ['s1'],
    ['s1'],
    ['s9'],
    [],
  ])
})

test('query parameters are ignored, and a setting removes has_more', { tags: ['R183', 'U031'] }, async () => {
  const emulator = await mcpEmulator({ settings: { 'mcp.list.has_more': 'absent' } })
  const { body } = await emulator.get('/organization/mcp-servers?limit=1&after=zzz&limit=x')
  expect(Object.keys(body)).toEqual(['object', 'data'])
  expect(body.data).toHaveLength(2)
})

test('both MCP operations are marked beta', { tags: ['R287'] }, async () => {
  const emulator = await mcpEmulator()
  const beta = [...emulator.sandbox.service.operations.values()].filter((each) => each.beta === true)
  expect(beta.map(({ name }) => name).sort()).toEqual(['mcp-servers.list', 'mcp-servers.oauth-callback'])
})

test('a flow started by the control API completes with its state and code, only for its server', {
  tags: ['R143', 'R144'],
}, async () => {
  const emulator = await mcpEmulator()
  const flow = startFlow(emulator, 's2', 'http://localhost:3000/cb')
  expect(flow).toMatchObject({ server_id: 's2', redirect_uri: 'http://localhost:3000/cb' })
  expect(JSON.stringify(emulator.sandbox.document())).not.toContain(flow.state)
  await refused(emulator, { ...flow, server_id: undefined, code: 'another' }, '/code', 's2')
  await refused(emulator, flow, '/state', 's1')
  expect((await callback(emulator, flow, {}, 's2')).body.tools_synced).toBe(true)
})

test('every flow has a unique state and code', { tags: ['R143'] }, async () => {
  const emulator = await mcpEmulator()
  const flows = [1, 2, 3].map(() => startFlow(emulator, 's1', CALLBACK))
  expect(new Set(flows.flatMap(({ state, code }) => [state, code])).size).toBe(6)
})

test('a flow cannot be started for an unknown server or with a redirect_uri that the callback would refuse', {
  tags: ['R145'],
}, async () => {
  const emulator = await mcpEmulator()
  expect(() => startFlow(emulator, 's8', CALLBACK)).toThrow('no MCP server with the id "s8"')
  expect(() => startFlow(emulator, 's1', 'http://x.example')).toThrow('must be https')
})
