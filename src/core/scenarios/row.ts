import { z } from 'zod'
import { anyObject, duration, type ShapeOf, timestamp } from '../fields.ts'
import type { JsonObject } from '../json.ts'
import type { TableOf } from '../state/transaction.ts'
import { json } from '../strict-input.ts'
import type { StubDraft } from './stub.ts'

/** Id of the record of the active scenario, in the table of single records of a sandbox. */
export const SCENARIO = 'scenario'

/** The event that a hook gets: its name, its virtual instant, and further fields. */
export interface ScenarioEvent extends JsonObject {
  readonly name: string
  readonly at: string
}

/** One step of a timeline. `at`: virtual duration since the start; `function`: the script has a function for this step. */
const step = () =>
  z.strictObject({
    at: duration(),
    do: z.union([z.literal('function'), z.array(anyObject() as z.ZodType<object>).readonly()]),
  })

/** A setting that a scenario has changed. `before`: the value that was chosen before; absent when there was none. */
const changedSetting = () => z.strictObject({ key: z.string(), value: json(), before: json().optional() })

/**
 * The active scenario, as in a state document, with all of its effects, so that these can be removed or replaced by those of
 * a newer version. Its drafts were checked when they were armed.
 */
export const scenarioRecord = () =>
  z.strictObject({
    name: z.string().min(1),
    /** The generation of its script. */
    generation: z.int().min(1),
    /** Virtual instant; the timeline counts from it. */
    started_at: timestamp(),
    settings: z.array(changedSetting()).readonly(),
    /** Its drafts, each with the id of the rule that was armed. */
    faults: z.array(z.strictObject({ id: z.string(), draft: anyObject() as z.ZodType<object> })).readonly(),
    stubs: z.array(anyObject() as z.ZodType<unknown> as z.ZodType<StubDraft>).readonly(),
    timeline: z.array(step()).readonly(),
    /** Events that have a hook. */
    on: z.array(z.string()).readonly(),
  })

export type ScenarioStep = z.output<ReturnType<typeof step>>
export type ScenarioRow = { readonly id: typeof SCENARIO } & ShapeOf<typeof scenarioRecord>

/**
 * A pending call of a scenario's function. It is written in the transaction that causes it, and removed in the transaction
 * with the effects of the function: so the call is repeated when the emulator stops before the function has returned.
 */
export const scenarioCall = () =>
  z.strictObject({
    id: z.string().min(1),
    scenario: z.string().min(1),
    /** The step at an index of the timeline, or the hook on an event. */
    ref: z.union([z.strictObject({ timeline: z.int().min(0) }), z.strictObject({ on: z.string() })]),
    /** Virtual instant at which it was written. */
    at: timestamp(),
    /** The event for a hook; null for a step of the timeline. */
    event: (anyObject() as z.ZodType<unknown> as z.ZodType<ScenarioEvent>).nullable(),
    /** How many calls have led to this one. */
    depth: z.int().min(0),
    /** Virtual milliseconds between those calls; absent: 0. */
    waited: z.int().min(0).optional(),
    caused_by: z.string(),
  })

export type ScenarioCall = Readonly<z.output<ReturnType<typeof scenarioCall>>>

/** Names a function of a scenario. */
export type FunctionRef = ScenarioCall['ref']

export const scenarioCalls: TableOf<ScenarioCall> = { name: '$scenario_calls', label: 'call of a scenario' }

/** `scenario/name/index` of a step, `scenario/name/on/event` of a hook: the name in results. */
export function refOfFunction(scenario: string, ref: FunctionRef): string {
  return 'timeline' in ref ? `scenario/${scenario}/${ref.timeline}` : `scenario/${scenario}/on/${ref.on}`
}
