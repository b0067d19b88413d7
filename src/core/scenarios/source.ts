import { z } from 'zod'
import { type ShapeOf, timestamp } from '../fields.ts'
import type { JsonObject } from '../json.ts'
import { strictObject } from '../strict-input.ts'
import { clockInstant, FASTEST } from '../time/clock.ts'
import type { FunctionRef, ScenarioEvent, ScenarioStep } from './row.ts'

/**
 * A scenario as in its script, without the functions. It is replaced when the script changes, never mutated. It may also have
 * the fields that resources declare as short forms of a setting (`pace`).
 */
export interface ScenarioDefinition {
  readonly name: string
  /** For messages: the file that it comes from. */
  readonly file: string
  /** How often scripts have been loaded and replaced together; from 1. */
  readonly generation: number
  /** A fixtures document. */
  readonly fixtures?: JsonObject | undefined
  readonly clock?: ScenarioClock | undefined
  /** By dotted key. */
  readonly settings?: JsonObject | undefined
  /** As `POST /__emulator/faults` accepts them. */
  readonly faults: readonly object[]
  /** As `POST /__emulator/stubs` accepts them. */
  readonly stubs: readonly object[]
  readonly timeline: readonly ScenarioStep[]
  /** The events that have a hook. */
  readonly on: readonly string[]
}

export const scenarioClock = () =>
  strictObject({
    /** ISO 8601. */
    now: clockInstant().optional(),
    rate: z
      .number()
      .refine((value) => value >= 0 && value <= FASTEST, {
        error: `must be 0 (stands still) to ${FASTEST} virtual seconds per real second`,
      })
      .optional(),
    skip_on_poll: z.boolean().optional(),
  })

export type ScenarioClock = ShapeOf<typeof scenarioClock>

/** A problem of a script. */
export interface ScriptProblem {
  readonly file: string
  /** From 1. */
  readonly line?: number
  readonly column?: number
  /** JSON Pointer into the scenario. */
  readonly pointer?: string
  readonly message: string
}

/** A script as its source lists it. */
export interface ScenarioEntry extends Omit<ListedScenario, 'error' | 'active'> {
  /** All problems of its current version. */
  readonly problems: readonly ScriptProblem[]
}

/** Where scenarios come from. */
export interface ScenarioSource {
  /**
   * Lists the scenarios, at its first call; until then there are none. With a name, it also loads that scenario, if so far it
   * is only listed. Absent: all scenarios have been loaded.
   */
  load?(name?: string): Promise<void>
  /** Every script, broken ones too, in the order of their names. */
  list(): readonly ScenarioEntry[]
  /** The last valid version of a scenario; undefined when there is none. */
  get(name: string): ScenarioDefinition | undefined
  /** Calls a function of the last valid version. Rejects when the function throws, takes too long or does not exist. */
  readonly call: CallFunction
  /** Loads changes now, without waiting for the watcher. Absent: there is nothing to watch. */
  refresh?(): Promise<void>
  /** Calls the listener after scripts have been replaced. @returns removes the listener */
  onChange(listener: () => void): () => void
}

/**
 * One command of a scenario's function. A function changes nothing itself: its commands are collected,
 * and run in order in one transaction when it has returned.
 */
export type ScenarioCommand =
  /** A move of the control interface, with the same `body`. */
  | { readonly kind: 'move'; readonly id: string; readonly move: string; readonly body: JsonObject }
  /** Arms a fault rule in the form of POST /__emulator/faults. The rule has not been checked yet. */
  | { readonly kind: 'arm'; readonly rule: JsonObject }
  /** Clears one fault rule, or every rule that the scenario itself has armed. */
  | { readonly kind: 'clear'; readonly id?: string }
  | { readonly kind: 'put'; readonly collection: string; readonly record: JsonObject }
  | { readonly kind: 'delete'; readonly collection: string; readonly id: string }
  | { readonly kind: 'log'; readonly text: string }

/**
 * The sandbox as a function of a scenario sees it: as at the call, without changes during the call. The methods here are
 * called only for data that the function reads, and at most once for each collection.
 */
export interface ScenarioSnapshot {
  /** Virtual instant, ISO 8601. */
  readonly now: string
  /** The event that a hook is called for. */
  readonly event?: ScenarioEvent
  /** Id of the record that the event is about, where scenarios can move it. */
  readonly record?: string
  /** The moves of those records, and whether each takes a body. */
  readonly moves: readonly { readonly name: string; readonly takesBody: boolean }[]
  /** Every record that scenarios can move, as responses show it, oldest first. */
  records(): readonly JsonObject[]
  /** The names of all collections. */
  readonly collections: readonly string[]
  /** The records of one of these collections, in order. */
  state(collection: string): readonly JsonObject[]
}

/** Calls a function of a scenario in force. Rejects when it throws, takes too long, or no longer exists. */
export type CallFunction = (
  scenario: string,
  ref: FunctionRef,
  snapshot: ScenarioSnapshot,
) => Promise<readonly ScenarioCommand[]>

/** A function of a scenario, or an action of a step, that has failed. */
const scenarioFailure = () =>
  z.strictObject({
    /** Virtual instant. */
    at: timestamp(),
    /** `scenario/name/index` for a step, `scenario/name/on/event` for a hook. */
    ref: z.string(),
    message: z.string(),
  })

export type ScenarioFailure = ShapeOf<typeof scenarioFailure>

/** The scenario of one sandbox. */
export const activeScenario = () =>
  z.strictObject({
    name: z.string(),
    generation: z.int(),
    started_at: timestamp(),
    hooks: z.array(z.string()),
    /** Functions that are still to be called. */
    pending_calls: z.int(),
    /** Why a newer version of its script could not replace it; null when there is no problem. */
    problem: z.string().nullable(),
    /** The last failure since the start. */
    last_error: scenarioFailure().nullable(),
  })

export type ActiveScenario = ShapeOf<typeof activeScenario>

/** A script as the control interface lists it. */
export const listedScenario = () =>
  z.strictObject({
    name: z.string(),
    /** A file of the project, or one of the scenarios that every emulator has. */
    origin: z.enum(['project', 'built-in']),
    description: z.string().nullable(),
    file: z.string(),
    /** Whether the current version of the script is valid and in force. */
    valid: z.boolean(),
    /** The generation of the last valid version; null when no version was valid. */
    generation: z.int().nullable(),
    /** The problems of the current version of the script, one `file:line` per line; null when there are none. */
    error: z.string().nullable(),
    active: z.boolean(),
  })

export type ListedScenario = ShapeOf<typeof listedScenario>

/** A script with its text. */
export const shownScenario = () =>
  listedScenario().extend({
    /** Null for a scenario that is not in a file. */
    source: z.string().nullable(),
  })

export type ShownScenario = ShapeOf<typeof shownScenario>

/** A mistake in a user's script. It is reported to the user; nothing is wrong with the emulator. */
export class ScriptFault extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'ScriptFault'
  }
}
