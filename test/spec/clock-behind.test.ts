import { expect, test } from 'vitest'
import type { TestEmulator } from '../support/emulator.ts'
import { minutelyEmulator, turnsOf } from '../support/minutely.ts'

const START = Date.parse('2026-03-01T12:00:00.000Z')
const MINUTE = 60_000
const DAY = 1_440 * MINUTE

/** An emulator with a running clock, whose host time the test sets, and the warnings that it logs. */
async function behindEmulator(automations = 1, events = 10) {
  const host = { now: START }
  const warnings: string[] = []
  const gate = { open: true, waiting: [] as (() => void)[] }
  const limit = turnsOf(events)
  const next = async () => {
    await limit.next()
    if (!gate.open) await new Promise<void>((resolve) => gate.waiting.push(resolve))
  }
  const logger = { info: () => {}, warn: (message: string) => void warnings.push(message), error: () => {} }
  const emulator = await minutelyEmulator(
    {
      rate: 1,
      hostTime: () => host.now,
      turn: { ...limit, next },
      logger,
      settings: { 'agent_runs.keep': 100_000 },
    },
    { automations },
  )
  const open = () => {
    gate.open = true
    for (const go of gate.waiting.splice(0)) go()
  }
  return { emulator, host, warnings, gate, open }
}

const clockOf = async (emulator: TestEmulator) => (await emulator.control('GET', '/clock')).body

/** Requests the clock until it has caught up. */
async function caughtUp(emulator: TestEmulator): Promise<void> {
  while ((await clockOf(emulator)).lag_ms > 0);
}

test('due events beyond one turn run between requests, which are served at the time reached', async () => {
  const { emulator, host, gate, open, warnings } = await behindEmulator()
  expect((await clockOf(emulator)).lag_ms).toBe(0)
  gate.open = false
  host.now += DAY
  // One turn of ten events: five minutes, and the second that a run waits.
  const first = await emulator.get('/agents')
  expect(Date.parse(first.headers.get('date') ?? '') - START).toBe(5 * MINUTE + 1_000)
  while (gate.waiting.length === 0) await emulator.control('GET', '/ready')
  // Once the backlog has had its own turn, requests run no more of it.
  for (let n = 0; n < 3; n++) {
    expect((await emulator.post('/pages', { name: 'Plan' })).status).toBe(200)
    expect(await clockOf(emulator)).toMatchObject({
      now: '2026-03-01T12:10:01.000Z',
      lag_ms: DAY - 10 * MINUTE - 1_000,
    })
  }
  const { data } = (await emulator.control('GET', '/sandboxes')).body
  expect(data[0].now).toBe('2026-03-01T12:10:01.000Z')
  open()
  await caughtUp(emulator)
  expect((await clockOf(emulator)).now).toBe('2026-03-02T12:00:00.000Z')
  expect(emulator.state('agent_runs')).toHaveLength(1_440)
  // Catching up with a day logs no warning.
  expect(warnings).toEqual([])
})

test('a clock that cannot keep up logs one warning with its fixes, and stopping the clock works', async () => {
  const { emulator, host, warnings, gate, open } = await behindEmulator(10, 500)
  host.now += 2 * DAY
  while (warnings.length === 0) await emulator.get('/agents')
  gate.open = false
  await emulator.get('/agents')
  expect(warnings).toHaveLength(1)
  expect(warnings[0]).toMatch(
    /^The clock of the sandbox default cannot keep up: events fall due faster than they run\. It is at 2026-03-0\dT.*, \d+ s late\./,
  )
  expect(warnings[0]).toContain(
    'PATCH /__emulator/clock {"rate": 1} slows it down, {"rate": 0} stops it there',
  )
  const stopped = await emulator.control('PATCH', '/clock', { rate: 0 })
  expect([stopped.status, stopped.body.rate, stopped.body.lag_ms]).toEqual([200, 0, 0])
  open()
  const { now } = await clockOf(emulator)
  host.now += DAY
  await emulator.get('/agents')
  expect((await clockOf(emulator)).now).toBe(now)
  expect(warnings).toHaveLength(1)
})

test('an advance of a clock that is late catches up first, and its result begins after that', async () => {
  const { emulator, host } = await behindEmulator()
  host.now += DAY
  const { status, body } = await emulator.control('POST', '/clock/advance', { by: '2m' })
  expect([status, body.from, body.to]).toEqual([200, '2026-03-02T12:00:00.000Z', '2026-03-02T12:02:00.000Z'])
  expect(body.events).toHaveLength(4)
  expect(emulator.state('agent_runs')).toHaveLength(1_442)
})

test('an emulator whose clock is late closes without catching up', async () => {
  const { emulator, host } = await behindEmulator()
  host.now += 3_650 * DAY
  await emulator.get('/agents')
  await emulator.emulator.close()
  expect(emulator.sandbox.clock.now).toBeLessThan(START + 3_650 * DAY)
})
