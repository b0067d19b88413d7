import type { Json, JsonObject } from '../../../../kernel/json.ts'

/** A receiver that wants to be told. */
export interface WebhookDraft {
  /** Absolute, http or https; without a user name. */
  readonly url: string
  /** The types that are wanted; all when left out. */
  readonly events?: readonly string[] | undefined
  /** Signs what is sent; never shown again. */
  readonly secret?: string | undefined
}

/** A subscription. */
export interface WebhookView {
  /** Null for one that stands in the settings. */
  readonly id: string | null
  readonly url: string
  /** Null for all types. */
  readonly events: readonly string[] | null
  readonly has_secret: boolean
  readonly created_at: string | null
}

/** One notice on its way to one receiver, or arrived. */
export interface WebhookDelivery {
  readonly id: string
  /** Null where the subscription stands in the settings. */
  readonly webhook_id: string | null
  readonly url: string
  readonly type: string
  /** The record that it is about: `collection/id`. */
  readonly ref: string
  readonly body: JsonObject
  readonly status: 'pending' | 'sending' | 'waiting' | 'delivered' | 'failed' | 'dropped'
  readonly attempts: readonly WebhookAttempt[]
  /** Retries of the schedule that have been used up. */
  readonly retries: number
  /** When the next attempt is due, while the status is `waiting`. */
  readonly retry_at: string | null
  /** What fault rules have made of it; null where no rule was about it. */
  readonly faults: DeliveryFaultsView | null
  readonly caused_by: string
  readonly created_at: string
}

/** One request to a receiver. */
export interface WebhookAttempt {
  /** Counted from 1. */
  readonly attempt: number
  /** Virtual instant. */
  readonly at: string
  /** Null while it is under way. */
  readonly outcome: 'delivered' | 'failed' | 'timeout' | 'refused' | 'interrupted' | null
  /** The status that the receiver answered; null when it gave none. */
  readonly status: number | null
  /** In words; null for success. */
  readonly error: string | null
}

/** What fault rules have made of a delivery. */
export interface DeliveryFaultsView {
  /** Ids of the rules that fired, in order. */
  readonly rules: readonly string[]
  /** The delivery that it repeats. */
  readonly copy_of?: string | undefined
  readonly drop?: true | undefined
  readonly order?: 'after-next' | undefined
  readonly delay?: string | undefined
  readonly retries?: readonly string[] | undefined
  readonly timeout_ms?: number | undefined
  readonly sign?: 'wrong' | 'missing' | undefined
  readonly body?: readonly Json[] | undefined
}
