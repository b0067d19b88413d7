import * as z from 'zod'
import { didYouMean } from '../did-you-mean.ts'
import { duration, type InputOf, nonEmptyText, text, timestamp } from '../fields.ts'
import { type Immutable, isObject, type JsonObject } from '../json.ts'
import { lifecycle } from '../lifecycle.ts'

import { REDACTED } from '../secrets.ts'
import { type Collection, collection } from '../state/collection.ts'
import type { TableOf } from '../state/transaction.ts'
import { json } from '../strict-input.ts'

/** A type of webhook. */
interface NoticeType {
  readonly type: string
}

/** `refused`: nothing was sent, because nothing may be sent there. `interrupted`: it may or may not have arrived. */
const attemptOutcomes = ['delivered', 'failed', 'timeout', 'refused', 'interrupted'] as const
export type AttemptOutcome = (typeof attemptOutcomes)[number]

/** Every move that a delivery can make. Only faults drop one, or make one wait that has not been tried. */
export const deliveryLifecycle = lifecycle([
  { from: 'pending', on: 'begin', to: 'sending', because: 'U060' },
  { from: 'pending', on: 'wait', to: 'waiting', because: 'U060' },
  { from: 'pending', on: 'drop', to: 'dropped', because: 'U060' },
  { from: 'sending', on: 'deliver', to: 'delivered', because: 'U060' },
  { from: 'sending', on: 'wait', to: 'waiting', because: 'U060' },
  { from: 'sending', on: 'fail', to: 'failed', because: 'U060' },
  { from: 'sending', on: 'repeat', to: 'pending', because: 'U060' },
  { from: 'waiting', on: 'repeat', to: 'pending', because: 'U060' },
  { from: 'delivered', on: 'repeat', to: 'pending', because: 'U060' },
  { from: 'failed', on: 'repeat', to: 'pending', because: 'U060' },
  { from: 'dropped', on: 'repeat', to: 'pending', because: 'U060' },
])

export type DeliveryStatus = (typeof deliveryLifecycle.arrows)[number]['from' | 'to']

export const webhooks: TableOf<Webhook> = { name: 'webhooks', label: 'webhook subscription' }
export const deliveries: TableOf<Delivery> = { name: 'webhook_deliveries', label: 'webhook delivery' }

/** The collections of a sandbox whose resources cause these webhooks. */
export function webhookCollections(
  notices: readonly NoticeType[],
): readonly [Collection<Webhook>, Collection<Delivery>] {
  return [
    collection<Webhook>({ ...webhooks, schema: () => webhookRecord(notices) }),
    collection<Delivery>({ ...deliveries, schema: () => deliveryRecord(notices) }),
  ]
}

/** The URL of a receiver: at most 2048 characters, http or https, no user name. Where it leads is judged elsewhere. */
export function receiverUrl(): z.ZodType<string> {
  return text(2048)
    .check((context) => {
      const problem = urlProblem(context.value)
      if (problem !== undefined)
        context.issues.push({ code: 'custom', message: problem, input: context.value })
    })
    .meta({ format: 'uri', maxLength: 2048 })
}

// URL parsers strip these or turn them into something else, so that the text and the address it leads to differ.
const REWRITTEN = /[\p{Cc}\s\\]/u

/** What is wrong with the URL of a receiver. */
export function urlProblem(url: string): string | undefined {
  if (!/^https?:\/\/[^/?#]/i.test(url) || REWRITTEN.test(url) || !URL.canParse(url)) {
    return 'must be an absolute http or https URL such as http://127.0.0.1:9000/hook'
  }
  const { username, password } = new URL(url)
  if (username !== '' || password !== '' || /^[^/]*\/\/[^/?#]*@/.test(url)) {
    return 'must not carry a user name or a password; a secret belongs in the field secret'
  }
  return undefined
}

/** The types of notices that a subscriber wants: at least one, each a known one. */
export function wantedEvents(notices: readonly NoticeType[]): z.ZodType<readonly string[]> {
  return z
    .array(noticeType(notices))
    .min(1, { error: 'must name at least one type; leave it out for all types' })
}

function noticeType(notices: readonly NoticeType[]): z.ZodType<string> {
  const types = notices.map(({ type }) => type)
  return z
    .string()
    .refine((value) => types.includes(value), {
      error: ({ input }) =>
        `must be one of ${types.join(', ')}, and is "${input}".${didYouMean(String(input), types)}`,
    })
    .meta({ enum: types })
}

/** What a subscription consists of, also one in the settings or one that is being created. */
export const subscriptionFields = (notices: readonly NoticeType[]) =>
  z.strictObject({
    url: receiverUrl(),
    events: wantedEvents(notices).optional(),
    secret: signingSecret().optional(),
  })

/** A new subscription: of a receiver, or of the built-in inbox, so that no server is needed. */
export const newSubscription = (notices: readonly NoticeType[]) =>
  subscriptionFields(notices)
    .extend({ url: receiverUrl().optional(), inbox: z.literal(true).optional() })
    .superRefine(({ url, inbox }, context) => {
      if (url === undefined && inbox === undefined)
        context.addIssue({ code: 'custom', path: ['url'], message: 'is required, unless inbox is true' })
      if (url !== undefined && inbox !== undefined)
        context.addIssue({ code: 'custom', path: ['inbox'], message: 'must not stand beside url' })
    })

type Receiver = InputOf<typeof subscriptionFields>

export type WebhookDraft = Receiver | (Omit<Receiver, 'url'> & { readonly inbox: true })

/** A receiver of webhooks, as a record. */
const webhookRecord = (notices: readonly NoticeType[]) =>
  z.strictObject({
    id: nonEmptyText(),
    url: receiverUrl(),
    /** The types of webhooks that are wanted; null for all. */
    events: wantedEvents(notices).nullable().default(null),
    /** Signs what is sent, so it is stored as it was given. The control interface does not show it. */
    secret: signingSecret().nullable().default(null),
    created_at: timestamp(),
  })

export type Webhook = Readonly<z.output<ReturnType<typeof webhookRecord>>>

/** A secret that signs webhooks. The mask that exports have in its place is none. */
export const signingSecret = (): z.ZodType<string> =>
  nonEmptyText().refine((value) => value !== REDACTED, {
    error:
      'is the mask that exports have in the place of a secret, and no secret is stored here; give the secret itself, or export with ?secrets=true',
  })

/** What the built-in inbox has got. */
const receivedRecord = z.strictObject({
  headers: z.record(z.string(), z.string()),
  /** What a receiver that checks the signature finds; null for a webhook that is not signed. */
  signature: z.enum(['valid', 'wrong', 'missing', 'old']).nullable(),
  /** In words, what is wrong with the signature. */
  problem: z.string().nullable(),
})

export type InboxReceipt = Immutable<z.output<typeof receivedRecord>>

/** One request to a receiver. */
const attemptRecord = z.strictObject({
  /** Counted from 1. */
  attempt: z.int().min(1),
  at: timestamp(),
  /** Null while it is being sent. */
  outcome: z.enum(attemptOutcomes).nullable(),
  /** The status of the receiver's response; null when there was none. */
  status: z.int().min(100).max(999).nullable().default(null),
  /** In words; null for success. */
  error: z.string().nullable().default(null),
  /** Of the built-in inbox alone. */
  received: receivedRecord.exactOptional(),
})

/** What fault rules do to a delivery, until it ends. Absent fields: as for every other delivery. */
const faultsRecord = () =>
  z.strictObject({
    /** Ids of the rules that fired, in order. */
    rules: z.array(z.string()).min(1).readonly(),
    /** The delivery that it repeats: a receiver sees the id of that one. */
    copy_of: headerText().optional(),
    /** It was never sent. */
    drop: z.literal(true).optional(),
    /** Held until a later one to the same receiver has had its first attempt. */
    order: z.literal('after-next').optional(),
    /** Virtual delay of the first attempt. */
    delay: duration().optional(),
    /** Virtual times between attempts, instead of the setting's. */
    retries: z.array(duration()).readonly().optional(),
    /** Real milliseconds that an attempt may take, instead of the setting's. */
    timeout_ms: z.int().min(1).optional(),
    sign: z.enum(['wrong', 'missing', 'old']).optional(),
    /** JSON Merge Patches for the body, applied in order. */
    body: z.array(json()).readonly().optional(),
  })

/** One webhook for one receiver. */
export const deliveryFields = (notices: readonly NoticeType[]) =>
  z.strictObject({
    id: headerText(),
    /** Null where the subscription is in the settings. */
    webhook_id: z.string().nullable().default(null),
    url: receiverUrl(),
    type: noticeType(notices),
    /** The record that it is about: `collection/id`. */
    ref: nonEmptyText(),
    /** What is sent, as it was at the transition: every attempt repeats it unchanged (T38). */
    body: z.custom<JsonObject>(isObject, { error: 'must be an object' }).meta({ type: 'object' }),
    status: z.enum(['pending', 'sending', 'waiting', 'delivered', 'failed', 'dropped']),
    attempts: z.array(attemptRecord).readonly().default([]),
    /** Retries of the schedule that have been used; sending it again by hand starts the schedule anew. */
    retries: z.int().min(0).default(0),
    /** When the next attempt is due, while the status is `waiting`. */
    retry_at: timestamp().nullable().default(null),
    /** What fault rules do to it; null for a delivery that no rule is about. */
    faults: faultsRecord().nullable().default(null),
    caused_by: z.string().default('fixtures'),
    created_at: timestamp(),
  })

export type Attempt = Readonly<z.output<typeof attemptRecord>>
export type DeliveryFaults = Readonly<z.output<ReturnType<typeof faultsRecord>>>
export type Delivery = Readonly<z.output<ReturnType<typeof deliveryFields>>>

/** What happens to one webhook. */
export interface Treatment {
  /** Deliveries in all; 1 without a fault. */
  readonly copies: number
  /** What each of them is marked with. */
  readonly faults: DeliveryFaults | null
}

const deliveryRecord = (notices: readonly NoticeType[]) =>
  deliveryFields(notices).superRefine((delivery, context) => {
    for (const [path, message] of contradictions(delivery)) {
      context.addIssue({ code: 'custom', path: [...path], message })
    }
  })

/** Text that a header can carry: visible ASCII characters and spaces between them. */
export function headerText(): z.ZodType<string> {
  return z.string().refine((value) => /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(value), {
    error: 'must be visible ASCII characters, because a header carries it',
  })
}

type Contradiction = readonly [path: readonly (string | number)[], message: string]

/** The outcomes that the last attempt can have in each status. */
const LAST: Readonly<Record<DeliveryStatus, readonly (AttemptOutcome | null | undefined)[]>> = {
  pending: [undefined, ...attemptOutcomes],
  sending: [null],
  waiting: [undefined, 'failed', 'timeout'],
  delivered: ['delivered'],
  failed: ['failed', 'timeout', 'refused'],
  dropped: [undefined],
}

// No sequence of moves leads to such a record.
function* contradictions({ status, attempts, retry_at, faults }: Delivery): Iterable<Contradiction> {
  for (const [index, { attempt, outcome }] of attempts.entries()) {
    if (attempt !== index + 1) yield [['attempts', index, 'attempt'], `must be ${index + 1}`]
    if (outcome === null && index < attempts.length - 1)
      yield [['attempts', index, 'outcome'], 'must not be null, as another attempt follows']
  }
  if (!LAST[status].includes(attempts.at(-1)?.outcome))
    yield [['attempts'], `must end as the status ${status} says`]
  if (faults === null && attempts.length === 0 && (status === 'waiting' || status === 'dropped'))
    yield [['attempts'], `must not be empty: without a fault nothing is ${status} before its first attempt`]
  if ((status === 'waiting') !== (retry_at !== null))
    yield [['retry_at'], `must be ${status === 'waiting' ? 'set' : 'null'} while ${status}`]
}
