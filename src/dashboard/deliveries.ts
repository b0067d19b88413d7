import { signal } from '@preact/signals'
import { ask, type Output } from './api.ts'
import { keep, kept } from './browser.ts'
import { startedAt } from './live.ts'
import { sharedLive } from './loaded.tsx'
import { sandboxName } from './place.ts'

export type DeliveryRow = Output<'GET /webhooks/deliveries'>['data'][number]

/** Every delivery of a webhook, oldest first, for every part of the page that shows deliveries. */
export const useDeliveries = sharedLive(
  async (): Promise<readonly DeliveryRow[]> => (await ask('GET /webhooks/deliveries')).data,
  ['delivery', 'event', 'transition'],
)

/** Whether a URL is that of the built-in receiver. */
export const isInbox = (url: string) => new URL(url).hostname === 'emulator-inbox.invalid'

/** The name of a receiver on the page. */
export const receiverName = (url: string) => (isInbox(url) ? 'the built-in inbox' : url)

/** The state of a delivery: `retrying` while it waits for another attempt, otherwise its status. */
export function deliveryState({ status, retry_at }: DeliveryRow): string {
  return status === 'waiting' && retry_at !== null ? 'retrying' : status
}

const SEEN = 'seen-failures'

/** The failed deliveries that the user has acknowledged in this browser. */
export const seenFailures = signal<ReadonlySet<string>>(new Set(kept(SEEN)?.split(' ')))

// An emulator that is started again can give its deliveries the same ids, and one that is sent again can fail again.
const placeOfSeen = () => `${startedAt}/${sandboxName.value}/`
const failureOf = ({ id, attempts }: DeliveryRow) => `${placeOfSeen()}${id}/${attempts.length}`

/** The failed deliveries that the user has not acknowledged. */
export function newFailures(deliveries: readonly DeliveryRow[]): readonly DeliveryRow[] {
  return deliveries.filter((each) => each.status === 'failed' && !seenFailures.value.has(failureOf(each)))
}

/** Acknowledges these failures, and forgets those of the sandbox that no longer exist. */
export function acknowledge(failures: readonly DeliveryRow[], all: readonly DeliveryRow[]): void {
  const present = new Set(all.map(failureOf))
  const before = [...seenFailures.value].filter((each) =>
    each.startsWith(placeOfSeen()) ? present.has(each) : each.startsWith(`${startedAt}/`),
  )
  if (before.length === seenFailures.value.size && failures.length === 0) return
  seenFailures.value = new Set([...before, ...failures.map(failureOf)])
  keep(SEEN, [...seenFailures.value].join(' '))
}
