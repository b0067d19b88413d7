import { expect, test } from 'vitest'
import { batchWorld, bring, counts, createBatch, retrieve } from '../support/batches.ts'
import { arm, moving, RETRIEVE, refused } from '../support/state-faults.ts'
import type { TestWorld } from '../support/world.ts'

const VIEWS = '/data-views'
const USERS = '/organization/teamspaces/ts-a/users'

function view(id: string, changes: object = {}) {
  return {
    id,
    dataset_name: `set_${id}`,
    knowledge_id: 'knowledge-1',
    service_account_id: 'account-1',
    created_at: '2026-01-01T00:00:00.000Z',
    _emulator: { teamspace_id: 'ts-a' },
    ...changes,
  }
}

async function idsOf(world: TestWorld, path: string): Promise<string[]> {
  const { status, body } = await world.get(path)
  expect(status).toBe(200)
  return body.data.map(({ id }: { id: string }) => id)
}

test.for([{ cleanup: true }, { batch: 'cleanup' }])('results are gone: %o', async (state) => {
  const world = await batchWorld()
  const { id } = await createBatch(world)
  await bring(world, id, 'completed')
  await arm(world, moving(state))
  expect((await retrieve(world, id)).results_url).toBeNull()
  expect((await world.get(`/batch-predictions/${id}/results`)).status).toBe(410)
})

test('cleanup waits for a batch to be terminal, and can be told not to happen', async () => {
  const world = await batchWorld()
  const { id } = await createBatch(world)
  await arm(world, {
    match: RETRIEVE,
    when: { sequence: ['yes', 'no', 'yes'] },
    actions: { yes: [{ state: { cleanup: true } }], no: [{ state: { cleanup: false } }] },
  })
  const seen = []
  for (const by of ['0s', '1h', '0s']) {
    world.advance(by)
    const batch = await retrieve(world, id)
    seen.push([batch.status, batch.results_url === null])
  }
  expect(seen).toEqual([
    ['validating', true],
    ['completed', false],
    ['completed', true],
  ])
})

test('U023 a record that is not to be seen yet is not found, in the words of an unknown id', async () => {
  const world = await batchWorld()
  const { id } = await createBatch(world)
  await arm(world, { ...moving({ visible_after_reads: 2 }), when: { by: 'resource_id' } })
  const wording = ({ status, body }: { status: number; body: object }) => [
    status,
    JSON.stringify(body).replaceAll('nobody', id),
  ]
  const unknown = wording(await world.get('/batch-predictions/nobody'))
  const seen = []
  for (let n = 0; n < 3; n++) seen.push(await world.get(`/batch-predictions/${id}`))
  expect(seen.map(({ status }) => status)).toEqual([404, 404, 200])
  expect(wording(seen[0] as never)).toEqual(unknown)
})

test('what is not to be seen yet is there for everybody else, and is not polled meanwhile', async () => {
  const world = await batchWorld({ 'batch.pace': { validating: { polls: 1 } } })
  const { id } = await createBatch(world)
  const match = { ...RETRIEVE, headers: { 'x-replica': 'late' } }
  await arm(world, moving({ visible_after_reads: 1 }, { match }))
  const late = { headers: { 'x-replica': 'late' } }
  expect((await world.get(`/batch-predictions/${id}`, late)).status).toBe(404)
  expect(world.state('batch_predictions')[0].status).toBe('validating')
  expect((await retrieve(world, id)).status).toBe('in_progress')
})

test.for([
  ['a literal id', (id: string) => id],
  ['a parameter of the path', () => ({ param: 'batch_prediction_id' })],
  ['a parameter of the query', () => ({ query: 'about' })],
  ['the newest batch', () => 'latest'],
] as const)('a record can be named by %s', async ([, refTo]) => {
  const world = await batchWorld()
  await createBatch(world)
  const { id } = await createBatch(world)
  await arm(world, moving({ id: refTo(id), batch: 'fail' }, { match: { method: 'POST', path: '**/cancel' } }))
  await world.post(`/batch-predictions/${id}/cancel?about=${id}`)
  const statuses = world.state('batch_predictions').map(({ status }) => status)
  expect(statuses).toEqual(['validating', 'failed'])
})

test('a record can be named by a member of the body', async () => {
  const world = await batchWorld()
  const { id } = await createBatch(world)
  const match = { operation: 'pages.create' }
  await arm(world, moving({ id: { body: '/parent/page_id' }, batch: 'fail' }, { match }))
  await world.post('/pages', { name: 'A', parent: { type: 'page', page_id: id } })
  expect((await retrieve(world, id)).status).toBe('failed')
})

test.for([{ param: 'nobody' }, { param: '__proto__' }, { query: 'constructor' }, { body: '/a/b' }, 'nobody'])(
  'a record that the request does not name is left alone: %o',
  async (id) => {
    const world = await batchWorld()
    const { id: batch } = await createBatch(world)
    await arm(world, moving({ id, batch: 'fail', delete: { collection: 'batch_predictions' } }))
    expect((await retrieve(world, batch)).status).toBe('validating')
  },
)

test('a deleted record is gone, with the events ahead of it', async () => {
  const world = await batchWorld()
  const { id } = await createBatch(world)
  await arm(world, moving({ delete: { collection: 'batch_predictions' } }))
  expect((await world.get(`/batch-predictions/${id}`)).status).toBe(404)
  expect((await world.control('GET', '/clock/horizon')).body.data ?? []).toEqual([])
})

test('R157 the user of a cursor is deleted, and with it what cannot be without it', async () => {
  const world = await batchWorld()
  const [first = ''] = await idsOf(world, `${USERS}?limit=1`)
  const [second = ''] = await idsOf(world, `${USERS}?limit=1&after=${first}`)
  const gone = { collection: 'users', id: { query: 'after' } }
  await arm(world, moving({ delete: gone }, { match: { operation: 'teamspace-users.list' } }))
  expect((await world.get(`${USERS}?limit=1&after=${second}`)).status).toBe(400)
  expect(world.state('memberships').map(({ user_id }) => user_id)).not.toContain(second)
  const again = await world.restart()
  expect(again.state('users').map(({ id }) => id)).not.toContain(second)
})

test('R157 members who come and go between two pages leave the walk by cursors right', async () => {
  const world = await batchWorld()
  const match = { operation: 'teamspace-users.list' }
  const member = { add: 2, remove: 'user-outsider' }
  await arm(world, moving({ at: 'after-handler', member }, { match, when: { nth: 1 } }))
  expect(await idsOf(world, `${USERS}?limit=2`)).toEqual(['user-owner', 'user-outsider'])
  expect(await idsOf(world, `${USERS}?limit=2&after=user-outsider`)).toEqual(['user-member'])
  expect(await idsOf(world, USERS)).toHaveLength(4)
  expect(await idsOf(world, `${USERS}?before=user-owner`)).toHaveLength(2)
  expect((await world.restart()).state('memberships')).toHaveLength(7)
})

test.for([{ add: 0 }, { add: 101 }, { remove: '' }, {}, { ad: 1 }])(
  'a change of members that there is not is refused: %o',
  async (member) => {
    expect(await refused(await batchWorld(), { member })).toHaveLength(1)
  },
)

test('a change of members of what is no teamspace changes nobody', async () => {
  const world = await batchWorld()
  await arm(world, moving({ id: 'nowhere', member: { add: 1 } }, { match: { path: '/v1/organization/**' } }))
  expect(await idsOf(world, USERS)).toHaveLength(3)
})

test('records are inserted as they are given, once', async () => {
  const world = await batchWorld()
  const records = [view('v-1'), view('v-2')]
  await arm(
    world,
    moving({ insert_rows: { collection: 'data_views', records } }, { match: { path: '/v1/data-views' } }),
  )
  expect(await idsOf(world, VIEWS)).toEqual(['v-2', 'v-1'])
  expect(await idsOf(world, VIEWS)).toEqual(['v-2', 'v-1'])
})

test('a record without an id or an instant is given one each time', async () => {
  const world = await batchWorld()
  const { id: _, created_at: __, ...record } = view('')
  await arm(
    world,
    moving(
      { insert_rows: { collection: 'data_views', records: [record] } },
      { match: { path: '/v1/data-views' } },
    ),
  )
  expect(await idsOf(world, VIEWS)).toHaveLength(1)
  world.advance('1m')
  expect(await idsOf(world, VIEWS)).toHaveLength(2)
  const instants = world.state('data_views').map(({ created_at }) => created_at)
  expect(instants).toEqual(['2026-03-01T12:00:00.000Z', '2026-03-01T12:01:00.000Z'])
})

test('rows that are made up between two pages shift the second', async () => {
  const views = [1, 2, 3, 4].map((n) => view(`v-${n}`, { created_at: `2026-01-0${n}T00:00:00.000Z` }))
  const elsewhere = view('x', { _emulator: { teamspace_id: 'ts-b' } })
  const world = await batchWorld({}, { collections: { data_views: [...views, elsewhere] } })
  await arm(
    world,
    moving(
      { at: 'after-handler', insert_rows: { collection: 'data_views', count: 1 } },
      { match: { operation: 'data-views.list' }, when: { nth: 1 } },
    ),
  )
  expect(await idsOf(world, `${VIEWS}?limit=2&offset=0`)).toEqual(['v-4', 'v-3'])
  expect(await idsOf(world, `${VIEWS}?limit=2&offset=2`)).toEqual(['v-3', 'v-2'])
})

test('R170 a row of consumption that is made up between two pages shifts the second', async () => {
  const rows = [1, 2, 3].map((n) => ({
    id: `row-${n}`,
    credits: n,
    created_at: `2026-02-0${n}T00:00:00.000Z`,
    action: 'converse',
    organization: 'Harbor Works',
    resource: 'agent-1',
    resource_type: 'agent',
    credit_source: 'plan',
    _emulator: { organization_id: 'org-1', teamspace_id: null },
  }))
  const world = await batchWorld({}, { collections: { consumption_rows: rows } })
  const match = { operation: 'consumption.list' }
  const state = { at: 'after-handler', insert_rows: { collection: 'consumption_rows', count: 1 } }
  await arm(world, moving(state, { match, when: { nth: 1 } }))
  const report =
    '/organization/reports/consumption-breakdown?start_date=2026-02-01&end_date=2026-03-01&limit=1'
  const first = (await world.get(report)).body
  const second = (await world.get(`${report}&after=${first.last_id}`)).body
  expect([first.data[0].credits, second.data[0].credits]).toEqual([3, 3])
})

test('made-up rows are those that the query asks for', async () => {
  const views = [view('v-1'), view('v-2', { knowledge_id: 'knowledge-2' })]
  const world = await batchWorld({}, { collections: { data_views: views } })
  await arm(
    world,
    moving({ insert_rows: { collection: 'data_views', count: 3 } }, { match: { path: '/v1/data-views' } }),
  )
  expect(await idsOf(world, `${VIEWS}?knowledge_id=knowledge-1`)).toHaveLength(4)
})

test('of an empty collection nothing can be made up', async () => {
  const world = await batchWorld()
  await arm(
    world,
    moving({ insert_rows: { collection: 'data_views', count: 3 } }, { match: { path: '/v1/data-views' } }),
  )
  expect(await idsOf(world, VIEWS)).toEqual([])
})

test('records that do not fit the world when the rule fires are left out together', async () => {
  const world = await batchWorld()
  const records = [view('v-1'), view('v-2', { _emulator: { teamspace_id: 'nowhere' } })]
  await arm(
    world,
    moving({ insert_rows: { collection: 'data_views', records } }, { match: { path: '/v1/data-views' } }),
  )
  expect(await idsOf(world, VIEWS)).toEqual([])
})

test('inserted records call for their events as others from outside the API do', async () => {
  const world = await batchWorld()
  const batch = {
    id: 'batch-x',
    status: 'validating',
    model: 'm',
    created_at: '2026-03-01T12:00:00.000Z',
    _emulator: {
      teamspace_id: 'ts-a',
      organization_id: 'org-1',
      request: {
        prompt: 'p',
        output_schema: { type: 'object' },
        items: [{ custom_id: 'a', file_id: 'file-pdf' }],
      },
    },
  }
  await arm(world, moving({ insert_rows: { collection: 'batch_predictions', records: [batch] } }))
  expect((await retrieve(world, 'batch-x')).status).toBe('validating')
  world.advance('1h')
  expect((await retrieve(world, 'batch-x')).status).toBe('completed')
})

test('several moves of one rule happen in order', async () => {
  const world = await batchWorld()
  const { id } = await createBatch(world)
  await arm(world, {
    match: RETRIEVE,
    do: [{ state: { batch: { finished: 1 } } }, { state: { batch: 'expire', cleanup: true } }],
  })
  const batch = await retrieve(world, id)
  expect([batch.status, counts(batch), batch.results_url]).toEqual([
    'expired',
    { total: 3, succeeded: 1, expired: 2 },
    null,
  ])
})

test('a move happens although the request is refused behind it', async () => {
  const world = await batchWorld()
  const { id } = await createBatch(world)
  await arm(world, { match: RETRIEVE, do: [{ state: { batch: 'fail' } }, { respond: { status: 503 } }] })
  expect((await world.get(`/batch-predictions/${id}`)).status).toBe(503)
  expect(world.state('batch_predictions')[0].status).toBe('failed')
})

test('what is due because of a move has happened before the handler looks', async () => {
  const world = await batchWorld()
  const { id } = await createBatch(world)
  const pace = { validating: 'immediate', in_progress: 'immediate', finalizing: 'immediate' }
  await arm(world, moving({ batch: { pace } }))
  expect((await retrieve(world, id)).status).toBe('completed')
})

test('a rule that matches what is no batch moves none', async () => {
  const world = await batchWorld()
  const { id } = await createBatch(world)
  await arm(world, moving({ at: 'after-handler', batch: 'fail' }, { match: { operation: 'pages.create' } }))
  expect((await world.post('/pages', { name: 'A' })).status).toBe(200)
  expect((await retrieve(world, id)).status).toBe('validating')
})

test('records that a collection does not take are refused when the rule is written', async () => {
  const world = await batchWorld()
  const records = [view('v-1'), view('v-2', { colour: 'red' })]
  expect(await refused(world, { insert_rows: { collection: 'data_views', records } })).toEqual([
    ['/do/0/state/insert_rows/records/1/colour', expect.stringMatching(/not a known member/)],
  ])
  expect(await refused(world, { insert_rows: { collection: 'api_keys', count: 1 } })).toEqual([
    ['/do/0/state/insert_rows/count', expect.stringMatching(/whose token nobody can make up; give records/)],
  ])
})

test('the trace of a request tells what faults have moved on its behalf', async () => {
  const world = await batchWorld()
  const { id } = await createBatch(world)
  await arm(world, moving({ batch: 'fail' }))
  const { headers } = await world.get(`/batch-predictions/${id}`)
  const trace = (await world.control('GET', `/explain/${headers.get('x-emulator-request-id')}`)).body
  expect(trace.changes.map(({ step, ref }: Record<string, string>) => [step, ref])).toEqual([
    ['interfere', `batch_predictions/${id}`],
  ])
})
