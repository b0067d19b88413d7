import { TURN } from '../../src/core/time/turn.ts'
import { batchEmulator } from './batches.ts'
import type { TestEmulator, TestEmulatorOptions } from './emulator.ts'

/** A sandbox that always has due events: automations that run every minute, and each run is one more event. */
export function minutelyEmulator(
  options: TestEmulatorOptions = {},
  { automations: count = 1, schedule = '* * * * *' } = {},
): Promise<TestEmulator> {
  const agents = [{ id: 'a1', _emulator: { teamspace_id: 'ts-a' } }]
  const automations = Array.from({ length: count }, (_, n) => ({
    id: `u${n}`,
    _emulator: { agent_id: 'a1', schedule },
  }))
  return batchEmulator(options.settings, {
    ...options,
    collections: { agents, automations, ...options.collections },
  })
}

/** Turns of this many events, without a limit of time; `between` is called after each. */
export function turnsOf(events: number, between: () => void = () => {}) {
  const next = async () => {
    await TURN.next()
    between()
  }
  return { events, ms: Number.POSITIVE_INFINITY, next }
}
