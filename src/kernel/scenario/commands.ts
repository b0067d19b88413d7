import type { JsonObject } from '../json.ts'

/** What a function of a scenario may do to a batch. */
export type BatchMove = 'fail' | 'complete' | 'expire' | 'cleanup' | 'change'

/**
 * One thing that a function of a scenario has asked for. A function changes nothing itself: what it asks for is collected,
 * and done in order in one transaction when it has returned.
 */
export type ScenarioCommand =
  /** A move of the control interface; `body` is what it takes there. */
  | { readonly kind: 'batch'; readonly id: string; readonly move: BatchMove; readonly body: JsonObject }
  /** Arms a fault rule, given as POST /__emulator/faults takes it: a draft that nobody has checked yet. */
  | { readonly kind: 'arm'; readonly rule: JsonObject }
  /** Clears one fault rule, or every rule that the scenario itself has armed. */
  | { readonly kind: 'clear'; readonly id?: string }
  | { readonly kind: 'put'; readonly collection: string; readonly record: JsonObject }
  | { readonly kind: 'delete'; readonly collection: string; readonly id: string }
  | { readonly kind: 'log'; readonly text: string }

/** Names a function of a scenario: the step at an index of its timeline, or its hook on an event. */
export type FunctionRef = { readonly timeline: number } | { readonly on: string }

/** What a hook is told of the event: its name, its virtual instant, and whatever belongs to it. */
export interface ScenarioEvent extends JsonObject {
  readonly name: string
  readonly at: string
}

/**
 * The world as a function of a scenario sees it: as it is when the function is called, whatever happens while it runs. The
 * functions here are asked at most once for each thing, and only for what is looked at.
 */
export interface ScenarioSnapshot {
  /** Virtual instant, ISO 8601. */
  readonly now: string
  /** The event that a hook is called for. */
  readonly event?: ScenarioEvent
  /** Id of the batch that the event is about. */
  readonly batch?: string
  /** Every batch as its answers show it, oldest first. */
  batches(): readonly JsonObject[]
  /** The names of the collections that there are. */
  readonly collections: readonly string[]
  /** The records of one of these collections, in order. */
  state(collection: string): readonly JsonObject[]
}

/** Calls a function of a scenario in force. Rejects when it throws, takes too long, or is not there any more. */
export type CallFunction = (
  scenario: string,
  ref: FunctionRef,
  snapshot: ScenarioSnapshot,
) => Promise<readonly ScenarioCommand[]>
