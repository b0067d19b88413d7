import type { FaultDraft } from '../../core/faults/rule.ts'
import type { JsonObject } from '../../core/json.ts'
import type { ScenarioEvent } from '../../core/scenarios/row.ts'
import type { ScenarioClock } from '../../core/scenarios/source.ts'
import type { StepAction } from '../../core/scenarios/step-actions.ts'
import type { StubDraft } from '../../core/scenarios/stub.ts'

export type { ScenarioClock }

/**
 * A script for a sandbox: what it holds, how batches go in it, what goes wrong and what happens when. Everything but the
 * functions is JSON; a scenario without functions may as well be a `.json` file.
 */
export interface Scenario {
  /** One sentence for lists. */
  readonly description?: string
  /** A fixtures document, merged into the sandbox when the scenario starts. */
  readonly fixtures?: JsonObject
  /** What the scenario sets of the clock; the rest stays as it is. */
  readonly clock?: ScenarioClock
  /** Settings by their dotted keys. */
  readonly settings?: JsonObject
  readonly pace?: ScenarioPace
  /** Of several rules the first that fits an item decides. */
  readonly outcomes?: readonly ScenarioOutcome[]
  /** Armed when the scenario starts, in this order; cleared when it stops. */
  readonly faults?: readonly FaultDraft[]
  /** Answers of endpoints that the specification shows no contract for. */
  readonly stubs?: readonly StubDraft[]
  readonly timeline?: readonly TimelineStep[]
  /** Called when something of this name has happened: `batch.completed`. */
  readonly on?: Readonly<Record<string, HookFunction>>
}

/** How a phase passes: `immediate`, `hold` (until released), a duration such as `2s`, or after so many polls. */
export type ScenarioPhase = string | { readonly polls: number }

/** The pace of new batches; a phase that is left out keeps its own. */
export interface ScenarioPace {
  readonly validating?: ScenarioPhase
  /** Also so long per item, so many at a time (default 1). */
  readonly in_progress?: ScenarioPhase | { readonly per_item: string; readonly concurrency?: number }
  readonly finalizing?: ScenarioPhase
}

/** What becomes of the items of new batches that it fits. */
export interface ScenarioOutcome {
  /** `custom_id` is a glob; `index` counts from 0. */
  readonly match?: { readonly custom_id?: string; readonly index?: number }
  /** Only every N-th of them. */
  readonly every?: number
  /** Only this share of them, 0 to 1. */
  readonly probability?: number
  /** Default `succeeded`. */
  readonly status?: 'succeeded' | 'errored'
  /** What the error of an errored item says. */
  readonly detail?: string
  /** The output of a succeeded item. */
  readonly output?: JsonObject
}

/** Something that happens so long after the scenario has started, on the virtual clock. */
export interface TimelineStep {
  /** A duration: `90s`, `10m`, `PT24H`. */
  readonly at: string
  /** A function, or what to do as data: primitives that move the sandbox. */
  readonly do: StepFunction | readonly StepAction[]
}

/**
 * A step of the timeline. It sees the sandbox as it is when the step is due; what it asks for is done in one transaction when
 * it has returned, and not at all when it throws or takes longer than five seconds. It may be async. What it returns is ignored.
 */
export type StepFunction = (context: StepContext) => unknown

/** As {@link StepFunction}, for an event. */
export type HookFunction = (context: HookContext) => unknown

/** What a step is given. Every call returns at once; nothing is changed before the function has returned. */
export interface StepContext {
  readonly batches: BatchList
  readonly faults: FaultSwitch
  readonly clock: { /** Virtual instant, ISO 8601. */ readonly now: string }
  readonly sandbox: ScenarioSandbox
}

/** What a hook is given. */
export interface HookContext extends StepContext {
  readonly event: ScenarioEvent
  /** The batch that the event is about. Throws for an event that is about none. */
  readonly batch: BatchHandle
}

/** The batches of the sandbox as they are when the function is called. */
export interface BatchList {
  /** The one created last; undefined while there is none. */
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
  /** Takes it through the phases that are left. */
  complete(): void
  /** Ends its completion window. */
  expire(): void
  /** Removes its results. */
  cleanup(): void
  /** Changes what is still to come. */
  change(plan: {
    readonly pace?: ScenarioPace
    readonly outcomes?: readonly ScenarioOutcome[]
    readonly hold?: boolean
  }): void
}

export interface FaultSwitch {
  arm(rule: FaultDraft): void
  /** Clears one rule, or all that this scenario has armed. */
  clear(id?: string): void
}

export interface ScenarioSandbox {
  /** Writes a line to the log of the emulator. */
  log(text: string): void
  /** The records of a collection as they are when the function is called. Throws for an unknown name. */
  state(collection: string): readonly JsonObject[]
  /** Writes a record, which replaces the one with its id. */
  put(collection: string, record: JsonObject & { readonly id: string }): void
  delete(collection: string, id: string): void
}

/**
 * Gives a scenario its types; what it gets it returns. A file of the scenarios folder exports one as its default:
 *
 *     export default defineScenario({
 *       description: 'The first batch fails after ten minutes',
 *       timeline: [{ at: '10m', do: ({ batches }) => batches.latest()?.fail() }],
 *     })
 */
export function defineScenario(scenario: Scenario): Scenario {
  return scenario
}
