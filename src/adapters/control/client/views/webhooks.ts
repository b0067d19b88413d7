import type { JsonObject } from '../../../../core/json.ts'
import type { Attempt, DeliveryFaults } from '../../../../core/webhooks/records.ts'

export type { Attempt as WebhookAttempt, DeliveryFaults } from '../../../../core/webhooks/records.ts'

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
  readonly attempts: readonly Attempt[]
  /** Retries of the schedule that have been used up. */
  readonly retries: number
  /** When the next attempt is due, while the status is `waiting`. */
  readonly retry_at: string | null
  /** What fault rules have made of it; null where no rule was about it. */
  readonly faults: DeliveryFaults | null
  readonly caused_by: string
  readonly created_at: string
}
