import { z } from 'zod'
import { objectAs, type ShapeOf } from '../fields.ts'
import type { Json } from '../json.ts'
import type { Action } from './primitive.ts'
import type { FaultMatch, When } from './rule.ts'

/** A value with a reserved prefix that changes how a request is handled, for clients that can set nothing but a field. */
export interface MagicValue {
  /** The field that contains it: `custom_id of an item`, `metadata.emu_script`. */
  readonly place: string
  /** Its forms, each with a description of its effect. */
  readonly values: readonly { readonly form: string; readonly description: string }[]
  /** The operation whose requests have it. */
  readonly operation: string
  /**
   * The actions that a body requests, by the value that requests them. They act on records only: without a rule, no adapter
   * applies faults. Absent when the records act on the value themselves.
   */
  readonly actionsOf?: (
    body: Json,
  ) => readonly { readonly value: string; readonly actions: readonly Extract<Action, { state: unknown }>[] }[]
}

// Only typed here: the actions of a preset are checked with the rule that is created from it.
const actions = () => z.array(objectAs<Action>())

/** A name for a composition of primitives. The other fields of a rule override those of its preset. */
export const preset = () =>
  z.strictObject({
    name: z.string(),
    /** The heading under which it is listed. */
    family: z.string(),
    /** One sentence about the behaviour that the client sees. */
    description: z.string(),
    match: z.union([z.literal('everything'), objectAs<FaultMatch>()]),
    when: objectAs<When>().exactOptional(),
    do: actions().exactOptional(),
    actions: z.record(z.string(), actions()).exactOptional(),
    then: z.enum(['stop', 'continue']).exactOptional(),
    /** How often a rule fires before it is spent. Absent: the rule lasts until it is removed. */
    times: z.int().exactOptional(),
  })

export type Preset = ShapeOf<typeof preset>

/** How long a rule lasts when it gives only the name of the preset. */
export function lastsOf({ times }: Preset): 'once' | 'until_removed' {
  return times === undefined ? 'until_removed' : 'once'
}
