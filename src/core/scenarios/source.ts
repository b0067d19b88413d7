import * as z from 'zod'
import { type ShapeOf, timestamp } from '../fields.ts'
import type { JsonObject } from '../json.ts'
import type { FunctionRef, ScenarioEvent, ScenarioStep } from './row.ts'

/**
 * A scenario as its script says it, functions apart. It is replaced when the script changes, never mutated. Beside these
 * fields it has those that resources declare as short for a setting (`pace`).
 */
export interface ScenarioDefinition {
  readonly name: string
  /** For messages: the file that it comes from. */
  readonly file: string
  /** Counts how often scripts have been loaded and swapped together; from 1. */
  readonly generation: number
  /** A fixtures document. */
  readonly fixtures?: JsonObject | undefined
  readonly clock?: ScenarioClock | undefined
  /** By dotted key. */
  readonly settings?: JsonObject | undefined
  /** As `POST /__emulator/faults` takes them. */
  readonly faults: readonly object[]
  /** As `POST /__emulator/stubs` takes them. */
  readonly stubs: readonly object[]
  readonly timeline: readonly ScenarioStep[]
  /** The events that have a hook. */
  readonly on: readonly string[]
}

export interface ScenarioClock {
  /** ISO 8601. */
  readonly now?: string | undefined
  readonly rate?: number | undefined
  readonly skip_on_poll?: boolean | undefined
}

/** Something wrong with a script. */
export interface ScriptProblem {
  readonly file: string
  /** From 1. */
  readonly line?: number
  readonly column?: number
  /** JSON Pointer into the scenario. */
  readonly pointer?: string
  readonly message: string
}

/** A script as its source has it. */
export interface ScenarioEntry extends Omit<ListedScenario, 'error' | 'active'> {
  /** Everything that is wrong with it now. */
  readonly problems: readonly ScriptProblem[]
}

/** Where scenarios come from. */
export interface ScenarioSource {
  /**
   * Loads what there is, the first time that it is asked to; until then there is nothing. Scenarios that are only listed before
   * somebody needs them are loaded by name. Absent: everything has been loaded.
   */
  load?(name?: string): Promise<void>
  /** Every script, broken ones too, in the order of their names. */
  list(): readonly ScenarioEntry[]
  /** What is in force under a name: the last one that was valid; undefined where there is none. */
  get(name: string): ScenarioDefinition | undefined
  /** Calls a function of what is in force. Rejects when it throws, takes too long, or is not there (any more). */
  readonly call: CallFunction
  /** Loads changes now, without waiting for the watcher. Absent: there is nothing to watch. */
  refresh?(): Promise<void>
  /** Calls the listener when other scripts are in force. @returns removes the listener */
  onChange(listener: () => void): () => void
}

/**
 * One command of a scenario's function. A function changes nothing itself: its commands are collected,
 * and run in order in one transaction when it has returned.
 */
export type ScenarioCommand =
  /** A move of the control interface; `body` is what it takes there. */
  | { readonly kind: 'move'; readonly id: string; readonly move: string; readonly body: JsonObject }
  /** Arms a fault rule, given as POST /__emulator/faults takes it: a draft that is not checked yet. */
  | { readonly kind: 'arm'; readonly rule: JsonObject }
  /** Clears one fault rule, or every rule that the scenario itself has armed. */
  | { readonly kind: 'clear'; readonly id?: string }
  | { readonly kind: 'put'; readonly collection: string; readonly record: JsonObject }
  | { readonly kind: 'delete'; readonly collection: string; readonly id: string }
  | { readonly kind: 'log'; readonly text: string }

/**
 * The sandbox as a function of a scenario sees it: as it is when the function is called, whatever happens while it runs. The
 * functions here are asked at most once for each thing, and only for what is looked at.
 */
export interface ScenarioSnapshot {
  /** Virtual instant, ISO 8601. */
  readonly now: string
  /** The event that a hook is called for. */
  readonly event?: ScenarioEvent
  /** Id of the record that the event is about, where scenarios can move it. */
  readonly record?: string
  /** Every record that scenarios can move, as responses show it, oldest first. */
  records(): readonly JsonObject[]
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
    /** Why a newer version of its script could not take its place; null when nothing is in its way. */
    problem: z.string().nullable(),
    /** The last failure since the start. */
    last_error: scenarioFailure().nullable(),
  })

export type ActiveScenario = ShapeOf<typeof activeScenario>

/** A script as the control interface lists it. */
export const listedScenario = () =>
  z.strictObject({
    name: z.string(),
    /** Whose it is: a file of the project, or one of the scenarios that every emulator has. */
    origin: z.enum(['project', 'built-in']),
    description: z.string().nullable(),
    file: z.string(),
    /** Whether what is in force is what the script says now. */
    valid: z.boolean(),
    /** Of what is in force: the last one that was valid. Null where none ever was. */
    generation: z.int().nullable(),
    /** What is wrong with the script as it is now, one `file:line` a line; null while nothing is. */
    error: z.string().nullable(),
    active: z.boolean(),
  })

export type ListedScenario = ShapeOf<typeof listedScenario>

/** A mistake in a user's script. It is reported to the user; nothing is wrong with the emulator. */
export class ScriptFault extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'ScriptFault'
  }
}
