import * as z from 'zod'
import { type ShapeOf, timestamp } from '../fields.ts'
import { type Json, mergePatch } from '../json.ts'
import { json } from '../strict-input.ts'
import type { Delivery } from './records.ts'

/**
 * The URL of the built-in receiver. It has no server: the top-level domain is reserved for names that lead nowhere, and what
 * is sent to it counts as received with 200.
 */
export const INBOX_URL = 'http://emulator-inbox.invalid/'

/** A webhook that the inbox has received. */
export const inboxMessage = () =>
  z.strictObject({
    /** That of the delivery; a copy has an id of its own. */
    id: z.string(),
    type: z.string(),
    /** Virtual instant of the last attempt. */
    received_at: timestamp(),
    attempt: z.int(),
    /** Id of the delivery that it repeats; null for the first one. */
    copy_of: z.string().nullable(),
    body: json(),
    /** The status with which the inbox has responded. */
    status: z.int(),
    /** What a receiver that checks the signature finds; null for a webhook that is not signed. */
    signature: z.enum(['valid', 'wrong', 'missing', 'old']).nullable(),
    /** In words, what is wrong with the signature; null for nothing. */
    signature_problem: z.string().nullable(),
    /** The request as it came. */
    raw: z.strictObject({
      /** Null for a message that was loaded from fixtures. */
      headers: z.record(z.string(), z.string()).nullable(),
      /** The bytes of the body, as UTF-8. */
      body: z.string(),
    }),
  })

export type InboxMessage = ShapeOf<typeof inboxMessage>

/** The body of a delivery as its faults would have it. */
export function sentBody({ body, faults }: Pick<Delivery, 'body' | 'faults'>): Json {
  return (faults?.body ?? []).reduce<Json>(mergePatch, body)
}

/** What has arrived in the inbox, newest first. It needs no memory of its own: a received message is a delivery. */
export function inboxOf(deliveries: Iterable<Delivery>): InboxMessage[] {
  const messages = [...deliveries].flatMap((delivery): InboxMessage[] => {
    const { id, url, type, attempts, faults } = delivery
    const last = attempts.findLast(({ status }) => status !== null)
    if (url !== INBOX_URL || last === undefined) return []
    const { received } = last
    const body = sentBody(delivery)
    return [
      {
        id,
        type,
        received_at: last.at,
        attempt: last.attempt,
        copy_of: faults?.copy_of ?? null,
        body,
        status: last.status ?? 0,
        signature: received?.signature ?? null,
        signature_problem: received?.problem ?? null,
        raw: { headers: received?.headers ?? null, body: JSON.stringify(body) },
      },
    ]
  })
  return messages.reverse()
}
