import type { Issue, JsonObject } from '../../core/json.ts'
import type { FunctionRef, ScenarioEvent } from '../../core/scenarios/row.ts'
import type { ScenarioCommand, ScriptProblem } from '../../core/scenarios/source.ts'

// The process of the scripts is started with the folder of the scenarios as its argument. Tasks and outcomes are messages of
// `process.send`; questions and answers are lines of JSON on a pipe of their own, which can be read without an event loop.

/** The number of the pipe that carries questions and answers, in the process of the scripts. */
export const QUESTIONS_FD = 4

/** The number of a pipe that nothing is written to: it closes when the emulator ends, however that happens. */
export const PARENT_FD = 5

/** The part of a snapshot that goes along with a call. The rest is asked for. */
export interface SnapshotHead {
  readonly now: string
  readonly event?: ScenarioEvent
  readonly record?: string
  readonly collections: readonly string[]
}

/** What the process is asked to do: one thing at a time, named by a number. */
export type Task = { readonly id: number; readonly file: string } & (
  | { readonly kind: 'load' }
  | { readonly kind: 'call'; readonly ref: FunctionRef; readonly snapshot: SnapshotHead }
)

/** A script, evaluated. */
export interface LoadedScript {
  /** The data of its scenario as JSON; absent where there are issues. */
  readonly text?: string
  /** Pointers of the functions in it. */
  readonly functions: readonly string[]
  readonly issues: readonly Issue[]
}

export type TaskOutcome =
  | { readonly loaded: LoadedScript }
  | { readonly commands: readonly ScenarioCommand[] }
  | { readonly problem: ScriptProblem }

/** What a running function looks at, with the number of its task. */
export type Question = { readonly id: number } & (
  | { readonly kind: 'records' }
  | { readonly kind: 'state'; readonly collection: string }
)

export type QuestionResponse = { readonly records: readonly JsonObject[] } | { readonly refusal: string }

/**
 * What the process says: that it can take a task, how one ended, with the files outside the folder that have been imported so
 * far, or that it ends because of an uncaught error.
 */
export type FromProcess =
  | { readonly ready: true }
  | { readonly id: number; readonly outcome: TaskOutcome; readonly outside: readonly string[] }
  | { readonly uncaught: ScriptProblem }
