import { refOf } from '../../kernel/operation.ts'
import {
  begin,
  conclude,
  interrupt,
  type Outcome,
  release,
  subscriptionOf,
} from '../../kernel/outbox/delivery.ts'
import { DueDeliveries } from '../../kernel/outbox/queue.ts'
import { type Delivery, deliveries } from '../../kernel/outbox/records.ts'
import { deliveryTimeout } from '../../kernel/outbox/settings.ts'
import { parseDuration } from '../../kernel/time/duration.ts'
import type { Outbox } from '../../kernel/time/outbox.ts'
import type { Sandbox } from '../../kernel/worlds/sandbox.ts'
import { type Cancel, type Later, later as realLater } from '../realtime.ts'
import { messageOf } from './message.ts'
import type { Send } from './send.ts'
import type { Slots } from './slots.ts'
import { attemptEvent, dropEvent } from './told.ts'

/** How many attempts of one world may be without a noted outcome: one slow receiver holds up the notes of so many others. */
const LOOKAHEAD = 20

/** Real milliseconds until writing is tried again after it has failed. */
const RETRY = 1_000

export interface CourierOptions {
  readonly sandbox: Sandbox
  readonly slots: Slots
  readonly send: Send
  /** Calls back after so many real milliseconds; for tests. */
  readonly later?: Later
}

/** One attempt under way, or whose outcome waits for those before it. */
interface Flight {
  readonly id: string
  readonly attempt: number
  readonly abort: AbortController
  outcome?: Outcome & { readonly ms: number }
}

interface Waiter {
  readonly resolve: () => void
  readonly reject: (reason: unknown) => void
}

/**
 * Sends the webhooks of one world. Each attempt is a record before its request leaves, and its outcome another transaction
 * behind it. Outcomes are noted in the order in which the attempts began, whatever the order of the answers: the same
 * requests lead to the same world.
 */
export class Courier implements Outbox {
  readonly #sandbox: Sandbox
  readonly #slots: Slots
  readonly #send: Send
  readonly #later: Later
  readonly #due: DueDeliveries
  #flights: Flight[] = []
  #waiters: Waiter[] = []
  #stops: (() => void)[] = []
  /** False from the start, and after a world was replaced, until attempts that nobody makes any more are given up. */
  #resumed = false
  #planned = false
  #cancelRetry: Cancel = () => {}

  constructor({ sandbox, slots, send, later = realLater }: CourierOptions) {
    this.#sandbox = sandbox
    this.#slots = slots
    this.#send = send
    this.#later = later
    this.#due = new DueDeliveries(sandbox.store)
  }

  /** Takes up what is pending, and whatever will be. Attempts that were under way in an earlier process are made again. */
  start(): void {
    const { store } = this.#sandbox
    this.#due.rebuild()
    this.#stops = [
      store.onCommit((commit) => {
        this.#due.hear(commit)
        if (this.#due.size > 0 || this.#waiters.length > 0) this.#plan()
      }),
      this.#sandbox.onReplaced(() => this.#startAnew()),
      () => this.#cancelRetry(),
      () => this.#slots.forget(this.#plan),
    ]
    this.#plan()
  }

  /** Cuts off what is under way; it is made again by whoever goes on with the world. */
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

  /** Resolves when {@link isIdle} is true. Rejects with the reason when the world cannot be written. */
  settled(): Promise<void> {
    if (this.isIdle) return Promise.resolve()
    return new Promise((resolve, reject) => this.#waiters.push({ resolve, reject }))
  }

  get #isRunning(): boolean {
    return this.#stops.length > 0
  }

  // Never in the middle of somebody else's transaction: the work is done when the present call stack is at its end.
  readonly #plan = (): void => {
    if (this.#planned) return
    this.#planned = true
    queueMicrotask(() => {
      this.#planned = false
      if (this.#isRunning) this.#work()
    })
  }

  #work(): void {
    this.#cancelRetry()
    try {
      // A clock that stands still has nothing to catch up with: whoever moves it runs what is due.
      if (this.#sandbox.clock.rate > 0) this.#sandbox.catchUp()
      if (!this.#resumed) this.#resume()
      for (const dropped of this.#due.takeDropped()) this.#sandbox.happened(dropEvent(dropped))
      this.#concludeInOrder()
      this.#beginInOrder()
    } catch (error) {
      this.#sandbox.options.onSurprise(error)
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
    for (;;) {
      const [first] = this.#flights
      if (first?.outcome === undefined) return
      this.#conclude(first, first.outcome)
      this.#flights.shift()
    }
  }

  #conclude({ id, attempt }: Flight, outcome: NonNullable<Flight['outcome']>): void {
    const scope = this.#sandbox.scope(`${deliveries.name}/${id}`)
    const delivery = conclude(scope, id, attempt, outcome)
    if (delivery === undefined) return
    for (const held of this.#due.heldFor(delivery)) release(scope, held)
    this.#sandbox.commit(scope)
    this.#sandbox.happened(attemptEvent(delivery, { ...outcome, at: scope.at }))
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
    const delivery = begin(scope, pending)
    const subscription = subscriptionOf(scope, delivery)
    this.#sandbox.commit(scope)
    const flight: Flight = {
      id: delivery.id,
      attempt: delivery.attempts.length,
      abort: new AbortController(),
    }
    this.#flights.push(flight)
    void this.#fly(flight, () =>
      subscription === undefined ? UNSUBSCRIBED : this.#attempt(flight, delivery, subscription.secret),
    )
  }

  async #fly(flight: Flight, attempt: () => Promise<Outcome> | Outcome): Promise<void> {
    const { host } = this.#sandbox.options
    const began = host()
    const outcome = await Promise.resolve()
      .then(attempt)
      .catch((error) => this.#defect(error))
    flight.outcome = { ...outcome, ms: Math.max(0, host() - began) }
    this.#slots.give()
    this.#plan()
  }

  async #attempt({ abort }: Flight, delivery: Delivery, secret: string | null): Promise<Outcome> {
    const { settings, store } = this.#sandbox
    const message = messageOf(delivery, secret, settings)
    const timeout = delivery.faults?.timeout_ms ?? parseDuration(settings.get(deliveryTimeout)) ?? 0
    // Nobody is told of what a power cut may still undo.
    await store.journal?.durable()
    return this.#send(message, { timeout, signal: abort.signal })
  }

  #defect(error: unknown): Outcome {
    this.#sandbox.options.onSurprise(error)
    return { outcome: 'failed', status: null, error: 'the emulator failed to send it; its log has the cause' }
  }

  // The attempts of the world that is gone are cut off, and their outcomes are nobody's.
  #startAnew(): void {
    this.#drop()
    this.#resumed = false
    this.#due.rebuild()
    this.#plan()
  }

  #drop(): void {
    for (const { abort } of this.#flights.splice(0)) abort.abort()
  }

  #answerWaiters(): void {
    for (const { resolve } of this.#waiters.splice(0)) resolve()
  }
}

const UNSUBSCRIBED: Outcome = {
  outcome: 'refused',
  status: null,
  error: 'its subscription was removed before it was sent',
}
