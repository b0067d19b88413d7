import { expect, test } from 'vitest'
import type { Issue, JsonObject } from '../../src/core/json.ts'
import { workspaceService } from '../../src/emulator/service.ts'
import { aBatch, batchEmulator } from '../support/batches.ts'
import type { TestEmulator, TestResponse } from '../support/emulator.ts'
import { MESSAGE, sampleRecords } from '../support/sample-calls.ts'

const { assumptions } = workspaceService

type Ask = (emulator: TestEmulator) => Promise<TestResponse>

/** A request whose response relies on an assumption, with the settings that the request needs. */
type Case = Ask | { readonly ask: Ask; readonly settings: JsonObject }

const partsOf = (each: Case) => (typeof each === 'function' ? { ask: each, settings: {} } : each)

const BATCHES = '/batch-predictions'
const TRIGGER = '/agents/agent-1/event-triggers/trigger-1'
const USERS = '/organization/teamspaces/ts-a/users'
const REPORT = '/organization/reports/consumption-breakdown'
const FEEDBACK = `/conversations/conversation-1/messages/${MESSAGE}`

const newPage: Ask = ({ post }) => post('/pages', { name: 'Plan' })
const newTeamspace: Ask = ({ post }) => post('/organization/teamspaces', { name: 'New' })
const callback = (body: object, key: 'KU' | 'KS' = 'KU'): Ask => {
  const flow = { code: 'c', state: 'state-of-flow', redirect_uri: 'https://app.example/callback' }
  const path = '/organization/mcp-servers/server-1/oauth-callback'
  return ({ post }) => post(path, { ...flow, ...body }, { key })
}
const created = async (emulator: TestEmulator, changes: object = {}) =>
  (await emulator.post(BATCHES, aBatch({ ...changes }))).body.id as string

/** Ends a new batch by `how` (a cancel, an intervention, or only time if empty), then requests the path `then` of it. */
const ended =
  (how: string, then: string, changes: object = {}, after = '1h'): Ask =>
  async (emulator) => {
    const id = await created(emulator, changes)
    if (how === 'cancel') await emulator.post(`${BATCHES}/${id}/cancel`)
    else if (how !== '') await emulator.control('POST', `/batches/${id}/${how}`)
    emulator.advance(after)
    return emulator.request(then === '/cancel' ? 'POST' : 'GET', `${BATCHES}/${id}${then}`)
  }

const tooMany: Ask = async (emulator) => {
  await emulator.control('POST', '/limits/pages.create/fill', { remaining: 0 })
  return newPage(emulator)
}

const keyed: Ask = async (emulator) => {
  const options = { headers: { 'idempotency-key': 'k1' } }
  await emulator.post(BATCHES, aBatch(), options)
  return emulator.post(BATCHES, aBatch(), options)
}

const impossible = { type: 'string', minLength: 5, maxLength: 2 }
const CONTRADICTION = { type: 'object', properties: { name: impossible }, required: ['name'] }

const clouds = ['cloud_b']
const MODELS = [
  { id: 'old', clouds, runs_as: 'new' },
  { id: 'new', clouds },
]

const named: Readonly<Record<string, Case>> = {
  T13: { ask: ended('', '', {}, '25h'), settings: { 'batch.pace': { validating: 'hold' } } },
  T17: ended('fail', ''),
  T21: ({ get }) => get('/organization/mcp-servers'),
  T22: ({ get }) => get(`${REPORT}?start_date=2025-01-01&end_date=2025-04-01`),
  T24: ({ get }) => get(`${REPORT}?start_date=2026-02-01T00:00:00`),
  T25: ({ get }) => get(`${USERS}?after=user-owner&before=user-owner`),
  T26: ({ get }) => get(`${USERS}?limit=1&before=user-member`),
  T28: async (emulator) => {
    await emulator.delete(`${USERS}/user-member`)
    return emulator.get(`${USERS}?after=user-member`)
  },
  T29: ended('', ''),
  T30: callback({ redirect_uri: 'http://127.1/' }),
  T33: ({ post }) => post(`${FEEDBACK}-user`, { like: 1 }),
  T37: callback({}),
  U001: ({ post }) => post('/pages', { name: 'Plan', parent: { type: 'folder', page_id: 'x' } }),
  U002: newPage,
  U003: async (emulator) => {
    await emulator.control('PATCH', '/state/teamspaces/ts-a', { access: 'open' })
    await emulator.control('PATCH', '/state/memberships/m-member', { self_joined: true })
    return emulator.post('/pages', { name: 'x' }, { key: 'KM' })
  },
  U006: ({ get }) => get('/data-views'),
  U007: ({ post }) => post('/agents/claim', { claim_token: 'claim-1' }),
  U008: ({ patch }) => patch(TRIGGER, { enabled: false }),
  U009: newTeamspace,
  U010: ended('fail', ''),
  U015: ({ post }) => post(BATCHES, {}),
  U016: ({ patch }) => patch(TRIGGER, {}),
  U017: ({ patch }) => patch(TRIGGER, { trigger_source: 'file_sharing' }),
  U019: ({ get }) => get(USERS),
  U020: ({ get }) => get(USERS),
  U021: ({ get }) => get(`${USERS}?search=a`),
  U022: ({ get }) => get(`${USERS}?after=nowhere`),
  U023: ({ get }) => get(`${BATCHES}/none`),
  U024: newTeamspace,
  U025: (emulator) => emulator.delete(`${USERS}/user-member`),
  U027: ({ get }) => get(`${REPORT}?start_date=2025-01-01&end_date=2025-12-31`),
  U028: ({ get }) => get(REPORT),
  U029: ({ post }) => post('/skills/skill-1/promote'),
  U030: ({ post }) => post('/connections', {}),
  U031: ({ get }) => get('/organization/mcp-servers'),
  U032: callback({}),
  U033: callback({}, 'KS'),
  U035: ({ post }) => post(BATCHES, aBatch()),
  U036: ({ post }) => post(BATCHES, aBatch()),
  U037: { ask: ({ post }) => post(BATCHES, aBatch({ model: 'old' })), settings: { models: MODELS } },
  U038: ended('', '', { items: [{ custom_id: 'a', file_id: 'file-sheet', page: 3 }] }),
  U039: ended('', '', { items: [{ custom_id: 'a', file_id: 'none' }] }),
  U040: async ({ get, post }) => get(`${BATCHES}/${(await post(BATCHES, aBatch())).body.id}/results`),
  U041: ended('', '/cancel'),
  U042: async ({ get, post }) => get(`${BATCHES}/${(await post(BATCHES, aBatch())).body.id}/results`),
  U043: ({ post }) => post('/converse', {}),
  U044: (emulator) => emulator.delete('/conversations/conversation-2'),
  U047: ended('', ''),
  U049: ended('cancel', '/results'),
  U050: ({ post }) => post(BATCHES, aBatch({ items: [{ custom_id: 'emu:strange', file_id: 'file-pdf' }] })),
  U053: ({ post }) => post('/pages', { name: 'x'.repeat(1_048_576) }),
  U055: ended('', '', { items: [{ custom_id: 'a', file_id: 'none' }] }),
  U056: ended('', '/results', {}, '30d'),
  U059: keyed,
  U061: ({ patch }) => patch(TRIGGER, { trigger_event: 'File:moved' }),
  U064: { ask: ({ post }) => post(BATCHES, aBatch()), settings: { 'limits.admission.concurrency': 0 } },
  U065: tooMany,
  U066: ({ get }) => get(`${BATCHES}/none`),
  U067: ({ get }) => get(`${BATCHES}/none`),
  U068: ({ get }) => get('/data-views', { key: 'none' }),
  U070: async (emulator) => {
    const membership = { ...member, teamspace_id: 'ts-b', user_id: 'user-owner' }
    await emulator.control('PUT', '/state/memberships/m-b', membership)
    return emulator.get('/organization/teamspaces/ts-b/users')
  },
  U071: ({ get }) => get(REPORT, { key: 'KM' }),
  U072: ({ patch }) => patch('/pages', {}),
  U076: ({ post }) => post(BATCHES, {}),
  U077: ({ get }) => get(`${REPORT}?start_date=20260201`),
  U078: async ({ post, patch }) => {
    const { body } = await post('/organization/teamspaces', { name: 'New' }, { key: 'KS' })
    return patch(`/organization/teamspaces/${body.id}`, { name: 'Renamed' })
  },
  U079: ended('', '/results', { output_schema: CONTRADICTION }),
  U081: (emulator) => emulator.request('POST', '/pages', { raw: '['.repeat(513) + ']'.repeat(513) }),
}

const JANUARY = '2026-01-01T00:00:00.000Z'

const many = Array.from({ length: 21 }, (_, n) => `u-${n}`)
const person = { organization_id: 'org-1', first_name: 'One', last_name: 'Many', created_at: JANUARY }
const member = { teamspace_id: 'ts-a', role: 'member', agent_ids: [], created_at: JANUARY }
const crowd = {
  users: many.map((id) => ({ id, email: `${id}@example.com`, ...person })),
  memberships: many.map((id) => ({ id: `m-${id}`, user_id: id, ...member })),
}

function emulatorWith(settings: JsonObject, id?: string) {
  const extra = id === 'U019' ? crowd : {}
  const { files: _, ...records } = sampleRecords
  return batchEmulator(settings, { collections: { ...records, ...extra } })
}

const further: Readonly<Record<string, Ask>> = {
  U023: ({ post }) => post('/pages', { parent: { type: 'page', page_id: 'none' }, name: 'x' }),
  U031: ({ get }) => get('/organization/mcp-servers?limit=1'),
  U033: callback({ state: 'unknown' }),
}

const every = [...Object.entries(named), ...Object.entries(further)]

const defaultsOf = (keys: Iterable<string>) =>
  Object.fromEntries([...keys].map((key) => [key, assumptions.settings.get(key)?.default])) as JsonObject

/** The settings that a response reads, where they are not all those with the number of the assumption. */
const settledBy: Readonly<Record<string, readonly string[]>> = {
  T21: ['mcp.list.has_more'],
  T29: ['batch.results_url'],
  U040: ['status.results_not_ready'],
  U009: ['names.cloud_b'],
  U035: ['batch.names.items', 'batch.names.file_ref'],
  U067: ['errors.codes', 'status.not_found'],
  U028: ['consumption.without_dates'],
  U059: ['idempotency.scope'],
  U064: ['limits.admission.syntax'],
}

/** The settings that settle an assumption in its response. */
const settlingOf = (id: string) =>
  settledBy[id] ?? [...assumptions.settings.values()].flatMap(({ item, key }) => (item === id ? [key] : []))

test.for(every)('%s is named by a response until its settings are given', async ([id, each]) => {
  const { ask, settings } = partsOf(each)
  const assumedWith = async (keys: Iterable<string>) =>
    (await ask(await emulatorWith({ ...defaultsOf(keys), ...settings }, id))).assumed
  const settleable = (item: string) => assumptions.items.get(item)?.unsettled === undefined
  expect(await assumedWith([])).toContain(id)
  expect((await assumedWith(settlingOf(id))).includes(id)).toBe(!settleable(id))
  const left = await assumedWith(assumptions.settings.keys())
  expect([left.filter(settleable), left.includes(id)]).toEqual([[], !settleable(id)])
})

test('every assumption is named by a response, is only in the log, or has a reason why no response names it', () => {
  const byLocation = (place: string) =>
    [...assumptions.items.values()].filter(({ reportedIn }) => reportedIn === place)
  expect(byLocation('response').map(({ id }) => id)).toEqual(Object.keys(named).sort())
  expect(byLocation('log').map(({ id }) => id)).toEqual(['U012', 'U013', 'U026', 'U048', 'U054'])
  for (const { id, unnamed } of byLocation('nowhere')) expect(unnamed, id).toMatch(/^[A-Z].{15,}\.$/)
})

test('assumptions of nearly every response are only in the log', async () => {
  const emulator = await emulatorWith({})
  const id = await created(emulator)
  emulator.advance('1h')
  const everywhere = ['U012', 'U013', 'U026', 'U048', 'U054', 'U071']
  for (const path of ['', '/results']) {
    const { assumed } = await emulator.get(`${BATCHES}/${id}${path}`)
    expect(assumed.filter((each) => everywhere.includes(each))).toEqual([])
  }
  const logged = emulator.sandbox.log.entries().flatMap((each) => [...each.assumed, ...each.mentioned])
  expect(logged).toEqual(expect.arrayContaining(everywhere))
})

test('of two settings that a response reads, one is not enough', async () => {
  const emulator = await emulatorWith(defaultsOf(['batch.names.items']))
  expect((await emulator.post(BATCHES, aBatch())).assumed).toContain('U035')
})

test('settings select other readings of the same sentences of the specification', async () => {
  const emulator = await emulatorWith({
    'consumption.without_dates': 'reject',
    'consumption.zoneless': 'reject',
    'consumption.date_forms': 'rfc_3339',
    'conversations.delete': 'not_specified',
    'teamspace.of_service_key': 'key',
    'teamspace.self_joined.operations': ['pages.*'],
  })
  const pointers = async (query: string) =>
    (await emulator.get(REPORT + query)).body.details.errors.map((each: Issue) => each.pointer)
  expect(await pointers('')).toEqual(['/query/start_date', '/query/end_date'])
  expect(await pointers('?start_date=2026-02-01&end_date=20260203')).toEqual(['/query/end_date'])
  expect(await pointers('?start_date=2026-02-01T00:00:00&end_date=2026-02-03')).toEqual(['/query/start_date'])
  expect((await emulator.delete('/conversations/conversation-2')).status).toBe(501)
  const { body } = await emulator.post('/organization/teamspaces', { name: 'New' }, { key: 'KS' })
  expect((await emulator.patch(`/organization/teamspaces/${body.id}`, { name: 'x' })).status).toBe(404)
  await emulator.control('PATCH', '/state/teamspaces/ts-a', { access: 'open' })
  await emulator.control('PATCH', '/state/memberships/m-member', { self_joined: true })
  const asMember = { key: 'KM', headers: { 'idempotency-key': 'k1' } } as const
  expect((await emulator.post('/pages', { name: 'x' }, asMember)).status).toBe(200)
  expect((await emulator.get('/data-views', asMember)).status).toBe(403)
})

test('settings scope idempotency keys to API keys, and give the header fields of a policy their older syntax', async () => {
  const emulator = await emulatorWith({
    'idempotency.scope': 'api_key',
    'idempotency.max_length': 8,
    'limits.admission.syntax': 'draft_07',
    'limits.admission.concurrency': 2,
  })
  const keyed = (key: 'KU' | 'KM', text = 'k1') =>
    emulator.post(BATCHES, aBatch(), { key, headers: { 'idempotency-key': text } })
  expect((await keyed('KU')).body.id).not.toBe((await keyed('KM')).body.id)
  expect((await keyed('KU', 'k'.repeat(9))).status).toBe(400)
  const { status, headers } = await keyed('KU', 'k2')
  expect([status, headers.get('ratelimit-policy')]).toEqual([429, '2'])
  expect(headers.get('ratelimit')).toBe('limit=2, remaining=0, reset=30')
})

test('a response names only the assumptions that it relies on', async () => {
  const emulator = await emulatorWith({})
  const short = await emulator.get(USERS)
  expect([short.body.data.length, short.assumed]).toEqual([3, ['U020']])
  const lost = await emulator.get(`${USERS}?after=nowhere`)
  expect(lost.assumed).toEqual(['U022', 'U065', 'U067'])
  expect((await emulator.get(`${USERS}?search=nobody`)).assumed).toEqual(['U021'])
  // A body that its head announces as too large is refused before it arrives.
  const large = await emulator.post(BATCHES, aBatch(), { headers: { 'content-length': '104857601' } })
  expect([large.status, large.assumed.includes('U053')]).toEqual([413, false])
})

test('a replay has the assumptions of the first response, and names the scope of keys', async () => {
  const emulator = await emulatorWith({})
  const first = await emulator.post(BATCHES, aBatch(), { headers: { 'idempotency-key': 'k1' } })
  expect((await keyed(emulator)).assumed).toEqual([...first.assumed, 'U059'].sort())
})

test('settings rename error codes and omit the lists of faulty fields', async () => {
  const emulator = await emulatorWith({
    'errors.codes': { not_found: 'resource_missing', validation_failed: 'invalid' },
    'errors.detail_errors': false,
    'errors.problem_errors': false,
    'errors.rate_limit_reason': 'quota',
    'page.parent.missing': 'null',
  })
  expect((await emulator.get(`${BATCHES}/none`)).body.type).toMatch(/\/resource_missing$/)
  expect((await emulator.post('/pages', {})).body).toMatchObject({ error: 'invalid', details: {} })
  expect((await emulator.post(BATCHES, {})).body).not.toHaveProperty('errors')
  expect((await newPage(emulator)).body.parent).toBeNull()
  expect((await tooMany(emulator)).body.details).toEqual({ reason: 'quota' })
})
