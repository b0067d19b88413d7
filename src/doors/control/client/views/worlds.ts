import type { StubDraft } from '../../../../kernel/scenario/stub.ts'

/** A record, as a world stores it. Members under `_emulator` are facts that the API does not show. */
export type StateRecord = { readonly id: string; readonly [member: string]: unknown }

/** A starting world, or what is to be added to one. */
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

/** What a world starts from, where it is to differ from what the emulator was started with. */
export interface StartingPoint {
  /** A shipped world, or a document. */
  readonly fixtures?: 'empty' | 'demo' | 'large' | FixturesDocument | undefined
  /** Decides everything that is left to chance. */
  readonly seed?: number | undefined
  /** Virtual instant, ISO 8601 with a zone. */
  readonly clock?: string | undefined
}

/** API keys of a world in plain text, one of each sort; null where none is known. */
export interface WorldKeys {
  /** Of the first user. */
  readonly user: string | null
  /** Of another user. */
  readonly member: string | null
  readonly service: string | null
}

/** What there is in a world after it has been replaced. */
export interface WorldSummary {
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

/** The whole state of a world, as its JSON file holds it: secrets as digests. */
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
    /** Real instant; null for a world at rest. */
    readonly wall: string | null
  }
  readonly counters: Readonly<Record<string, number>>
  readonly collections: Readonly<Record<string, readonly { readonly id: string }[]>>
  readonly schedule: readonly { readonly id: string }[]
  readonly parked: readonly { readonly id: string }[]
  readonly idempotency: readonly { readonly id: string }[]
  readonly faults: readonly { readonly id: string }[]
  readonly fault_counters: readonly { readonly id: string }[]
  readonly scenario: object | null
  readonly scenario_calls: readonly { readonly id: string }[]
  readonly stubs: readonly { readonly id: string }[]
  readonly limits: readonly { readonly id: string; readonly hits: readonly number[] }[]
}
