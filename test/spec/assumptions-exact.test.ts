import { expect, test } from 'vitest'
import { aBatch, batchEmulator } from '../support/batches.ts'
import { consumptionRow } from '../support/consumption-row.ts'
import type { RequestOptions, TestEmulator, TestResponse } from '../support/emulator.ts'
import { MESSAGE, sampleRecords } from '../support/sample-calls.ts'

const JANUARY = '2026-01-01T00:00:00.000Z'
const BATCHES = '/batch-predictions'
const TEAMSPACE = '/organization/teamspaces/ts-a'
const REPORT = '/organization/reports/consumption-breakdown'
const FEEDBACK = `/conversations/conversation-1/messages/${MESSAGE}`
const CALLBACK = '/organization/mcp-servers/server-1/oauth-callback'

const { files: _, ...collections } = sampleRecords
const emulatorWith = (settings = {}) => batchEmulator(settings, { collections })

const [admin, member, service] = [{ key: 'KU' }, { key: 'KM' }, { key: 'KS' }] as const

const flow = { code: 'c', state: 'state-of-flow', redirect_uri: 'https://app.example/callback' }

test.for<readonly [does: string, named: boolean, ask: (emulator: TestEmulator) => Promise<TestResponse>]>([
  ['a member renames a teamspace', true, ({ patch }) => patch(TEAMSPACE, { name: 'x' }, member)],
  ['a member removes the owner', true, (all) => all.delete(`${TEAMSPACE}/users/user-owner`, member)],
  ['a member reads the consumption', true, ({ get }) => get(REPORT, member)],
  ['a service creates a page', true, ({ post }) => post('/pages', { name: 'x' }, service)],
  ['a service gives feedback', true, ({ post }) => post(FEEDBACK, { like: 1 }, service)],
  ['an admin renames a teamspace', false, ({ patch }) => patch(TEAMSPACE, { name: 'x' }, admin)],
  ['an admin reads the consumption', false, ({ get }) => get(REPORT, admin)],
  ['an admin promotes a skill', false, ({ post }) => post('/skills/skill-1/promote', undefined, admin)],
  ['a member gives feedback', false, ({ post }) => post(FEEDBACK, { like: 1 }, member)],
  ['a member completes a flow', false, ({ post }) => post(CALLBACK, flow, member)],
])('%s: the success names U071: %s', { tags: ['U071'] }, async ([, named, ask]) => {
  for (const settings of [{}, { 'status.forbidden': 403 }]) {
    const { status, assumed } = await ask(await emulatorWith(settings))
    expect([status < 300, assumed.includes('U071')]).toEqual([true, named])
  }
})

test('a refusal names U071 only for a permission, a replay for its caller', { tags: ['U071'] }, async () => {
  const emulator = await emulatorWith()
  expect((await emulator.get(`${BATCHES}/none`, member)).assumed).not.toContain('U071')
  expect((await emulator.post('/pages', {}, member)).assumed).not.toContain('U071')
  const keyed = { headers: { 'idempotency-key': 'k1' } }
  const first = await emulator.post(BATCHES, aBatch(), { ...keyed, ...member })
  const again = await emulator.post(BATCHES, aBatch(), { ...keyed, ...admin })
  expect([first.assumed.includes('U071'), again.assumed.includes('U071')]).toEqual([true, false])
  expect(again.text).toBe(first.text)
})

test('only a body beyond the bounds of structure names U081', { tags: ['U081'] }, async () => {
  const emulator = await emulatorWith()
  const nested = (levels: number) => `{"name":"x","more":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`
  const post = (path: string, raw: string) => emulator.request('POST', path, { raw })
  for (const raw of [nested(513), JSON.stringify(Array(500_001).fill(0))]) {
    for (const path of ['/pages', BATCHES]) {
      const { status, assumed } = await post(path, raw)
      expect([status, assumed.includes('U081')]).toEqual([400, true])
    }
  }
  const allowed = await post('/pages', nested(512))
  expect([allowed.status, allowed.assumed.includes('U081')]).toEqual([200, false])
})

test('a request counts for the teamspace of its key', { tags: ['R257', 'U070'] }, async () => {
  const membership = { id: 'm-b', teamspace_id: 'ts-b', user_id: 'user-owner', role: 'member', agent_ids: [] }
  const memberships = [{ ...membership, created_at: JANUARY }]
  const emulator = await batchEmulator({}, { collections: { memberships } })
  const read = async (teamspace: string, options: RequestOptions) => {
    const { headers, assumed } = await emulator.get(`/organization/teamspaces/${teamspace}/users`, options)
    return [headers.get('x-ratelimit-remaining'), assumed.includes('U070')]
  }
  expect(await read('ts-a', admin)).toEqual(['199', false])
  expect(await read('ts-b', admin)).toEqual(['198', true])
  expect(await read('ts-b', { key: 'K2' })).toEqual(['199', false])
  expect(await read('none', admin)).toEqual(['197', false])
})

test.for([
  ['no dates', '', ['U028']],
  ['a date-time without a zone', 'start_date=2026-02-01T00:00:00&end_date=2026-03-01', ['T24']],
  ['another form of date', 'start_date=20260201&end_date=2026-03-01', ['U077']],
] as const)(
  'the refusal of a wrong cursor does not rest on %s',
  { tags: ['U022', 'U028', 'T24', 'U077'] },
  async ([, dates, items]) => {
    const emulator = await emulatorWith()
    expect((await emulator.get(`${REPORT}?${dates}`)).assumed).toEqual(expect.arrayContaining([...items]))
    const { status, assumed } = await emulator.get(`${REPORT}?${dates}&after=nowhere`)
    expect([status, assumed]).toEqual([400, ['U022', 'U065', 'U067']])
  },
)

test('a cursor of a report is unknown with other dates', { tags: ['R168', 'U022'] }, async () => {
  const rowOf = (id: string) => consumptionRow(id, '2026-02-01T00:00:00.000Z')
  const collections = { consumption_rows: ['a', 'b', 'c'].map(rowOf) }
  const read = (emulator: TestEmulator, query: string) => emulator.get(`${REPORT}?limit=1&${query}`)
  const dates = 'start_date=2026-01-15&end_date=2026-02-28'
  const emulator = await batchEmulator({}, { collections })
  const { first_id, last_id } = (await read(emulator, dates)).body
  const rows = async (query: string) =>
    (await read(emulator, query)).body.data.map((each: { resource: string }) => each.resource)
  for (const form of ['2026-01-15', '20260115', '2026-01-15T01:00:00.0000%2B01:00', '2026-01-14T24:00Z'])
    expect(await rows(`start_date=${form}&end_date=2026-02-28&after=${last_id}`)).toEqual(['b'])
  for (const other of ['', 'start_date=2026-01-15', dates.replace('-15', '-15T00:00:00.0001Z')]) {
    for (const cursor of [`after=${last_id}`, `before=${first_id}`]) {
      const { status, assumed } = await read(emulator, `${other}&${cursor}`)
      expect([status, assumed]).toEqual([400, ['U022', 'U065', 'U067']])
    }
  }
  const lenient = await batchEmulator({ 'lists.bad_cursor': 'empty' }, { collections })
  const { status, body } = await read(lenient, `after=${last_id}`)
  expect([status, body.data, body.has_more]).toEqual([200, [], false])
})

test.for([
  ['http://x.example', false],
  ['http://localhost@evil.example', false],
  ['ftp://localhost', false],
  ['http://127.1', true],
  ['http://user:pass@localhost', true],
] as const)('the refusal of %s names T30: %s', { tags: ['R145', 'T30'] }, async ([redirect_uri, named]) => {
  const emulator = await emulatorWith()
  const response = await emulator.post(CALLBACK, { ...flow, redirect_uri })
  expect(response.body.details.errors).toMatchObject([{ pointer: '/redirect_uri' }])
  expect(response.assumed.includes('T30')).toBe(named)
})

test.for([
  [null, true],
  ['c', false],
] as const)('a flow with the code %s names U032: %s', { tags: ['U032'] }, async ([code, named]) => {
  const oauth_flows = [{ id: 'flow-1', server_id: 'server-1', ...flow, code, created_at: JANUARY }]
  const settings = { 'mcp.oauth.state_reuse': 'reject' }
  const emulator = await batchEmulator(settings, { collections: { ...collections, oauth_flows } })
  const { status, assumed } = await emulator.post(CALLBACK, flow)
  expect([status, assumed.includes('U032')]).toEqual([200, named])
})

const UNKNOWN = { custom_id: 'unknown', file_id: 'none' }
const BEYOND = { custom_id: 'beyond', file_id: 'file-pdf', page: 11 }
const FINE = { custom_id: 'fine', file_id: 'file-pdf' }
const VALIDATION = ['U038', 'U039', 'U055']

test.for([
  ['batch', {}, [UNKNOWN, FINE], ['U039', 'U055']],
  ['batch', {}, [BEYOND, FINE], ['U038', 'U039', 'U055']],
  ['batch', {}, [UNKNOWN, BEYOND], ['U038', 'U039', 'U055']],
  ['batch', {}, [FINE], []],
  ['item', { 'batch.validation': 'item' }, [UNKNOWN, FINE], ['U039']],
  ['item', { 'batch.validation': 'item' }, [BEYOND, FINE], ['U038', 'U039']],
  ['item', { 'batch.validation': 'item', 'batch.unknown_files': 'fail' }, [BEYOND, FINE], ['U038']],
  ['item', { 'batch.validation': 'item' }, [FINE], []],
] as const)(
  'in the mode %s under %o a batch with the items %o names what its validation rests on, and so do its results',
  { tags: ['U038', 'U039', 'U055'] },
  async ([, settings, items, expected]) => {
    const emulator = await batchEmulator(settings)
    const { body } = await emulator.post(BATCHES, aBatch({ items }))
    emulator.advance('1h')
    for (const path of ['', '/results']) {
      const { status, assumed } = await emulator.get(`${BATCHES}/${body.id}${path}`)
      expect([path, status, assumed.filter((id) => VALIDATION.includes(id))]).toEqual([path, 200, expected])
    }
  },
)

test('a batch names the assumption once an item is rejected', { tags: ['U039', 'U055'] }, async () => {
  const emulator = await batchEmulator({ 'batch.validation': 'item', 'batch.pace': { in_progress: 'hold' } })
  const { body } = await emulator.post(BATCHES, aBatch({ items: [UNKNOWN, FINE] }))
  const read = async () => (await emulator.get(`${BATCHES}/${body.id}`)).assumed.includes('U039')
  expect(await read()).toBe(false)
  emulator.advance('2s')
  expect(await read()).toBe(true)
  await emulator.control('PATCH', '/settings', { 'batch.validation': null })
  const later = await emulator.get(`${BATCHES}/${body.id}`)
  expect(later.assumed).toEqual(expect.arrayContaining(['U039', 'U055']))
})

test('a given instant keeps its form, a made one is UTC', { tags: ['R003', 'U013'] }, async () => {
  const given = '2026-01-01T01:30:00.123456+05:30'
  const facts = { warehouse_dataset_name: 'x', knowledge_id: 'k', service_account_id: 's' }
  const view = { ...facts, _emulator: { teamspace_id: 'ts-a' } }
  const data_views = [given, '-1d'].map((created_at) => ({ id: `view-${created_at}`, ...view, created_at }))
  const emulator = await batchEmulator({}, { collections: { data_views } })
  const { data } = (await emulator.get('/data-views')).body
  expect(data).toMatchObject([{ created_at: '2026-02-28T12:00:00.000Z' }, { created_at: given }])
})
