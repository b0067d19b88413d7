import type { Issue, JsonObject } from '../../../../core/json.ts'

/** Specification: Resources and their fields / Batch prediction. */
export type BatchStatus =
  | 'validating'
  | 'failed'
  | 'in_progress'
  | 'finalizing'
  | 'completed'
  | 'expired'
  | 'cancelling'
  | 'cancelled'

/** A batch prediction as the API shows it. Specification: Resources and their fields / Batch prediction. */
export interface BatchPrediction {
  readonly object: 'batch_prediction'
  readonly id: string
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
  readonly request_counts: {
    readonly total: number
    readonly processing: number
    readonly succeeded: number
    readonly errored: number
    readonly canceled: number
    readonly expired: number
  }
  readonly metadata: Readonly<Record<string, string>>
  readonly error: JsonObject | null
  readonly results_url: string | null
}

/** How a phase passes: `immediate`, `hold` (until released), a duration of at most 3650d, or after so many polls. */
export type PhasePace = string | { readonly polls: number }

/** As {@link PhasePace} for the items: also so long for each, so many at a time (1 when left out). */
export type ItemPace = PhasePace | { readonly per_item: string; readonly concurrency?: number | undefined }

/** The pace of a batch, phase by phase. */
export interface BatchPace {
  readonly validating: PhasePace
  readonly in_progress: ItemPace
  readonly finalizing: PhasePace
}

/** What becomes of the items that it fits. Of several rules the first that fits an item decides. */
export interface OutcomeRule {
  readonly match?:
    | {
        /** A glob over the whole `custom_id`: `invoice-*`. */
        readonly custom_id?: string | undefined
        /** Position in the batch, from 0. */
        readonly index?: number | undefined
      }
    | undefined
  /** Only every N-th of the items that match. */
  readonly every?: number | undefined
  /** Only this share of them, 0 to 1, drawn under the seed of the batch. */
  readonly probability?: number | undefined
  /** `succeeded` when left out. */
  readonly status?: 'succeeded' | 'errored' | undefined
  /** What the error of an errored item says. */
  readonly detail?: string | undefined
  /** The output of a succeeded item, instead of a generated one. */
  readonly output?: JsonObject | undefined
}

/** What is to be different about what is still to come of a batch. */
export interface BatchPlanChange {
  readonly pace?: { readonly [Phase in keyof BatchPace]?: BatchPace[Phase] | undefined } | undefined
  readonly outcomes?: readonly OutcomeRule[] | undefined
  /** True: the batch stays where it is; false: it goes on. */
  readonly hold?: boolean | undefined
}

/** How a batch is made to fail: a sentence, or the whole error that it shows. */
export interface BatchFailure {
  readonly detail?: string | undefined
  readonly error?: JsonObject | undefined
}

/** The plan behind a batch, how far it has come, and what is ahead of it. */
export interface BatchView {
  readonly batch: BatchPrediction
  readonly request: {
    readonly prompt: string
    readonly output_schema: JsonObject
    /** How many there are. */
    readonly items: number
    /** The model that really runs, where the one asked for is deprecated. */
    readonly effective_model: string
  }
  readonly plan: {
    readonly seed: number
    readonly pace: BatchPace
    /** The outcome rules in force from an item on. */
    readonly stages: readonly { readonly from: number; readonly outcomes: readonly OutcomeRule[] }[]
    /** Items that validation found fault with. */
    readonly rejected: readonly { readonly index: number; readonly detail: string }[]
    /** Items that do not finish in the order of submission, by index. */
    readonly late?: { readonly slow: readonly number[]; readonly never: readonly number[] } | undefined
  }
  readonly progress: {
    /** Virtual instant from which the pace of the present phase counts. */
    readonly since: string
    /** Items that were finished by then. */
    readonly done: number
    /** Items that may still finish; null for all. */
    readonly most: number | null
    /** Polls that the present phase has seen. */
    readonly polls: number
    readonly held: boolean
    /** Items that are finished now. */
    readonly finished: number
    /** Null where no time brings it about. */
    readonly all_finished_at: string | null
  }
  /** How it ended that did not complete; null otherwise. */
  readonly ended: { readonly rest: 'errored' | 'canceled' | 'expired'; readonly cause: string } | null
  /** Outcome rules whose output breaks the output schema of the batch. */
  readonly invalid_outputs: readonly {
    readonly stage: number
    readonly rule: number
    readonly errors: readonly Issue[]
  }[]
  readonly ahead: readonly {
    readonly kind: string
    readonly due_at: string
    readonly urgency: 'work' | 'deadline'
    readonly description: string
  }[]
}
