import { expect, test } from 'vitest'
import { batchUnder } from '../support/batch-under.ts'
import { batchEmulator, counts, createBatch, retrieve } from '../support/batches.ts'
import type { TestEmulator } from '../support/emulator.ts'
import { retrieveAfter } from '../support/retrieve-after.ts'
import { sampleRecords } from '../support/sample-calls.ts'
import { arm, moving, RETRIEVE } from '../support/state-faults.ts'

const VIEWS = '/data-views'
const USERS = '/organization/teamspaces/ts-a/users'
const LIST_VIEWS = { path: '/v1/data-views' }
const LIST_USERS = { operation: 'teamspace-users.list' }
const CREATE_PAGE = { operation: 'pages.create' }

const [sample] = sampleRecords.data_views ?? []
const view = (id: string, changes: object = {}): Record<string, unknown> => ({ ...sample, id, ...changes })

/** Data views are inserted before each list of them. */
const insertViews = (emulator: TestEmulator, rows: object) =>
  arm(emulator, moving({ insert_rows: { collection: 'data_views', ...rows } }, { match: LIST_VIEWS }))

async function idsOf(emulator: TestEmulator, path: string): Promise<string[]> {
  const { status, body } = await emulator.get(path)
  expect(status).toBe(200)
  return body.data.map(({ id }: { id: string }) => id)
}

test('cleanup applies only to a terminal batch, and cleanup: false does nothing', async () => {
  const when = { sequence: ['yes', 'no', 'yes'] }
  const actions = { yes: [{ state: { cleanup: true } }], no: [{ state: { cleanup: false } }] }
  const { emulator, id } = await batchUnder({ match: RETRIEVE, when, actions })
  const seen = await retrieveAfter(emulator, id, '0s', '1h', '0s')
  const views = seen.map(({ status, results_url }) => `${status} ${results_url === null}`)
  expect(views).toEqual(['validating true', 'completed false', 'completed true'])
})

test('a record that is not visible yet gets the same 404 as an unknown id', { tags: ['U023'] }, async () => {
  const when = { by: 'resource_id' }
  const { emulator, id } = await batchUnder(moving({ visible_after_reads: 2 }, { match: RETRIEVE, when }))
  const unknown = await emulator.get('/batch-predictions/nobody')
  const seen = []
  for (let n = 0; n < 3; n++) seen.push(await emulator.get(`/batch-predictions/${id}`))
  expect(seen.map(({ status }) => status)).toEqual([404, 404, 200])
  expect(seen[0]?.text).toBe(unknown.text.replaceAll('nobody', id))
})

test('a record that is not visible yet is visible to other requests, and a hidden read is not a poll', async () => {
  const emulator = await batchEmulator({ 'batch.pace': { validating: { polls: 1 } } })
  const { id } = await createBatch(emulator)
  const match = { ...RETRIEVE, headers: { 'x-replica': 'late' } }
  await arm(emulator, moving({ visible_after_reads: 1 }, { match }))
  const late = { headers: { 'x-replica': 'late' } }
  expect((await emulator.get(`/batch-predictions/${id}`, late)).status).toBe(404)
  expect(emulator.state('batch_predictions')[0].status).toBe('validating')
  expect((await retrieve(emulator, id)).status).toBe('in_progress')
})

test.for([
  ['a literal id', (id: string) => id],
  ['a parameter of the path', () => ({ param: 'batch_prediction_id' })],
  ['a parameter of the query', () => ({ query: 'about' })],
  ['the newest batch', () => 'latest'],
] as const)('a record can be named by %s', async ([, refTo]) => {
  const emulator = await batchEmulator()
  await createBatch(emulator)
  const { id } = await createBatch(emulator)
  await arm(emulator, moving({ id: refTo(id), batch: 'fail' }, { match: { path: '**/cancel' } }))
  await emulator.post(`/batch-predictions/${id}/cancel?about=${id}`)
  const statuses = emulator.state('batch_predictions').map(({ status }) => status)
  expect(statuses).toEqual(['validating', 'failed'])
})

test('a record can be named by a field of the body', async () => {
  const rule = moving({ id: { body: '/parent/page_id' }, batch: 'fail' }, { match: CREATE_PAGE })
  const { emulator, id } = await batchUnder(rule)
  await emulator.post('/pages', { name: 'A', parent: { type: 'page', page_id: id } })
  expect((await retrieve(emulator, id)).status).toBe('failed')
})

const NONE = [{ param: 'nobody' }, { param: '__proto__' }, { query: 'constructor' }, { body: '/a/b' }, 'no']

test.for(NONE)('a record that the request does not name stays unchanged: %o', async (id) => {
  const rule = moving({ id, batch: 'fail', delete: { collection: 'batch_predictions' } })
  const { emulator, id: batch } = await batchUnder(rule)
  expect((await retrieve(emulator, batch)).status).toBe('validating')
})

test('a delete removes a record and its future events', async () => {
  const { emulator, id } = await batchUnder(moving({ delete: { collection: 'batch_predictions' } }))
  expect((await emulator.get(`/batch-predictions/${id}`)).status).toBe(404)
  expect((await emulator.control('GET', '/clock/horizon')).body.data ?? []).toEqual([])
})

test('cursors stay correct when members join and leave between pages', { tags: ['R157'] }, async () => {
  const emulator = await batchEmulator()
  const member = { add: 2, remove: 'user-outsider' }
  await arm(emulator, moving({ at: 'after-handler', member }, { match: LIST_USERS, when: { nth: 1 } }))
  expect(await idsOf(emulator, `${USERS}?limit=2`)).toEqual(['user-owner', 'user-outsider'])
  expect(await idsOf(emulator, `${USERS}?limit=2&after=user-outsider`)).toEqual(['user-member'])
  expect(await idsOf(emulator, USERS)).toHaveLength(4)
  expect(await idsOf(emulator, `${USERS}?before=user-owner`)).toHaveLength(2)
  expect((await emulator.restart()).state('memberships')).toHaveLength(7)
})

test('a change of members of an unknown teamspace changes nothing', async () => {
  const emulator = await batchEmulator()
  await arm(emulator, moving({ id: 'nowhere', member: { add: 1 } }, { match: LIST_USERS }))
  expect(await idsOf(emulator, USERS)).toHaveLength(3)
})

test.for<[what: string, second: object, ids: readonly string[]]>([
  ['inserted unchanged, and only once', {}, ['v-2', 'v-1']],
  ['all left out if one is invalid when the rule fires', { _emulator: { teamspace_id: 'nowhere' } }, []],
])('records with an id are %s', async ([, second, ids]) => {
  const emulator = await batchEmulator()
  await insertViews(emulator, { records: [view('v-1'), view('v-2', second)] })
  for (let n = 0; n < 2; n++) expect(await idsOf(emulator, VIEWS)).toEqual(ids)
})

test('a record without an id and an instant is inserted each time with new ones', async () => {
  const emulator = await batchEmulator()
  const { id: _, created_at: __, ...record } = view('without')
  await insertViews(emulator, { records: [record] })
  expect(await idsOf(emulator, VIEWS)).toHaveLength(1)
  emulator.advance('1m')
  expect(await idsOf(emulator, VIEWS)).toHaveLength(2)
  const instants = emulator.state('data_views').map(({ created_at }) => created_at)
  expect(instants).toEqual(['2026-03-01T12:00:00.000Z', '2026-03-01T12:01:00.000Z'])
})

test('generated rows match the filters of the query', async () => {
  const views = [view('v-1'), view('v-2', { knowledge_id: 'knowledge-2' })]
  const emulator = await batchEmulator({}, { collections: { data_views: views } })
  await insertViews(emulator, { count: 3 })
  expect(await idsOf(emulator, `${VIEWS}?knowledge_id=knowledge-1`)).toHaveLength(4)
})

test('no rows are generated for an empty collection', async () => {
  const emulator = await batchEmulator()
  await insertViews(emulator, { count: 3 })
  expect(await idsOf(emulator, VIEWS)).toEqual([])
})

test('inserted records schedule their events, like records from fixtures', async () => {
  const emulator = await batchEmulator()
  await createBatch(emulator)
  const [batch] = emulator.state('batch_predictions')
  const insert_rows = { collection: 'batch_predictions', records: [{ ...batch, id: 'batch-x' }] }
  await arm(emulator, moving({ insert_rows }))
  const seen = await retrieveAfter(emulator, 'batch-x', '0s', '1h')
  expect(seen.map(({ status }) => status)).toEqual(['validating', 'completed'])
})

test('several moves of one rule apply in order', async () => {
  const moves = [{ state: { batch: { finished: 1 } } }, { state: { batch: 'expire', cleanup: true } }]
  const { emulator, id } = await batchUnder({ match: RETRIEVE, do: moves })
  const batch = await retrieve(emulator, id)
  expect(counts(batch)).toEqual({ total: 3, succeeded: 1, expired: 2 })
  expect(batch).toMatchObject({ status: 'expired', results_url: null })
})

test('a move applies also if the rule then refuses the request', async () => {
  const actions = [{ state: { batch: 'fail' } }, { respond: { status: 503 } }]
  const { emulator, id } = await batchUnder({ match: RETRIEVE, do: actions })
  expect((await emulator.get(`/batch-predictions/${id}`)).status).toBe(503)
  expect(emulator.state('batch_predictions')[0].status).toBe('failed')
})

test('events that are due after a move run before the handler', async () => {
  const { emulator, id } = await batchUnder()
  const pace = { validating: 'immediate', in_progress: 'immediate', finalizing: 'immediate' }
  await arm(emulator, moving({ batch: { pace } }))
  expect((await retrieve(emulator, id)).status).toBe('completed')
})
