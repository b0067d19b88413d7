import { expect, test } from 'vitest'
import type { TestEmulator } from '../support/emulator.ts'
import { keptLogger } from '../support/kept-logger.ts'
import { minutelyEmulator } from '../support/minutely.ts'

const START = Date.parse('2026-03-01T12:00:00.000Z')
const MINUTE = 60_000
const DAY = 1_440 * MINUTE

/** An emulator with a running clock, whose host time the test sets, and the warnings that it logs. */
async function behindEmulator(automations = 1) {
  const host = { now: START }
  const { said: warnings, logger } = keptLogger('warn')
  const settings = { 'agent_runs.keep': 100_000 }
  const options = { rate: 1, hostTime: () => host.now, logger, settings }
  return { emulator: await minutelyEmulator(options, { automations }), host, warnings }
}

const clockOf = async (emulator: TestEmulator) => (await emulator.control('GET', '/clock')).body

test('more than 500 due events run between requests, which are served at the time reached', async () => {
  const { emulator, host, warnings } = await behindEmulator()
  expect((await clockOf(emulator)).lag_ms).toBe(0)
  host.now += DAY
  // An automation begins each minute, and its run one second later.
  const first = await emulator.get('/agents')
  expect(Date.parse(first.headers.get('date') ?? '') - START).toBe(250 * MINUTE + 1_000)
  for (let lag = DAY; lag > 0; ) {
    expect((await emulator.post('/pages', { name: 'Plan' })).status).toBe(200)
    const { now, lag_ms } = await clockOf(emulator)
    expect([Date.parse(now) + lag_ms, lag_ms <= lag]).toEqual([START + DAY, true])
    lag = lag_ms
  }
  expect(emulator.state('agent_runs')).toHaveLength(1_440)
  expect(warnings).toEqual([])
})

test('a clock that cannot keep up logs one warning with its fixes, and stopping the clock works', async () => {
  const { emulator, host, warnings } = await behindEmulator(10)
  host.now += 20 * DAY
  while (warnings.length === 0) await emulator.get('/agents')
  const [warning = ''] = warnings
  expect(warning).toContain('The clock of the sandbox default cannot keep up: events fall due faster than')
  expect(warning).toMatch(/ It is at 2026-03-\d\dT.*, \d+ s late\./)
  expect(warning).toContain('clock rate 1" slows it down, "workspace-emulator clock rate 0" stops it there')
  const stopped = await emulator.control('PATCH', '/clock', { rate: 0 })
  expect([stopped.status, stopped.body.rate, stopped.body.lag_ms]).toEqual([200, 0, 0])
  const { now } = await clockOf(emulator)
  host.now += DAY
  await emulator.get('/agents')
  expect((await clockOf(emulator)).now).toBe(now)
  expect(warnings).toHaveLength(1)
})

test('an emulator whose clock is late closes without catching up', async () => {
  const { emulator, host } = await behindEmulator()
  host.now += 3_650 * DAY
  await emulator.get('/agents')
  await emulator.emulator.close()
  expect(emulator.sandbox.clock.now).toBeLessThan(START + 3_650 * DAY)
})
