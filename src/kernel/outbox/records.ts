import * as z from 'zod'
import { didYouMean } from '../assumptions.ts'
import { duration, nonEmptyText, text, timestamp } from '../fields.ts'
import { isObject, type Json, type JsonObject } from '../json.ts'
import { lifecycle } from '../lifecycle.ts'
import type { Notice } from '../operation.ts'
import { type Collection, collection } from '../state/collection.ts'
import type { Row } from '../state/commit.ts'
import type { TableOf } from '../state/store.ts'
import { json } from '../strict-input.ts'

/** Somebody who wants to be told: a record, or an entry of the setting `webhooks.subscriptions`. */
export interface Webhook extends Row {
  readonly url: string
  /** The types of notices that are wanted; null for all. */
  readonly events: readonly string[] | null
  /** Signs what is sent, so that it is kept as it was given. The control interface does not show it. */
  readonly secret: string | null
  readonly created_at: string
}

/** One notice on its way to one subscriber. */
export interface Delivery extends Row {
  /** Null where the subscription stands in the settings. */
  readonly webhook_id: string | null
  readonly url: string
  readonly type: string
  /** The record that it is about: `collection/id`. */
  readonly ref: string
  /** What is sent, as it was at the transition: every attempt repeats it unchanged (T38). */
  readonly body: JsonObject
  readonly status: DeliveryStatus
  readonly attempts: readonly Attempt[]
  /** Retries of the schedule that have been used up; sending it again by hand starts the schedule anew. */
  readonly retries: number
  /** When the next attempt is due, while the status is `waiting`. */
  readonly retry_at: string | null
  /** What fault rules have made of it; null for a delivery that no rule was about. */
  readonly faults: DeliveryFaults | null
  readonly caused_by: string
  readonly created_at: string
}

/** What becomes of a faulted delivery, for as long as it lives. Absent members: as for every other. */
export interface DeliveryFaults {
  /** Ids of the rules that fired, in order. */
  readonly rules: readonly string[]
  /** The delivery that it repeats: a receiver sees the id of that one. */
  readonly copy_of?: string | undefined
  /** It was never sent. */
  readonly drop?: true | undefined
  /** Held until a later one to the same subscriber has had its first attempt. */
  readonly order?: 'after-next' | undefined
  /** Virtual time by which the first attempt is late. */
  readonly delay?: string | undefined
  /** Virtual times between attempts, instead of the setting's. */
  readonly retries?: readonly string[] | undefined
  /** Real milliseconds that an attempt may take, instead of the setting's. */
  readonly timeout_ms?: number | undefined
  readonly sign?: 'wrong' | 'missing' | undefined
  /** JSON Merge Patches over the body, each applied to what the one before has left. */
  readonly body?: readonly Json[] | undefined
}

/** One request to a subscriber. */
export interface Attempt {
  /** Counted from 1. */
  readonly attempt: number
  readonly at: string
  /** Null while it is under way. */
  readonly outcome: AttemptOutcome | null
  /** The status that the receiver answered; null when it gave none. */
  readonly status: number | null
  /** In words; null for success. */
  readonly error: string | null
}

/** `refused`: nothing was sent, because nothing may be sent there. `interrupted`: nobody knows whether it arrived. */
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

/** The collections of a world whose rooms give rise to these notices. */
export function outboxCollections(
  notices: readonly Notice[],
): readonly [Collection<Webhook>, Collection<Delivery>] {
  return [
    collection<Webhook>({ ...webhooks, schema: () => webhookRecord(notices) }),
    collection<Delivery>({ ...deliveries, schema: () => deliveryRecord(notices) }),
  ]
}

/** The URL of a receiver: at most 2048 characters, http or https, no user name. Where it leads is judged when it is sent. */
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

/** What is wrong with the URL of a receiver, whoever may be behind it. */
export function urlProblem(url: string): string | undefined {
  if (!/^https?:\/\/[^/?#]/i.test(url) || REWRITTEN.test(url) || !URL.canParse(url)) {
    return 'must be an absolute http or https URL such as http://127.0.0.1:9000/hook'
  }
  const { username, password } = new URL(url)
  if (username !== '' || password !== '' || /^[^/]*\/\/[^/?#]*@/.test(url)) {
    return 'must not carry a user name or a password; a secret belongs into the member secret'
  }
  return undefined
}

/** The types of notices that a subscriber wants: at least one, each a known one. */
export function wantedEvents(notices: readonly Notice[]): z.ZodType<readonly string[]> {
  return z
    .array(noticeType(notices))
    .min(1, { error: 'must name at least one type; leave it out to be told of everything' })
}

function noticeType(notices: readonly Notice[]): z.ZodType<string> {
  const types = notices.map(({ type }) => type)
  return z
    .string()
    .refine((value) => types.includes(value), {
      error: ({ input }) =>
        `must be one of ${types.join(', ')}, and is "${input}".${didYouMean(String(input), types)}`,
    })
    .meta({ enum: types })
}

const webhookRecord = (notices: readonly Notice[]): z.ZodType<Webhook> =>
  z.strictObject({
    id: nonEmptyText(),
    url: receiverUrl(),
    events: wantedEvents(notices).nullable().default(null),
    secret: nonEmptyText().nullable().default(null),
    created_at: timestamp(),
  })

const attemptRecord = (): z.ZodType<Attempt> =>
  z.strictObject({
    attempt: z.int().min(1),
    at: timestamp(),
    outcome: z.enum(attemptOutcomes).nullable(),
    status: z.int().min(100).max(999).nullable().default(null),
    error: z.string().nullable().default(null),
  })

const faultsRecord = (): z.ZodType<DeliveryFaults> =>
  z.strictObject({
    rules: z.array(z.string()).min(1),
    copy_of: headerText().optional(),
    drop: z.literal(true).optional(),
    order: z.literal('after-next').optional(),
    delay: duration().optional(),
    retries: z.array(duration()).optional(),
    timeout_ms: z.int().min(1).optional(),
    sign: z.enum(['wrong', 'missing']).optional(),
    body: z.array(json()).optional(),
  })

const deliveryRecord = (notices: readonly Notice[]): z.ZodType<Delivery> =>
  z
    .strictObject({
      id: headerText(),
      webhook_id: z.string().nullable().default(null),
      url: receiverUrl(),
      type: noticeType(notices),
      ref: nonEmptyText(),
      body: z.custom<JsonObject>(isObject, { error: 'must be an object' }).meta({ type: 'object' }),
      status: z.enum(['pending', 'sending', 'waiting', 'delivered', 'failed', 'dropped']),
      attempts: z.array(attemptRecord()).default([]),
      retries: z.int().min(0).default(0),
      retry_at: timestamp().nullable().default(null),
      faults: faultsRecord().nullable().default(null),
      caused_by: z.string().default('fixtures'),
      created_at: timestamp(),
    })
    .superRefine((delivery, context) => {
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
