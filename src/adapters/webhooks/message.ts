import { createHmac } from 'node:crypto'
import type { Settings } from '../../core/assumptions.ts'
import { sentBody } from '../../core/webhooks/inbox.ts'
import type { Delivery } from '../../core/webhooks/records.ts'
import { DEFAULT_SIGNATURE_HEADER, eventHeader, signature } from '../../core/webhooks/settings.ts'

/** A request that delivers a webhook. */
export interface WebhookRequest {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** UTF-8. */
  readonly body: Buffer
}

/**
 * The request for the latest attempt of a delivery, as its faults would have it. `secret`: that of its subscription, which
 * goes before the one of the settings.
 */
export function webhookRequest(
  delivery: Delivery,
  secret: string | null,
  settings: Settings,
): WebhookRequest {
  const { faults } = delivery
  const body = Buffer.from(JSON.stringify(sentBody(delivery)))
  const headers = {
    'Content-Type': 'application/json',
    'Content-Length': String(body.length),
    'User-Agent': 'agent-workspace-emulator',
    [settings.get(eventHeader)]: delivery.type,
    // A copy is the same notice once more, by which a receiver is to know it.
    'X-Emulator-Delivery': faults?.copy_of ?? delivery.id,
    'X-Emulator-Delivery-Attempt': String(delivery.attempts.length),
    ...signatureOf(body, secret, settings, faults?.sign),
  }
  return { url: delivery.url, headers, body }
}

function signatureOf(
  body: Buffer,
  own: string | null,
  settings: Settings,
  fault: 'wrong' | 'missing' | undefined,
): Record<string, string> {
  const general = settings.get(signature)
  const secret = own ?? general?.secret
  if (fault === 'missing' || (fault === undefined && secret === undefined)) return {}
  const { header = DEFAULT_SIGNATURE_HEADER, prefix = '' } = general ?? {}
  return { [header]: prefix + sign(body, fault === 'wrong' ? `not ${secret ?? ''}` : (secret ?? '')) }
}

/** HMAC-SHA256 of the bytes, in lower-case hexadecimal. */
export function sign(body: Uint8Array, secret: string): string {
  return createHmac('sha256', secret).update(body).digest('hex')
}
