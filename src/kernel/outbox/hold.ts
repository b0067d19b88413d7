import type { Scope } from '../operation.ts'
import { END_OF_TIME } from '../time/clock.ts'
import { MINUTE, parseDuration } from '../time/duration.ts'
import { formatInstant } from '../time/instant.ts'
import { type Delivery, deliveries, deliveryLifecycle } from './records.ts'

/** Virtual milliseconds after which a delivery no longer waits for the next one to its subscriber. */
const LONGEST_HOLD = MINUTE

/**
 * Where a new delivery starts: pending, unless its faults drop it or have it wait. It is held for the next one to the same
 * subscriber, unless another is: then this is the next.
 */
export function placed(scope: Scope, delivery: Delivery): Delivery {
  const { status, faults } = delivery
  if (faults === null) return delivery
  if (faults.drop) return { ...delivery, status: deliveryLifecycle.move(status, 'drop') }
  if (faults.order === undefined) return waiting(scope, delivery, scope.now)
  return isAnyHeld(scope, delivery)
    ? waiting(scope, unordered(delivery), scope.now)
    : waiting(scope, delivery, scope.now + LONGEST_HOLD)
}

/** A held delivery once the next one has gone first: pending, or waiting for what is left of its delay. */
export function released(scope: Scope, delivery: Delivery): Delivery {
  const due = delayedUntil(delivery)
  return due > scope.now
    ? { ...unordered(delivery), retry_at: formatInstant(due) }
    : { ...delivery, status: deliveryLifecycle.move(delivery.status, 'repeat'), retry_at: null }
}

/** Whether a delivery waits for the next one to the same subscriber. */
export function isHeld({ status, attempts, faults }: Delivery): boolean {
  return status === 'waiting' && attempts.length === 0 && faults?.order !== undefined
}

export function isSameSubscriber(a: Delivery, b: Delivery): boolean {
  return a.webhook_id === b.webhook_id && a.url === b.url
}

function isAnyHeld({ tx }: Scope, delivery: Delivery): boolean {
  return tx.in(deliveries).find((each) => isHeld(each) && isSameSubscriber(each, delivery)) !== undefined
}

function unordered(delivery: Delivery): Delivery {
  if (delivery.faults === null) return delivery
  const { order: _, ...faults } = delivery.faults
  return { ...delivery, faults }
}

function waiting(scope: Scope, delivery: Delivery, until: number): Delivery {
  const due = Math.min(Math.max(until, delayedUntil(delivery)), END_OF_TIME)
  if (due <= scope.now) return delivery
  return {
    ...delivery,
    status: deliveryLifecycle.move(delivery.status, 'wait'),
    retry_at: formatInstant(due),
  }
}

function delayedUntil({ created_at, faults }: Delivery): number {
  const delay = faults?.delay === undefined ? 0 : (parseDuration(faults.delay) ?? 0)
  return Math.min(Date.parse(created_at) + delay, END_OF_TIME)
}
