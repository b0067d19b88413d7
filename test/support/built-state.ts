import type { Service } from '../../src/core/service.ts'
import { buildStartingState, type Fixtures, type Start } from '../../src/core/state/starting-state.ts'
import type { SandboxState } from '../../src/core/state/state.ts'

/** A start with seed 1, a frozen clock and no settings, except as given. */
export function startAt(now: number, given: Partial<Start> = {}): Start {
  const host = () => now
  return { seed: 1, now, rate: 0, skip_on_poll: false, settings: {}, strict: false, host, ...given }
}

/** A starting state of these records; throws the issues if they are invalid. */
export async function builtState(
  fixtures: Partial<Fixtures>,
  start: Start,
  service: Service,
): Promise<SandboxState> {
  const whole = { collections: {}, generate: {}, ...fixtures }
  const built = await buildStartingState(whole, start, service)
  if ('state' in built) return built.state
  throw new Error(built.issues.map(({ pointer, detail }) => `${pointer} ${detail}`).join('\n'))
}
