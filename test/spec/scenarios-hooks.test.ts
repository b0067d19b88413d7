import { expect, test } from 'vitest'
import { MAX_HOPS } from '../../src/core/scenarios/hooks.ts'
import type { ScenarioCommand, ScenarioSnapshot } from '../../src/core/scenarios/source.ts'
import { workspaceService } from '../../src/emulator/service.ts'
import { cancel, createBatch, retrieve } from '../support/batches.ts'
import { keptLogger } from '../support/kept-logger.ts'
import type { TestScenario } from '../support/memory-scenarios.ts'
import { asking, scenarioEmulator } from '../support/scenario-emulator.ts'
import { started } from '../support/started-scenario.ts'

/** A hook that only keeps what it was given. */
function observer() {
  const seen: ScenarioSnapshot[] = []
  const see = (snapshot: ScenarioSnapshot) => {
    seen.push(snapshot)
    return []
  }
  return { seen, see }
}

const moving =
  (move: 'complete' | 'cleanup') =>
  ({ record = '' }: ScenarioSnapshot): ScenarioCommand[] => [{ kind: 'move', id: record, move, body: {} }]

test('hooks can listen to every status of a batch and every type of webhook', () => {
  const names = [...workspaceService.recordEvents.keys()]
  expect(names).toEqual(expect.arrayContaining(['batch.created', 'batch.in_progress', 'batch.completed']))
  expect(names).toEqual(expect.arrayContaining(workspaceService.webhookTypes.map(({ type }) => type)))
  expect(names).toEqual(expect.arrayContaining(['webhook.delivered', 'webhook.failed', 'agent-run.executed']))
})

test('a hook is called once for each event, with the event and its batch', async () => {
  const { seen, see } = observer()
  const names = ['batch.created', 'batch.finalizing', 'batch.completed', 'batch_prediction.completed']
  const s = { on: Object.fromEntries(names.map((name) => [name, see])) }
  const emulator = await scenarioEmulator({ s })
  const before = await createBatch(emulator)
  await emulator.start('s')
  const { id } = await createBatch(emulator)
  await emulator.pass('1h')
  const about = (batch: string) =>
    seen.filter((each) => each.record === batch).map(({ event }) => event?.name)
  expect(about(before.id)).toEqual(names.slice(1))
  expect(about(id)).toEqual(names)
  const completed = seen.find(({ event, record }) => event?.name === 'batch.completed' && record === id)
  const { completed_at } = await retrieve(emulator, id)
  const ref = `batch_predictions/${id}`
  const change = { from: 'finalizing', to: 'completed', caused_by: `batch.complete:${ref}` }
  expect(completed?.event).toEqual({ name: 'batch.completed', at: completed_at, ref, ...change })
  expect(completed?.now).toBe(completed_at)
})

test('time waits for a hook: its commands run at the instant of the event', async () => {
  const emulator = await started({ on: { 'batch.completed': moving('cleanup') } })
  const { id } = await createBatch(emulator)
  const { events, failed } = await emulator.pass('24h')
  expect(failed).toEqual([])
  const batch = await retrieve(emulator, id)
  expect(batch).toMatchObject({ status: 'completed', results_url: null })
  expect(events.find(({ kind }: { kind: string }) => kind === 'scenario.call')).toMatchObject({
    at: batch.completed_at,
    ref: 'scenario/s/on/batch.completed',
    caused_by: `batch.complete:batch_predictions/${id}`,
  })
})

test('a hook is called for events that a request causes, and caused_by is the request', async () => {
  const { seen, see } = observer()
  const emulator = await started({ on: { 'batch.cancelling': see }, pace: { in_progress: 'hold' } })
  const { id } = await createBatch(emulator)
  const { headers } = await cancel(emulator, id)
  await emulator.pass('0s')
  expect(seen.map(({ event }) => event?.caused_by)).toEqual([headers.get('x-emulator-request-id')])
})

test('a refused request, and records from a scenario, a snapshot or a reset call no hook', async () => {
  const { seen, see } = observer()
  const emulator = await scenarioEmulator({ s: { on: { 'batch.created': see, 'batch.completed': see } } })
  await createBatch(emulator)
  await emulator.pass('1h')
  await emulator.control('POST', '/snapshots', { name: 'done' })
  await emulator.start('s')
  expect((await emulator.post('/batch-predictions', {})).status).toBe(400)
  await emulator.pass('0s')
  await emulator.control('POST', '/snapshots/done/restore')
  await emulator.control('POST', '/reset')
  await emulator.pass('0s')
  expect(seen).toEqual([])
})

const agents = [{ id: 'a1', _emulator: { teamspace_id: 'ts-a' } }]
const run = { agent_id: 'a1', queued_at: '2026-03-01T12:01:00.000Z', cause: 'manual' }
const putRun = (id: string, more: object): ScenarioCommand => ({
  kind: 'put',
  collection: 'agent_runs',
  record: { ...run, id, ...more },
})

test('hooks that call each other endlessly are stopped and reported', async () => {
  const flip = (status: string) => asking(putRun('run-1', { status }))
  const s = {
    timeline: [{ at: '1m', do: flip('executed') }],
    on: { 'agent-run.executed': flip('dropped'), 'agent-run.dropped': flip('executed') },
  }
  const agent_runs = [{ ...run, id: 'run-1', status: 'dropped' }]
  const emulator = await started(s, { collections: { agents, agent_runs } })
  const { failed, events } = await emulator.pass('1h')
  expect(failed).toMatchObject([{ ref: 'scenario/s/on/agent-run.dropped' }])
  expect(failed[0].error).toMatch(
    /^Hooks have caused a chain of 100 calls .+ on agent-run\.dropped is not called/,
  )
  expect(events.filter(({ kind }: { kind: string }) => kind === 'scenario.call').length).toBe(MAX_HOPS)
  expect((await emulator.active()).pending_calls).toBe(0)
})

/** A scenario whose hook queues another run after each executed run, with this queue time. */
function queueing(calls: { count: number }, queueTime: string): TestScenario {
  return {
    settings: { 'agent_runs.queue_time': queueTime },
    timeline: [{ at: '1m', do: asking(putRun('run-0', { status: 'queued' })) }],
    on: {
      'agent-run.executed': ({ now }) => {
        calls.count += 1
        return [putRun(`run-${calls.count}`, { status: 'queued', queued_at: now })]
      },
    },
  }
}

test.for([0, 1])(
  'hooks that call each other through events are also stopped, at rate %d, and the log has the hook and the fix',
  async (rate) => {
    const calls = { count: 0 }
    const host = { now: Date.parse('2026-03-01T12:00:00.000Z') }
    const { said, logger } = keptLogger('warn')
    const options = { rate, collections: { agents }, hostTime: () => host.now, logger }
    const emulator = await started(queueing(calls, '0s'), options)
    if (rate === 0) await emulator.pass('1h')
    else {
      host.now += 60_000
      // A running clock advances during calls of functions, so no two calls have the same instant.
      while ((await emulator.active()).last_error === null) host.now += 7
    }
    // The first call of the chain is the step of the timeline.
    expect(calls.count).toBe(MAX_HOPS - 1)
    const { last_error, pending_calls } = await emulator.active()
    expect([last_error.ref, pending_calls]).toEqual(['scenario/s/on/agent-run.executed', 0])
    // The last run was still queued and executed: stopping the chain undoes nothing.
    expect(emulator.state('agent_runs').map(({ status }) => status)).toEqual(Array(MAX_HOPS).fill('executed'))
    expect(said).toHaveLength(1)
    expect(said[0]).toContain('so the hook on agent-run.executed is not called again. Check the record')
  },
)

test('hooks that call each other with time in between are not stopped', async () => {
  const calls = { count: 0 }
  const emulator = await started(queueing(calls, '1s'), { collections: { agents } })
  await emulator.pass('1m')
  const { failed } = await emulator.pass('4m')
  expect([calls.count, failed]).toEqual([240, []])
})

test('the length of a chain of hooks is in the state document, and a PUT of it keeps the length', async () => {
  const emulator = await started(queueing({ count: 0 }, '10ms'), { collections: { agents } })
  await emulator.pass('1m')
  await emulator.pass('100ms')
  const document = JSON.parse(JSON.stringify(emulator.sandbox.document()))
  const chains = document.schedule.flatMap(({ hooks }: { hooks?: object[] }) => hooks ?? [])
  expect(chains).toEqual([{ depth: 10, waited: 110 }])
  expect((await emulator.control('PUT', '/state', document)).status).toBe(200)
  expect(emulator.sandbox.document()).toMatchObject({ schedule: document.schedule })
})
