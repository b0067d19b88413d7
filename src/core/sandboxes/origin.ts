import type { JsonObject } from '../json.ts'
import {
  CLOCK,
  ORIGIN,
  type OriginRow,
  SANDBOX_TABLE,
  type SandboxState,
  SETTINGS,
  type SettingsRow,
} from '../state/state.ts'
import type { ClockRow } from '../time/clock.ts'

/** The choices for the start of a sandbox. For an absent field, the options of the emulator apply. */
export interface Origin {
  /** The name of fixtures in the package, or a fixtures document. */
  readonly fixtures?: string | JsonObject
  readonly seed?: number
  /** ISO 8601 instant with a zone. */
  readonly clock?: string
  /** Virtual seconds per real second; 0 for a stopped clock. */
  readonly rate?: number
  readonly skip_on_poll?: boolean
  readonly settings?: JsonObject
  /** A whole state to start from, instead of fixtures. Its settings stay; `seed` and `clock` replace those of the state. */
  readonly state?: SandboxState
}

/** An origin with new choices. New fixtures replace the records of a whole state, but not its seed, clock and settings. */
export function originWith({ state, ...origin }: Origin, overrides: Origin): Origin {
  if (state === undefined) return { ...origin, ...overrides }
  if (overrides.fixtures === undefined) return { ...origin, state, ...overrides }
  return { ...factsOf(state), ...origin, ...overrides }
}

function factsOf({ store }: SandboxState): Required<Omit<Origin, 'fixtures' | 'state'>> {
  const { now, rate, skip_on_poll } = store.get(SANDBOX_TABLE, CLOCK) as ClockRow
  return {
    seed: (store.get(SANDBOX_TABLE, ORIGIN) as OriginRow).seed,
    clock: now,
    rate,
    skip_on_poll,
    settings: (store.get(SANDBOX_TABLE, SETTINGS) as SettingsRow).values,
  }
}
