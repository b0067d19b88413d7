import { expect, test } from 'vitest'
import { type TestEmulator, type TestEmulatorOptions, testEmulator } from '../support/emulator.ts'

const CREATED = '2026-01-15T08:00:00.000Z'
const NOW = '2026-03-01T12:00:00.000Z'
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

const OBJECT_ID = expect.stringMatching(/^[0-9a-f]{24}$/)
const EACH_TIME = { response_thread: 'create_new_thread_each_time' }

function aTrigger(id: string, changes: object = {}, facts: object = {}) {
  const event = { trigger_source: 'file_sharing', trigger_event: 'File:created' }
  const times = { created_at: CREATED, updated_at: CREATED }
  return { id, enabled: true, ...event, ...times, ...changes, _emulator: { agent_id: 'a1', ...facts } }
}

/** An emulator with these triggers and agents in two teamspaces. */
function liveEmulator(
  event_triggers: readonly object[] = [aTrigger('t1')],
  options: TestEmulatorOptions = {},
): Promise<TestEmulator> {
  const anAgent = (id: string, teamspace_id: string) => ({ id, _emulator: { teamspace_id } })
  const agents = [anAgent('a1', 'ts-a'), anAgent('a9', 'ts-b')]
  return testEmulator({ ...options, collections: { agents, event_triggers, ...options.collections } })
}

const created = { source: 'file_sharing', event: 'File:created' }

async function emit(emulator: TestEmulator, event: object = created) {
  const { status, body } = await emulator.control('POST', '/provider-events', event)
  expect(status).toBe(200)
  return body
}

const t1 = '/agents/a1/event-triggers/t1'

test('an event queues a run of its trigger, executed a second later', { tags: ['R237'] }, async () => {
  const emulator = await liveEmulator()
  const payload = { path: '/a.pdf' }
  const { id, ...response } = await emit(emulator, { ...created, payload })
  const [run] = emulator.state('agent_runs')
  const { id: run_id, thread_id } = run
  const fired = [{ trigger_id: 't1', agent_id: 'a1', run_id, thread_id }]
  expect(response).toEqual({ object: 'provider_event', ...created, fired, not_fired: [] })
  const cause = 'The provider file_sharing emitted File:created.'
  const origin = { trigger_id: 't1', automation_id: null, event_id: id, cause, payload }
  expect(run).toMatchObject({ ...origin, status: 'queued', queued_at: NOW, executed_at: null })
  expect([id, run_id, thread_id]).toEqual([OBJECT_ID, OBJECT_ID, expect.stringMatching(UUID)])
  emulator.advance('999ms')
  expect(emulator.state('agent_runs')).toEqual([run])
  emulator.advance('30d')
  const executed = { ...run, status: 'executed', executed_at: '2026-03-01T12:00:01.000Z' }
  expect(emulator.state('agent_runs')).toEqual([executed])
})

test('each trigger that fits an event fires, others have a reason', { tags: ['R237', 'U062'] }, async () => {
  const emulator = await liveEmulator([
    aTrigger('paused', { enabled: false }),
    aTrigger('picky', { run_conditions: 'only PDFs' }, { condition_verdict: false }),
    aTrigger('met', { run_conditions: 'only PDFs' }, { condition_verdict: true }),
    aTrigger('of another source', { trigger_source: 'construction_management' }),
    aTrigger('of another teamspace', {}, { agent_id: 'a9' }),
  ])
  const { fired, not_fired } = await emit(emulator)
  const other = { trigger_id: 'of another teamspace', agent_id: 'a9' }
  expect(fired).toMatchObject([{ trigger_id: 'met', agent_id: 'a1' }, other])
  const because = expect.stringContaining('paused: enabled is false')
  expect(not_fired).toMatchObject([{ trigger_id: 'paused', because }, { trigger_id: 'picky' }])
  expect(emulator.state('agent_runs')).toHaveLength(2)
})

test('events of a trigger share a thread by default', { tags: ['R073', 'R238'] }, async () => {
  const emulator = await liveEmulator([aTrigger('t1'), aTrigger('t2')])
  const threadsOf = async (at: TestEmulator): Promise<string[]> =>
    (await emit(at)).fired.map(({ thread_id }: { thread_id: string }) => thread_id)
  const shared = await threadsOf(emulator)
  expect(new Set(shared).size).toBe(2)
  const again = await emulator.restart()
  expect(await threadsOf(again)).toEqual(shared)
  await again.patch(t1, { response_thread: 'create_new_thread_each_time' })
  const apart = [await threadsOf(again), await threadsOf(again)]
  expect(new Set([...shared, ...apart.flat()]).size).toBe(4)
  await again.control('PATCH', '/state/event_triggers/t1', { response_thread: null })
  expect(await threadsOf(again)).toEqual(shared)
})

test('a trigger that starts a new thread each time keeps none', { tags: ['R238'] }, async () => {
  const emulator = await liveEmulator([aTrigger('t1', EACH_TIME)])
  await emit(emulator)
  expect(emulator.state('event_triggers')[0]._emulator.thread_id).toBeNull()
})

test('no response shows the thread, and firing keeps updated_at', { tags: ['R073'] }, async () => {
  const emulator = await liveEmulator()
  await emit(emulator)
  const { text, body } = await emulator.get('/agents/a1/event-triggers')
  expect([body.data[0].updated_at, text.includes('thread_id')]).toEqual([CREATED, false])
})

test('a trigger never runs on an event of its pause', { tags: ['R116', 'R117', 'U058'] }, async () => {
  const emulator = await liveEmulator()
  expect((await emulator.patch(t1, { enabled: false })).body.enabled).toBe(false)
  const { fired, not_fired } = await emit(emulator)
  expect([fired, not_fired.length]).toEqual([[], 1])
  expect((await emulator.patch(t1, { enabled: true })).body.enabled).toBe(true)
  await emulator.advance('30d')
  expect(emulator.state('agent_runs')).toEqual([])
  const { id } = await emit(emulator)
  await emulator.advance('1d')
  expect(emulator.state('agent_runs')).toMatchObject([{ event_id: id, status: 'executed' }])
})

test('a queued run executes though its trigger is paused or deleted', { tags: ['R116'] }, async () => {
  const emulator = await liveEmulator([aTrigger('t1'), aTrigger('t2')])
  await emit(emulator)
  await emulator.patch(t1, { enabled: false })
  await emulator.delete('/agents/a1/event-triggers/t2')
  await emulator.advance('1s')
  expect(emulator.state('agent_runs').map(({ status }) => status)).toEqual(['executed', 'executed'])
})

test.for<[time: string, executed_at: string]>([
  ['0s', NOW],
  ['90s', '2026-03-01T12:01:30.000Z'],
])('the setting agent_runs.queue_time queues runs for %s', { tags: ['T35'] }, async ([time, executed_at]) => {
  const emulator = await liveEmulator([aTrigger('t1')], { settings: { 'agent_runs.queue_time': time } })
  await emit(emulator)
  emulator.advance(time)
  expect(emulator.state('agent_runs')).toMatchObject([{ status: 'executed', executed_at }])
})

test.for(['3651d', 'soon', '-1s'])('%s is refused as a queue time', { tags: ['T35'] }, async (time) => {
  const settings = { 'agent_runs.queue_time': time }
  await expect(liveEmulator([], { settings })).rejects.toThrow('queue_time')
})

test('a source has only the name that the settings give it', { tags: ['U008'] }, async () => {
  const settings = { 'names.trigger_sources': ['builder', 'papers', 'drive'] }
  const emulator = await liveEmulator([aTrigger('t1')], { settings })
  const { source, fired } = await emit(emulator, { source: 'drive', event: 'File:created' })
  expect([source, fired.length]).toEqual(['drive', 1])
  expect(emulator.state('agent_runs')[0].cause).toBe('The provider drive emitted File:created.')
  const { status, body } = await emulator.control('POST', '/provider-events', created)
  expect([status, body.details.errors[0].pointer]).toEqual([400, '/source'])
  expect(body.message).toMatch(/"builder", "papers", "drive".*names\.trigger_sources/)
})

test.for<[title: string, body: unknown, pointer: string]>([
  ['no source', { event: 'File:created' }, '/source'],
  ['an unknown source', { ...created, source: 'carrier_pigeon' }, '/source'],
  ['no event', { source: 'file_sharing' }, '/event'],
  ['an event of one part', { ...created, event: 'File' }, '/event'],
  ['an event of three parts', { ...created, event: 'File:created:twice' }, '/event'],
  ['an event of 256 characters', { ...created, event: 'x:'.padEnd(256, 'y') }, '/event'],
  ['a payload that is a list', { ...created, payload: [] }, '/payload'],
  ['a payload that is null', { ...created, payload: null }, '/payload'],
  ['a payload that is too long', { ...created, payload: { x: 'y'.repeat(65_529) } }, '/payload'],
  ['an unknown member', { ...created, agent_id: 'a1' }, '/agent_id'],
  ['no body', undefined, ''],
])('%s is refused, and nothing fires', { tags: ['R237'] }, async ([, json, pointer]) => {
  const emulator = await liveEmulator()
  const before = emulator.digest()
  const { status, body } = await emulator.control('POST', '/provider-events', json)
  expect([status, body.error, body.details.errors[0].pointer]).toEqual([400, 'validation_failed', pointer])
  expect(emulator.digest()).toBe(before)
})

test('a run keeps the given payload unchanged, up to 65,536 characters', { tags: ['R237'] }, async () => {
  const emulator = await liveEmulator()
  const odd = JSON.parse('{"__proto__":{"x":[1,null]},"":"é","constructor":1}')
  await emit(emulator, { ...created, payload: odd })
  await emit(emulator, { ...created, payload: { x: 'y'.repeat(65_528) } })
  await emit(emulator)
  const again = await emulator.restart()
  const [first, long, none] = again.state('agent_runs').map(({ payload }) => JSON.stringify(payload))
  expect([first, long?.length, none]).toEqual([JSON.stringify(odd), 65_536, '{}'])
})

test('GET /agent-runs lists the runs as they were queued, and the threads', { tags: ['R238'] }, async () => {
  const fromFixtures = (id: string, queued_at: string, thread_id: string | null) => {
    return { id, agent_id: 'a1', status: 'executed', queued_at, executed_at: queued_at, thread_id }
  }
  const agent_runs = [
    fromFixtures('later', '2026-02-02T00:00:00.000Z', 'thread'),
    fromFixtures('earlier', '2026-02-02T00:30:00.000+01:00', 'thread'),
    fromFixtures('alone', '2026-01-01T00:00:00.000Z', null),
  ]
  const triggers = [aTrigger('t1'), aTrigger('t2', EACH_TIME)]
  const emulator = await liveEmulator(triggers, { collections: { agent_runs } })
  const [first, second] = [(await emit(emulator)).fired, (await emit(emulator)).fired]
  const { body } = await emulator.control('GET', '/agent-runs')
  const made = [...first, ...second].map((each) => each.run_id)
  expect(body.data.map(({ id }: { id: string }) => id)).toEqual(['alone', 'earlier', 'later', ...made])
  expect(body.data[3]).toEqual(emulator.state('agent_runs').find(({ id }) => id === made[0]))
  expect(body.threads).toEqual([
    { thread_id: 'thread', runs: ['earlier', 'later'] },
    { thread_id: first[0].thread_id, runs: [first[0].run_id, second[0].run_id] },
    { thread_id: first[1].thread_id, runs: [first[1].run_id] },
    { thread_id: second[1].thread_id, runs: [second[1].run_id] },
  ])
})
