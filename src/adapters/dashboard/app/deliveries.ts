import { ask, type Output } from './api.ts'
import { sharedLive } from './loaded.ts'

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
