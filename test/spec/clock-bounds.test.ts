import { expect, test } from 'vitest'
import { scenarioClock } from '../../src/core/scenarios/source.ts'
import { END_OF_TIME } from '../../src/core/time/clock.ts'
import { scheduledEvent } from '../../src/core/time/scheduler.ts'
import { FixturesError, startEmulator } from '../../src/index.ts'
import { aBatch, batchEmulator, createBatch, retrieve } from '../support/batches.ts'
import { testEmulator } from '../support/emulator.ts'
import { demoWith, issuesOf } from '../support/starting-states.ts'

const BEFORE = '1969-12-31T23:59:59.999Z'
const AFTER = '9999-01-01T00:00:00.000Z'

const BOUNDS = '1970-01-01T00:00:00.000Z to 9998-12-31T23:59:59.999Z'

test.for<[method: string, path: string, body: (instant: string) => object, pointer: string]>([
  ['POST', '/sandboxes', (clock) => ({ name: 'other', clock }), '/clock'],
  ['POST', '/reset', (clock) => ({ clock }), '/clock'],
  ['PATCH', '/clock', (now) => ({ now }), '/now'],
  ['POST', '/clock/advance', (to) => ({ to }), '/to'],
  ['POST', '/clock/advance', () => ({ by: '3000000d' }), '/by'],
  ['POST', '/clock/advance', (max_to) => ({ until: { batch: 'b' }, max_to }), '/max_to'],
  ['POST', '/faults', (jump) => ({ do: [{ clock: { jump } }] }), '/do/0/clock/jump'],
])('%s %s refuses an instant out of bounds, and names both', async ([method, path, body, pointer]) => {
  const emulator = await testEmulator()
  const before = emulator.digest()
  for (const instant of [BEFORE, AFTER, '0000-01-01T00:00:00Z']) {
    const response = await emulator.control(method, path, body(instant))
    expect([response.status, response.body.error]).toEqual([400, 'validation_failed'])
    const detail = expect.stringContaining(BOUNDS)
    expect(response.body.details.errors).toContainEqual({ pointer, detail })
  }
  expect(emulator.digest()).toBe(before)
})

// The damages of a state document have its clock.
test.for([BEFORE, AFTER])('a scenario and the library refuse the clock %s', async (now) => {
  expect(scenarioClock().safeParse({ now }).error?.message).toContain(BOUNDS)
  await expect(startEmulator({ clock: now, ephemeral: true })).rejects.toThrow(BOUNDS)
})

test('a sandbox that starts at the first instant of the clock continues there after a restart', async () => {
  const clock = '1970-01-01T00:00:00.000Z'
  const first = await testEmulator({ clock })
  const { headers } = await first.get('/agents')
  expect(Number(headers.get('x-ratelimit-reset'))).toBeGreaterThan(0)
  const { body: state } = await first.control('GET', '/state')
  expect((await first.control('PUT', '/state', state)).status).toBe(200)
  const second = await first.restart()
  expect((await second.control('GET', '/clock')).body.now).toBe(clock)
  expect(await second.control('GET', '/limits')).toMatchObject({ status: 200, body: { data: [{}] } })
})

test('an event may be due before the first instant, since records may have earlier times, but not after the last', () => {
  const { due_at } = scheduledEvent().shape
  expect([due_at.safeParse(BEFORE).success, due_at.safeParse(AFTER).success]).toEqual([true, false])
})

test.for(['+9999999d', '+99999999999d'])('a timestamp %s in fixtures is refused', async (created_at) => {
  const [issue] = await issuesOf(demoWith('skills', 'skill-takeoff', () => ({ created_at })))
  expect(issue?.pointer).toBe('/collections/skills/0/created_at')
})

test('a request whose event would be after the last instant of the clock is refused with the way out, and changes nothing', async () => {
  const clock = new Date(END_OF_TIME - 1_000).toISOString()
  const emulator = await batchEmulator({}, { clock })
  const response = await emulator.post('/batch-predictions', aBatch())
  expect(response.status).toBe(409)
  expect(JSON.stringify(response.body)).toContain('9998-12-31T23:59:59.999Z')
  expect(emulator.sandbox.store.revision).toBe(0)
})

const AT_THE_END = {
  clock: '9998-12-31T12:00:00.000Z',
  collections: {
    agents: [{ id: 'a1', _emulator: { teamspace_id: 'ts-a' } }],
    automations: [{ id: 'u1', _emulator: { agent_id: 'a1', schedule: '59 59 23 * * *' } }],
  },
}

test('an automation fires at the end of the clock, and only what follows after the end is not planned', async () => {
  const emulator = await testEmulator(AT_THE_END)
  const { body } = await emulator.control('POST', '/clock/advance', { to: '9998-12-31T23:59:59Z' })
  expect([body.events, body.failed]).toMatchObject([[{ kind: 'automation.fire' }], []])
  expect(emulator.state('agent_runs')).toMatchObject([{ automation_id: 'u1', status: 'queued' }])
  expect(emulator.sandbox.scheduler.horizon()).toEqual([])
})

test('a batch ends although its results would be removed after the end of the clock', async () => {
  const emulator = await batchEmulator({}, { clock: '9998-12-10T00:00:00.000Z' })
  const { id } = await createBatch(emulator)
  expect(emulator.advance('24h').failed).toEqual([])
  expect((await retrieve(emulator, id)).status).toBe('completed')
  const response = await emulator.control('POST', '/reset', { fixtures: 'demo', clock: AT_THE_END.clock })
  expect(response.status).toBe(200)
  expect(emulator.sandbox.scheduler.horizon()).toEqual([])
})

test('fixtures whose events are after the end of the clock are refused with each record and the options', async () => {
  const { clock, collections } = AT_THE_END
  const run = { agent_id: 'a1', status: 'queued', queued_at: '9998-12-31T23:59:59.500Z', cause: 'A test.' }
  const runs = ['r0', 'r1'].map((id) => ({ id, ...run }))
  const start = testEmulator({ clock, collections: { ...collections, agent_runs: runs } })
  const error = await start.catch((error: unknown) => error)
  expect(error).toBeInstanceOf(FixturesError)
  const { issues } = error as FixturesError
  expect(issues.map(({ pointer }) => pointer)).toEqual([0, 1].map((n) => `/collections/agent_runs/${n}`))
  const detail = /^The event agent-run\.execute of agent_runs\/r. .*9998.* --clock\), .* --fixtures\)\.$/
  for (const issue of issues) expect(issue.detail).toMatch(detail)
})
