import type { Json } from '../json.ts'
import type { Action } from './primitive.ts'
import type { FaultMatch, When } from './rule.ts'

/** A value with a reserved prefix that a client can put where it sets nothing else. */
export interface MagicValue {
  /** Where it stands: `custom_id of an item`, `metadata.emu_script`. */
  readonly place: string
  /** The forms it has, each with what it does. */
  readonly values: readonly { readonly form: string; readonly description: string }[]
  /** The operation whose requests have it. */
  readonly operation: string
  /** The actions that a body asks for, by the value that stands for them; absent where records themselves obey the value. */
  readonly actionsOf?: (
    body: Json,
  ) => readonly { readonly value: string; readonly actions: readonly Action[] }[]
}

/** A name for a composition of primitives. Whatever a rule says beside the name takes precedence. */
export interface Preset {
  readonly name: string
  /** One sentence: what the client sees. */
  readonly description: string
  /** The heading under which it is listed. */
  readonly family: string
  readonly match: FaultMatch | 'everything'
  readonly when?: When
  readonly do?: readonly Action[]
  readonly actions?: Readonly<Record<string, readonly Action[]>>
  readonly then?: 'stop' | 'continue'
  /** An incident fires this often, and is spent. Absent for a state of affairs, which lasts until its rule is removed. */
  readonly times?: number
}

/** How long a rule lasts that says no more than the name of the preset. */
export function lastsOf({ times }: Preset): 'once' | 'until_removed' {
  return times === undefined ? 'until_removed' : 'once'
}

/** The way out for a request that names an unknown preset. */
export const ALL_PRESETS = 'GET /__emulator/faults/presets lists every preset.'
