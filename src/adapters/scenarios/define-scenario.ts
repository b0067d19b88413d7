import type { FaultDraft } from '../../core/faults/rule.ts'
import type { JsonObject } from '../../core/json.ts'
import type { ScenarioEvent } from '../../core/scenarios/row.ts'
import type { ScenarioClock } from '../../core/scenarios/source.ts'
import type { StepAction } from '../../core/scenarios/step-actions.ts'
import type { StubDraft } from '../../core/scenarios/stub.ts'

export type { ScenarioClock }

/**
 * A script for a sandbox: its records, the pace and outcomes of batches, faults, and events on a timeline. Everything except
 * functions is JSON, so a scenario without functions may also be a `.json` file.
 */
export interface Scenario {
  /** One sentence for lists. */
  readonly description?: string
  /** A fixtures document, merged into the sandbox when the scenario starts. */
  readonly fixtures?: JsonObject
  /** Changes of the clock; fields that are left out stay unchanged. */
  readonly clock?: ScenarioClock
  /** Settings by their dotted keys. */
  readonly settings?: JsonObject
  readonly pace?: ScenarioPace
  /** The first rule that matches an item applies to it. */
  readonly outcomes?: readonly ScenarioOutcome[]
  /** Armed when the scenario starts, in this order; cleared when it stops. */
  readonly faults?: readonly FaultDraft[]
  /** Responses of endpoints without a contract in the specification. */
  readonly stubs?: readonly StubDraft[]
  readonly timeline?: readonly TimelineStep[]
  /** Functions by the name of the event after which they are called, such as `batch.completed`. */
  readonly on?: Readonly<Record<string, HookFunction>>
}

/** When a phase ends: `immediate`, `hold` (until released), a duration such as `2s`, or after a number of polls. */
export type ScenarioPhase = string | { readonly polls: number }

/** The pace of new batches; a phase that is left out keeps its own. */
export interface ScenarioPace {
  readonly validating?: ScenarioPhase
  /** Also a duration per item, with the number of items that are worked on at the same time (default 1). */
  readonly in_progress?: ScenarioPhase | { readonly per_item: string; readonly concurrency?: number }
  readonly finalizing?: ScenarioPhase
}

/** The outcome of matching items of new batches. */
export interface ScenarioOutcome {
  /** `custom_id` is a glob; `index` counts from 0. */
  readonly match?: { readonly custom_id?: string; readonly index?: number }
  /** Only every N-th matching item. */
  readonly every?: number
  /** Only this share of the matching items, 0 to 1. */
  readonly probability?: number
  /** Default `succeeded`. */
  readonly status?: 'succeeded' | 'errored'
  /** The detail in the error of an errored item. */
  readonly detail?: string
  /** The output of a succeeded item. */
  readonly output?: JsonObject
}

/** A step that runs at a virtual time after the start of the scenario. */
export interface TimelineStep {
  /** Virtual time since the start of the scenario: `90s`, `10m`, `PT24H`. */
  readonly at: string
  /** A function, or actions as data: primitives that change the sandbox. */
  readonly do: StepFunction | readonly StepAction[]
}

/**
 * A step of the timeline. It sees the sandbox at the time when the step is due. Its changes are applied in one transaction after
 * it has returned; none are applied if it throws, takes longer than five seconds, or returns a promise: it must be synchronous.
 */
export type StepFunction = (context: StepContext) => unknown

/** As {@link StepFunction}, for an event. */
export type HookFunction = (context: HookContext) => unknown

/** The argument of a step. Every call returns at once; changes are applied after the function has returned. */
export interface StepContext {
  readonly batches: BatchList
  readonly faults: FaultSwitch
  readonly clock: { /** Virtual instant, ISO 8601. */ readonly now: string }
  readonly sandbox: ScenarioSandbox
}

/** The argument of a hook. */
export interface HookContext extends StepContext {
  readonly event: ScenarioEvent
  /** The batch that the event is about. Throws for an event without a batch. */
  readonly batch: BatchHandle
}

/** The batches of the sandbox at the time when the function is called. */
export interface BatchList {
  /** The batch that was created last; undefined if there is none. */
  latest(): BatchHandle | undefined
  get(id: string): BatchHandle | undefined
  /** Oldest first. */
  list(): readonly BatchHandle[]
}

/** A batch as its responses show it, and the moves that the control interface offers on it. */
export interface BatchHandle {
  readonly id: string
  readonly status: string
  readonly metadata: Readonly<Record<string, string>> | null
  readonly [member: string]: unknown
  /** Fails it, with a given detail or error object. */
  fail(options?: { readonly detail?: string; readonly error?: JsonObject }): void
  /** Completes it at once, through its remaining phases. */
  complete(): void
  /** Ends its completion window. */
  expire(): void
  /** Removes its results. */
  cleanup(): void
  /** Changes the pace or the outcomes of unfinished items, holds or releases it. */
  change(plan: {
    readonly pace?: ScenarioPace
    readonly outcomes?: readonly ScenarioOutcome[]
    readonly hold?: boolean
  }): void
}

export interface FaultSwitch {
  arm(rule: FaultDraft): void
  /** Clears one rule by its id, or without an id all rules that this scenario has armed. */
  clear(id?: string): void
}

export interface ScenarioSandbox {
  /** Writes a line to the log of the emulator. */
  log(text: string): void
  /** The records of a collection at the time when the function is called. Throws for an unknown name. */
  state(collection: string): readonly JsonObject[]
  /** Writes a record, which replaces the one with its id. */
  put(collection: string, record: JsonObject & { readonly id: string }): void
  delete(collection: string, id: string): void
}

/**
 * Returns its argument, and checks its type. A file of the scenarios folder exports a scenario as its default:
 *
 *     export default defineScenario({
 *       description: 'The first batch fails after ten minutes',
 *       timeline: [{ at: '10m', do: ({ batches }) => batches.latest()?.fail() }],
 *     })
 */
export function defineScenario(scenario: Scenario): Scenario {
  return scenario
}
