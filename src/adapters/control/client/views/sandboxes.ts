import type { StubDraft } from '../../../../core/scenarios/stub.ts'

/** A record, as a sandbox stores it. Members under `_emulator` are facts that the API does not show. */
export type StateRecord = { readonly id: string; readonly [member: string]: unknown }

/** A starting state, or what is to be added to one. */
export type FixturesDocument = {
  /** What it stands on: `empty`, `demo` or `large`. */
  readonly extends?: string
  readonly description?: string
  readonly organization?: Readonly<Record<string, unknown>>
  /** How many records of a collection are to be made up. */
  readonly generate?: Readonly<Record<string, number>>
  readonly collections?: Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>>
  readonly stubs?: readonly StubDraft[]
}

/** What a sandbox starts from, where it is to differ from what the emulator was started with. */
export interface StartingPoint {
  /** A shipped data, or a document. */
  readonly fixtures?: 'empty' | 'demo' | 'large' | FixturesDocument | undefined
  /** Decides everything that is left to chance. */
  readonly seed?: number | undefined
  /** Virtual instant, ISO 8601 with a zone. */
  readonly clock?: string | undefined
}

/** API keys of a sandbox in plain text, one of each sort; null where none is known. */
export interface SandboxKeys {
  /** Of the first user. */
  readonly user: string | null
  /** Of another user. */
  readonly member: string | null
  readonly service: string | null
}

/** What there is in a sandbox after it has been replaced. */
export interface SandboxSummary {
  readonly sandbox: string
  /** Number of the last commit. */
  readonly revision: number
  readonly seed: number
  /** Virtual instant. */
  readonly now: string
  /** How many records there are, by collection. */
  readonly records: Readonly<Record<string, number>>
}

/** One sandbox of the emulator. */
export interface SandboxView {
  readonly name: string
  readonly state: 'open'
  /** Whether it outlives the process. */
  readonly persist: boolean
  /** Virtual instant. */
  readonly now: string
  /** Virtual seconds per real second. */
  readonly rate: number
  readonly seed: number
  readonly revision: number
  /** How many there are in all collections. */
  readonly records: number
  /** How many the log has. */
  readonly requests: number
  readonly base_url_path: string
  readonly control_url_path: string
}

/** A sandbox that the disk holds and that nobody has used since the emulator was started. The first request opens it. */
export interface SavedSandboxView {
  readonly name: string
  /** `broken`: its file cannot be used, and requests for it are refused. */
  readonly state: 'on_disk' | 'broken'
  readonly persist: boolean
  /** What is wrong with its file; null when nothing is known to be. */
  readonly problem: string | null
  readonly base_url_path: string
  readonly control_url_path: string
}

/** The whole state of a sandbox, as its JSON file holds it: secrets as digests. */
export interface StateDocument {
  readonly format: number
  readonly revision: number
  readonly sandbox: string
  readonly seed: number
  readonly settings: Readonly<Record<string, unknown>>
  readonly clock: {
    readonly now: string
    readonly rate: number
    readonly skip_on_poll: boolean
    /** Real instant; null for a sandbox at rest. */
    readonly wall: string | null
  }
  readonly counters: Readonly<Record<string, number>>
  readonly collections: Readonly<Record<string, readonly { readonly id: string }[]>>
  readonly schedule: readonly { readonly id: string }[]
  readonly failed: readonly { readonly id: string }[]
  readonly idempotency: readonly { readonly id: string }[]
  readonly faults: readonly { readonly id: string }[]
  readonly fault_counters: readonly { readonly id: string }[]
  readonly scenario: object | null
  readonly scenario_calls: readonly { readonly id: string }[]
  readonly stubs: readonly { readonly id: string }[]
  readonly places: readonly { readonly id: string }[]
  readonly limits: readonly { readonly id: string; readonly hits: readonly number[] }[]
}
