import { z } from 'zod'
import { durationUpTo, type InputOf, nonEmptyText, type ShapeOf, text, timestamp } from '../fields.ts'
import { isObject, type JsonObject } from '../json.ts'
import { lifecycle } from '../lifecycle.ts'
import { TRACEPARENT } from '../log/traceparent.ts'
import { REDACTED } from '../secrets.ts'
import type { TableOf } from '../state/transaction.ts'
import { type Clash, json, nameAmong, together } from '../strict-input.ts'
import { nextType } from '../tomorrow.ts'

/** A type of webhook. */
interface NamedWebhookType {
  readonly type: string
}

/** `refused`: nothing was sent, since the target is not allowed. `interrupted`: it may or may not have arrived. */
const attemptOutcomes = ['delivered', 'failed', 'timeout', 'refused', 'interrupted'] as const
export type AttemptOutcome = (typeof attemptOutcomes)[number]

/** Every change of status of a delivery. Only faults drop one, or make one wait before its first attempt. */
export const deliveryLifecycle = lifecycle([
  { from: 'pending', on: 'begin', to: 'sending', because: 'U060' },
  { from: 'pending', on: 'wait', to: 'waiting', because: 'U060' },
  { from: 'pending', on: 'drop', to: 'dropped', because: 'U060' },
  { from: 'sending', on: 'deliver', to: 'delivered', because: 'U060' },
  { from: 'sending', on: 'wait', to: 'waiting', because: 'U060' },
  { from: 'sending', on: 'fail', to: 'failed', because: 'U060' },
  { from: 'sending', on: 'repeat', to: 'pending', because: 'U060' },
  { from: 'waiting', on: 'repeat', to: 'pending', because: 'U060' },
  { from: 'waiting', on: 'drop', to: 'dropped', because: 'U060' },
  { from: 'delivered', on: 'repeat', to: 'pending', because: 'U060' },
  { from: 'failed', on: 'repeat', to: 'pending', because: 'U060' },
  { from: 'dropped', on: 'repeat', to: 'pending', because: 'U060' },
])

export type DeliveryStatus = (typeof deliveryLifecycle.arrows)[number]['from' | 'to']

export const webhooks: TableOf<Webhook> = { name: 'webhooks', label: 'webhook subscription' }
export const deliveries: TableOf<Delivery> = { name: 'webhook_deliveries', label: 'webhook delivery' }

/** The longest virtual time from one attempt to deliver a webhook to the next. */
export const MAX_DELAY = '366d'

/** The URL of a receiver: at most 2048 characters, http or https, no user name. The target itself is checked elsewhere. */
function receiverUrl(): z.ZodType<string, string> {
  return text(2048)
    .refine((url) => urlProblem(url) === undefined, { error: ({ input }) => urlProblem(String(input)) })
    .meta({ format: 'uri', maxLength: 2048 })
}

// URL parsers strip or rewrite these characters, so that the text and the real address would differ.
const REWRITTEN = /[\p{Cc}\s\\]/u

/** The problem with the URL of a receiver; undefined for a valid one. */
export function urlProblem(url: string): string | undefined {
  if (!/^https?:\/\/[^/?#]/i.test(url) || REWRITTEN.test(url) || !URL.canParse(url)) {
    return 'must be an absolute http or https URL such as http://127.0.0.1:9000/hook'
  }
  if (/^[^/]*\/\/[^/?#]*@/.test(url)) {
    return 'must not contain a user name or a password; a secret belongs in the field secret'
  }
  return undefined
}

/** The types of webhooks that a subscriber wants: at least one, each a known one. */
function wantedEvents(webhookTypes: readonly NamedWebhookType[]) {
  return z
    .array(webhookTypeName(webhookTypes))
    .min(1, { error: 'must name at least one type; leave it out for all types' })
}

/** The name of a known type of webhook. */
export function webhookTypeName(webhookTypes: readonly NamedWebhookType[]): z.ZodType<string, string> {
  return nameAmong(
    webhookTypes.map(({ type }) => type),
    'type of webhook',
  )
}

/** The fields of a subscription, also in the settings and when one is created. */
export const subscriptionFields = (webhookTypes: readonly NamedWebhookType[]) =>
  z.strictObject({
    url: receiverUrl(),
    events: wantedEvents(webhookTypes).optional(),
    secret: signingSecret().optional(),
  })

/** A new subscription: of a receiver, or of the built-in inbox, which needs no server. */
export const newSubscription = (webhookTypes: readonly NamedWebhookType[]) =>
  subscriptionFields(webhookTypes)
    .extend({ url: receiverUrl().optional(), inbox: z.literal(true).optional() })
    .superRefine(({ url, inbox }, context) => {
      if (url === undefined && inbox === undefined)
        context.addIssue({ code: 'custom', path: ['url'], message: 'is required, unless inbox is true' })
      if (url !== undefined && inbox !== undefined)
        context.addIssue({ code: 'custom', path: ['inbox'], message: 'must not be given together with url' })
    })

type Receiver = InputOf<typeof subscriptionFields>

export type WebhookDraft = Receiver | (Omit<Receiver, 'url'> & { readonly inbox: true })

/** New values of a subscription: null for `events` means all types, and null for `secret` that it has none of its own. */
export const subscriptionChange = (webhookTypes: readonly NamedWebhookType[]) =>
  z.strictObject({
    url: receiverUrl().exactOptional(),
    events: wantedEvents(webhookTypes).nullable().exactOptional(),
    secret: signingSecret().nullable().exactOptional(),
    /** False enables a subscription that a receiver has disabled with 410. */
    disabled: z.boolean().exactOptional(),
  })

export type WebhookChange = ShapeOf<typeof subscriptionChange>

/** A new secret of a subscription. */
export const secretRotation = () =>
  z.strictObject({
    /** Default: a new one of 32 bytes. */
    secret: signingSecret().exactOptional(),
    /** Virtual duration for which the secret of before signs, too; at most 366d. */
    overlap: durationUpTo(MAX_DELAY).default('24h'),
  })

export type SecretRotation = z.input<ReturnType<typeof secretRotation>>

/** The form of a secret by Standard Webhooks: `whsec_` and the base64 of the key. */
export function isStandardSecret(secret: string): boolean {
  return (
    /^whsec_(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(secret) && secret.length > 6
  )
}

/** Ends a sentence about a secret of another form. */
export const STANDARD_SECRET =
  'must be whsec_ and base64, such as whsec_c2VjcmV0IG9mIDI0IGJ5dGVzIQ==, because the setting webhooks.scheme is standard'

/** A receiver of webhooks, as a record. */
export const webhookRecord = (webhookTypes: readonly NamedWebhookType[]) =>
  z.strictObject({
    id: nonEmptyText(),
    url: receiverUrl(),
    /** The subscribed types of webhooks; null for all. */
    events: wantedEvents(webhookTypes).nullable().default(null),
    /** Signs webhooks, so it is stored itself and not as a digest. The control interface does not show it. */
    secret: signingSecret().nullable().default(null),
    /** Earlier secrets that sign, too, until they expire. */
    previous: z
      .array(z.strictObject({ id: nonEmptyText(), secret: signingSecret(), expires_at: timestamp() }))
      .readonly()
      .exactOptional(),
    /** Nothing is sent to it since this instant; absent while it is enabled. */
    disabled_at: timestamp().exactOptional(),
    created_at: timestamp(),
  })

export type Webhook = Readonly<z.output<ReturnType<typeof webhookRecord>>>

/** A secret that signs webhooks. The mask that exports contain instead of a secret is refused. */
export const signingSecret = (): z.ZodType<string, string> =>
  nonEmptyText().refine((value) => value !== REDACTED, {
    error:
      'is the mask for a secret in exports, not a secret; give the secret itself, or export with ?secrets=true',
  })

/** A request that the built-in inbox has received. */
const receivedRecord = () =>
  z.strictObject({
    headers: z.record(z.string(), z.string()),
    /** The result of checking the signature; null for a webhook that is not signed. */
    signature: z.enum(['valid', 'wrong', 'missing', 'old']).nullable(),
    /** The problem with the signature, as a sentence; null for none. */
    problem: z.string().nullable(),
  })

export type InboxReceipt = ShapeOf<typeof receivedRecord>

/** One request to a receiver. */
const attemptRecord = () =>
  z.strictObject({
    /** Counted from 1. */
    attempt: z.int().min(1),
    at: timestamp(),
    /** Null while it is being sent. */
    outcome: z.enum(attemptOutcomes).nullable(),
    /** The status of the receiver's response; null when there was none. */
    status: z.int().min(100).max(999).nullable().default(null),
    /** The reason for a failure, in words; null for success. */
    error: z.string().nullable().default(null),
    /** Only for the built-in inbox. */
    received: receivedRecord().exactOptional(),
  })

/** The effects of fault rules on a delivery, until it ends. An absent field has no effect. */
const faultsRecord = () =>
  z.strictObject({
    /** Ids of the rules that fired, in order. */
    rules: z.array(z.string()).min(1).readonly(),
    /** Id of the delivery that it repeats; a receiver sees this id. */
    copy_of: headerText().optional(),
    /** It was never sent. */
    drop: z.literal(true).optional(),
    /** Held until a later one to the same receiver has had its first attempt. */
    order: z.literal('after-next').optional(),
    /** Virtual delay of the first attempt. */
    delay: durationUpTo(MAX_DELAY).optional(),
    /** Virtual durations between attempts, instead of the setting `webhooks.retry`. */
    retries: z.array(durationUpTo(MAX_DELAY)).readonly().optional(),
    /** Real milliseconds that an attempt may take, instead of the setting `webhooks.timeout`. */
    timeout_ms: z.int().min(1).optional(),
    sign: z.enum(['wrong', 'missing', 'old']).optional(),
    /** The first attempts for which `sign` counts. */
    sign_attempts: z.int().min(1).optional(),
    /** The rule whose gate holds it before its first attempt, and when the gate opens by itself. */
    gate: z
      .strictObject({
        rule: z.string(),
        waiting: z.int().min(1).exactOptional(),
        after: durationUpTo(MAX_DELAY).exactOptional(),
      })
      .optional(),
    /** JSON Merge Patches for the body, applied in order. */
    body: z.array(json()).readonly().optional(),
  })

/** One webhook for one receiver. */
export const deliveryFields = (webhookTypes: readonly NamedWebhookType[]) =>
  z.strictObject({
    id: headerText(),
    /** Null for a subscription from settings, and for a copy in the inbox. */
    webhook_id: z.string().nullable().default(null),
    url: receiverUrl(),
    type: webhookTypeName(webhookTypes.flatMap(({ type }) => [{ type }, { type: nextType(type) }])),
    /** The record that it is about: `collection/id`. */
    ref: nonEmptyText(),
    /** The object as it was at the transition: every attempt sends it unchanged (T38). */
    body: z.custom<JsonObject>(isObject, { error: 'must be an object' }).meta({ type: 'object' }),
    status: z.enum(['pending', 'sending', 'waiting', 'delivered', 'failed', 'dropped']),
    attempts: z.array(attemptRecord()).readonly().default([]),
    /** Number of retries of the schedule that were used; sending it again by hand starts the schedule again. */
    retries: z.int().min(0).default(0),
    /** Virtual instant of the next attempt while the status is `waiting`, else null. */
    retry_at: timestamp().nullable().default(null),
    /** The effects of fault rules on it; null if none fired. */
    faults: faultsRecord().nullable().default(null),
    caused_by: z.string().default('fixtures'),
    /** Sent as a header: the trace of the request that has led to it. */
    traceparent: z.string().regex(TRACEPARENT).exactOptional(),
    created_at: timestamp(),
  })

export type Attempt = Readonly<z.output<ReturnType<typeof attemptRecord>>>
export type DeliveryFaults = Readonly<z.output<ReturnType<typeof faultsRecord>>>
export type Delivery = Readonly<z.output<ReturnType<typeof deliveryFields>>>

/** How one webhook is delivered. */
export interface Treatment {
  /** Total number of deliveries; 1 without a fault. */
  readonly copies: number
  /** The effects of faults on each of them. */
  readonly faults: DeliveryFaults | null
}

export const deliveryRecord = (webhookTypes: readonly NamedWebhookType[]) =>
  together(deliveryFields(webhookTypes), (delivery) => [...contradictions(delivery)])

/** Text that a header can carry: visible ASCII characters and spaces between them. */
export function headerText(): z.ZodType<string> {
  return z.string().refine((value) => /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(value), {
    error: 'must be visible ASCII characters, because it is sent in a header',
  })
}

/** The outcomes that the last attempt can have in each status. */
const LAST: Readonly<Record<DeliveryStatus, readonly (AttemptOutcome | null | undefined)[]>> = {
  pending: [undefined, ...attemptOutcomes],
  sending: [null],
  waiting: [undefined, 'failed', 'timeout'],
  delivered: ['delivered'],
  failed: ['failed', 'timeout', 'refused'],
  dropped: [undefined],
}

// Records that no sequence of status changes leads to.
function* contradictions({ status, attempts, retry_at, faults }: Delivery): Iterable<Clash> {
  for (const [index, { attempt, outcome }] of attempts.entries()) {
    if (attempt !== index + 1) yield { path: ['attempts', index, 'attempt'], message: `must be ${index + 1}` }
    const message = 'must not be null, as another attempt follows'
    if (outcome === null && index < attempts.length - 1)
      yield { path: ['attempts', index, 'outcome'], message }
  }
  const path = ['attempts']
  if (!LAST[status].includes(attempts.at(-1)?.outcome))
    yield { path, message: `must end with an outcome that fits the status ${status}` }
  if (faults === null && attempts.length === 0 && (status === 'waiting' || status === 'dropped')) {
    const message = `must not be empty: without a fault no delivery is ${status} before its first attempt`
    yield { path, message }
  }
  // A gate opens at no instant of the delivery's own.
  const isTimed = status === 'waiting' && faults?.gate === undefined
  const place = status === 'waiting' && !isTimed ? 'waiting at a gate' : status
  if (isTimed !== (retry_at !== null))
    yield { path: ['retry_at'], message: `must be ${isTimed ? 'set' : 'null'} while ${place}` }
}
