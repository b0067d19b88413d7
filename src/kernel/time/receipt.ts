/** One thing that happened while time passed: an event that ran, or an attempt to deliver a webhook. */
export interface ReceiptEvent {
  /** Virtual instant. */
  readonly at: string
  readonly kind: string
  /** The record that it is about: `collection/id`. */
  readonly ref: string
  readonly says: string
  /** Status of the record before and after, where it has one that changed. */
  readonly from?: string
  readonly to?: string
  /** What put it into the schedule: the id of a request, the id of an earlier event, or a word for anything else. */
  readonly caused_by: string
  readonly webhook?: DeliveryAttempt
  /** Why the handler failed. The event was undone alone and is parked; time went on. */
  readonly error?: string
}

/** One attempt to deliver a webhook. */
export interface DeliveryAttempt {
  readonly url: string
  /** Counted from 1. */
  readonly attempt: number
  /** The receiver's HTTP status; null when it gave none. */
  readonly status: number | null
  /** Real milliseconds from the beginning of the request to its outcome. */
  readonly ms: number
}

/** Everything that happened between two instants, in order. */
export interface Receipt {
  readonly from: string
  readonly to: string
  readonly events: readonly ReceiptEvent[]
  /** Those whose handler failed. */
  readonly parked: readonly ReceiptEvent[]
}
