import * as z from 'zod'
import type { FaultDraft } from '../faults/draft.ts'
import { anyObject, duration, timestamp } from '../fields.ts'
import type { Json, JsonObject } from '../json.ts'
import type { Row } from '../state/commit.ts'
import type { TableOf } from '../state/store.ts'
import type { FunctionRef, ScenarioEvent } from './commands.ts'
import type { ScenarioStep } from './source.ts'
import type { StubDraft } from './stub.ts'

/** Id of the record of the scenario that is active on a world, among those that a world has one of. */
export const SCENARIO = 'scenario'

/** The scenario that is active: what it has put into force, so that it can be taken back or swapped for a newer version. */
export interface ScenarioRow extends Row {
  readonly id: typeof SCENARIO
  readonly name: string
  /** Of the scripts that are in force. */
  readonly generation: number
  /** Virtual instant; the timeline counts from it. */
  readonly started_at: string
  readonly settings: readonly ScenarioSetting[]
  /** Its drafts, each with the id of the rule that was armed. */
  readonly faults: readonly { readonly id: string; readonly draft: FaultDraft }[]
  readonly stubs: readonly StubDraft[]
  readonly timeline: readonly ScenarioStep[]
  /** Events that have a hook. */
  readonly on: readonly string[]
}

/** A setting that a scenario has changed. */
export interface ScenarioSetting {
  readonly key: string
  readonly value: Json
  /** What was chosen before; absent where nothing was. */
  readonly before?: Json
}

/**
 * A function of a scenario that is to be called. Written in the transaction that gives rise to it, and removed in the one
 * that has the effects of the function: so it is called again when the emulator ends before it has returned.
 */
export interface ScenarioCall extends Row {
  readonly scenario: string
  readonly ref: FunctionRef
  /** Virtual instant at which it was left. */
  readonly at: string
  /** What a hook is told of; null for a step of the timeline. */
  readonly event: ScenarioEvent | null
  /** Id of the batch that the event is about. */
  readonly batch: string | null
  /** How many calls have led to this one, each by what it did. */
  readonly depth: number
  readonly caused_by: string
}

export const scenarioCalls: TableOf<ScenarioCall> = { name: '$scenario_calls', label: 'call of a scenario' }

/** `scenario/name/index` of a step, `scenario/name/on/event` of a hook: what receipts call it by. */
export function refOfFunction(scenario: string, ref: FunctionRef): string {
  return 'timeline' in ref ? `scenario/${scenario}/${ref.timeline}` : `scenario/${scenario}/on/${ref.on}`
}

const step = (): z.ZodType<ScenarioStep> =>
  z.strictObject({ at: duration(), do: z.union([z.literal('function'), z.array(anyObject())]) })

/** `scenario` of a state document, without the id. What its drafts hold has been checked when they were armed. */
export const scenarioRecord = () =>
  z.strictObject({
    name: z.string().min(1),
    generation: z.int().min(1),
    started_at: timestamp(),
    settings: z.array(z.strictObject({ key: z.string(), value: z.json(), before: z.json().optional() })),
    faults: z.array(z.strictObject({ id: z.string(), draft: anyObject() })),
    stubs: z.array(anyObject()),
    timeline: z.array(step()),
    on: z.array(z.string()),
  })

/** One record of `scenario_calls` of a state document. */
export const callRecord = () =>
  z.strictObject({
    id: z.string().min(1),
    scenario: z.string().min(1),
    ref: z.union([z.strictObject({ timeline: z.int().min(0) }), z.strictObject({ on: z.string() })]),
    at: timestamp(),
    event: (anyObject() as z.ZodType<unknown> as z.ZodType<JsonObject>).nullable(),
    batch: z.string().nullable(),
    depth: z.int().min(0),
    caused_by: z.string(),
  })
