/** Whether the process is alive, and what it is. */
export interface HealthView {
  /** `ok`, or `read_only` when another process has taken over the data folder. */
  readonly status: string
  /** Of the package. */
  readonly version: string
  /** Of the emulated API. Specification: Versioning. */
  readonly contract_version: string
  /** Why nothing can be written; null while everything can. */
  readonly problem: string | null
  /** Sandboxes that cannot be opened, or of whose files something could not be used and has been set aside. */
  readonly storage: readonly StorageView[]
}

/** What could not be used of the files of a sandbox. */
export interface StorageView {
  readonly sandbox: string
  /** Why it cannot be opened; null when it can. */
  readonly problem: string | null
  /** Records, and why they are not in force. */
  readonly set_aside: readonly { readonly pointer: string; readonly reason: string }[]
  /** The file in the data directory that holds them; once it is removed, nothing is said any more. */
  readonly kept_in: string | null
  /** The file that the state was read from instead of the state file. */
  readonly recovered_from: string | null
}

/** Every route of the control interface. */
export interface RouteIndex {
  readonly version: string
  readonly contract_version: string
  /** Path of its OpenAPI document. */
  readonly described_by: string
  readonly routes: readonly { readonly method: string; readonly path: string; readonly summary: string }[]
}

/** One operation of the emulated API. */
export interface OperationView {
  readonly name: string
  readonly method: string
  /** Template below `/v1`. */
  readonly path: string
  readonly summary: string
  /** Heading of its section in the specification. */
  readonly section: string
  /** The form of its errors. */
  readonly errorFormat: 'standard' | 'problem'
  /** Whether the specification shows what it takes and answers. */
  readonly contract: boolean
  readonly beta: boolean
  readonly idempotent: boolean
  /** The only kind of key that may call it; null for any. */
  readonly principal: string | null
  /** Status of success. */
  readonly success: number
  /** Bytes. */
  readonly body_limit: number
  readonly limit: { readonly limit: number; readonly window_s: number }
}

/** One error code of the emulated API. */
export interface ProblemView {
  readonly code: string
  /** URI of the problem type. */
  readonly type: string
  readonly title: string
  readonly status: number
  /** The setting that decides the status; null where the specification does. */
  readonly status_setting: string | null
  /** Whether the same request can succeed later. */
  readonly retryable: boolean
  readonly meaning: string
  readonly mitigation: string | null
}
