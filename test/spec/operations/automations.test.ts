import { expect, test } from 'vitest'
import { type TestEmulator, type TestEmulatorOptions, testEmulator } from '../../support/emulator.ts'

const NOW = '2026-03-01T12:00:00.000Z'
const SCHEDULE = '0 6 * * *'

const anAgent = (id: string, teamspace_id = 'ts-a') => ({
  id,
  name: `Agent ${id}`,
  _emulator: { teamspace_id },
})

const anAutomation = (id: string, agent_id = 'a1') => ({
  id,
  title: `Automation ${id}`,
  when: { every: 'day' },
  _emulator: { agent_id, schedule: SCHEDULE },
})

const aRun = (id: string, automation_id: string, status = 'queued') => ({
  id,
  agent_id: 'a1',
  automation_id,
  status,
  queued_at: NOW,
})

/** Two automations of one agent, one of another and one of another teamspace. */
function automationEmulator(options: TestEmulatorOptions = {}): Promise<TestEmulator> {
  const agents = [anAgent('a1'), anAgent('a2'), anAgent('a9', 'ts-b')]
  const automations = [
    anAutomation('u1'),
    anAutomation('u2'),
    anAutomation('u3', 'a2'),
    anAutomation('u9', 'a9'),
  ]
  return testEmulator({ ...options, collections: { agents, automations, ...options.collections } })
}

const at = '/agents/a1/automations'

async function listed(emulator: TestEmulator, path = at): Promise<string[]> {
  return (await emulator.get(path)).body.data.map(({ id }: { id: string }) => id).sort()
}

test('a deleted automation disappears from list and retrieve, and its record and its runs stay', {
  tags: ['R120', 'R184'],
}, async () => {
  const runs = [aRun('r1', 'u1', 'executed'), aRun('r2', 'u1')]
  const emulator = await automationEmulator({ collections: { agent_runs: runs } })
  const history = emulator.state('agent_runs')
  const { status, text } = await emulator.delete(`${at}/u1`)
  expect([status, text]).toEqual([204, ''])
  expect(await listed(emulator)).toEqual(['u2'])
  expect((await emulator.get(`${at}/u1`)).status).toBe(404)
  expect(emulator.state('automations')[0]).toEqual({
    ...anAutomation('u1'),
    _emulator: { agent_id: 'a1', schedule: SCHEDULE, deleted_at: NOW },
  })
  expect(emulator.state('agent_runs')).toEqual(history)
})

test('a deleted automation can neither be updated nor deleted again (T35)', { tags: ['R120'] }, async () => {
  const emulator = await automationEmulator()
  await emulator.delete(`${at}/u1`)
  const before = emulator.digest()
  const never = await emulator.delete(`${at}/u0`)
  const again = await emulator.delete(`${at}/u1`)
  expect([again.status, again.text]).toEqual([404, never.text.replace('u0', 'u1')])
  expect((await emulator.patch(`${at}/u1`, { title: 'x' })).status).toBe(404)
  expect(emulator.digest()).toBe(before)
})

test('an automation stays deleted over time and after a restart', { tags: ['R120'] }, async () => {
  const emulator = await automationEmulator()
  await emulator.delete(`${at}/u1`)
  emulator.advance('30d')
  const fired = new Set(emulator.state('agent_runs').map(({ automation_id }) => automation_id))
  expect([...fired]).toEqual(['u2', 'u3', 'u9'])
  expect(await listed(await emulator.restart())).toEqual(['u2'])
})

test('deleting an automation does not change the agent and its other automations', {
  tags: ['R185'],
}, async () => {
  const emulator = await automationEmulator()
  const agents = emulator.state('agents')
  const [, ...others] = emulator.state('automations')
  await emulator.delete(`${at}/u1`)
  expect(emulator.state('agents')).toEqual(agents)
  expect(emulator.state('automations').slice(1)).toEqual(others)
})

test('queued runs of a deleted automation stay queued', { tags: ['R186'] }, async () => {
  const emulator = await automationEmulator({
    collections: { agent_runs: [aRun('r1', 'u1'), aRun('r2', 'u2')] },
  })
  await emulator.delete(`${at}/u1`)
  expect(emulator.state('agent_runs').map(({ status }) => status)).toEqual(['queued', 'queued'])
})

test('a setting drops the queued runs of the deleted automation, and no others', {
  tags: ['R186'],
}, async () => {
  const emulator = await automationEmulator({
    settings: { 'automations.queued_runs': 'drop' },
    collections: { agent_runs: [aRun('r1', 'u1'), aRun('r2', 'u2'), aRun('r3', 'u1', 'executed')] },
  })
  await emulator.delete(`${at}/u1`)
  expect(emulator.state('agent_runs').map(({ id, status }) => [id, status])).toEqual([
    ['r1', 'dropped'],
    ['r2', 'queued'],
    ['r3', 'executed'],
  ])
})

test('an automation is only found below its own agent, and an agent in its own teamspace', {
  tags: ['R184'],
}, async () => {
  const emulator = await automationEmulator()
  const before = emulator.digest()
  for (const path of [
    '/agents/a1/automations/u3',
    '/agents/a9/automations/u9',
    '/agents/a0/automations/u1',
  ]) {
    expect((await emulator.delete(path)).status).toBe(404)
  }
  const foreign = await emulator.delete('/agents/a9/automations/u9')
  const unknown = await emulator.delete('/agents/a0/automations/u9')
  expect(foreign.text).toBe(unknown.text.replace('a0', 'a9'))
  expect(emulator.digest()).toBe(before)
})

test('a setting changes the success status of a deletion', { tags: ['R184'] }, async () => {
  const emulator = await automationEmulator({ settings: { 'success.delete': 200 } })
  const { status, body } = await emulator.delete(`${at}/u1`)
  expect([status, body]).toEqual([200, {}])
})

test('automations are stored unchanged, except for a new id', { tags: ['R223'] }, async () => {
  const emulator = await automationEmulator()
  const odd = JSON.parse('{"id":"mine","_emulator":{"agent_id":"a2"},"__proto__":{"x":1},"":[null],"n":1e3}')
  const made = await emulator.post(at, odd)
  const { id } = made.body
  expect([made.status, made.assumed]).toEqual([200, ['U043']])
  expect(id).toMatch(/^[0-9a-f]{24}$/)
  expect(made.text).toBe(`{"id":"${id}","__proto__":{"x":1},"":[null],"n":1000}`)
  const again = await emulator.restart()
  expect((await again.get(`${at}/${id}`)).text).toBe(made.text)
  expect(emulator.state('automations').at(-1)._emulator).toEqual({
    agent_id: 'a1',
    schedule: null,
    deleted_at: null,
  })
})

test('an update replaces the given fields, but neither the id nor _emulator', {
  tags: ['R223'],
}, async () => {
  const emulator = await automationEmulator()
  const { body } = await emulator.patch(`${at}/u1`, {
    id: 'x',
    _emulator: { agent_id: 'a2' },
    title: null,
    more: [],
  })
  expect(body).toEqual({ id: 'u1', title: null, when: { every: 'day' }, more: [] })
  expect((await emulator.get(`${at}/u1`)).body).toEqual(body)
  expect(await listed(emulator)).toEqual(['u1', 'u2'])
})

test('lists contain only records of the teamspace, newest first if they have created_at', {
  tags: ['R223'],
}, async () => {
  const dated = (id: string, created_at: unknown) => ({ ...anAgent(id), created_at })
  const agents = [
    dated('b', '2026-01-01T00:00:00.000Z'),
    dated('c', '2026-02-01T00:00:00.000Z'),
    dated('d', null),
  ]
  const emulator = await testEmulator({ collections: { agents: [...agents, anAgent('z', 'ts-b')] } })
  const { body, assumed } = await emulator.get('/agents')
  expect(body.object).toBe('list')
  expect(body.data.map(({ id }: { id: string }) => id)).toEqual(['c', 'b', 'd'])
  expect(JSON.stringify(body)).not.toContain('_emulator')
  expect(assumed).toEqual(['U020', 'U043'])
})

test('a deletion has a contract, so --strict does not stop it', { tags: ['R184'] }, async () => {
  const emulator = await automationEmulator({ strict: true })
  expect((await emulator.delete(`${at}/u1`)).status).toBe(204)
})
