import { createHmac } from 'node:crypto'
import type { Settings } from '../assumptions.ts'
import { formatDuration, parseDuration, SECOND } from '../time/instant.ts'
import { sentBody } from './inbox.ts'
import type { Delivery, InboxReceipt } from './records.ts'
import { DEFAULT_SIGNATURE_HEADER, eventHeader, scheme, signature, signedTime } from './settings.ts'

/** A request that delivers a webhook. */
export interface WebhookRequest {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** UTF-8. */
  readonly body: Buffer
}

/** What a webhook is signed and checked with. */
export interface Signing {
  readonly settings: Settings
  /** Those of its subscription, the newest first; if there are none, the one in the settings counts. */
  readonly secrets: readonly string[]
  /** The time of the host, in milliseconds. */
  readonly host: () => number
}

/** The request for the latest attempt of a delivery, changed by its faults. */
export function webhookRequest(delivery: Delivery, signing: Signing): WebhookRequest {
  const { faults } = delivery
  const { settings } = signing
  // A copy has the id of the first delivery, so that a receiver can recognize it as a duplicate.
  const id = faults?.copy_of ?? delivery.id
  const body = Buffer.from(JSON.stringify(sentBody(delivery)))
  const headers = {
    'Content-Type': 'application/json',
    'Content-Length': String(body.length),
    'User-Agent': 'agent-workspace-emulator',
    [settings.get(eventHeader)]: delivery.type,
    'X-Emulator-Delivery': id,
    'X-Emulator-Delivery-Attempt': String(delivery.attempts.length),
    ...(delivery.traceparent !== undefined && { traceparent: delivery.traceparent }),
    ...signatureHeaders(delivery, { id, body }, signing),
  }
  return { url: delivery.url, headers, body }
}

/** How a scheme signs. `tolerance`: in milliseconds. */
function signerOf({ settings, secrets }: Signing) {
  const general = settings.get(signature)
  const { header = DEFAULT_SIGNATURE_HEADER, prefix = '', timestamp_header, tolerance } = general ?? {}
  const keys = secrets.length > 0 ? secrets : general === null ? [] : [general.secret]
  const age = { tolerance: parseDuration(tolerance ?? '5m') ?? 0 }
  if (settings.get(scheme) === 'emulator')
    return {
      ...{ ...age, header, keys: keys.slice(0, 1), idHeader: undefined, timestampHeader: timestamp_header },
      signed: ({ timestamp, body }: Signed) => (timestamp === undefined ? body : joined(timestamp, body)),
      signatureOf: (content: Uint8Array, key: string) => prefix + sign(content, key),
    }
  return {
    ...{ ...age, header: 'webhook-signature', keys },
    ...{ idHeader: 'webhook-id', timestampHeader: 'webhook-timestamp' },
    signed: ({ id, timestamp = '', body }: Signed) => joined(id, timestamp, body),
    signatureOf: (content: Uint8Array, key: string) =>
      `v1,${createHmac('sha256', Buffer.from(key.replace(/^whsec_/, ''), 'base64'))
        .update(content)
        .digest('base64')}`,
  }
}

interface Signed {
  readonly id: string
  /** Unix seconds; undefined for a webhook without a timestamp. */
  readonly timestamp: string | undefined
  readonly body: Uint8Array
}

/** Texts and the bytes of the body, with points between them. */
function joined(...parts: readonly (string | Uint8Array)[]): Buffer {
  return Buffer.concat(
    parts.flatMap((part, n) => (n === 0 ? [Buffer.from(part)] : [POINT, Buffer.from(part)])),
  )
}

const POINT = Buffer.from('.')

function signatureHeaders(
  { attempts, created_at, faults }: Delivery,
  { id, body }: Omit<Signed, 'timestamp'>,
  signing: Signing,
): Record<string, string> {
  const { keys, header, timestampHeader, tolerance, ...signer } = signerOf(signing)
  const isOver = attempts.length > (faults?.sign_attempts ?? Number.POSITIVE_INFINITY)
  const fault = isOver ? undefined : faults?.sign
  const isUnsigned = fault === 'missing' || (fault === undefined && keys.length === 0)
  if (isUnsigned && signer.idHeader === undefined) return {}
  const isReal = signing.settings.get(signedTime) === 'real'
  const now = isReal ? signing.host() : Date.parse(attempts.at(-1)?.at ?? created_at)
  const isOld = fault === 'old'
  const seconds = Math.floor((isOld ? now - tolerance : now) / SECOND) - (isOld ? 1 : 0)
  const timestamp = timestampHeader === undefined ? undefined : String(seconds)
  const headers = {
    ...(signer.idHeader !== undefined && { [signer.idHeader]: id }),
    ...(timestampHeader !== undefined && { [timestampHeader]: String(seconds) }),
  }
  if (isUnsigned) return headers
  // A signature without a timestamp cannot be too old, so a wrong one is sent.
  const isForged = fault === 'wrong' || (isOld && timestamp === undefined)
  const content = signer.signed({ id, timestamp, body })
  const used = keys.length === 0 ? [''] : keys
  const values = used.map((key) => signer.signatureOf(content, isForged ? `not ${key}` : key))
  return { ...headers, [header]: values.join(' ') }
}

/** HMAC-SHA256 of the bytes, in lower-case hexadecimal. */
export function sign(body: Uint8Array, secret: string): string {
  return createHmac('sha256', secret).update(body).digest('hex')
}

/** The result of a receiver that checks the signature: the headers as they were sent, and the problem found, if any. */
export function receivedOf({ headers, body }: WebhookRequest, now: number, signing: Signing): InboxReceipt {
  const { keys, header, timestampHeader, idHeader, tolerance, signed, signatureOf } = signerOf(signing)
  const given = headers[header]
  if (keys.length === 0 && given === undefined) return { headers, signature: null, problem: null }
  const bad = (signature: InboxReceipt['signature'], problem: string) => ({ headers, signature, problem })
  if (given === undefined) return bad('missing', `There is no header ${header}.`)
  const timestamp = timestampHeader === undefined ? undefined : headers[timestampHeader]
  const id = idHeader === undefined ? '' : (headers[idHeader] ?? '')
  const content = signed({ id, timestamp, body })
  const isValid = keys.some((key) => [given, ...given.split(' ')].includes(signatureOf(content, key)))
  if (!isValid) {
    const dated =
      timestamp === undefined ? 'the bytes of the body' : 'the timestamp and the bytes of the body'
    const what = idHeader === undefined ? dated : `the id, ${dated}`
    return bad('wrong', `The header ${header} does not have the HMAC-SHA256 of ${what} with the secret.`)
  }
  const isReal = signing.settings.get(signedTime) === 'real'
  const age = (isReal ? signing.host() : now) - Number(timestamp ?? 0) * SECOND
  if (age <= tolerance || timestamp === undefined) return { headers, signature: 'valid', problem: null }
  const seconds = formatDuration(Math.floor(age / SECOND) * SECOND)
  return bad(
    'old',
    `The timestamp in ${timestampHeader} is ${seconds} old, and at most ${formatDuration(tolerance)} is allowed.`,
  )
}
