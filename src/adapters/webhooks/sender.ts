import { refOf } from '../../core/operation.ts'
import type { Sandbox } from '../../core/sandboxes/sandbox.ts'
import { parseDuration } from '../../core/time/instant.ts'
import { real } from '../../core/time/real.ts'
import { type Cancel, type Later, later as realLater } from '../../core/time/realtime.ts'
import { runDueEvents } from '../../core/time/run-events.ts'
import type { RanEvent } from '../../core/time/scheduler.ts'
import type { PendingWork } from '../../core/time/turn.ts'
import {
  type AttemptResult,
  beginAttempt,
  endAttempt,
  interrupt,
  release,
  secretsAt,
  subscriptionOf,
} from '../../core/webhooks/delivery.ts'
import { INBOX_URL } from '../../core/webhooks/inbox.ts'
import { receivedOf, type Signing, webhookRequest } from '../../core/webhooks/message.ts'
import { DueDeliveries } from '../../core/webhooks/queue.ts'
import { type Delivery, deliveries, isStandardSecret, STANDARD_SECRET } from '../../core/webhooks/records.ts'
import { deliveryTimeout, inboxStatus, scheme } from '../../core/webhooks/settings.ts'
import type { Send } from './send.ts'

/** Maximum attempts of one sandbox without a recorded outcome. One slow receiver delays the outcomes of at most this many. */
const LOOKAHEAD = 20

/** Real milliseconds until writing is tried again after it has failed. */
const RETRY = 1_000

export interface WebhookSenderOptions {
  readonly sandbox: Sandbox
  readonly slots: Slots
  readonly send: Send
  /** Plans a call after some real milliseconds. Tests replace it. */
  readonly later?: Later
}

/** An attempt in progress, or one whose outcome waits until earlier outcomes are recorded. */
interface Flight {
  readonly id: string
  readonly attempt: number
  readonly abort: AbortController
  /** `ms`: the duration of the attempt in real milliseconds. */
  outcome?: AttemptResult & { readonly ms: number }
}

interface Waiter {
  readonly resolve: () => void
  readonly reject: (reason: unknown) => void
}

/**
 * Sends the webhooks of one sandbox. Each attempt is committed before its request is sent. Its outcome is committed later, in
 * a second transaction. Outcomes are recorded in the order in which the attempts began, regardless of the order of the
 * responses, so that the same requests lead to the same state.
 */
export class WebhookSender implements PendingWork {
  readonly #sandbox: Sandbox
  readonly #slots: Slots
  readonly #send: Send
  readonly #later: Later
  #due: DueDeliveries
  #flights: Flight[] = []
  #waiters: Waiter[] = []
  #stops: (() => void)[] = []
  /** False at the start and after a replacement of the state, until the unfinished attempts in it are marked as interrupted. */
  #resumed = false
  #planned = false
  /** Whether time has passed since the commit that it is planned for: a response has arrived. */
  #reads = false
  #cancelRetry: Cancel = () => {}

  constructor({ sandbox, slots, send, later = realLater }: WebhookSenderOptions) {
    this.#sandbox = sandbox
    this.#slots = slots
    this.#send = send
    this.#later = later
    this.#due = new DueDeliveries(sandbox.store)
  }

  /** Starts to send pending and future deliveries. Attempts that an earlier process did not finish are repeated. */
  start(): void {
    const { store } = this.#sandbox
    this.#due = new DueDeliveries(store)
    this.#stops = [
      store.onCommit((commit) => {
        this.#due.update(commit)
        if (this.#due.size > 0 || this.#waiters.length > 0) this.#plan(false)
      }),
      this.#sandbox.listeners.onReplaced(() => this.#startAnew()),
      () => this.#cancelRetry(),
      () => this.#slots.forget(this.#plan),
    ]
    this.#plan()
  }

  /** Aborts the attempts in progress. The process that opens the sandbox next repeats them. */
  stop(): void {
    for (const stop of this.#stops) stop()
    this.#stops = []
    this.#drop()
    this.#answerWaiters()
  }

  get isIdle(): boolean {
    if (!this.#isRunning) return true
    return this.#resumed && this.#due.size === 0 && this.#flights.length === 0
  }

  get isRequesting(): boolean {
    return this.#flights.length > 0
  }

  /** Resolves when {@link isIdle} is true. Rejects with the reason when the sandbox cannot be written. */
  whenIdle(): Promise<void> {
    if (this.isIdle) return Promise.resolve()
    return new Promise((resolve, reject) => this.#waiters.push({ resolve, reject }))
  }

  get #isRunning(): boolean {
    return this.#stops.length > 0
  }

  // The work runs in a microtask, so that it never starts in the middle of another transaction.
  readonly #plan = (reads = true): void => {
    this.#reads ||= reads
    if (this.#planned) return
    this.#planned = true
    real.queueMicrotask(() => {
      this.#planned = false
      if (this.#isRunning) this.#work()
    })
  }

  #work(): void {
    this.#cancelRetry()
    try {
      // A stopped clock leaves no due events: the code that moves it also runs them.
      // A webhook is sent at the instant of the commit that it is part of.
      if (this.#reads && this.#sandbox.clock.rate > 0) runDueEvents(this.#sandbox)
      this.#reads = false
      if (!this.#resumed) this.#resume()
      for (const dropped of this.#due.takeDropped()) this.#sandbox.listeners.event(dropEvent(dropped))
      this.#concludeInOrder()
      this.#beginInOrder()
    } catch (error) {
      this.#sandbox.options.onDefect(error)
      this.#cancelRetry = this.#later(RETRY, this.#plan)
      for (const { reject } of this.#waiters.splice(0)) reject(error)
    }
    this.#slots.pass()
    if (this.isIdle) this.#answerWaiters()
  }

  #resume(): void {
    const scope = this.#sandbox.scope('resume')
    for (const delivery of scope.tx.in(deliveries).filter(({ status }) => status === 'sending')) {
      interrupt(scope, delivery)
    }
    this.#sandbox.commit(scope)
    this.#resumed = true
  }

  #concludeInOrder(): void {
    const waiting = this.#flights.findIndex(({ outcome }) => outcome === undefined)
    const ended = waiting === -1 ? this.#flights : this.#flights.slice(0, waiting)
    const outcomes = ended.map((flight) => {
      const { outcome = 'failed', status = null, error = null, retry_after } = flight.outcome ?? {}
      const wait = retry_after === undefined ? {} : { retry_after }
      return { attempt: attemptId(flight), outcome, status, error, ...wait }
    })
    if (outcomes.length > 0) this.#sandbox.recording.add({ outcomes })
    for (;;) {
      const [first] = this.#flights
      if (first?.outcome === undefined) return
      this.#conclude(first, first.outcome)
      this.#flights.shift()
    }
  }

  #conclude({ id, attempt }: Flight, outcome: NonNullable<Flight['outcome']>): void {
    const scope = this.#sandbox.scope(`${deliveries.name}/${id}`)
    const delivery = endAttempt(scope, id, attempt, outcome)
    if (delivery === undefined) return
    for (const held of this.#due.heldFor(delivery)) release(scope, held)
    this.#sandbox.commit(scope)
    this.#sandbox.listeners.event(attemptEvent(delivery, scope.at, outcome))
  }

  #beginInOrder(): void {
    while (this.#flights.length < LOOKAHEAD) {
      const delivery = this.#due.next()
      if (delivery === undefined || !this.#slots.take(this.#plan)) return
      try {
        this.#begin(delivery)
      } catch (error) {
        this.#slots.give()
        throw error
      }
    }
  }

  #begin(pending: Delivery): void {
    const scope = this.#sandbox.scope(refOf(deliveries, pending))
    const delivery = beginAttempt(scope, pending)
    const subscription = subscriptionOf(scope, delivery)
    this.#sandbox.commit(scope)
    const flight: Flight = {
      id: delivery.id,
      attempt: delivery.attempts.length,
      abort: new AbortController(),
    }
    this.#flights.push(flight)
    const { settings, recording, options } = this.#sandbox
    const signing = { settings, host: options.host, secrets: secretsAt(subscription, scope.at) }
    const refusal = refusalOf(subscription, signing)
    recording.add({ attempt: attemptId(flight), sent: () => webhookRequest(delivery, signing) })
    void this.#fly(flight, refusal ?? (() => this.#attempt(flight, delivery, signing)))
  }

  async #fly(flight: Flight, attempt: (() => Promise<AttemptResult>) | AttemptResult): Promise<void> {
    const { clock } = this.#sandbox
    const began = clock.elapsed
    const outcome = await Promise.resolve()
      .then(typeof attempt === 'function' ? attempt : () => attempt)
      .catch((error): AttemptResult => {
        this.#sandbox.options.onDefect(error)
        return {
          outcome: 'failed',
          status: null,
          error: 'the emulator failed to send it; its log has the cause',
        }
      })
    flight.outcome = { ...outcome, ms: Math.max(0, Math.round(clock.elapsed - began)) }
    this.#slots.give()
    this.#plan(typeof attempt === 'function')
  }

  async #attempt(flight: Flight, delivery: Delivery, signing: Signing): Promise<AttemptResult> {
    const { settings, clock } = this.#sandbox
    const message = webhookRequest(delivery, signing)
    const timeout = delivery.faults?.timeout_ms ?? parseDuration(settings.get(deliveryTimeout)) ?? 0
    const attempt = attemptId(flight)
    const bounds = { timeout, signal: flight.abort.signal, inboxStatus: settings.get(inboxStatus), attempt }
    const result = await this.#send(message, bounds)
    if (message.url !== INBOX_URL) return result
    return { ...result, received: receivedOf(message, clock.now, signing) }
  }

  // The attempts of the replaced state are aborted, and their outcomes are ignored.
  #startAnew(): void {
    this.#drop()
    this.#resumed = false
    this.#due = new DueDeliveries(this.#sandbox.store)
    this.#plan()
  }

  #drop(): void {
    for (const { abort } of this.#flights.splice(0)) abort.abort()
  }

  #answerWaiters(): void {
    for (const { resolve } of this.#waiters.splice(0)) resolve()
  }
}

function attemptId({ id, attempt }: Flight): string {
  return `${id}/${attempt}`
}

/** The outcome of an attempt that is not made. */
function refusalOf(
  subscription: ReturnType<typeof subscriptionOf>,
  { settings, secrets }: Signing,
): AttemptResult | undefined {
  const refused = (error: string) => ({ outcome: 'refused', status: null, error }) as const
  if (subscription === undefined) return refused('the subscription was removed before the webhook was sent')
  const { disabled_at: since } = subscription
  if (since !== undefined) return refused(`the subscription is disabled since ${since}`)
  if (settings.get(scheme) !== 'standard' || secrets.every(isStandardSecret)) return undefined
  return refused(`the secret of the subscription ${STANDARD_SECRET}`)
}

/** The event in the result of an advance for the latest attempt of a delivery. @param at virtual instant */
function attemptEvent(delivery: Delivery, at: string, outcome: NonNullable<Flight['outcome']>): RanEvent {
  const { url, attempts, status: to, caused_by } = delivery
  return {
    at,
    kind: outcome.outcome === 'delivered' ? 'webhook.delivered' : 'webhook.failed',
    ref: refOf(deliveries, delivery),
    description: sentence(delivery, outcome),
    from: 'sending',
    to,
    caused_by,
    webhook: { url, attempt: attempts.length, status: outcome.status, ms: outcome.ms },
  }
}

/** The event in the result of an advance for a delivery that a fault rule dropped. Such a delivery has no attempts. */
function dropEvent(delivery: Delivery): RanEvent {
  const { type, url, status: to, faults, created_at: at, caused_by } = delivery
  const rules = (faults?.rules ?? []).join(', ')
  const description = `${type} to ${url} was dropped by ${rules}: it is never sent.`
  return {
    at,
    kind: 'webhook.dropped',
    ref: refOf(deliveries, delivery),
    description,
    from: 'pending',
    to,
    caused_by,
  }
}

function sentence({ type, url, attempts, status, retry_at }: Delivery, { error }: AttemptResult): string {
  const attempt = `Attempt ${attempts.length} to deliver ${type} to ${url}`
  if (error === null) return `${attempt} succeeded.`
  const next = status === 'waiting' && retry_at !== null ? ` The next one follows at ${retry_at}.` : ''
  return `${attempt} failed: ${error}.${next}`
}

/** Limits the parallel webhook requests of one process (default 20). The senders of all its sandboxes share the limit. */
export class Slots {
  #free: number
  /** The callbacks of senders that wait for a slot, in the order in which they started to wait. */
  readonly #waiting = new Set<() => void>()

  constructor(count = 20) {
    this.#free = count
  }

  /** Takes a slot. If none is free, returns false and calls `wake` once when one is; `wake` must then call `take` again. */
  take(wake: () => void): boolean {
    if (this.#free === 0) {
      this.#waiting.add(wake)
      return false
    }
    this.#free -= 1
    return true
  }

  give(): void {
    this.#free += 1
    this.pass()
  }

  /** Wakes the next waiting sender. A sender that was woken but does not use the slot must call it too. */
  pass(): void {
    if (this.#free === 0) return
    const [first] = this.#waiting
    if (first === undefined) return
    this.#waiting.delete(first)
    first()
  }

  /** Stops waiting, and wakes the next sender if a slot is free. */
  forget(wake: () => void): void {
    this.#waiting.delete(wake)
    this.pass()
  }
}
