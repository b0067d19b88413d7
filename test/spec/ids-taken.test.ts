import { expect, test } from 'vitest'
import * as z from 'zod'
import type { Scope } from '../../src/core/operation.ts'
import { objectId, uuid } from '../../src/core/random.ts'
import { change } from '../../src/core/sandboxes/change.ts'
import type { Sandbox } from '../../src/core/sandboxes/sandbox.ts'
import { addCall } from '../../src/core/scenarios/hooks.ts'
import { scenarioCalls } from '../../src/core/scenarios/row.ts'
import type { Service } from '../../src/core/service.ts'
import type { Row } from '../../src/core/state/commit.ts'
import { mergeFixtures } from '../../src/core/state/merge-fixtures.ts'
import { insertRows } from '../../src/core/state/rows.ts'
import { publish } from '../../src/core/webhooks/delivery.ts'
import { originOf, sandboxFrom } from '../proofs/api/starting-sandbox.ts'
import { baseCollections } from '../support/base-state.ts'
import { callOperation } from '../support/call-operation.ts'
import { type TestEmulator, testEmulator } from '../support/emulator.ts'
import { interveneBy } from '../support/intervene.ts'
import { batchBody, sampleRecords } from '../support/sample-calls.ts'

const SEED = 1
const JANUARY = '2026-01-01T00:00:00.000Z'
const open = { id: 'ts-open', cloud_provider: 'cloud_b', name: 'Open', access: 'open', created_at: JANUARY }
// With a shared thread, the first run would change the record of the trigger.
const unshared = { response_thread: 'create_new_thread_each_time' }
const used = ['messages', 'conversations', 'agents', 'mcp_servers', 'files'] as const
const origin = await originOf(
  {},
  {
    ...Object.fromEntries(used.map((name) => [name, sampleRecords[name] ?? []])),
    event_triggers: (sampleRecords.event_triggers ?? []).map((each) => ({ ...each, ...unshared })),
    teamspaces: [{ ...open, _emulator: { organization_id: 'org-1' } }],
    webhooks: [{ id: 'hook', url: 'http://127.0.0.1:9/', created_at: JANUARY }],
  },
)

type Create = (sandbox: Sandbox) => void
type Params = Readonly<Record<string, string>>

const calling = (name: string, body: object, params: Params = {}): Create => {
  return (sandbox) => {
    const { status, text } = callOperation(sandbox, name, { body, params })
    expect(status, text).toBe(200)
  }
}

const control = (path: string, body: object, params: Params = {}): Create => {
  return (sandbox) => void interveneBy(sandbox, `POST ${path}`, params, body)
}

const under = (work: (scope: Scope, service: Service) => unknown): Create => {
  return (sandbox) => void change(sandbox, (scope) => work(scope, sandbox.service))
}

const agent = { agent_id: 'agent-1' }
const connector = { connector_id: 'x', connection_provider_id: 'y' }
const trigger = { trigger_source: 'file_sharing', trigger_event: 'Document:created', ...unshared }
const oauth = { server_id: 'server-1', redirect_uri: 'https://app.example/callback' }
const happened = { source: 'file_sharing', event: 'Document:created', payload: {} }
const member = { user_id: 'user-member', role: 'member' }
const message = { _emulator: { conversation_id: 'conversation-1', kind: 'agent' } }
const rows = { collection: 'messages', records: [message, message] }
const told = { type: 'batch.completed', ref: 'batch_predictions/x', schema: z.unknown, body: () => ({}) }
const call = { scenario: 'story', ref: { timeline: 0 }, at: JANUARY, event: null, depth: 0, caused_by: 'x' }

const addMembers = (scope: Scope, { recordFaults }: Service) =>
  recordFaults.get('member')?.apply(scope, 'ts-open', { add: 2 })

const generate = calling('agents.generate', {})
const flow = control('/mcp-oauth-flows', oauth)

/** Everything that creates records with ids from the emulator, and the number of records that it creates. */
const CREATES: readonly (readonly [name: string, made: number, create: Create])[] = [
  ['POST /pages', 1, calling('pages.create', { name: 'Mine' })],
  ['POST of a teamspace', 2, calling('teamspaces.create', { name: 'New' })],
  ['POST /connections', 1, calling('connections.create', connector)],
  ['POST of a batch', 1, calling('batch-predictions.create', batchBody())],
  ['POST of an automation', 1, calling('automations.create', { name: 'Daily' }, agent)],
  ['POST of an event trigger', 1, calling('event-triggers.create', trigger, agent)],
  ['POST /agents/generate', 1, generate],
  ['a subscription to webhooks', 1, control('/webhooks', { url: 'http://127.0.0.1:9/' })],
  ['an OAuth flow', 1, flow],
  ['a provider event that makes two agents run', 2, control('/provider-events', happened)],
  ['a member who joins', 1, control('/teamspaces/{teamspace_id}/join', member, { teamspace_id: 'ts-open' })],
  ['a fault that adds members', 4, under(addMembers)],
  [
    'a fault that inserts messages',
    2,
    under((scope, service) => insertRows(scope, service, undefined, rows)),
  ],
  ['the delivery of a webhook', 1, under((scope) => publish(scope, told))],
  ['a call of a scenario', 1, under(({ tx }) => addCall(tx, call))],
]

/** Every record that can have an id from the emulator, by table and id. */
function rowsOf({ store, service }: Sandbox): ReadonlyMap<string, Row> {
  const tables = [...service.collections.keys(), scenarioCalls.name]
  return new Map(
    tables.flatMap((name) =>
      [...store.rows(name).values()].map((row) => [`${name} ${row.id}`, row] as const),
    ),
  )
}

function madeBy(create: Create, sandbox: Sandbox) {
  const before = rowsOf(sandbox)
  create(sandbox)
  return [...rowsOf(sandbox)].filter(([name]) => !before.has(name))
}

/** Three of the next ids of the same kind as the id of this record. */
function idsAhead({ store }: Sandbox, { id }: Row): string[] {
  const { ids, uuids, events } = store.get('$sandbox', 'counters') as unknown as Record<string, number>
  return [1, 2, 4].map((places) => {
    if (id.includes('#')) return id.replace(/#.*$/, `#${Number(events) + places}`)
    return id.includes('-') ? uuid(SEED, Number(uuids) + places) : objectId(SEED, Number(ids) + places)
  })
}

test.for(CREATES)(
  'D9 %s creates %i new, and does not change records that have the next ids',
  ([, count, create]) => {
    const samples = madeBy(create, sandboxFrom(origin))
    expect(samples).toHaveLength(count)
    const sandbox = sandboxFrom(origin)
    change(sandbox, ({ tx }) => {
      for (const [name, row] of samples) {
        const [table = ''] = name.split(' ')
        // Where only one member or token can exist, these copies are removed ones.
        const others = 'removed_at' in row ? { removed_at: JANUARY } : {}
        for (const id of idsAhead(sandbox, row)) tx.put(table, { ...row, ...others, id } as Row)
      }
    })
    const before = rowsOf(sandbox)
    expect(madeBy(create, sandbox)).toHaveLength(count)
    const after = rowsOf(sandbox)
    for (const [name, row] of before) expect([name, after.get(name) === row]).toEqual([name, true])
  },
)

test.for([
  ['claim token', generate, 'agent_templates', 'claim_token'],
  ['OAuth state', flow, 'oauth_flows', 'state'],
] as const)('D9 a new %s never equals one of an existing record', ([, create, table, field]) => {
  const sample = madeBy(create, sandboxFrom(origin))
  const sandbox = sandboxFrom(origin)
  change(sandbox, ({ tx }) => {
    for (const [, row] of sample) tx.put(table, { ...row, id: `other-${row.id}` })
  })
  create(sandbox)
  const found = [...sandbox.store.rows(table).values()] as unknown as Record<string, string>[]
  expect([found.length, new Set(found.map((row) => row[field])).size]).toEqual([2, 2])
})

const page = { name: 'Ahead', teamspace_id: 'ts-a', scope: 'teamspace', created_at: JANUARY }

const post = async (emulator: Pick<TestEmulator, 'post'>): Promise<string> =>
  (await emulator.post('/pages', { name: 'Mine' })).body.id

test('D9 generated and created records skip the ids of given records', async () => {
  const pages = [1, 2, 4, 8].map((n) => ({ ...page, id: objectId(SEED, n) }))
  const fixtures = { collections: { ...baseCollections, pages }, generate: { pages: 3 } } as never
  const emulator = await testEmulator({ fixtures } as never)
  const ids = emulator.state('pages').map(({ id }) => id)
  expect(ids).toEqual([1, 2, 4, 8, 3, 5, 6].map((n) => objectId(SEED, n)))
  expect(await post(emulator)).toBe(objectId(SEED, 7))
})

test('D9 of two simultaneous merges with generated records one is a conflict, and no record is lost', async () => {
  const { sandbox, ...emulator } = await testEmulator()
  const merge = () => mergeFixtures(sandbox, { collections: {}, generate: { pages: 5 } })
  const ends = await Promise.allSettled([merge(), merge()])
  const [merged, refused] = ends.toSorted((a, b) => a.status.localeCompare(b.status))
  expect(merged).toEqual({ status: 'fulfilled', value: { pages: 5 } })
  expect(refused).toMatchObject({ status: 'rejected', reason: { code: 'conflict' } })
  expect(emulator.state('pages')).toHaveLength(5)
})

test('a record that is deleted while others are generated stays deleted', async () => {
  const { sandbox, ...emulator } = await testEmulator()
  const id = await post(emulator)
  const merging = mergeFixtures(sandbox, { collections: {}, generate: { pages: 1 } })
  change(sandbox, ({ tx }) => tx.delete('pages', id))
  expect(await merging).toEqual({ pages: 1 })
  expect(emulator.state('pages').map((page) => page.id)).not.toContain(id)
})
