import { expect, test } from 'vitest'
import type { ScenarioCommand, ScenarioSnapshot } from '../../src/kernel/scenario/commands.ts'
import { MOST_HOPS } from '../../src/kernel/scenario/hooks.ts'
import { workspaceService } from '../../src/resources/index.ts'
import { cancel, createBatch, retrieve } from '../support/batches.ts'
import { asking, scenarioWorld } from '../support/scenario-world.ts'

test('hooks can stand on every status of a batch and on every type of webhook', () => {
  const names = [...workspaceService.happenings.keys()]
  expect(names).toEqual(expect.arrayContaining(['batch.created', 'batch.in_progress', 'batch.completed']))
  expect(names).toEqual(expect.arrayContaining(workspaceService.notices.map(({ type }) => type)))
  expect(names).toEqual(expect.arrayContaining(['webhook.delivered', 'webhook.failed', 'agent-run.executed']))
})

test('a hook is called with the event and its batch, once each time', async () => {
  const seen: ScenarioSnapshot[] = []
  const see = (snapshot: ScenarioSnapshot) => {
    seen.push(snapshot)
    return []
  }
  const world = await scenarioWorld({
    s: {
      on: {
        'batch.created': see,
        'batch.finalizing': see,
        'batch.completed': see,
        'batch_prediction.completed': see,
      },
    },
  })
  const before = await createBatch(world)
  await world.start('s')
  const { id } = await createBatch(world)
  await world.pass('1h')
  const about = (batch: string) => seen.filter((each) => each.batch === batch).map(({ event }) => event?.name)
  expect(about(before.id)).toEqual(['batch.finalizing', 'batch.completed', 'batch_prediction.completed'])
  expect(about(id)).toEqual([
    'batch.created',
    'batch.finalizing',
    'batch.completed',
    'batch_prediction.completed',
  ])
  const completed = seen.find(({ event, batch }) => event?.name === 'batch.completed' && batch === id)
  const { completed_at } = await retrieve(world, id)
  expect(completed?.event).toEqual({
    name: 'batch.completed',
    at: completed_at,
    ref: `batch_predictions/${id}`,
    from: 'finalizing',
    to: 'completed',
    caused_by: `batch.complete:batch_predictions/${id}`,
  })
  expect(completed?.now).toBe(completed_at)
})

test('time waits for a hook: what it asks for happens at the instant of the event', async () => {
  const cleanup = ({ batch = '' }: ScenarioSnapshot): ScenarioCommand[] => [
    { kind: 'batch', id: batch, move: 'cleanup', body: {} },
  ]
  const world = await scenarioWorld({ s: { on: { 'batch.completed': cleanup } } })
  await world.start('s')
  const { id } = await createBatch(world)
  const { events, parked } = await world.pass('24h')
  expect(parked).toEqual([])
  const call = events.find(({ kind }: { kind: string }) => kind === 'scenario.call')
  const batch = await retrieve(world, id)
  expect([batch.status, batch.results_url]).toEqual(['completed', null])
  expect(call).toMatchObject({
    at: batch.completed_at,
    ref: 'scenario/s/on/batch.completed',
    caused_by: `batch.complete:batch_predictions/${id}`,
  })
})

test('a hook is called for what a request brings about, and its cause is the request', async () => {
  const seen: unknown[] = []
  const world = await scenarioWorld({
    s: {
      pace: { in_progress: 'hold' },
      on: {
        'batch.cancelling': ({ event }) => {
          seen.push(event?.caused_by)
          return []
        },
      },
    },
  })
  await world.start('s')
  const { id } = await createBatch(world)
  const { headers } = await cancel(world, id)
  await world.pass('0s')
  expect(seen).toEqual([headers.get('x-emulator-request-id')])
})

test('a refused request calls no hook', async () => {
  let calls = 0
  const count = () => {
    calls += 1
    return []
  }
  const world = await scenarioWorld({ s: { on: { 'batch.created': count } } })
  await world.start('s')
  expect((await world.post('/batch-predictions', {})).status).toBe(400)
  await world.pass('0s')
  expect(calls).toBe(0)
  await createBatch(world)
  await world.pass('0s')
  expect(calls).toBe(1)
})

test('records that come with a scenario, a snapshot or a reset are no events', async () => {
  let calls = 0
  const count = () => {
    calls += 1
    return []
  }
  const world = await scenarioWorld({ s: { on: { 'batch.created': count, 'batch.completed': count } } })
  await createBatch(world)
  await world.pass('1h')
  await world.control('POST', '/snapshots', { name: 'done' })
  await world.start('s')
  await world.control('POST', '/snapshots/done/restore')
  await world.control('POST', '/reset')
  await world.pass('0s')
  expect(calls).toBe(0)
})

test('a hook that leads to another is called behind it', async () => {
  const order: string[] = []
  const world = await scenarioWorld({
    s: {
      on: {
        'batch.created': ({ batch = '' }) => {
          order.push('created')
          return [{ kind: 'batch', id: batch, move: 'complete', body: {} }]
        },
        'batch.completed': ({ batch = '' }) => {
          order.push('completed')
          return [{ kind: 'batch', id: batch, move: 'cleanup', body: {} }]
        },
      },
    },
  })
  await world.start('s')
  const { id } = await createBatch(world)
  await world.pass('0s')
  expect(order).toEqual(['created', 'completed'])
  expect((await retrieve(world, id)).results_url).toBe(null)
})

test('hooks that call each other without an end are stopped, and told of', async () => {
  const flip = (status: string) => (snapshot: ScenarioSnapshot) => {
    const run = snapshot.state('agent_runs').find(({ id }) => id === 'run-1')
    return [{ kind: 'put', collection: 'agent_runs', record: { ...run, status } } as ScenarioCommand]
  }
  const run = {
    id: 'run-1',
    agent_id: 'a1',
    status: 'dropped',
    queued_at: '2026-03-01T11:00:00.000Z',
    cause: 'manual',
  }
  const agent = { id: 'a1', _emulator: { teamspace_id: 'ts-a' } }
  const world = await scenarioWorld(
    {
      s: {
        timeline: [{ at: '1m', do: flip('executed') }],
        on: { 'agent-run.executed': flip('dropped'), 'agent-run.dropped': flip('executed') },
      },
    },
    { collections: { agents: [agent], agent_runs: [run] } },
  )
  await world.start('s')
  const { parked, events } = await world.pass('1h')
  expect(parked).toHaveLength(1)
  expect(parked[0].error).toContain(`have called each other ${MOST_HOPS} times`)
  expect(events.filter(({ kind }: { kind: string }) => kind === 'scenario.call').length).toBe(MOST_HOPS - 1)
  expect((await world.active()).pending_calls).toBe(0)
})

test('of a hook that throws the event stays, and the next hook is called', async () => {
  const put: ScenarioCommand = {
    kind: 'put',
    collection: 'organizations',
    record: { id: 'org-9', name: 'Ninth' },
  }
  const world = await scenarioWorld({
    s: {
      on: {
        'batch.completed': () => {
          throw new Error('/scenarios/s.ts:9: nothing here')
        },
        'batch_prediction.completed': asking(put),
      },
    },
  })
  await world.start('s')
  const { id } = await createBatch(world)
  const { parked } = await world.pass('1h')
  expect((await retrieve(world, id)).status).toBe('completed')
  expect(parked).toMatchObject([
    { ref: 'scenario/s/on/batch.completed', error: '/scenarios/s.ts:9: nothing here' },
  ])
  expect(world.state('organizations').at(-1)).toMatchObject({ id: 'org-9' })
})
