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
  })

export type InboxMessage = ShapeOf<typeof inboxMessage>

/** The body of a delivery as its faults would have it. */
export function sentBody({ body, faults }: Pick<Delivery, 'body' | 'faults'>): Json {
  return (faults?.body ?? []).reduce<Json>(mergePatch, body)
}

/** What has arrived in the inbox, newest first. It needs no memory of its own: a received message is a delivery. */
export function inboxOf(deliveries: Iterable<Delivery>): InboxMessage[] {
  return [...deliveries]
    .filter(({ url, status }) => url === INBOX_URL && status === 'delivered')
    .map((delivery) => {
      const { id, type, attempts, faults, created_at } = delivery
      const last = attempts.at(-1)
      return {
        id,
        type,
        received_at: last?.at ?? created_at,
        attempt: last?.attempt ?? 1,
        copy_of: faults?.copy_of ?? null,
        body: sentBody(delivery),
      }
    })
    .reverse()
}
