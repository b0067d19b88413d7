import { expect, test } from 'vitest'
import { type TestEmulator, type TestEmulatorOptions, testEmulator } from '../support/emulator.ts'

const anAutomation = (id: string, schedule: string) => ({ id, _emulator: { agent_id: 'a1', schedule } })

const aTrigger = (id: string, trigger_event: string) => ({
  id,
  enabled: true,
  trigger_source: 'file_sharing',
  trigger_event,
  created_at: '2026-01-15T08:00:00.000Z',
  updated_at: '2026-01-15T08:00:00.000Z',
  _emulator: { agent_id: 'a1' },
})

const everyMinute = [anAutomation('u1', '* * * * *'), anAutomation('u2', '@hourly')]

function liveEmulator(options: TestEmulatorOptions = {}): Promise<TestEmulator> {
  const agents = [{ id: 'a1', _emulator: { teamspace_id: 'ts-a' } }]
  return testEmulator({ ...options, collections: { agents, ...options.collections } })
}

const queuedBy = (emulator: TestEmulator, automation: string): string[] =>
  emulator
    .state('agent_runs')
    .filter(({ automation_id }) => automation_id === automation)
    .map(({ queued_at }) => queued_at)

const droppedOf = (emulator: TestEmulator, table: string, id: string): number | undefined =>
  emulator.state(table).find((each) => each.id === id)._emulator.runs_dropped

const emit = (emulator: TestEmulator, event: string) =>
  emulator.control('POST', '/provider-events', { source: 'file_sharing', event })

test('the newest 1,000 runs of an automation are kept, others counted', { tags: ['U075'] }, async () => {
  const emulator = await liveEmulator({ collections: { automations: everyMinute } })
  emulator.advance('18h')
  const kept = queuedBy(emulator, 'u1')
  expect(kept).toHaveLength(1_000)
  expect([kept[0], kept.at(-1)]).toEqual(['2026-03-01T13:21:00.000Z', '2026-03-02T06:00:00.000Z'])
  expect(queuedBy(emulator, 'u2')).toHaveLength(18)
  const { body } = await emulator.control('GET', '/agent-runs')
  expect([body.data.length, body.dropped]).toEqual([1_018, 80])
})

test('a setting limits the kept runs of automations and triggers', { tags: ['U075', 'T35'] }, async () => {
  const triggers = [aTrigger('t1', 'File:created'), aTrigger('t2', 'File:removed')]
  const collections = { automations: everyMinute, event_triggers: triggers }
  const emulator = await liveEmulator({ collections, settings: { 'agent_runs.keep': 3 } })
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
  expect(queuedBy(again, 'u1')).toEqual(['2026-03-01T12:05:00.000Z'])
  expect((await again.control('GET', '/agent-runs')).body.dropped).toBe(2 + 4)
})

test('a queued run is kept, and can be dropped once it is executed', { tags: ['U075'] }, async () => {
  const settings = { 'agent_runs.keep': 2, 'agent_runs.queue_time': '10m' }
  const emulator = await liveEmulator({ collections: { automations: everyMinute }, settings })
  emulator.advance('9m')
  expect([queuedBy(emulator, 'u1').length, droppedOf(emulator, 'automations', 'u1')]).toEqual([9, undefined])
  emulator.advance('5m')
  const statuses = emulator.state('agent_runs').map(({ status }) => status)
  expect(statuses.filter((status) => status === 'queued')).toHaveLength(10)
  expect(queuedBy(emulator, 'u1').length + (droppedOf(emulator, 'automations', 'u1') ?? 0)).toBe(14)
  expect(droppedOf(emulator, 'automations', 'u1')).toBeGreaterThanOrEqual(3)
})
