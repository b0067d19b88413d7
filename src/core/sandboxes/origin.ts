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

/** What a sandbox starts from. Whatever is absent is as the emulator was started. */
export interface Origin {
  /** The name of a shipped data, or a fixtures document. */
  readonly fixtures?: string | JsonObject
  readonly seed?: number
  /** ISO 8601 instant with a zone. */
  readonly clock?: string
  /** Virtual seconds per real second; 0 stands still. */
  readonly rate?: number
  readonly skip_on_poll?: boolean
  readonly settings?: JsonObject
  /** A sandbox at rest to start from, instead of fixtures; its settings stay, a seed or a clock given beside it replaces its own. */
  readonly state?: SandboxState
}

/** An origin with what is chosen anew. Other fixtures take the place of a whole state, but not of what it says beside its records. */
export function originWith({ state, ...origin }: Origin, anew: Origin): Origin {
  if (state === undefined) return { ...origin, ...anew }
  if (anew.fixtures === undefined) return { ...origin, state, ...anew }
  return { ...factsOf(state), ...origin, ...anew }
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
