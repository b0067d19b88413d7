import { expect, test } from 'vitest'
import { scenarioClock } from '../../src/core/scenarios/source.ts'
import { END_OF_TIME } from '../../src/core/time/clock.ts'
import { scheduledEvent } from '../../src/core/time/scheduler.ts'
import { FixturesError, startEmulator } from '../../src/index.ts'
import { aBatch, batchEmulator, createBatch, retrieve } from '../support/batches.ts'
import { controlEmulator } from '../support/control-emulator.ts'
import { alive, dataFolder } from '../support/data-folder.ts'
import { testEmulator } from '../support/emulator.ts'
import { demoWith, issuesOf } from '../support/starting-states.ts'

const BEFORE = '1969-12-31T23:59:59.999Z'
const AFTER = '9999-01-01T00:00:00.000Z'

/** Both bounds, as each message about an instant out of them names them. */
const BOUNDS = '1970-01-01T00:00:00.000Z to 9998-12-31T23:59:59.999Z'

test.for<[method: string, path: string, body: object, pointer: string]>([
  ...[BEFORE, AFTER, '0000-01-01T00:00:00Z'].flatMap((instant): [string, string, object, string][] => [
    ['POST', '/sandboxes', { name: 'other', clock: instant }, '/clock'],
    ['POST', '/reset', { clock: instant }, '/clock'],
    ['PATCH', '/clock', { now: instant }, '/now'],
    ['POST', '/clock/advance', { to: instant }, '/to'],
  ]),
  ['POST', '/clock/advance', { by: '3000000d' }, '/by'],
])(
  '%s %s refuses an instant out of the bounds of the clock, and names both: %j',
  async ([method, path, body, pointer]) => {
    const emulator = await controlEmulator()
    const before = emulator.digest()
    const response = await emulator.call(method, path, body)
    expect([response.status, response.body.error]).toEqual([400, 'validation_failed'])
    expect(response.body.details.errors).toContainEqual({ pointer, detail: expect.stringContaining(BOUNDS) })
    expect(emulator.digest()).toBe(before)
  },
)

test.for<[method: string, path: string, body: (instant: string) => object, pointer: string]>([
  ['POST', '/clock/advance', (max_to) => ({ until: { batch: 'b' }, max_to }), '/max_to'],
  ['POST', '/faults', (jump) => ({ do: [{ clock: { jump } }] }), '/do/0/clock/jump'],
])('%s %s of the service names both bounds of the clock', async ([method, path, body, pointer]) => {
  const emulator = await testEmulator()
  const before = emulator.digest()
  for (const instant of [BEFORE, AFTER]) {
    const response = await emulator.control(method, path, body(instant))
    expect(response.status).toBe(400)
    expect(response.body.details.errors).toContainEqual({ pointer, detail: expect.stringContaining(BOUNDS) })
  }
  expect(emulator.digest()).toBe(before)
})

test('a state document with a clock out of its bounds is refused', async () => {
  const emulator = await testEmulator()
  const { body: state } = await emulator.control('GET', '/state')
  const detail = expect.stringContaining(BOUNDS)
  for (const now of [BEFORE, AFTER]) {
    const { status, body } = await emulator.control('PUT', '/state', {
      ...state,
      clock: { ...state.clock, now },
    })
    expect([status, body.details.errors]).toEqual([400, [{ pointer: '/clock/now', detail }]])
  }
})

test.for([BEFORE, AFTER])('a scenario that begins at %s is not valid', (now) => {
  expect(scenarioClock().safeParse({ now }).error?.message).toContain(BOUNDS)
})

test.for([BEFORE, AFTER])('the option clock of the library refuses %s', async (clock) => {
  await expect(startEmulator({ clock, ephemeral: true })).rejects.toThrow(BOUNDS)
})

test('a sandbox that starts at the first instant of the clock continues there after a restart', async () => {
  const data = dataFolder()
  const options = { fixtures: 'demo', clock: '1970-01-01T00:00:00.000Z' } as const
  const first = await alive(data, options)
  const response = await fetch(`${first.emulator.baseUrl}/agents`, {
    headers: { authorization: 'Bearer live_demo_owner' },
  })
  expect(Number(response.headers.get('x-ratelimit-reset'))).toBeGreaterThan(0)
  const { body: state } = await first.control('GET', '/state')
  expect((await first.control('PUT', '/state', state)).status).toBe(200)
  await first.emulator.close()
  const second = await alive(data, options)
  expect((await second.control('GET', '/clock')).body.now).toBe(options.clock)
  expect(await second.control('GET', '/limits')).toMatchObject({ status: 200, body: { data: [{}] } })
})

test.for([
  [BEFORE, true],
  [AFTER, false],
] as const)(
  'an event that is due at %s is accepted: %s, since records may have earlier times',
  ([due_at, is]) => {
    expect(scheduledEvent().shape.due_at.safeParse(due_at).success).toBe(is)
  },
)

test.for(['+9999999d', '+99999999999d'])(
  'fixtures with a timestamp %s after the start are refused at their field',
  async (created_at) => {
    const [issue] = await issuesOf(demoWith('skills', 'skill-takeoff', () => ({ created_at })))
    expect(issue?.pointer).toBe('/collections/skills/0/created_at')
  },
)

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
})

test('a sandbox with the demo fixtures starts on the last day of the clock', async () => {
  const emulator = await testEmulator()
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
  const detail = expect.stringMatching(
    new RegExp(
      `^The event agent-run\\.execute of agent_runs/r. .*${BOUNDS}\\..* --clock\\), .* --fixtures\\)\\.$`,
    ),
  )
  expect((error as FixturesError).issues).toEqual([
    { pointer: '/collections/agent_runs/0', detail },
    { pointer: '/collections/agent_runs/1', detail },
  ])
})
