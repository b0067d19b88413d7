import { expect, test } from 'vitest'
import { type TestEmulator, type TestEmulatorOptions, testEmulator } from '../../support/emulator.ts'
import { refused } from '../../support/refusal.ts'

const NOW = '2026-03-01T12:00:00.000Z'
const SCHEDULE = '0 6 * * *'

const anAgent = (id: string, teamspace_id = 'ts-a') => ({
  ...{ id, name: `Agent ${id}`, _emulator: { teamspace_id } },
})

const anAutomation = (id: string, agent_id = 'a1') => ({
  id,
  title: `Automation ${id}`,
  when: { every: 'day' },
  _emulator: { agent_id, schedule: SCHEDULE },
})

const aRun = (id: string, automation_id: string, status = 'queued') => ({
  ...{ id, agent_id: 'a1', automation_id, status, queued_at: NOW },
})

/** Two automations of one agent, one of another and one of another teamspace. */
function automationEmulator({ collections, ...options }: TestEmulatorOptions = {}): Promise<TestEmulator> {
  const agents = [anAgent('a1'), anAgent('a2'), anAgent('a9', 'ts-b')]
  const own = [anAutomation('u1'), anAutomation('u2')]
  const automations = [...own, anAutomation('u3', 'a2'), anAutomation('u9', 'a9')]
  return testEmulator({ ...options, collections: { agents, automations, ...collections } })
}

const at = '/agents/a1/automations'

async function listed(emulator: TestEmulator, path = at): Promise<string[]> {
  return (await emulator.get(path)).body.data.map(({ id }: { id: string }) => id).sort()
}

test('only the deleted automation disappears', { tags: ['R120', 'R184', 'R185', 'R186'] }, async () => {
  const runs = [aRun('r1', 'u1', 'executed'), aRun('r2', 'u1'), aRun('r3', 'u2')]
  const emulator = await automationEmulator({ collections: { agent_runs: runs } })
  const others = () => [
    ...['agent_runs', 'agents'].map((name) => emulator.state(name)),
    emulator.state('automations').slice(1),
  ]
  const before = others()
  const { status, text } = await emulator.delete(`${at}/u1`)
  expect([status, text]).toEqual([204, ''])
  expect(await listed(emulator)).toEqual(['u2'])
  expect((await emulator.get(`${at}/u1`)).status).toBe(404)
  const facts = { agent_id: 'a1', schedule: SCHEDULE, deleted_at: NOW }
  expect(emulator.state('automations')[0]).toEqual({ ...anAutomation('u1'), _emulator: facts })
  expect(others()).toEqual(before)
})

test('a deleted automation stays so, over time and after a restart (T35)', { tags: ['R120'] }, async () => {
  const emulator = await automationEmulator()
  await emulator.delete(`${at}/u1`)
  const never = await refused(emulator, () => emulator.delete(`${at}/u0`), 404)
  const again = await refused(emulator, () => emulator.delete(`${at}/u1`), 404)
  expect(again.text).toBe(never.text.replace('u0', 'u1'))
  await refused(emulator, () => emulator.patch(`${at}/u1`, { title: 'x' }), 404)
  emulator.advance('30d')
  const fired = new Set(emulator.state('agent_runs').map(({ automation_id }) => automation_id))
  expect([...fired]).toEqual(['u2', 'u3', 'u9'])
  expect(await listed(await emulator.restart())).toEqual(['u2'])
})

test('a setting drops the queued runs of a deleted automation only', { tags: ['R186'] }, async () => {
  const agent_runs = [aRun('r1', 'u1'), aRun('r2', 'u2'), aRun('r3', 'u1', 'executed')]
  const emulator = await automationEmulator({
    settings: { 'automations.queued_runs': 'drop' },
    collections: { agent_runs },
  })
  await emulator.delete(`${at}/u1`)
  const statuses = emulator.state('agent_runs').map(({ status }) => status)
  expect(statuses).toEqual(['dropped', 'queued', 'executed'])
})

test('an automation is only found below its own agent', { tags: ['R184', 'R229'] }, async () => {
  const emulator = await automationEmulator()
  const refusalOf = (path: string) => refused(emulator, () => emulator.delete(`/agents/${path}`), 404)
  await refusalOf('a1/automations/u3')
  const foreign = await refusalOf('a9/automations/u9')
  const unknown = await refusalOf('a0/automations/u9')
  expect(foreign.text).toBe(unknown.text.replace('a0', 'a9'))
})

test('automations are stored and updated unchanged, except for their id and their agent', {
  tags: ['R223'],
}, async () => {
  const emulator = await automationEmulator()
  const odd = JSON.parse('{"id":"mine","_emulator":{"agent_id":"a2"},"__proto__":{"x":1},"":[null],"n":1e3}')
  const made = await emulator.post(at, odd)
  const { id } = made.body
  expect([made.status, made.assumed]).toEqual([200, ['U043']])
  expect(id).toMatch(/^[0-9a-f]{24}$/)
  expect(made.text).toBe(`{"id":"${id}","__proto__":{"x":1},"":[null],"n":1000}`)
  const changes = { id: 'x', _emulator: { agent_id: 'a2' }, n: null }
  const changed = await emulator.patch(`${at}/${id}`, changes)
  expect(changed.text).toBe(made.text.replace('1000', 'null'))
  expect((await (await emulator.restart()).get(`${at}/${id}`)).text).toBe(changed.text)
  const facts = { agent_id: 'a1', schedule: null, deleted_at: null }
  expect(emulator.state('automations').at(-1)._emulator).toEqual(facts)
})

test('a list has the records of the teamspace, without their facts', { tags: ['R223'] }, async () => {
  const emulator = await automationEmulator()
  const { text, body } = await emulator.get('/agents')
  expect(body.data.map(({ id }: { id: string }) => id).sort()).toEqual(['a1', 'a2'])
  expect(text).not.toContain('_emulator')
})
