import type { MessagePort } from 'node:worker_threads'
import type { Issue, JsonObject } from '../../kernel/json.ts'
import type { FunctionRef, ScenarioCommand, ScenarioEvent } from '../../kernel/scenario/commands.ts'
import type { ScriptProblem } from '../../kernel/scenario/source.ts'

/** What the thread of the scripts is started with. */
export interface ThreadData {
  /** Folder of the scripts; absolute. */
  readonly folder: string
  /** Brings the answers to what a running function looks at. */
  readonly answers: MessagePort
  /** One Int32, set when an answer is there: the thread stands still until then. */
  readonly flag: SharedArrayBuffer
}

/** The part of a snapshot that goes along with a call. The rest is asked for. */
export interface SnapshotHead {
  readonly now: string
  readonly event?: ScenarioEvent
  readonly batch?: string
  readonly collections: readonly string[]
}

/** What the thread is asked to do: one thing at a time, named by a number. */
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

export type Outcome =
  | { readonly loaded: LoadedScript }
  | { readonly commands: readonly ScenarioCommand[] }
  | { readonly problem: ScriptProblem }

/** What a running function looks at. */
export type Question = { readonly kind: 'batches' } | { readonly kind: 'state'; readonly collection: string }

export type Answer = { readonly records: readonly JsonObject[] } | { readonly refusal: string }

/** What the thread says: how a task ended, with the files outside the folder that have been imported so far, or a question. */
export type FromThread =
  | { readonly id: number; readonly outcome: Outcome; readonly outside: readonly string[] }
  | { readonly id: number; readonly question: Question }
