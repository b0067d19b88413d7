import fc from 'fast-check'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { objectId, uuid } from '../../src/core/random.ts'
import { change, loadDocument } from '../../src/core/sandboxes/change.ts'
import type { Sandbox } from '../../src/core/sandboxes/sandbox.ts'
import { addCall } from '../../src/core/scenarios/hooks.ts'
import { scenarioCalls } from '../../src/core/scenarios/row.ts'
import type { Row } from '../../src/core/state/commit.ts'
import { insertRows } from '../../src/core/state/rows.ts'
import { publish } from '../../src/core/webhooks/delivery.ts'
import { originOf, sandboxFrom } from '../proofs/api/starting-sandbox.ts'
import { callOperation } from '../support/call-operation.ts'
import { interveneBy } from '../support/intervene.ts'
import { batchBody, sampleRecords } from '../support/sample-calls.ts'

const JANUARY = '2026-01-01T00:00:00.000Z'
const {
  messages = [],
  conversations = [],
  agents = [],
  event_triggers = [],
  mcp_servers = [],
} = sampleRecords
const open = { id: 'ts-open', cloud_provider: 'cloud_b', name: 'Open', access: 'open', created_at: JANUARY }
const extra = {
  messages,
  conversations,
  agents,
  // With a shared thread, the first run would change the record of the trigger.
  event_triggers: event_triggers.map((each) => ({ ...each, response_thread: 'create_new_thread_each_time' })),
  mcp_servers,
  files: [{ id: 'file-1', teamspace_id: 'ts-a', name: 'a.pdf', kind: 'pdf', pages: 10 }],
  teamspaces: [{ ...open, _emulator: { organization_id: 'org-1' } }],
  webhooks: [{ id: 'hook', url: 'http://127.0.0.1:9/', created_at: JANUARY }],
}
const origin = await originOf({}, extra)

type Params = Readonly<Record<string, string>>

function calling(sandbox: Sandbox, name: string, body: object, params: Params = {}): void {
  const { status, text } = callOperation(sandbox, name, { body, params })
  expect(status, text).toBe(200)
}

function control(sandbox: Sandbox, path: string, body: object, params: Params = {}): void {
  interveneBy(sandbox, `POST ${path}`, params, body)
}

const agent = { agent_id: 'agent-1' }
const call = { scenario: 'story', ref: { timeline: 0 }, at: JANUARY, event: null, depth: 0 }

/** Everything that creates records with ids from the emulator, and the number of records that it creates. */
const CREATES: readonly (readonly [name: string, made: number, create: (sandbox: Sandbox) => void])[] = [
  ['POST /pages', 1, (sandbox) => calling(sandbox, 'pages.create', { name: 'Mine' })],
  ['POST of a teamspace', 2, (sandbox) => calling(sandbox, 'teamspaces.create', { name: 'New' })],
  [
    'POST /connections',
    1,
    (sandbox) => calling(sandbox, 'connections.create', { connector_id: 'x', connection_provider_id: 'y' }),
  ],
  ['POST of a batch', 1, (sandbox) => calling(sandbox, 'batch-predictions.create', batchBody())],
  ['POST of an automation', 1, (sandbox) => calling(sandbox, 'automations.create', { name: 'Daily' }, agent)],
  [
    'POST of an event trigger',
    1,
    (sandbox) => {
      const response_thread = 'create_new_thread_each_time'
      const body = { trigger_source: 'file_sharing', trigger_event: 'Document:created', response_thread }
      calling(sandbox, 'event-triggers.create', body, agent)
    },
  ],
  ['POST /agents/generate', 1, (sandbox) => calling(sandbox, 'agents.generate', {})],
  [
    'a subscription to webhooks',
    1,
    (sandbox) => control(sandbox, '/webhooks', { url: 'http://127.0.0.1:9/' }),
  ],
  [
    'an OAuth flow',
    1,
    (sandbox) => {
      const body = { server_id: 'server-1', redirect_uri: 'https://app.example/callback' }
      control(sandbox, '/mcp-oauth-flows', body)
    },
  ],
  [
    'a provider event that makes two agents run',
    2,
    (sandbox) => {
      const event = { source: 'google_drive', event: 'Document:created', payload: {} }
      const source = [...sandbox.store.rows('event_triggers').values()][0] as unknown as {
        trigger_source: string
      }
      control(sandbox, '/provider-events', { ...event, source: source.trigger_source })
    },
  ],
  [
    'a member who joins',
    1,
    (sandbox) => {
      const body = { user_id: 'user-member', role: 'member' }
      control(sandbox, '/teamspaces/{teamspace_id}/join', body, { teamspace_id: 'ts-open' })
    },
  ],
  [
    'a fault that adds members',
    4,
    (sandbox) =>
      void change(sandbox, (scope) =>
        sandbox.service.recordFaults.get('member')?.apply(scope, 'ts-open', { add: 2 }),
      ),
  ],
  [
    'a fault that inserts messages',
    2,
    (sandbox) => {
      const record = { _emulator: { conversation_id: 'conversation-1', kind: 'agent' } }
      const rows = { collection: 'messages', records: [record, record] }
      change(sandbox, (scope) => insertRows(scope, sandbox.service, undefined, rows))
    },
  ],
  [
    'the delivery of a webhook',
    1,
    (sandbox) => {
      const told = {
        type: 'batch.completed',
        ref: 'batch_predictions/x',
        schema: z.unknown,
        body: () => ({}),
      }
      change(sandbox, (scope) => publish(scope, told))
    },
  ],
  [
    'a call of a scenario',
    1,
    (sandbox) => void change(sandbox, ({ tx }) => addCall(tx, { ...call, caused_by: 'x' })),
  ],
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

function madeBy(create: (sandbox: Sandbox) => void, sandbox: Sandbox) {
  const before = rowsOf(sandbox)
  create(sandbox)
  return [...rowsOf(sandbox)].filter(([name]) => !before.has(name))
}

/** Three of the next ids of the same kind as the id of this record. */
function idsAhead({ store }: Sandbox, { id }: Row): string[] {
  const { ids, uuids, events } = store.get('$sandbox', 'counters') as unknown as Record<string, number>
  return [1, 2, 4].map((places) => {
    if (id.includes('#')) return id.replace(/#.*$/, `#${Number(events) + places}`)
    return id.includes('-') ? uuid(1, Number(uuids) + places) : objectId(1, Number(ids) + places)
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
    const made = madeBy(create, sandbox)
    expect(made).toHaveLength(count)
    const after = rowsOf(sandbox)
    for (const [name, row] of before) expect([name, after.get(name) === row]).toEqual([name, true])
  },
)

const number = fc.integer({ min: 0, max: 40 })
const numbers = fc.uniqueArray(number, { maxLength: 30 })
const script = fc.array(fc.nat({ max: CREATES.length - 1 }), { minLength: 1, maxLength: 25 })
const documents = fc.record({
  ids: number,
  uuids: number,
  events: number,
  pages: numbers,
  webhooks: numbers,
  messages: numbers,
  calls: numbers,
})

test('D9 each create makes a new record, always the same one, whatever ids a document has near its counters', () => {
  const property = fc.property(documents, script, ({ ids, uuids, events, ...taken }, steps) => {
    const document = sandboxFrom(origin).document()
    const { collections, counters } = document
    const page = { name: 'Ahead', teamspace_id: 'ts-a', scope: 'teamspace', created_at: JANUARY }
    const hook = { url: 'http://127.0.0.1:9/', created_at: JANUARY }
    const message = { _emulator: { conversation_id: 'conversation-1', kind: 'agent' } }
    const edited = {
      ...document,
      counters: { ...counters, ids, uuids, events },
      collections: {
        ...collections,
        pages: taken.pages.map((n) => ({ ...page, id: objectId(1, n) })),
        webhooks: [
          ...(collections.webhooks ?? []),
          ...taken.webhooks.map((n) => ({ ...hook, id: objectId(1, n) })),
        ],
        messages: [
          ...(collections.messages ?? []),
          ...taken.messages.map((n) => ({ ...message, id: uuid(1, n) })),
        ],
      },
      scenario_calls: taken.calls.map((n) => ({ ...call, caused_by: 'x', id: `scenario/story/0#${n}` })),
    }
    const run = (): string[] => {
      const sandbox = sandboxFrom(origin)
      loadDocument(sandbox, edited)
      return steps.flatMap((step) => {
        const [, , create] = CREATES[step] as (typeof CREATES)[number]
        const before = rowsOf(sandbox)
        create(sandbox)
        const after = rowsOf(sandbox)
        for (const [name, row] of before) if (after.get(name) !== row) throw new Error(`${name} has changed`)
        return [...after.keys()].filter((name) => !before.has(name))
      })
    }
    const made = run()
    expect(made.length).toBeGreaterThan(0)
    expect(new Set(made).size).toBe(made.length)
    expect(run()).toEqual(made)
  })
  fc.assert(property, { numRuns: 60 })
})

test('D9 a new claim token or OAuth state never equals one of an existing record', () => {
  const template = CREATES.find(([name]) => name === 'POST /agents/generate')?.[2] ?? (() => {})
  const flow = CREATES.find(([name]) => name === 'an OAuth flow')?.[2] ?? (() => {})
  const first = sandboxFrom(origin)
  const samples = [...madeBy(template, first), ...madeBy(flow, first)].map(
    ([name, row]) => [name.split(' ')[0] ?? '', row] as const,
  )
  const second = sandboxFrom(origin)
  change(second, ({ tx }) => {
    for (const [table, row] of samples) tx.put(table, { ...row, id: `other-${row.id}` })
  })
  template(second)
  flow(second)
  for (const [table, member] of [
    ['agent_templates', 'claim_token'],
    ['oauth_flows', 'state'],
  ] as const) {
    const rows = [...second.store.rows(table).values()] as unknown as Record<string, string>[]
    expect(rows).toHaveLength(2)
    expect(new Set(rows.map((row) => row[member])).size).toBe(2)
  }
})
