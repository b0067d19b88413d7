import type { BatchStatus } from './batch.ts'

/** Something that will happen when its instant comes. */
export interface FutureEvent {
  /** Virtual instant. */
  readonly at: string
  readonly kind: string
  /** The record that it is about: `collection/id`. */
  readonly ref: string
  /** Automatic skipping runs `work` and stops before a `deadline`. */
  readonly urgency: 'work' | 'deadline'
  readonly description: string
}

/** Where a clock stands. */
export interface ClockView {
  /** Virtual instant, ISO 8601. */
  readonly now: string
  /** Virtual seconds per real second; 0 stands still. */
  readonly rate: number
  /** Whether a poll of an unfinished batch first lets its next piece of work happen. */
  readonly skip_on_poll: boolean
  /** Virtual milliseconds that `now` is behind, because more is due than has run; 0 when the clock keeps up. */
  readonly lag_ms: number
  readonly next: FutureEvent | null
}

/** What is to be different about a clock. */
export interface ClockChange {
  /** ISO 8601 with a zone; never before the present instant. */
  readonly now?: string | undefined
  readonly rate?: number | undefined
  readonly skip_on_poll?: boolean | undefined
}

/** What time can be advanced to: a status of a batch (`terminal` when left out), or so many finished items of it. */
export interface BatchGoal {
  readonly batch: string
  readonly status?: BatchStatus | 'terminal' | undefined
  readonly finished_items?: number | undefined
}

/** How far time is to pass: exactly one of the four. */
export type ClockTarget = (
  | /** A duration such as `90s`, `24h`, `29d` or `PT24H`. */ { readonly by: string }
  /** An instant, ISO 8601 with a zone. */
  | { readonly to: string }
  /** So many events. */
  | { readonly steps: number }
  | { readonly until: BatchGoal }
) & {
  /** Stop after so many events, 1 to 1,000,000; the result then says `stopped: 'limit'` and how far time has come. */
  readonly max_events?: number | undefined
}
