import type { Issue, JsonObject } from '../../core/json.ts'
import type { FunctionRef, ScenarioEvent } from '../../core/scenarios/row.ts'
import type { ScenarioCommand, ScriptProblem } from '../../core/scenarios/source.ts'

// The process of the scripts is started with the folder of the scenarios as its argument. Tasks and outcomes are messages of
// `process.send`. Questions and their responses are lines of JSON on a separate pipe, which can be read without an event loop.

/** The file descriptor of the pipe for questions and responses, in the process of the scripts. */
export const QUESTIONS_FD = 4

/** The file descriptor of a pipe without data: it closes when the emulator ends, for whatever reason. */
export const PARENT_FD = 5

/** The part of a snapshot that is sent with a call. The function requests the rest as it needs it. */
export interface SnapshotHead {
  readonly now: string
  readonly event?: ScenarioEvent
  readonly record?: string
  readonly collections: readonly string[]
}

/** A task for the process, which performs one at a time. */
export type Task = { readonly id: number; readonly file: string } & (
  | { readonly kind: 'load' }
  | { readonly kind: 'call'; readonly ref: FunctionRef; readonly snapshot: SnapshotHead }
)

/** An evaluated script. */
export interface LoadedScript {
  /** The data of its scenario as JSON; absent if there are issues. */
  readonly text?: string
  /** Pointers of the functions in it. */
  readonly functions: readonly string[]
  readonly issues: readonly Issue[]
}

export type TaskOutcome =
  | { readonly loaded: LoadedScript }
  | { readonly commands: readonly ScenarioCommand[] }
  | { readonly problem: ScriptProblem }

/** A request of a running function for data, with the number of its task. */
export type Question = { readonly id: number } & (
  | { readonly kind: 'records' }
  | { readonly kind: 'state'; readonly collection: string }
)

export type QuestionResponse = { readonly records: readonly JsonObject[] } | { readonly refusal: string }

/**
 * A message of the process: it is ready for a task; a task has ended, with the files outside the folder that were imported so
 * far; or it ends because of an uncaught error.
 */
export type FromProcess =
  | { readonly ready: true }
  | { readonly id: number; readonly outcome: TaskOutcome; readonly outside: readonly string[] }
  | { readonly uncaught: ScriptProblem }
