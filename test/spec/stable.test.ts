import { expect, test } from 'vitest'
import { testEmulator } from '../support/emulator.ts'

const PLAIN = { id: 'a', match: { operation: 'pages.create' }, do: [{ respond: { status: 500 } }] }
const TIMED = { ...PLAIN, id: 'b', when: { until: { wall_ms: 1_000 } } }

interface State {
  readonly clock: { readonly wall: string | null }
  readonly faults: readonly { readonly id: string; readonly armed_wall?: string }[]
}

test('only a rule that lasts for a real time has a real instant, and a stable export has none', async () => {
  const emulator = await testEmulator({ rate: 1 })
  await emulator.control('POST', '/faults', PLAIN)
  await emulator.control('POST', '/faults', TIMED)
  const state = (await emulator.control('GET', '/state')).body as State
  expect(state.faults.map((rule) => [rule.id, rule.armed_wall !== undefined])).toEqual([
    ['a', false],
    ['b', true],
  ])
  expect(state.clock.wall).toEqual(expect.any(String))
  const stable = (await emulator.control('GET', '/state?stable=true')).body as State
  expect([stable.clock.wall, stable.faults.some((rule) => 'armed_wall' in rule)]).toEqual([null, false])
  expect((await emulator.control('PUT', '/state', stable)).status).toBe(200)
})
