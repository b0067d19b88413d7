import { z } from 'zod'
import { refuse } from '../errors.ts'
import type { JsonObject } from '../json.ts'
import { childOf } from '../log/traceparent.ts'
import { type EventHandler, idOf, refOf, type Scope } from '../operation.ts'
import type { Transaction } from '../state/transaction.ts'
import { END_OF_TIME } from '../time/clock.ts'
import { formatInstant, parseDuration } from '../time/instant.ts'
import { eventId, SCHEDULE } from '../time/scheduler.ts'
import { nextType } from '../tomorrow.ts'
import { INBOX_URL } from './inbox.ts'
import { receivedOf, webhookRequest } from './message.ts'
import { placed, released } from './queue.ts'
import {
  type Attempt,
  type AttemptOutcome,
  type Delivery,
  type DeliveryStatus,
  deliveries,
  deliveryLifecycle,
  type InboxReceipt,
  type Webhook,
  webhooks,
} from './records.ts'
import { envelope, fixedSubscriptions, retrySchedule, scheme } from './settings.ts'

const RETRY = 'webhook.retry'
const RELEASE = 'webhook.release'

/** The event at which a gate releases what waits at it. */
export const GATE_RELEASE = 'gate.release'

/** Maximum number of requests, and of webhooks, that wait at gates. The next one passes. */
export const MAX_AT_GATES = 1_000

/** Maximum number of deliveries that are kept. Beyond it, the oldest that have ended are removed. */
export const MAX_DELIVERIES = 10_000

/** An event for subscribers. */
interface Publication {
  readonly type: string
  /** The record that it is about: `collection/id`. */
  readonly ref: string
  /** Of the object. */
  readonly schema: () => z.ZodType
  /** Creates the object that is delivered, as JSON; only called when there is a subscriber. */
  readonly body: () => object
}

/** The outcome of an attempt, as the sender reports it. */
export interface AttemptResult {
  readonly outcome: Exclude<AttemptOutcome, 'interrupted'>
  readonly status: number | null
  readonly error: string | null
  /** How long a receiver asks to wait, in milliseconds; absent when it does not. */
  readonly retry_after?: number
  /** The request in the built-in inbox; absent for other receivers. */
  readonly received?: InboxReceipt
}

/**
 * Adds one delivery for each subscriber, in the transaction of the event itself: both are committed or neither. Subscriptions
 * from records come first, then those from settings. Fault rules decide about each delivery.
 * @returns the deliveries, without copies that faults have added
 */
export function publish(scope: Scope, publication: Publication): readonly Delivery[] {
  const { type, ref, schema, body } = publication
  const published: Delivery[] = []
  for (const { id: webhook_id, url, events, disabled_at } of subscriptionsOf(scope)) {
    if (disabled_at !== undefined || (events !== null && !events.includes(type))) continue
    const { copies, faults } = scope.treatmentOf(type, url, idOf(ref)) ?? { copies: 1, faults: null }
    const id = scope.newId()
    const isTyped = scope.settings.get(envelope) === 'typed'
    const data = body()
    const plain = isTyped ? { id, type, created_at: scope.at, data } : data
    const sent = scope.tomorrow?.body(plain, isTyped ? z.object({ data: schema() }) : schema()) ?? plain
    const first = placed(scope, {
      id,
      webhook_id,
      url,
      type,
      ref,
      body: sent as JsonObject,
      status: 'pending',
      attempts: [],
      retries: 0,
      retry_at: null,
      faults,
      caused_by: scope.cause,
      ...(scope.traceparent !== undefined && {
        traceparent: childOf(scope.traceparent, scope.chance('traceparent', id)),
      }),
      created_at: scope.at,
    })
    insert(scope, first)
    published.push(first)
    const repeated = { rules: [], ...first.faults, copy_of: id }
    for (let copy = 1; copy < copies; copy++) insert(scope, { ...first, id: scope.newId(), faults: repeated })
    enterGate(scope, first)
  }
  if (published.length > 0 && type !== nextType(type) && scope.tomorrow?.makes('event'))
    publish(scope, { ...publication, type: nextType(type) })
  removeOldest(scope.tx)
  return published
}

/** The deliveries that wait at the gate of a rule, or at any, oldest first. */
export function atGate(tx: Transaction, rule?: string): Delivery[] {
  return tx
    .in(deliveries)
    .filter(({ status, faults }) => status === 'waiting' && faults?.gate !== undefined)
    .filter(({ faults }) => rule === undefined || faults?.gate?.rule === rule)
}

/** Releases deliveries that wait at a gate; with `isAborted`, they are never sent. @param ids absent: all */
export function leaveGate(scope: Scope, rule: string, ids?: readonly string[], isAborted = false): void {
  for (const delivery of atGate(scope.tx, rule)) {
    if (ids?.includes(delivery.id) === false) continue
    const { gate: _, ...faults } = delivery.faults as NonNullable<Delivery['faults']> // else at no gate
    const free = { ...delivery, faults }
    const status = deliveryLifecycle.move('waiting', 'drop')
    put(scope, isAborted ? { ...free, status } : released(scope, free))
  }
}

function enterGate(scope: Scope, { id, faults }: Delivery): void {
  if (!faults?.gate) return
  const { rule, waiting, after } = faults.gate
  if (atGate(scope.tx).length > MAX_AT_GATES) leaveGate(scope, rule, [id])
  else if (waiting !== undefined && atGate(scope.tx, rule).length >= waiting) leaveGate(scope, rule)
  else if (after !== undefined) openAfter(scope, rule, after)
}

/** Schedules the release of what waits at a gate, unless that is scheduled already. @param after virtual duration */
export function openAfter(scope: Scope, rule: string, after: string): void {
  const ref = `faults/${rule}`
  if (scope.tx.get(SCHEDULE, eventId(GATE_RELEASE, ref)) !== undefined) return
  const description = `The gate ${rule} releases what waits at it.`
  const due = scope.now + (parseDuration(after) ?? 0)
  scope.schedule({ due, kind: GATE_RELEASE, ref, urgency: 'work', description })
}

function removeOldest(tx: Transaction): void {
  const all = tx.in(deliveries)
  let excess = all.size - MAX_DELIVERIES
  if (excess <= 0) return
  for (const { id, status } of all) {
    if (!OVER.has(status)) continue
    all.delete(id)
    excess -= 1
    if (excess === 0) return
  }
}

const OVER: ReadonlySet<DeliveryStatus> = new Set(['delivered', 'failed', 'dropped'])

/** Every subscription. Those from settings are last, and have no id. */
export function subscriptionsOf({ tx, settings }: Pick<Scope, 'tx' | 'settings'>): readonly Subscription[] {
  const fixed = settings
    .get(fixedSubscriptions)
    .map(({ url, events = null, secret = null }) => ({ id: null, url, events, secret, created_at: null }))
  return [...tx.in(webhooks), ...fixed]
}

type Subscription = Omit<Webhook, 'id' | 'created_at'> & {
  readonly [Key in 'id' | 'created_at']: string | null
}

/** The secrets that sign for a subscription at an instant, the newest first. */
export function secretsAt(subscription: Subscription | undefined, at: string): readonly string[] {
  const { secret = null, previous = [] } = subscription ?? {}
  const valid = previous.filter(({ expires_at }) => Date.parse(expires_at) > Date.parse(at))
  return [...(secret === null ? [] : [secret]), ...valid.map((each) => each.secret)]
}

/** The subscription that a delivery belongs to; undefined if it was removed. */
export function subscriptionOf(scope: Pick<Scope, 'tx' | 'settings'>, { webhook_id, url }: Delivery) {
  return subscriptionsOf(scope).find(
    (each) => each.id === webhook_id && (webhook_id !== null || each.url === url),
  )
}

/** Records that a pending delivery is being sent. Written before the request is sent, so that a crash cannot hide it. */
export function beginAttempt(scope: Scope, delivery: Delivery): Delivery {
  const attempt: Attempt = {
    attempt: delivery.attempts.length + 1,
    at: scope.at,
    outcome: null,
    status: null,
    error: null,
  }
  const status = deliveryLifecycle.move(delivery.status, 'begin')
  return put(scope, { ...delivery, status, attempts: [...delivery.attempts, attempt] })
}

/**
 * Records the outcome of an attempt: the delivery is delivered, waits for its next attempt, or has failed.
 * @returns undefined, and nothing is recorded, when that attempt is no longer the current one: the record was changed since
 */
export function endAttempt(
  scope: Scope,
  id: string,
  attempt: number,
  { outcome, status, error, retry_after, received }: AttemptResult,
): Delivery | undefined {
  const delivery = scope.tx.in(deliveries).get(id)
  if (delivery?.status !== 'sending' || delivery.attempts.length !== attempt) return undefined
  const result = { outcome, status, error, ...(received !== undefined && { received }) }
  const attempts = ended(delivery.attempts, result)
  const isStandard = scope.settings.get(scheme) === 'standard'
  const isGone = isStandard && status === 410
  const subscription = isGone ? subscriptionOf(scope, delivery) : undefined
  const { id: webhook } = subscription ?? {}
  if (typeof webhook === 'string')
    scope.tx.in(webhooks).put({ ...scope.tx.in(webhooks).require(webhook), disabled_at: scope.at })
  const least = isStandard ? (retry_after ?? 0) : 0
  return put(scope, { ...delivery, attempts, ...after(scope, delivery, isGone ? 'refused' : outcome, least) })
}

function after(scope: Scope, { status, retries, faults }: Delivery, outcome: AttemptOutcome, least: number) {
  if (outcome === 'delivered') return { status: deliveryLifecycle.move(status, 'deliver') }
  // A refused target is not tried again: a later attempt would be refused, too.
  const schedule = faults?.retries ?? scope.settings.get(retrySchedule)
  const delay = outcome === 'refused' ? undefined : schedule[retries]
  const due = delay === undefined ? undefined : scope.now + Math.max(least, parseDuration(delay) ?? 0)
  if (due === undefined || due > END_OF_TIME) return { status: deliveryLifecycle.move(status, 'fail') }
  const isNow = due === scope.now
  return {
    status: deliveryLifecycle.move(status, isNow ? 'repeat' : 'wait'),
    retries: retries + 1,
    retry_at: isNow ? null : formatInstant(due),
  }
}

/** Gives up an attempt that may or may not have arrived; the delivery is sent again. */
export function interrupt(scope: Scope, delivery: Delivery): Delivery {
  const error =
    'it may or may not have arrived: the emulator or its sandbox was replaced before its outcome was known'
  const attempts = ended(delivery.attempts, { outcome: 'interrupted', status: null, error })
  return put(scope, { ...delivery, status: deliveryLifecycle.move(delivery.status, 'repeat'), attempts })
}

/** Releases a delivery that was held until the first attempt of the next one to its subscriber. */
export function release(scope: Scope, delivery: Delivery): Delivery {
  return put(scope, released(scope, delivery))
}

/**
 * Sends an ended delivery again, or a waiting one at once, with the same body. Faults no longer apply; the record only keeps
 * the ids of their rules. Refuses with `conflict` a delivery that is pending or being sent, or without a subscription.
 */
export function redeliver(scope: Scope, delivery: Delivery): Delivery {
  const { status } = delivery
  if (status === 'pending' || status === 'sending') {
    refuse('conflict', {
      detail: `The delivery is ${status}: it is already in progress.`,
      mitigation: 'Wait for its outcome: "workspace-emulator clock advance 0s" ends when it is known.',
    })
  }
  const subscription = subscriptionOf(scope, delivery)
  if (subscription?.disabled_at !== undefined) {
    refuse('conflict', {
      detail: `The subscription is disabled since ${subscription.disabled_at}.`,
      mitigation: 'Enable it: change its field disabled to false.',
    })
  }
  if (subscription === undefined) {
    refuse('conflict', {
      detail: 'The subscription of the delivery no longer exists.',
      mitigation:
        'Subscribe again with "workspace-emulator webhook add URL"; the next transitions are delivered there.',
    })
  }
  const repeated = deliveryLifecycle.move(status, 'repeat')
  const { rules = [], copy_of } = delivery.faults ?? {}
  const faults = delivery.faults && { rules, ...(copy_of !== undefined && { copy_of }) }
  return put(scope, { ...delivery, status: repeated, retries: 0, retry_at: null, faults })
}

/** Adds a copy of a delivery that the built-in inbox has already received. It belongs to no subscription. */
export function sendToInbox(scope: Scope, delivery: Delivery): Delivery {
  const { tx, settings, newId, now, at, cause } = scope
  const copy: Delivery = {
    ...delivery,
    id: newId(),
    webhook_id: null,
    url: INBOX_URL,
    status: 'delivered',
    attempts: [{ attempt: 1, at, outcome: 'delivered', status: 200, error: null }],
    retries: 0,
    retry_at: null,
    caused_by: cause,
    created_at: at,
  }
  const signing = { settings, host: () => now, secrets: secretsAt(subscriptionOf(scope, delivery), at) }
  const received = receivedOf(webhookRequest(copy, signing), now, signing)
  return tx.in(deliveries).insert({ ...copy, attempts: copy.attempts.map((each) => ({ ...each, received })) })
}

/** Schedules the next attempt of a delivery that was loaded or edited from outside. */
export function armDelivery(scope: Scope, delivery: Delivery): void {
  // No request is in flight: the attempt began in another process or another sandbox.
  if (delivery.status === 'sending') interrupt(scope, delivery)
  else arm(scope, delivery)
}

const wake: EventHandler['handle'] = (scope, { ref }) => {
  const delivery = scope.tx.in(deliveries).get(idOf(ref))
  // A record that was deleted or edited by hand since is left alone.
  if (delivery?.status !== 'waiting') return
  put(scope, { ...delivery, status: deliveryLifecycle.move('waiting', 'repeat'), retry_at: null })
}

/** The events at which a waiting delivery becomes pending. */
export const deliveryEvents: readonly EventHandler[] = [
  { kind: RETRY, description: 'A webhook whose last attempt failed is sent again.', handle: wake },
  { kind: RELEASE, description: 'A webhook that a fault has held back is sent.', handle: wake },
  {
    kind: GATE_RELEASE,
    description: 'A gate releases the requests or webhooks that wait at it.',
    handle: (scope, { ref }) => leaveGate(scope, idOf(ref)),
  },
]

function ended(attempts: readonly Attempt[], outcome: Omit<Attempt, 'attempt' | 'at'>) {
  return attempts.map((each, index) => (index === attempts.length - 1 ? { ...each, ...outcome } : each))
}

function insert(scope: Scope, delivery: Delivery): void {
  scope.tx.in(deliveries).insert(delivery)
  arm(scope, delivery)
}

function put(scope: Scope, delivery: Delivery): Delivery {
  scope.tx.in(deliveries).put(delivery)
  arm(scope, delivery)
  return delivery
}

function arm(scope: Scope, delivery: Delivery): void {
  const ref = refOf(deliveries, delivery)
  scope.unschedule(ref, [RETRY, RELEASE])
  const { type, url, attempts, retry_at, faults } = delivery
  if (retry_at === null) return
  const attempt = `Attempt ${attempts.length + 1} to deliver ${type} to ${url}`
  const held =
    faults?.order === undefined ? '' : '; sent earlier if the next webhook to this URL is sent first'
  const [kind, description] =
    attempts.length > 0
      ? [RETRY, `${attempt}.`]
      : [RELEASE, `${attempt}, held back by ${(faults?.rules ?? []).join(', ')}${held}.`]
  scope.schedule({ due: Date.parse(retry_at), kind, ref, urgency: 'work', description })
}
