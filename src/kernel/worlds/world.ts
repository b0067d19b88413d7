import { type Ledger, Settings } from '../assumptions.ts'
import { defect, type Refusal } from '../errors.ts'
import { FaultBook } from '../faults/book.ts'
import { logEntry } from '../log/log-entry.ts'
import { RequestLog } from '../log/request-log.ts'
import { limitClock, limitOverrides } from '../open-items.ts'
import { type AnyOperation, type Input, makeInput, type Service } from '../operation.ts'
import { Authenticator } from '../request/auth.ts'
import { type Call, Exchange, HandlerScope } from '../request/exchange.ts'
import { type Admission, DEFAULT_LIMIT, type Limit, RateLimiter } from '../request/rate-limiter.ts'
import { leaveHookCalls } from '../scenario/hooks.ts'
import type { Commit } from '../state/commit.ts'
import {
  CLOCK,
  type Document,
  ORIGIN,
  type OriginRow,
  SETTINGS,
  type SettingsRow,
  toDocument,
  WORLD,
  type WorldState,
} from '../state/state.ts'
import { Store } from '../state/store.ts'
import { Clock, type ClockRow, clockRow, type HostTime, hostTime } from '../time/clock.ts'
import { formatInstant } from '../time/instant.ts'
import type { Outbox } from '../time/outbox.ts'
import type { ReceiptEvent } from '../time/receipt.ts'
import { MOST_EVENTS, type ScheduledEvent, Scheduler } from '../time/scheduler.ts'

/** What a world is made with and keeps for life. */
export interface WorldOptions {
  readonly name: string
  readonly service: Service
  readonly ledger: Ledger
  /** An unknown key acts as the world's first key of its kind. */
  readonly anyKey: boolean
  /** Whether rate limits refuse; the headers are sent in either case. */
  readonly enforceLimits: boolean
  /** No invented body: defaults that would invent one give way, endpoints without a contract answer 501. */
  readonly strict: boolean
  /** Whether answers name the fault rules that fired on them. */
  readonly revealFaults: boolean
  readonly host: HostTime
  /** More events than this in one settlement mean that something schedules itself without end. */
  readonly mostEvents: number
  /** Told of errors that are our own fault; the client only sees a plain 500. */
  readonly onSurprise: (error: unknown) => void
}

/** Defaults for everything that a caller need not say. */
export const worldDefaults = {
  name: 'default',
  anyKey: false,
  enforceLimits: true,
  strict: false,
  revealFaults: false,
  host: hostTime,
  mostEvents: MOST_EVENTS,
  onSurprise: () => {},
} as const

/** The parts of one isolated world, joined: its state, clock, order, admission and log. What happens in it is in `perform.ts` and `settle.ts`. */
export class World {
  readonly options: WorldOptions
  readonly store: Store
  readonly limiter = new RateLimiter()
  readonly log = new RequestLog()
  readonly clock: Clock
  readonly scheduler: Scheduler
  readonly authenticator: Authenticator
  readonly faults: FaultBook
  /** Where outgoing webhooks are waited for; without one nothing is sent. */
  outbox: Outbox | undefined
  #settings: Settings
  #inputs = new Map<AnyOperation, Input>()
  #limits: ReadonlyMap<string, Limit> = new Map()
  #epoch = 0
  #retired: Refusal | undefined
  readonly #witnesses = new Set<(event: ReceiptEvent) => void>()
  readonly #heirs = new Set<() => void>()
  readonly #mourners = new Set<() => void>()

  /**
   * A world that starts as the given one stands; the given one is not changed by it.
   * @param floor virtual milliseconds that the clock must not fall behind: those of the last commit of a log
   */
  constructor(options: WorldOptions, start: WorldState, floor = 0) {
    this.options = options
    this.store = Store.from(start.store)
    this.limiter.load(start.limits)
    this.log.load(start.log)
    this.clock = new Clock(options.host, this.#clockRow(), floor)
    this.scheduler = new Scheduler(this.store)
    this.authenticator = new Authenticator(this.store, options.anyKey)
    this.faults = new FaultBook(this.store, {
      now: () => this.clock.now,
      wall: options.host,
      seed: () => this.seed,
    })
    this.#settings = new Settings()
    this.#readSettings()
    this.store.onCommit((commit) => this.#hear(commit))
  }

  get name(): string {
    return this.options.name
  }

  get service(): Service {
    return this.options.service
  }

  get ledger(): Ledger {
    return this.options.ledger
  }

  get settings(): Settings {
    return this.#settings
  }

  get seed(): number {
    return (this.store.get(WORLD, ORIGIN) as OriginRow).seed
  }

  /** Changes how time passes from now on, and makes the clock's present instant durable. */
  setClock(changes: { rate?: number | undefined; skip_on_poll?: boolean | undefined } = {}): void {
    const { rate = this.clock.rate, skip_on_poll = this.skipsOnPoll } = changes
    const row = clockRow({ now: this.clock.now, rate, skip_on_poll }, this.options.host)
    this.store.transaction(formatInstant(this.clock.now), (tx) => tx.put(WORLD, row))
  }

  /** Whether polls of unfinished work skip to its next step. */
  get skipsOnPoll(): boolean {
    return this.#clockRow().skip_on_poll
  }

  /** What a handler works with, at the clock's present instant. `cause`: what all that it does happens because of. */
  scope(cause: string): HandlerScope {
    return new HandlerScope(this.store.begin(), this.clock.now, this, cause)
  }

  /** What happens when an event of a kind is due; undefined for an unknown kind. */
  handlerOf(kind: string): ((scope: HandlerScope, event: ScheduledEvent) => void) | undefined {
    return this.service.events.get(kind)?.handle
  }

  /** Makes durable and visible what was written in a scope, and the calls of hooks that it gives rise to. */
  commit(scope: HandlerScope): Commit | undefined {
    leaveHookCalls(scope, this.store, this.service)
    return this.store.commit(scope.tx, scope.at)
  }

  /** Replaces everything, clock included: it goes on from the instant at which the given world stands. Durable when it returns. */
  become({ store, limits, log }: WorldState): void {
    const clock = store.get(WORLD, CLOCK) as ClockRow
    const anchored = clockRow({ ...clock, now: Date.parse(clock.now) }, this.options.host)
    this.store.replaceAll(store, formatInstant(this.clock.now), [[WORLD, anchored]])
    this.limiter.load(limits)
    this.log.load(log)
    this.clock.restart(this.#clockRow())
    this.#epoch += 1
    this.faults.release()
    for (const heir of this.#heirs) heir()
  }

  /** Grows whenever everything is replaced: what was under way before belongs to a world that is gone. */
  get epoch(): number {
    return this.#epoch
  }

  /**
   * Nobody is to go on with this world, for this reason: whatever waits for its time to pass is told so. `isRemoved`: from
   * now on every write is refused, too, since nothing of it is left that could be written to.
   */
  retire(reason: Refusal, isRemoved: boolean): void {
    if (this.#retired === undefined) {
      this.#retired = reason
      this.faults.release()
      for (const mourner of this.#mourners) mourner()
    }
    if (!isRemoved) return
    this.store.journal = {
      append: () => {
        throw reason
      },
      durable: () => undefined,
    }
  }

  /** Why nobody is to go on with it; undefined for a world that is in use. */
  get retired(): Refusal | undefined {
    return this.#retired
  }

  /** Tells when nobody is to go on with it. @returns stops telling */
  onRetired(listener: () => void): () => void {
    this.#mourners.add(listener)
    return () => this.#mourners.delete(listener)
  }

  /** Tells when everything has been replaced. @returns stops telling */
  onReplaced(listener: () => void): () => void {
    this.#heirs.add(listener)
    return () => this.#heirs.delete(listener)
  }

  /** Tells of every event that runs and every delivery. @returns stops telling */
  onEvent(listener: (event: ReceiptEvent) => void): () => void {
    this.#witnesses.add(listener)
    return () => this.#witnesses.delete(listener)
  }

  happened(event: ReceiptEvent): void {
    for (const witness of this.#witnesses) witness(event)
  }

  /** The whole world at this moment, at rest. It shares the records, so that the cost is that of a few references. */
  capture(): WorldState {
    const store = Store.from(this.store)
    store.transaction(formatInstant(this.clock.now), (tx) => tx.put(WORLD, this.#present()))
    // The clock's row says where it stands; nothing has happened.
    store.startAt(this.store.revision)
    return { store, limits: this.limiter.save(), log: this.log.save() }
  }

  /** The whole state at this moment. */
  document(): Document {
    const { requests } = this.log
    const facts = { sandbox: this.name, clock: this.#present(), limits: this.limiter.save(), requests }
    return toDocument(this.store, this.service.collections.keys(), facts)
  }

  exchange(call: Call): Exchange {
    return new Exchange(
      call,
      this.store.begin(),
      this.clock.now,
      this,
      `${this.name}-${String(this.log.count()).padStart(6, '0')}`,
    )
  }

  inputOf(operation: AnyOperation): Input {
    // Those of stubs come and go, and need not be kept.
    if (operation.stub !== undefined) return makeInput(operation, this.#settings)
    let input = this.#inputs.get(operation)
    if (input === undefined) {
      input = makeInput(operation, this.#settings)
      this.#inputs.set(operation, input)
    }
    return input
  }

  limitOf(operation: string): Limit {
    return this.#limits.get(operation) ?? DEFAULT_LIMIT
  }

  /** The time that rate windows go by (T07). */
  limiterNow(): number {
    return this.#settings.get(limitClock) === 'virtual' ? this.clock.now : this.options.host()
  }

  surprised(error: unknown): Refusal {
    this.options.onSurprise(error)
    return defect()
  }

  /** Puts a request that is over into the log. */
  record(exchange: Exchange, status: number, admission: Admission): void {
    this.log.add(logEntry(exchange, status, admission))
  }

  #present(): ClockRow {
    const now = { now: this.clock.now, rate: this.clock.rate, skip_on_poll: this.skipsOnPoll }
    return clockRow(now, this.options.host)
  }

  #clockRow(): ClockRow {
    return this.store.get(WORLD, CLOCK) as ClockRow
  }

  #hear(commit: Commit): void {
    for (const { table, id, after } of commit.changes) {
      if (table !== WORLD || after === undefined) continue
      if (id === CLOCK) this.clock.follow(after as ClockRow)
      if (id === SETTINGS) this.#readSettings()
    }
  }

  #readSettings(): void {
    const { values } = this.store.get(WORLD, SETTINGS) as SettingsRow
    this.#settings = new Settings(values, this.options.strict)
    this.#inputs = new Map()
    const overrides = this.#settings.get(limitOverrides)
    this.#limits = new Map(
      overrides.map(({ operation, limit, window_s }) => [operation, { limit, window: window_s * 1000 }]),
    )
  }
}
