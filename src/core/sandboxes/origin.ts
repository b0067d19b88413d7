import * as z from 'zod'
import { refuseInvalid } from '../errors.ts'
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

/** What a name of a sandbox, or of a snapshot, may be. */
export const NAME_PATTERN = /^[a-z0-9][a-z0-9-]{0,62}$/

/** The rule for names in words. */
export const NAME_RULE = '1 to 63 lower-case letters, digits and hyphens, not beginning with a hyphen'

const MUST_BE = `must be ${NAME_RULE}`

/** A field that names a sandbox, or a snapshot. */
export function nameField() {
  return z.string().regex(NAME_PATTERN, { error: MUST_BE })
}

/** Refuses an invalid name. @param at its place in the request, as a JSON Pointer */
export function refuseBadName(name: string, at: string): void {
  if (!NAME_PATTERN.test(name)) refuseInvalid([{ pointer: at, detail: MUST_BE }])
}

/** What a sandbox starts from. Whatever is absent is as the emulator was started. */
export interface Origin {
  /** The name of a shipped data, or a fixtures document. */
  readonly fixtures?: string | JsonObject
  readonly seed?: number
  /** ISO 8601 instant with a zone. */
  readonly clock?: string
  readonly settings?: JsonObject
  /** A sandbox at rest to start from, instead of fixtures; its settings stay, a seed or a clock given beside it replaces its own. */
  readonly state?: SandboxState
}

/** An origin with what is chosen anew. Other fixtures take the place of a whole state, but not of what it says beside its records. */
export function originWith({ state, ...origin }: Origin, anew: Origin): Origin {
  if (state === undefined) return { ...origin, ...anew }
  if (anew.fixtures === undefined) return { state, ...anew }
  return { ...factsOf(state), ...anew }
}

function factsOf({ store }: SandboxState): Required<Pick<Origin, 'seed' | 'clock' | 'settings'>> {
  return {
    seed: (store.get(SANDBOX_TABLE, ORIGIN) as OriginRow).seed,
    clock: (store.get(SANDBOX_TABLE, CLOCK) as ClockRow).now,
    settings: (store.get(SANDBOX_TABLE, SETTINGS) as SettingsRow).values,
  }
}
