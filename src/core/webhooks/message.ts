import { createHmac } from 'node:crypto'
import type { Settings } from '../assumptions.ts'
import { formatDuration, parseDuration, SECOND } from '../time/instant.ts'
import { sentBody } from './inbox.ts'
import type { Delivery, InboxReceipt } from './records.ts'
import { DEFAULT_SIGNATURE_HEADER, eventHeader, signature } from './settings.ts'

/** A request that delivers a webhook. */
export interface WebhookRequest {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** UTF-8. */
  readonly body: Buffer
}

/**
 * The request for the latest attempt of a delivery, changed by its faults. `secret`: that of its subscription, which takes
 * precedence over the one in the settings.
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
    // A copy has the id of the first delivery, so that a receiver can recognize it as a duplicate.
    'X-Emulator-Delivery': faults?.copy_of ?? delivery.id,
    'X-Emulator-Delivery-Attempt': String(delivery.attempts.length),
    ...(delivery.traceparent !== undefined && { traceparent: delivery.traceparent }),
    ...signatureOf(delivery, body, signerOf(secret, settings)),
  }
  return { url: delivery.url, headers, body }
}

/** How a webhook is signed and checked; `secret` is undefined if it is not signed. */
function signerOf(own: string | null, settings: Settings) {
  const general = settings.get(signature)
  const { header = DEFAULT_SIGNATURE_HEADER, prefix = '', timestamp_header, tolerance } = general ?? {}
  return {
    secret: own ?? general?.secret,
    header,
    prefix,
    timestampHeader: timestamp_header,
    tolerance: parseDuration(tolerance ?? '') ?? 0,
  }
}

type Signer = ReturnType<typeof signerOf>

function signatureOf(
  { attempts, created_at, faults }: Delivery,
  body: Buffer,
  { secret, header, prefix, timestampHeader, tolerance }: Signer,
): Record<string, string> {
  const isOver = attempts.length > (faults?.sign_attempts ?? Number.POSITIVE_INFINITY)
  const fault = isOver ? undefined : faults?.sign
  if (fault === 'missing' || (fault === undefined && secret === undefined)) return {}
  // A signature without a timestamp cannot be too old, so a wrong one is sent.
  const isForged = fault === 'wrong' || (fault === 'old' && timestampHeader === undefined)
  const key = isForged ? `not ${secret ?? ''}` : (secret ?? '')
  if (timestampHeader === undefined) return { [header]: prefix + sign(body, key) }
  const now = Date.parse(attempts.at(-1)?.at ?? created_at)
  const dated = Math.floor((fault === 'old' ? now - tolerance : now) / SECOND) - (fault === 'old' ? 1 : 0)
  return { [timestampHeader]: String(dated), [header]: prefix + sign(dateBody(String(dated), body), key) }
}

/** The signed bytes of a webhook with a timestamp: the text of the timestamp, a point, and the bytes of the body. */
function dateBody(timestamp: string, body: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from(`${timestamp}.`), body])
}

/** HMAC-SHA256 of the bytes, in lower-case hexadecimal. */
export function sign(body: Uint8Array, secret: string): string {
  return createHmac('sha256', secret).update(body).digest('hex')
}

/**
 * The result of a receiver that checks the signature: the headers as they were sent, and the problem found, if any.
 * @param own the secret of the subscription
 */
export function receivedOf(
  { headers, body }: WebhookRequest,
  own: string | null,
  { settings, now }: { readonly settings: Settings; readonly now: number },
): InboxReceipt {
  const { secret, header, prefix, timestampHeader, tolerance } = signerOf(own, settings)
  const given = headers[header]
  if (secret === undefined && given === undefined) return { headers, signature: null, problem: null }
  const bad = (signature: InboxReceipt['signature'], problem: string) => ({ headers, signature, problem })
  if (given === undefined) return bad('missing', `There is no header ${header}.`)
  const timestamp = timestampHeader === undefined ? undefined : headers[timestampHeader]
  const signed = timestamp === undefined ? body : dateBody(timestamp, body)
  if (secret === undefined || given !== prefix + sign(signed, secret)) {
    const what = timestamp === undefined ? 'the bytes of the body' : 'the timestamp and the bytes of the body'
    return bad('wrong', `The header ${header} does not have the HMAC-SHA256 of ${what} with the secret.`)
  }
  const age = now - Number(timestamp ?? now / SECOND) * SECOND
  if (age <= tolerance || timestamp === undefined) return { headers, signature: 'valid', problem: null }
  const seconds = formatDuration(Math.floor(age / SECOND) * SECOND)
  return bad(
    'old',
    `The timestamp in ${timestampHeader} is ${seconds} old, and at most ${formatDuration(tolerance)} is allowed.`,
  )
}
