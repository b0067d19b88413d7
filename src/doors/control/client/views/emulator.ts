/** Whether the process is alive, and what it is. */
export interface HealthView {
  readonly status: string
  /** Of the package. */
  readonly version: string
  /** Of the emulated API. Specification: Versioning. */
  readonly contract_version: string
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
  readonly dialect: 'standard' | 'problem'
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
