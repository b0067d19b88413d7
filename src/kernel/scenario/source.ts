import type { FaultDraft } from '../faults/draft.ts'
import type { JsonObject } from '../json.ts'
import type { CallFunction } from './commands.ts'

/**
 * A scenario as its script says it, functions apart. It is replaced when the script changes, never mutated. Beside these
 * members it has those that rooms declare as short for a setting (`pace`).
 */
export interface LoadedScenario {
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
  readonly faults: readonly FaultDraft[]
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

/** One step of a timeline. */
export interface ScenarioStep {
  /** Virtual duration since the start of the scenario. */
  readonly at: string
  /** `function`: one that is called by the index of the step; otherwise what to do, as data. */
  readonly do: 'function' | readonly object[]
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

/** A script as lists show it. */
export interface ScenarioEntry {
  readonly name: string
  readonly description: string | null
  readonly file: string
  /** Whether what is in force is what the script says now. */
  readonly valid: boolean
  /** Everything that is wrong with it now. */
  readonly problems: readonly ScriptProblem[]
  /** Of what is in force: the last one that was valid. Null where none ever was. */
  readonly generation: number | null
}

/** Where scenarios come from. */
export interface ScenarioSource {
  /** Loads everything, the first time that it is asked to; until then there is nothing. Absent: it has been loaded. */
  load?(): Promise<void>
  /** Every script, broken ones too, in the order of their names. */
  list(): readonly ScenarioEntry[]
  /** What is in force under a name: the last one that was valid; undefined where there is none. */
  get(name: string): LoadedScenario | undefined
  /** Calls a function of what is in force. Rejects when it throws, takes too long, or is not there (any more). */
  readonly call: CallFunction
  /** Loads what has changed at once, for whoever cannot wait until that is noticed. Absent: nothing changes unnoticed. */
  refresh?(): Promise<void>
  /** Tells when other scripts are in force. @returns stops telling */
  onChange(listener: () => void): () => void
}
