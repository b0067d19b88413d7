import type { JsonObject } from '../json.ts'
import {
  CLOCK,
  ORIGIN,
  type OriginRow,
  SETTINGS,
  type SettingsRow,
  WORLD,
  type WorldState,
} from '../state/state.ts'
import type { ClockRow } from '../time/clock.ts'

/** What a world starts from. Whatever is absent is as the emulator was started. */
export interface Origin {
  /** The name of a shipped world, or a fixtures document. */
  readonly fixtures?: string | JsonObject
  readonly seed?: number
  /** ISO 8601 instant with a zone. */
  readonly clock?: string
  readonly settings?: JsonObject
  /** A world at rest to start from, instead of fixtures; its settings stay, a seed or a clock given beside it replaces its own. */
  readonly world?: WorldState
}

/** An origin with what is chosen anew. Other fixtures take the place of a whole world, but not of what it says beside its records. */
export function chosenAnew({ world, ...origin }: Origin, anew: Origin): Origin {
  if (world === undefined) return { ...origin, ...anew }
  if (anew.fixtures === undefined) return { world, ...anew }
  return { ...factsOf(world), ...anew }
}

function factsOf({ store }: WorldState): Required<Pick<Origin, 'seed' | 'clock' | 'settings'>> {
  return {
    seed: (store.get(WORLD, ORIGIN) as OriginRow).seed,
    clock: (store.get(WORLD, CLOCK) as ClockRow).now,
    settings: (store.get(WORLD, SETTINGS) as SettingsRow).values,
  }
}
