import type { RanEvent } from '../../../../core/time/scheduler.ts'

/** Where a sandbox stands. */
interface SandboxMark {
  readonly sandbox: string
  /** Virtual instant. */
  readonly now: string
  readonly rate: number
  /** Number of the last commit. */
  readonly revision: number
}

/** What happens in a sandbox and can be listened to, by type. */
interface Happenings {
  /** An API request was answered. */
  readonly request: {
    readonly id: string
    readonly at: string
    readonly method: string
    readonly path: string
    readonly operation: string | null
    readonly status: number
    /** Code of the error; null for success. */
    readonly error: string | null
  }
  /** An event of the schedule ran. */
  readonly event: RanEvent
  /** An attempt to deliver a webhook is over. */
  readonly delivery: RanEvent
  /** A record has another status. */
  readonly transition: {
    /** `collection/id`. */
    readonly ref: string
    readonly from?: string
    readonly to?: string
    readonly at: string
  }
  /** The clock was set, or passes otherwise. */
  readonly clock: { readonly now: string; readonly rate: number; readonly skip_on_poll: boolean }
  /** A scenario was started, swapped for a newer version, or stopped. */
  readonly scenario: {
    readonly at: string
    readonly active: string | null
    readonly generation: number | null
  }
  /** The whole state was replaced. */
  readonly sandbox: SandboxMark
}

/** A type of happening that can be asked for. */
export type HappeningType = keyof Happenings

/** What the feed tells beside: that it listens now, what the reader was too slow for, and why it ends. */
interface FeedNotes {
  readonly hello: SandboxMark & { readonly version: string; readonly types: readonly HappeningType[] }
  readonly dropped: { readonly count: number }
  readonly end: { readonly reason: string }
}

type Told = Happenings & FeedNotes

/** One thing that the feed of a sandbox tells. */
export type SandboxEvent = {
  readonly [Type in keyof Told]: { readonly type: Type; readonly data: Told[Type] }
}[keyof Told]
