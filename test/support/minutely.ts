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

/**
 * A clock of the host at a fixed instant, on which each event takes 1 ms of real time: call `ran` for each event. A turn of an
 * advance is over after 10 events.
 */
export function slowHost(at: number) {
  let elapsed = 0
  const hostTime = Object.assign(() => at, { elapsed: () => elapsed })
  const ran = (): void => {
    elapsed += 1
  }
  return { hostTime, ran }
}
