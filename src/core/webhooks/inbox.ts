import { z } from 'zod'
import { type ShapeOf, timestamp } from '../fields.ts'
import { type Json, mergePatch } from '../json.ts'
import { json } from '../strict-input.ts'
import type { Delivery } from './records.ts'

/**
 * The URL of the built-in receiver. It has no server: the top-level domain is reserved for names that never resolve. Webhooks
 * to it count as received, with the status of the setting `webhooks.inbox_status` (default 200).
 */
export const INBOX_URL = 'http://emulator-inbox.invalid/'

/** A webhook that the inbox has received. */
export const inboxMessage = () =>
  z.strictObject({
    /** Id of the delivery; a copy has its own id. */
    id: z.string(),
    type: z.string(),
    /** Virtual instant of the last attempt that had a response. */
    received_at: timestamp(),
    attempt: z.int(),
    /** Id of the delivery that it repeats; null for the first one. */
    copy_of: z.string().nullable(),
    body: json(),
    /** The status with which the inbox has responded. */
    status: z.int(),
    /** The result of checking the signature; null for a webhook that is not signed. */
    signature: z.enum(['valid', 'wrong', 'missing', 'old']).nullable(),
    /** The problem with the signature, as a sentence; null for none. */
    signature_problem: z.string().nullable(),
    /** The request as it was received. */
    raw: z.strictObject({
      /** Null for a message that was loaded from fixtures. */
      headers: z.record(z.string(), z.string()).nullable(),
      /** The bytes of the body, as UTF-8. */
      body: z.string(),
    }),
  })

export type InboxMessage = ShapeOf<typeof inboxMessage>

/** The body of a delivery, with the patches of its faults applied. */
export function sentBody({ body, faults }: Pick<Delivery, 'body' | 'faults'>): Json {
  return (faults?.body ?? []).reduce<Json>(mergePatch, body)
}

/** The messages in the inbox, newest first. They are not stored separately: a received message is a delivery. */
export function inboxOf(deliveries: Iterable<Delivery>): InboxMessage[] {
  const messages: InboxMessage[] = []
  for (const delivery of deliveries) {
    const last = delivery.attempts.findLast(({ status }) => status !== null)
    if (delivery.url !== INBOX_URL || last === undefined) continue
    const { received } = last
    const body = sentBody(delivery)
    messages.push({
      id: delivery.id,
      type: delivery.type,
      received_at: last.at,
      attempt: last.attempt,
      copy_of: delivery.faults?.copy_of ?? null,
      body,
      status: last.status ?? 0,
      signature: received?.signature ?? null,
      signature_problem: received?.problem ?? null,
      raw: { headers: received?.headers ?? null, body: JSON.stringify(body) },
    })
  }
  return messages.reverse()
}
