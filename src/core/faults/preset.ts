import * as z from 'zod'
import { objectAs, type ShapeOf } from '../fields.ts'
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

// What a preset does is checked with the rule that is made of it, so that it is only named here.
const actions = () => z.array(objectAs<Action>())

/** A name for a composition of primitives. Whatever a rule says beside the name takes precedence. */
export const preset = () =>
  z.strictObject({
    name: z.string(),
    /** The heading under which it is listed. */
    family: z.string(),
    /** One sentence: what the client sees. */
    description: z.string(),
    match: z.union([z.literal('everything'), objectAs<FaultMatch>()]),
    when: objectAs<When>().exactOptional(),
    do: actions().exactOptional(),
    actions: z.record(z.string(), actions()).exactOptional(),
    then: z.enum(['stop', 'continue']).exactOptional(),
    /** An incident fires this often, and is spent. Absent for a state of affairs, which lasts until its rule is removed. */
    times: z.int().exactOptional(),
  })

export type Preset = ShapeOf<typeof preset>

/** How long a rule lasts that says no more than the name of the preset. */
export function lastsOf({ times }: Preset): 'once' | 'until_removed' {
  return times === undefined ? 'until_removed' : 'once'
}
