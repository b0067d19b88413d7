import { expect, test } from 'vitest'
import { MAX_HOPS } from '../../src/core/scenarios/hooks.ts'
import type { ScenarioCommand, ScenarioSnapshot } from '../../src/core/scenarios/source.ts'
import { workspaceService } from '../../src/service.ts'
import { cancel, createBatch, retrieve } from '../support/batches.ts'
import type { TestScenario } from '../support/memory-scenarios.ts'
import { asking, scenarioEmulator } from '../support/scenario-emulator.ts'

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
  const emulator = await scenarioEmulator({
    s: {
      on: {
        'batch.created': see,
        'batch.finalizing': see,
        'batch.completed': see,
        'batch_prediction.completed': see,
      },
    },
  })
  const before = await createBatch(emulator)
  await emulator.start('s')
  const { id } = await createBatch(emulator)
  await emulator.pass('1h')
  const about = (batch: string) =>
    seen.filter((each) => each.record === batch).map(({ event }) => event?.name)
  expect(about(before.id)).toEqual(['batch.finalizing', 'batch.completed', 'batch_prediction.completed'])
  expect(about(id)).toEqual([
    'batch.created',
    'batch.finalizing',
    'batch.completed',
    'batch_prediction.completed',
  ])
  const completed = seen.find(({ event, record }) => event?.name === 'batch.completed' && record === id)
  const { completed_at } = await retrieve(emulator, id)
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
  const cleanup = ({ record = '' }: ScenarioSnapshot): ScenarioCommand[] => [
    { kind: 'move', id: record, move: 'cleanup', body: {} },
  ]
  const emulator = await scenarioEmulator({ s: { on: { 'batch.completed': cleanup } } })
  await emulator.start('s')
  const { id } = await createBatch(emulator)
  const { events, failed } = await emulator.pass('24h')
  expect(failed).toEqual([])
  const call = events.find(({ kind }: { kind: string }) => kind === 'scenario.call')
  const batch = await retrieve(emulator, id)
  expect([batch.status, batch.results_url]).toEqual(['completed', null])
  expect(call).toMatchObject({
    at: batch.completed_at,
    ref: 'scenario/s/on/batch.completed',
    caused_by: `batch.complete:batch_predictions/${id}`,
  })
})

test('a hook is called for what a request brings about, and its cause is the request', async () => {
  const seen: unknown[] = []
  const emulator = await scenarioEmulator({
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
  await emulator.start('s')
  const { id } = await createBatch(emulator)
  const { headers } = await cancel(emulator, id)
  await emulator.pass('0s')
  expect(seen).toEqual([headers.get('x-emulator-request-id')])
})

test('a refused request calls no hook', async () => {
  let calls = 0
  const count = () => {
    calls += 1
    return []
  }
  const emulator = await scenarioEmulator({ s: { on: { 'batch.created': count } } })
  await emulator.start('s')
  expect((await emulator.post('/batch-predictions', {})).status).toBe(400)
  await emulator.pass('0s')
  expect(calls).toBe(0)
  await createBatch(emulator)
  await emulator.pass('0s')
  expect(calls).toBe(1)
})

test('records that come with a scenario, a snapshot or a reset are no events', async () => {
  let calls = 0
  const count = () => {
    calls += 1
    return []
  }
  const emulator = await scenarioEmulator({ s: { on: { 'batch.created': count, 'batch.completed': count } } })
  await createBatch(emulator)
  await emulator.pass('1h')
  await emulator.control('POST', '/snapshots', { name: 'done' })
  await emulator.start('s')
  await emulator.control('POST', '/snapshots/done/restore')
  await emulator.control('POST', '/reset')
  await emulator.pass('0s')
  expect(calls).toBe(0)
})

test('a hook that leads to another is called behind it', async () => {
  const order: string[] = []
  const emulator = await scenarioEmulator({
    s: {
      on: {
        'batch.created': ({ record = '' }) => {
          order.push('created')
          return [{ kind: 'move', id: record, move: 'complete', body: {} }]
        },
        'batch.completed': ({ record = '' }) => {
          order.push('completed')
          return [{ kind: 'move', id: record, move: 'cleanup', body: {} }]
        },
      },
    },
  })
  await emulator.start('s')
  const { id } = await createBatch(emulator)
  await emulator.pass('0s')
  expect(order).toEqual(['created', 'completed'])
  expect((await retrieve(emulator, id)).results_url).toBe(null)
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
  const emulator = await scenarioEmulator(
    {
      s: {
        timeline: [{ at: '1m', do: flip('executed') }],
        on: { 'agent-run.executed': flip('dropped'), 'agent-run.dropped': flip('executed') },
      },
    },
    { collections: { agents: [agent], agent_runs: [run] } },
  )
  await emulator.start('s')
  const { failed, events } = await emulator.pass('1h')
  expect(failed).toMatchObject([{ ref: 'scenario/s/on/agent-run.dropped' }])
  expect(failed[0].error).toContain(`Hooks have led to hooks ${MAX_HOPS} times`)
  expect(failed[0].error).toContain('so the hook on agent-run.dropped is not called again')
  expect(events.filter(({ kind }: { kind: string }) => kind === 'scenario.call').length).toBe(MAX_HOPS)
  expect((await emulator.active()).pending_calls).toBe(0)
})

/** A hook that queues another run whenever one has been executed: each waits as long as the setting says. */
function queueing(calls: { count: number }, queueTime: string): TestScenario {
  return {
    settings: { 'agent_runs.queue_time': queueTime },
    timeline: [{ at: '1m', do: () => [queued('run-0')] }],
    on: {
      'agent-run.executed': ({ now }: ScenarioSnapshot) => {
        calls.count += 1
        return [queued(`run-${calls.count}`, now)]
      },
    },
  }
}

function queued(id: string, queued_at = '2026-03-01T12:01:00.000Z'): ScenarioCommand {
  const record = { id, agent_id: 'a1', status: 'queued', queued_at, cause: 'manual' }
  return { kind: 'put', collection: 'agent_runs', record }
}

const agents = [{ id: 'a1', _emulator: { teamspace_id: 'ts-a' } }]

test.for([0, 1])(
  'hooks that lead to each other by way of events end as well, at rate %d, with the hook, the limit and the way out in the log',
  async (rate) => {
    const calls = { count: 0 }
    const host = { now: Date.parse('2026-03-01T12:00:00.000Z') }
    const warnings: string[] = []
    const logger = { info: () => {}, warn: (text: string) => void warnings.push(text), error: () => {} }
    const emulator = await scenarioEmulator(
      { s: queueing(calls, '0s') },
      { rate, collections: { agents }, hostTime: () => host.now, logger },
    )
    await emulator.start('s')
    if (rate === 0) await emulator.pass('1h')
    else {
      host.now += 60_000
      // A running clock goes on while functions are called, so that no two of them are called at one instant.
      while ((await emulator.active()).last_error === null) host.now += 7
    }
    // The step of the timeline is the first call of the chain.
    expect(calls.count).toBe(MAX_HOPS - 1)
    const { last_error, pending_calls } = await emulator.active()
    expect(last_error.ref).toBe('scenario/s/on/agent-run.executed')
    expect(pending_calls).toBe(0)
    // The run that would have been the next is there; nothing of what has happened is undone.
    expect(emulator.state('agent_runs').map(({ status }) => status)).toEqual(Array(MAX_HOPS).fill('executed'))
    expect(warnings).toHaveLength(1)
    expect(warnings[0]).toContain('so the hook on agent-run.executed is not called again. Let it look at')
  },
)

test('hooks that lead to each other with time in between go on for ever', async () => {
  const calls = { count: 0 }
  const emulator = await scenarioEmulator({ s: queueing(calls, '1s') }, { collections: { agents } })
  await emulator.start('s')
  await emulator.pass('1m')
  const { failed } = await emulator.pass('4m')
  expect([calls.count, failed]).toEqual([240, []])
})

test('how long a chain of hooks is outlives the process, and a state document', async () => {
  const calls = { count: 0 }
  const emulator = await scenarioEmulator({ s: queueing(calls, '10ms') }, { collections: { agents } })
  await emulator.start('s')
  await emulator.pass('1m')
  await emulator.pass('100ms')
  const { schedule } = emulator.sandbox.document() as unknown as { schedule: { hooks?: object }[] }
  expect(schedule.flatMap(({ hooks }) => hooks ?? [])).toEqual([{ depth: 10, waited: 110 }])
  const document = JSON.parse(JSON.stringify(emulator.sandbox.document()))
  expect((await emulator.control('PUT', '/state', document)).status).toBe(200)
  expect(emulator.sandbox.document()).toMatchObject({ schedule: document.schedule })
})

test('of a hook that throws the event stays, and the next hook is called', async () => {
  const put: ScenarioCommand = {
    kind: 'put',
    collection: 'organizations',
    record: { id: 'org-9', name: 'Ninth' },
  }
  const emulator = await scenarioEmulator({
    s: {
      on: {
        'batch.completed': () => {
          throw new Error('/scenarios/s.ts:9: nothing here')
        },
        'batch_prediction.completed': asking(put),
      },
    },
  })
  await emulator.start('s')
  const { id } = await createBatch(emulator)
  const { failed } = await emulator.pass('1h')
  expect((await retrieve(emulator, id)).status).toBe('completed')
  expect(failed).toMatchObject([
    { ref: 'scenario/s/on/batch.completed', error: '/scenarios/s.ts:9: nothing here' },
  ])
  expect(emulator.state('organizations').at(-1)).toMatchObject({ id: 'org-9' })
})
