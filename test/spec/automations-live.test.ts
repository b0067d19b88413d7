import { expect, test } from 'vitest'
import { loadDocument } from '../../src/core/sandboxes/change.ts'
import { agentsResource } from '../../src/service/agents/index.ts'
import { type TestEmulator, type TestEmulatorOptions, testEmulator } from '../support/emulator.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const START = Date.parse('2026-03-01T12:00:00.000Z')

const at = '/agents/a1/automations'

function anAutomation(id: string, schedule: string | null, facts: object = {}) {
  return { id, title: `Automation ${id}`, _emulator: { agent_id: 'a1', schedule, ...facts } }
}

function liveEmulator(automations: readonly object[], options: TestEmulatorOptions = {}) {
  const agents = [{ id: 'a1', _emulator: { teamspace_id: 'ts-a' } }]
  return testEmulator({ ...options, collections: { agents, automations, ...options.collections } })
}

function firings(emulator: TestEmulator, automation = 'u1'): number[] {
  const own = emulator.state('agent_runs').filter(({ automation_id }) => automation_id === automation)
  return own.map(({ queued_at }) => Date.parse(queued_at))
}

/** The next firing of each automation, as `ref due_at`. */
function ahead(emulator: TestEmulator): string[] {
  const events = emulator.sandbox.scheduler.horizon().filter(({ kind }) => kind === 'automation.fire')
  return events.map(({ ref, due_at }) => `${ref} ${due_at}`)
}

const documentOf = ({ sandbox }: TestEmulator) => JSON.parse(JSON.stringify(sandbox.document()))

test('the runs of a month do not depend on steps, restarts and reloads', { tags: ['T35'] }, async () => {
  const automations = [anAutomation('u1', '*/30 20-23 * * *'), anAutomation('u2', '45 6 * * 1-5')]
  const whole = await liveEmulator(automations)
  await whole.advance('30d')
  let emulator = await liveEmulator(automations)
  for (const step of ['8h', '1d', '17h', '90s', '4d', '1ms', '10h']) {
    await emulator.advance(step)
    emulator = await emulator.restart()
  }
  await emulator.advance('1ms')
  const saved = documentOf(emulator)
  for (const astray of ['7d', '90d']) {
    await emulator.advance(astray)
    loadDocument(emulator.sandbox, saved)
  }
  await emulator.advance(`${START + 30 * DAY - emulator.now()}ms`)
  expect(firings(emulator).length).toBeGreaterThan(200)
  expect(emulator.state('agent_runs')).toEqual(whole.state('agent_runs'))
  expect(ahead(emulator)).toEqual(ahead(whole))
})

test('a firing queues a run, which is executed a second later', { tags: ['T35', 'R186'] }, async () => {
  const emulator = await liveEmulator([anAutomation('u1', '0 6 * * *')])
  await emulator.advance('18h')
  const [run] = emulator.state('agent_runs')
  const queued = { status: 'queued', queued_at: '2026-03-02T06:00:00.000Z', executed_at: null }
  const cause = 'The schedule of the automation was due.'
  expect(run).toMatchObject({ agent_id: 'a1', automation_id: 'u1', trigger_id: null, cause, ...queued })
  await emulator.delete(`${at}/u1`)
  expect(ahead(emulator)).toEqual([])
  await emulator.advance('1s')
  const executed = { ...run, status: 'executed', executed_at: '2026-03-02T06:00:01.000Z' }
  expect(emulator.state('agent_runs')).toEqual([executed])
})

test('a leftover event does not fire a deleted automation', { tags: ['R120'] }, async () => {
  const deleted = anAutomation('u2', '@hourly', { deleted_at: '2026-02-01T00:00:00.000Z' })
  const emulator = await liveEmulator([anAutomation('u1', '@hourly'), deleted])
  const document = documentOf(emulator)
  document.collections.automations[0]._emulator.deleted_at = '2026-03-01T12:00:00.000Z'
  loadDocument(emulator.sandbox, document)
  expect(ahead(emulator)).toHaveLength(1)
  await emulator.advance('5h')
  expect([emulator.state('agent_runs'), ahead(emulator)]).toEqual([[], []])
})

test('a written schedule applies from then on, until a deletion', { tags: ['T35'] }, async () => {
  const emulator = await liveEmulator([anAutomation('u1', null)])
  await emulator.advance('90m')
  const deleted_at = '2026-03-01T12:00:00.000Z'
  const write = async (schedule: string | null, facts = {}) => {
    await emulator.control('PUT', '/state/automations/u1', anAutomation('u1', schedule, facts))
    return ahead(emulator)
  }
  expect(await write('@hourly')).toEqual(['automations/u1 2026-03-01T14:00:00.000Z'])
  expect(await write('15 * * * *')).toEqual(['automations/u1 2026-03-01T14:15:00.000Z'])
  await emulator.advance('2h')
  expect(await write(null)).toEqual([])
  expect(await write('15 * * * *', { deleted_at })).toEqual([])
  expect(await write('15 * * * *')).toEqual(['automations/u1 2026-03-01T16:15:00.000Z'])
  expect((await emulator.control('DELETE', '/state/automations/u1')).status).toBe(204)
  expect(ahead(emulator)).toEqual([])
  await emulator.advance('1d')
  expect(firings(emulator)).toEqual([135, 195].map((minutes) => START + minutes * MINUTE))
})

test('writing a record again with the same schedule does not move its event', { tags: ['T35'] }, async () => {
  const automations = [anAutomation('u1', '@hourly'), anAutomation('u2', '@hourly')]
  const emulator = await liveEmulator(automations)
  await emulator.advance('20m')
  const before = emulator.sandbox.scheduler.horizon()
  await emulator.control('PUT', '/state/automations/u1', { ...automations[0], title: 'Other' })
  expect(emulator.sandbox.scheduler.horizon()).toEqual(before)
})

test('an automation written at the instant of its firing fires once', { tags: ['T35'] }, async () => {
  const automations = [anAutomation('u1', '@hourly'), anAutomation('u2', '@hourly')]
  const emulator = await liveEmulator(automations)
  await emulator.control('POST', '/clock/advance', { steps: 1 })
  const before = ahead(emulator)
  expect(before).toEqual([
    'automations/u2 2026-03-01T13:00:00.000Z',
    'automations/u1 2026-03-01T14:00:00.000Z',
  ])
  const scope = emulator.sandbox.scope('test')
  for (const record of emulator.state('automations')) agentsResource.arm?.(scope, 'automations', record)
  emulator.sandbox.commit(scope)
  expect(ahead(emulator)).toEqual(before)
  await emulator.control('PUT', '/state/automations/u2', automations[1])
  await emulator.advance('59m')
  expect([firings(emulator), firings(emulator, 'u2')]).toEqual([[START + HOUR], [START + HOUR]])
})

test('an automation of later fixtures fires from then on', { tags: ['T35'] }, async () => {
  const emulator = await liveEmulator([])
  await emulator.advance('150m')
  const collections = { automations: [anAutomation('u1', '@hourly')] }
  expect((await emulator.control('POST', '/fixtures', { collections })).status).toBe(200)
  await emulator.advance('1h')
  expect(firings(emulator)).toEqual([START + 3 * HOUR])
})

const aRun = (id: string, status: string, queued_at: string) => ({ id, agent_id: 'a1', status, queued_at })

test('queued runs in fixtures execute after their queue time, or at once', { tags: ['T35'] }, async () => {
  const agent_runs = [
    aRun('ahead', 'queued', '2026-03-01T12:00:30.000Z'),
    aRun('now', 'queued', '2026-03-01T12:00:00.000Z'),
    aRun('past', 'queued', '2026-02-01T00:00:00.000Z'),
    aRun('by hand', 'queued', '2026-03-01T12:00:00.000Z'),
    aRun('done', 'executed', '2026-02-01T00:00:00.000Z'),
    aRun('dropped', 'dropped', '2026-02-01T00:00:00.000Z'),
  ]
  const emulator = await liveEmulator([], { collections: { agent_runs } })
  await emulator.control('PATCH', '/state/agent_runs/by%20hand', { status: 'dropped' })
  await emulator.advance('1h')
  const runs = emulator.state('agent_runs')
  expect(runs.map(({ id, status, executed_at }) => [id, status, executed_at])).toEqual([
    ['ahead', 'executed', '2026-03-01T12:00:31.000Z'],
    ['now', 'executed', '2026-03-01T12:00:01.000Z'],
    ['past', 'executed', '2026-03-01T12:00:00.000Z'],
    ['by hand', 'dropped', null],
    ['done', 'executed', null],
    ['dropped', 'dropped', null],
  ])
})

test('an invalid schedule is refused with its pointer, and nothing changes', { tags: ['T35'] }, async () => {
  const inFixtures = liveEmulator([anAutomation('u1', '@hourly'), anAutomation('u2', 'daily')])
  await expect(inFixtures).rejects.toThrow('/collections/automations/1/_emulator/schedule: ')
  const emulator = await liveEmulator([anAutomation('u1', '@hourly')])
  const before = emulator.digest()
  const written = await emulator.control('PUT', '/state/automations/u1', anAutomation('u1', 'daily'))
  expect([written.status, written.body.details.errors[0].pointer]).toEqual([400, '/_emulator/schedule'])
  const document = documentOf(emulator)
  document.collections.automations[0]._emulator.schedule = 'daily'
  expect(() => loadDocument(emulator.sandbox, document)).toThrow('/automations/0/_emulator/schedule')
  expect(emulator.digest()).toBe(before)
})

const everyMinute = [anAutomation('u1', '* * * * *'), anAutomation('u2', '@hourly')]

const CREATED = '2026-01-15T08:00:00.000Z'
const aTrigger = (id: string, trigger_event: string) => ({
  ...{ id, enabled: true, trigger_source: 'file_sharing', trigger_event },
  ...{ created_at: CREATED, updated_at: CREATED, _emulator: { agent_id: 'a1' } },
})

const droppedOf = (emulator: TestEmulator, table: string, id: string): number | undefined =>
  emulator.state(table).find((each) => each.id === id)._emulator.runs_dropped

const emit = (emulator: TestEmulator, event: string) =>
  emulator.control('POST', '/provider-events', { source: 'file_sharing', event })

test('the newest 1,000 runs of an automation are kept, others counted', { tags: ['U075'] }, async () => {
  const emulator = await liveEmulator(everyMinute)
  emulator.advance('18h')
  const kept = firings(emulator)
  expect([kept.length, kept[0], kept.at(-1)]).toEqual([1_000, START + 81 * MINUTE, START + 18 * HOUR])
  expect(firings(emulator, 'u2')).toHaveLength(18)
  const { body } = await emulator.control('GET', '/agent-runs')
  expect([body.data.length, body.dropped]).toEqual([1_018, 80])
})

test('a setting limits the kept runs of automations and triggers', { tags: ['U075', 'T35'] }, async () => {
  const triggers = [aTrigger('t1', 'File:created'), aTrigger('t2', 'File:removed')]
  const options = { collections: { event_triggers: triggers }, settings: { 'agent_runs.keep': 3 } }
  const emulator = await liveEmulator(everyMinute, options)
  for (let n = 0; n < 5; n++) {
    await emit(emulator, 'File:created')
    emulator.advance('10s')
  }
  await emit(emulator, 'File:removed')
  const count = (trigger: string) =>
    emulator.state('agent_runs').filter(({ trigger_id }) => trigger_id === trigger).length
  expect([count('t1'), count('t2'), droppedOf(emulator, 'event_triggers', 't1')]).toEqual([3, 1, 2])
  const again = await emulator.restart()
  await again.control('PATCH', '/settings', { 'agent_runs.keep': 1 })
  again.advance('5m')
  expect((await again.delete('/agents/a1/automations/u1')).status).toBe(204)
  again.advance('1h')
  expect(firings(again)).toEqual([START + 5 * MINUTE])
  expect((await again.control('GET', '/agent-runs')).body.dropped).toBe(2 + 4)
})

test('a queued run is kept, and can be dropped once it is executed', { tags: ['U075'] }, async () => {
  const settings = { 'agent_runs.keep': 2, 'agent_runs.queue_time': '10m' }
  const emulator = await liveEmulator(everyMinute, { settings })
  emulator.advance('9m')
  expect([firings(emulator).length, droppedOf(emulator, 'automations', 'u1')]).toEqual([9, undefined])
  emulator.advance('5m')
  const statuses = emulator.state('agent_runs').map(({ status }) => status)
  expect(statuses.filter((status) => status === 'queued')).toHaveLength(10)
  expect(firings(emulator).length + (droppedOf(emulator, 'automations', 'u1') ?? 0)).toBe(14)
  expect(droppedOf(emulator, 'automations', 'u1')).toBeGreaterThanOrEqual(3)
})
