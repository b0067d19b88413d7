import { expect, test } from 'vitest'
import { type TestEmulator, type TestEmulatorOptions, testEmulator } from '../support/emulator.ts'

const CREATED = '2026-01-15T08:00:00.000Z'
const NOW = '2026-03-01T12:00:00.000Z'
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

const EACH_TIME = { response_thread: 'create_new_thread_each_time' }

function aTrigger(id: string, changes: object = {}, facts: object = {}) {
  return {
    id,
    enabled: true,
    trigger_source: 'file_sharing',
    trigger_event: 'File:created',
    created_at: CREATED,
    updated_at: CREATED,
    ...changes,
    _emulator: { agent_id: 'a1', ...facts },
  }
}

/** An emulator with these triggers and agents in two teamspaces. */
function liveEmulator(
  triggers: readonly object[] = [aTrigger('t1')],
  options: TestEmulatorOptions = {},
): Promise<TestEmulator> {
  const agents = [
    { id: 'a1', _emulator: { teamspace_id: 'ts-a' } },
    { id: 'a9', _emulator: { teamspace_id: 'ts-b' } },
  ]
  return testEmulator({
    ...options,
    collections: { agents, event_triggers: triggers, ...options.collections },
  })
}

const created = { source: 'file_sharing', event: 'File:created' }

async function emit(emulator: TestEmulator, event: object = created) {
  const { status, body } = await emulator.control('POST', '/provider-events', event)
  expect(status).toBe(200)
  return body
}

/** Emits `count` events one after the other. @returns the threads of their runs */
async function threadsOf(emulator: TestEmulator, count: number): Promise<string[]> {
  const threads: string[] = []
  for (let n = 0; n < count; n++) threads.push((await emit(emulator)).fired[0].thread_id)
  return threads
}

const t1 = '/agents/a1/event-triggers/t1'

test('an event fires its trigger: a run of the agent is queued, and executed after a second', {
  tags: ['R237'],
}, async () => {
  const emulator = await liveEmulator()
  const response = await emit(emulator, { ...created, payload: { path: '/a.pdf' } })
  const [run] = emulator.state('agent_runs')
  expect(response).toEqual({
    object: 'provider_event',
    id: expect.stringMatching(/^[0-9a-f]{24}$/),
    ...created,
    fired: [{ trigger_id: 't1', agent_id: 'a1', run_id: run.id, thread_id: run.thread_id }],
    not_fired: [],
  })
  expect(run).toEqual({
    id: expect.stringMatching(/^[0-9a-f]{24}$/),
    agent_id: 'a1',
    automation_id: null,
    trigger_id: 't1',
    thread_id: expect.stringMatching(UUID),
    status: 'queued',
    queued_at: NOW,
    executed_at: null,
    cause: 'The provider file_sharing emitted File:created.',
    event_id: response.id,
    payload: { path: '/a.pdf' },
  })
  await emulator.advance('999ms')
  expect(emulator.state('agent_runs')).toEqual([run])
  await emulator.advance('1ms')
  const executed = { ...run, status: 'executed', executed_at: '2026-03-01T12:00:01.000Z' }
  expect(emulator.state('agent_runs')).toEqual([executed])
  await emulator.advance('30d')
  expect(emulator.state('agent_runs')).toEqual([executed])
})

test('of the 16 combinations of source, event, enabled and conditions exactly the one with all four fires', {
  tags: ['R237'],
}, async () => {
  const either = [true, false]
  const triggers = either.flatMap((enabled) =>
    either.map((condition_verdict) =>
      aTrigger(
        `${enabled}-${condition_verdict}`,
        { enabled, run_conditions: 'only PDFs' },
        { condition_verdict },
      ),
    ),
  )
  const emulator = await liveEmulator(triggers)
  const events = ['file_sharing', 'construction_management'].flatMap((source) =>
    ['File:created', 'File:deleted'].map((event) => ({ source, event })),
  )
  const responses = []
  for (const event of events) responses.push(await emit(emulator, event))
  expect(events.length * triggers.length).toBe(16)
  expect(responses.flatMap(({ fired }) => fired)).toMatchObject([{ trigger_id: 'true-true' }])
  expect(emulator.state('agent_runs')).toHaveLength(1)
  const silent = responses.map(({ not_fired }) =>
    not_fired.map(({ trigger_id }: { trigger_id: string }) => trigger_id),
  )
  expect(silent).toEqual([['true-false', 'false-true', 'false-false'], [], [], []])
})

test('each trigger of an event that does not fire is named with the reason', {
  tags: ['R237', 'U062'],
}, async () => {
  const emulator = await liveEmulator([
    aTrigger('paused', { enabled: false }),
    aTrigger('picky', { run_conditions: 'only PDFs' }, { condition_verdict: false }),
    aTrigger('unconditional', {}, { condition_verdict: false }),
    aTrigger('elsewhere', { trigger_event: 'File:deleted', enabled: false }),
  ])
  const { fired, not_fired } = await emit(emulator)
  expect(fired).toMatchObject([{ trigger_id: 'unconditional' }])
  expect(not_fired).toEqual([
    { trigger_id: 'paused', agent_id: 'a1', because: expect.stringContaining('paused: enabled is false') },
    { trigger_id: 'picky', agent_id: 'a1', because: expect.stringContaining('condition_verdict') },
  ])
})

test('an event belongs to no teamspace: triggers of all teamspaces fire, in the order of their records', {
  tags: ['R237'],
}, async () => {
  const emulator = await liveEmulator([aTrigger('t9', {}, { agent_id: 'a9' }), aTrigger('t1')])
  const { fired } = await emit(emulator)
  expect(fired.map((each: { agent_id: string }) => each.agent_id)).toEqual(['a9', 'a1'])
  expect(new Set(fired.map((each: { thread_id: string }) => each.thread_id)).size).toBe(2)
})

test('an event without a matching trigger queues no run', { tags: ['R237'] }, async () => {
  const emulator = await liveEmulator()
  const { fired, not_fired } = await emit(emulator, { source: 'file_sharing', event: 'file:created' })
  expect([fired, not_fired, emulator.state('agent_runs')]).toEqual([[], [], []])
})

test('with response_thread set three events start three threads', { tags: ['R073', 'R238'] }, async () => {
  const emulator = await liveEmulator([aTrigger('t1', EACH_TIME)])
  expect(new Set(await threadsOf(emulator, 3)).size).toBe(3)
  expect(emulator.state('event_triggers')[0]._emulator.thread_id).toBeNull()
})

test('without response_thread three events share one thread, and a restart keeps it', {
  tags: ['R073', 'R238'],
}, async () => {
  const emulator = await liveEmulator()
  const threads = await threadsOf(emulator, 3)
  const again = await emulator.restart()
  expect(new Set([...threads, ...(await threadsOf(again, 1))]).size).toBe(1)
  expect(threads[0]).toMatch(UUID)
})

test('a shared thread belongs to one trigger only', { tags: ['R238'] }, async () => {
  const emulator = await liveEmulator([aTrigger('t1'), aTrigger('t2')])
  await emit(emulator)
  await emit(emulator)
  const threads = new Map(emulator.state('agent_runs').map((run) => [run.thread_id, run.trigger_id]))
  expect([...threads.values()]).toEqual(['t1', 't2'])
})

test('a trigger can change to new threads, and back to the thread that it shared before', {
  tags: ['R238'],
}, async () => {
  const emulator = await liveEmulator()
  const [shared] = await threadsOf(emulator, 1)
  await emulator.patch(t1, EACH_TIME)
  const apart = await threadsOf(emulator, 2)
  await emulator.control('PATCH', '/state/event_triggers/t1', { response_thread: null })
  const [back] = await threadsOf(emulator, 1)
  expect(new Set([shared, ...apart]).size).toBe(3)
  expect(back).toBe(shared)
})

test('no response shows the thread of a trigger, and firing does not change updated_at', {
  tags: ['R073'],
}, async () => {
  const emulator = await liveEmulator()
  await emit(emulator)
  const { body } = await emulator.get('/agents/a1/event-triggers')
  expect(body.data[0].updated_at).toBe(CREATED)
  expect(JSON.stringify(body)).not.toContain('thread_id')
})

test('a trigger that PATCH pauses does not run on a later event', { tags: ['R116'] }, async () => {
  const emulator = await liveEmulator()
  expect((await emulator.patch(t1, { enabled: false })).body.enabled).toBe(false)
  const { fired, not_fired } = await emit(emulator)
  expect([fired, not_fired.length]).toEqual([[], 1])
  await emulator.advance('1d')
  expect(emulator.state('agent_runs')).toEqual([])
  expect((await emulator.get('/agents/a1/event-triggers')).body.data[0].enabled).toBe(false)
})

test('a trigger that PATCH resumes runs on later events, and never on those of the pause', {
  tags: ['R117', 'U058'],
}, async () => {
  const emulator = await liveEmulator([aTrigger('t1', { enabled: false })])
  await emit(emulator)
  await emit(emulator)
  expect((await emulator.patch(t1, { enabled: true })).body.enabled).toBe(true)
  await emulator.advance('30d')
  expect(emulator.state('agent_runs')).toEqual([])
  const { id } = await emit(emulator)
  await emulator.advance('1d')
  expect(emulator.state('agent_runs')).toMatchObject([{ event_id: id, status: 'executed' }])
})

test('a run that is queued when its trigger is paused or deleted still executes', {
  tags: ['R116'],
}, async () => {
  const emulator = await liveEmulator([aTrigger('t1'), aTrigger('t2')])
  await emit(emulator)
  await emulator.patch(t1, { enabled: false })
  await emulator.delete('/agents/a1/event-triggers/t2')
  await emulator.advance('1s')
  expect(emulator.state('agent_runs').map(({ status }) => status)).toEqual(['executed', 'executed'])
  const { fired, not_fired } = await emit(emulator)
  expect([fired, not_fired.length]).toEqual([[], 1])
})

test('a trigger that was created over the API fires like any other', { tags: ['R237'] }, async () => {
  const emulator = await liveEmulator([])
  const { body } = await emulator.post('/agents/a1/event-triggers', {
    trigger_source: 'document_collaboration',
    trigger_event: 'Drawing:revised',
  })
  const { fired } = await emit(emulator, { source: 'document_collaboration', event: 'Drawing:revised' })
  expect(fired).toMatchObject([{ trigger_id: body.id, agent_id: 'a1' }])
})

test('an update of the event moves the trigger to it', { tags: ['R237'] }, async () => {
  const emulator = await liveEmulator()
  await emulator.patch(t1, { trigger_event: 'Folder:moved' })
  expect((await emit(emulator)).fired).toEqual([])
  expect((await emit(emulator, { ...created, event: 'Folder:moved' })).fired).toHaveLength(1)
})

test.for<[time: string, ms: number]>([
  ['90s', 90_000],
  ['PT1H', 3_600_000],
])('the setting agent_runs.queue_time queues runs for %s', { tags: ['T35'] }, async ([time, ms]) => {
  const emulator = await liveEmulator([aTrigger('t1')], { settings: { 'agent_runs.queue_time': time } })
  await emit(emulator)
  const due_at = new Date(emulator.now() + ms).toISOString()
  expect(emulator.sandbox.scheduler.horizon()).toMatchObject([
    { kind: 'agent-run.execute', due_at, urgency: 'work' },
  ])
  await emulator.advance(`${ms}ms`)
  expect(emulator.state('agent_runs')).toMatchObject([{ status: 'executed', executed_at: due_at }])
})

test('a run with a queue time of 0s is executed before the response', { tags: ['T35'] }, async () => {
  const emulator = await liveEmulator([aTrigger('t1')], { settings: { 'agent_runs.queue_time': '0s' } })
  await emit(emulator)
  expect(emulator.state('agent_runs')).toMatchObject([{ status: 'executed', executed_at: NOW }])
})

test.for(['3651d', 'soon', '-1s'])('%s is refused as a queue time', { tags: ['T35'] }, async (time) => {
  await expect(liveEmulator([], { settings: { 'agent_runs.queue_time': time } })).rejects.toThrow(
    'queue_time',
  )
})

test('a source has only the name that the settings give it', {
  tags: ['U008'],
}, async () => {
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

test('GET /agent-runs lists the runs in the order in which they were queued, and the threads', {
  tags: ['R238'],
}, async () => {
  const fromFixtures = (id: string, queued_at: string, thread_id: string | null) => {
    return { id, agent_id: 'a1', status: 'executed', queued_at, executed_at: queued_at, thread_id }
  }
  const agent_runs = [
    fromFixtures('later', '2026-02-02T00:00:00.000Z', 'thread'),
    fromFixtures('earlier', '2026-02-02T00:30:00.000+01:00', 'thread'),
    fromFixtures('alone', '2026-01-01T00:00:00.000Z', null),
  ]
  const emulator = await liveEmulator([aTrigger('t1'), aTrigger('t2', EACH_TIME)], {
    collections: { agent_runs },
  })
  const [first, second] = [(await emit(emulator)).fired, (await emit(emulator)).fired]
  const before = emulator.digest()
  const { status, body } = await emulator.control('GET', '/agent-runs')
  const made = [...first, ...second].map((each) => each.run_id)
  expect([status, body.object]).toEqual([200, 'list'])
  expect(body.data.map(({ id }: { id: string }) => id)).toEqual(['alone', 'earlier', 'later', ...made])
  expect(new Set(body.data.map((run: object) => JSON.stringify(run)))).toEqual(
    new Set(emulator.state('agent_runs').map((run) => JSON.stringify(run))),
  )
  expect(body.threads).toEqual([
    { thread_id: 'thread', runs: ['earlier', 'later'] },
    { thread_id: first[0].thread_id, runs: [first[0].run_id, second[0].run_id] },
    { thread_id: first[1].thread_id, runs: [first[1].run_id] },
    { thread_id: second[1].thread_id, runs: [second[1].run_id] },
  ])
  expect(emulator.digest()).toBe(before)
})

test('the same events in the same sandbox queue the same runs, ids and threads included', {
  tags: ['R237'],
}, async () => {
  const digests = []
  for (let n = 0; n < 2; n++) {
    const emulator = await liveEmulator([aTrigger('t1'), aTrigger('t2', EACH_TIME)])
    for (const payload of [{}, { n: 1 }]) await emit(emulator, { ...created, payload })
    await emulator.advance('1h')
    digests.push(emulator.digest())
  }
  expect(digests[0]).toBe(digests[1])
})
