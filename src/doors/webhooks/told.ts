import { refOf } from '../../kernel/operation.ts'
import type { Outcome } from '../../kernel/outbox/delivery.ts'
import { type Delivery, deliveries } from '../../kernel/outbox/records.ts'
import type { ReceiptEvent } from '../../kernel/time/receipt.ts'

/** How an attempt ended, and how long that took. */
interface Ended extends Outcome {
  /** Virtual instant. */
  readonly at: string
  /** Real milliseconds. */
  readonly ms: number
}

/** What whoever lets time pass is told of the latest attempt of a delivery. */
export function attemptEvent(delivery: Delivery, { at, ms, ...outcome }: Ended): ReceiptEvent {
  const { url, attempts, status: to, caused_by } = delivery
  return {
    at,
    kind: outcome.outcome === 'delivered' ? 'webhook.delivered' : 'webhook.failed',
    ref: refOf(deliveries, delivery),
    says: sentence(delivery, outcome),
    from: 'sending',
    to,
    caused_by,
    webhook: { url, attempt: attempts.length, status: outcome.status, ms },
  }
}

/** What whoever lets time pass is told of a delivery that a fault has dropped: no attempt will ever tell of it. */
export function dropEvent(delivery: Delivery): ReceiptEvent {
  const { type, url, status: to, faults, created_at: at, caused_by } = delivery
  const rules = (faults?.rules ?? []).join(', ')
  const says = `${type} to ${url} was dropped by ${rules}: it is never sent.`
  return {
    at,
    kind: 'webhook.dropped',
    ref: refOf(deliveries, delivery),
    says,
    from: 'pending',
    to,
    caused_by,
  }
}

function sentence({ type, url, attempts, status, retry_at }: Delivery, { error }: Outcome): string {
  const attempt = `Attempt ${attempts.length} to deliver ${type} to ${url}`
  if (error === null) return `${attempt} succeeded.`
  const next = status === 'waiting' && retry_at !== null ? ` The next one follows at ${retry_at}.` : ''
  return `${attempt} failed: ${error}.${next}`
}
