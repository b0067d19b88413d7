import type { Ask } from './ask.ts'
import type { List } from './views/list.ts'
import type { WebhookDelivery, WebhookDraft, WebhookView } from './views/webhooks.ts'

/** Webhook subscriptions of a sandbox, and what is delivered to them. */
export interface SandboxWebhooks {
  list(): Promise<List<WebhookView>>
  create(draft: WebhookDraft): Promise<WebhookView>
  /** What is not yet sent is not sent. */
  delete(id: string): Promise<void>
  /** Removes every subscription but those of the settings. */
  clear(): Promise<void>
  /** Every delivery with its attempts, oldest first. */
  deliveries(): Promise<List<WebhookDelivery>>
  /** Sends a delivery again that has ended, or at once one that waits. Faults do not touch it then. */
  redeliver(id: string): Promise<WebhookDelivery>
}

export function webhooksOver(ask: Ask): SandboxWebhooks {
  return {
    list: () => ask('GET /webhooks'),
    create: (draft) => ask('POST /webhooks', { body: draft }),
    delete: async (id) => void (await ask('DELETE /webhooks/{id}', { params: { id } })),
    clear: async () => void (await ask('DELETE /webhooks')),
    deliveries: () => ask('GET /webhooks/deliveries'),
    redeliver: (id) => ask('POST /webhooks/deliveries/{id}/redeliver', { params: { id } }),
  }
}
