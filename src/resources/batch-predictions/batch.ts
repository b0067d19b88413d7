import type { JsonObject } from '../../kernel/json.ts'
import type { Row } from '../../kernel/state/commit.ts'
import type { BatchItem } from './items.ts'
import type { Metadata } from './metadata.ts'
import type { OutcomeRule } from './outcome-rules.ts'
import type { Pace } from './pace.ts'
import type { BatchStatus } from './states.ts'

/**
 * A batch as it is stored. `request_counts`, which the API shows too, follows from plan, items and instants and is not
 * stored; see `plan.ts`. Specification: Resources and their fields / Batch prediction.
 */
export interface Batch extends Row {
  readonly object: 'batch_prediction'
  readonly status: BatchStatus
  readonly model: string
  readonly completion_window: '24h'
  readonly created_at: string
  readonly expires_at: string
  readonly in_progress_at: string | null
  readonly finalizing_at: string | null
  readonly completed_at: string | null
  readonly failed_at: string | null
  readonly cancelling_at: string | null
  readonly cancelled_at: string | null
  readonly expired_at: string | null
  readonly metadata: Metadata
  readonly error: JsonObject | null
  readonly results_url: string | null
  readonly _emulator: {
    readonly teamspace_id: string
    readonly organization_id: string
    /** What stood before `/v1` in the path that created the batch, and stands there in `results_url`. */
    readonly prefix: string
    readonly request: BatchRequest
    readonly plan: Plan
    readonly progress: Progress
    /** Null until the batch ends otherwise than by completing. */
    readonly ended: End | null
  }
}

/** What was submitted. It never changes: every later version of the record shares this object. */
export interface BatchRequest {
  /** What a person needs to recognise the prompt by: no model reads it, and it may have 100 MiB. See `prompt.ts`. */
  readonly prompt: string
  readonly output_schema: JsonObject
  readonly items: readonly BatchItem[]
  /** The model that really runs, where the one asked for is deprecated. */
  readonly effective_model: string
}

/** What will become of a batch: everything that counts and results follow from, besides the request. */
export interface Plan {
  readonly seed: number
  readonly pace: Pace
  /** The outcome rules in force from an item on, ascending; the first stage begins at item 0. */
  readonly stages: readonly { readonly from: number; readonly outcomes: readonly OutcomeRule[] }[]
  /** Items that validation found fault with, ascending, each with the reason. */
  readonly rejected: readonly { readonly index: number; readonly detail: string }[]
  /** Absent: the items finish in the order of submission. */
  readonly late?: Stragglers | undefined
}

/** Items that do not finish like the others, by their index, ascending. What depends on an order sees them behind those. */
export interface Stragglers {
  /** They are taken on when all others are finished, and take ten times as long. */
  readonly slow: readonly number[]
  /** Work on them never ends, so that only the end of the completion window ends the batch. */
  readonly never: readonly number[]
}

/** Where a batch stands. Items finish in one order, that of submission but for stragglers, so a number says which. */
export interface Progress {
  /** The instant from which the pace of the present phase counts. */
  readonly since: string
  /** Items that were finished by then. */
  readonly done: number
  /** Items that may still finish; null for all. Cancelling sets it. */
  readonly most: number | null
  /** Polls that the present phase has seen. */
  readonly polls: number
  /** True while the control API holds the batch where it is. */
  readonly held: boolean
}

/** How a batch ended that did not complete: what its unfinished items became, and a sentence that says why. */
export interface End {
  readonly rest: 'errored' | 'canceled' | 'expired'
  readonly cause: string
}
