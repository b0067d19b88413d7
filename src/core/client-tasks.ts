import type { JsonObject } from './json.ts'

/** Calls an operation by its path, or the control interface by a path below `/__emulator`. Resolves with the body. */
export type TaskCall = (method: string, path: string, body?: object) => Promise<JsonObject>

/** What the commands of one case are about. */
export interface TaskSubject {
  /** The record of most commands; empty while the client has yet to create it. */
  readonly id: string
  readonly teamspace_id: string
  /** The records that a complete list has. */
  readonly ids: readonly string[]
}

/** The facts that the answer to a command is compared with. */
export interface TaskTruth {
  readonly id?: string
  readonly status?: string
  readonly lines?: readonly JsonObject[]
  readonly ids?: readonly string[]
}

/** What the client of an adapter is asked to do, and what is true after it. */
export interface ClientTasks {
  /** The settings for every client that is judged in real time. */
  readonly pace: JsonObject
  /** Further settings, under which the results are known. */
  readonly settings: JsonObject
  /** The commands for each class of operations, in order, as long as the calls succeed. */
  readonly classes: Readonly<Record<string, readonly string[]>>
  /** Creates the records that commands are about. @param first the first of these commands */
  readonly prepare: (call: TaskCall, teamspaceId: string, first: string) => Promise<TaskSubject>
  /** By command. */
  readonly tasks: Readonly<
    Record<
      string,
      {
        readonly arguments: (subject: TaskSubject, key: string | undefined) => JsonObject
        readonly truth?: (call: TaskCall, subject: TaskSubject) => Promise<TaskTruth>
        /** Whether a success has the record of the subject. */
        readonly isAboutRecord?: boolean
      }
    >
  >
  /** The webhook that receivers are judged with. */
  readonly webhook: {
    readonly type: string
    /** `collection/id` of its record. */
    readonly ref: string
    readonly sample: JsonObject
    /** A whole body. */
    readonly body: (call: TaskCall) => Promise<JsonObject>
  }
}
