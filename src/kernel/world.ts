import { type Ledger, Settings } from './assumptions.ts'
import { Authenticator } from './auth.ts'
import { Clock, type ClockRow, clockRow, type HostTime, hostTime } from './clock.ts'
import type { Commit } from './commit.ts'
import { defect, type Refusal } from './errors.ts'
import { type Call, Exchange, HandlerScope } from './exchange.ts'
import { formatInstant } from './instant.ts'
import { limitClock, limitOverrides } from './open-items.ts'
import { type AnyOperation, type Input, makeInput, type Service } from './operation.ts'
import { type Admission, DEFAULT_LIMIT, type Limit, RateLimiter } from './rate-limiter.ts'
import { RequestLog } from './request-log.ts'
import { Scheduler } from './scheduler.ts'
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
} from './state.ts'
import { Store } from './store.ts'

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
  readonly host: HostTime
  /** Told of errors that are our own fault; the client only sees a plain 500. */
  readonly onSurprise: (error: unknown) => void
}

/** Defaults for everything that a caller need not say. */
export const worldDefaults = {
  name: 'default',
  anyKey: false,
  enforceLimits: true,
  strict: false,
  host: hostTime,
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
  #settings: Settings
  #inputs = new Map<AnyOperation, Input>()
  #limits: ReadonlyMap<string, Limit> = new Map()
  #requests = 0

  /**
   * A world that starts as the given one stands; the given one is not changed by it.
   * @param floor virtual milliseconds that the clock must not fall behind: those of the last commit of a log
   */
  constructor(options: WorldOptions, start: WorldState, floor = 0) {
    this.options = options
    this.store = Store.from(start.store)
    this.limiter.load(start.limits)
    this.clock = new Clock(options.host, this.#clockRow(), floor)
    this.scheduler = new Scheduler(this.store)
    this.authenticator = new Authenticator(this.store, options.anyKey)
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

  /** What a handler works with, at the clock's present instant. */
  scope(): HandlerScope {
    return new HandlerScope(this.store.begin(), this.clock.now, this.seed, this.#settings)
  }

  /** Makes durable and visible what was written in a scope. */
  commit(scope: HandlerScope): Commit | undefined {
    return this.store.commit(scope.tx, scope.at)
  }

  /** Replaces everything, clock included: it goes on from the instant at which the given world stands. Durable when it returns. */
  become({ store, limits }: WorldState): void {
    const clock = store.get(WORLD, CLOCK) as ClockRow
    const anchored = clockRow({ ...clock, now: Date.parse(clock.now) }, this.options.host)
    this.store.replaceAll(store, formatInstant(this.clock.now), [[WORLD, anchored]])
    this.limiter.load(limits)
    this.log.clear()
    this.#requests = 0
    this.clock.restart(this.#clockRow())
    this.scheduler.rebuild()
    this.#readSettings()
  }

  /** The whole state at this moment. */
  document(): Document {
    const now = { now: this.clock.now, rate: this.clock.rate, skip_on_poll: this.skipsOnPoll }
    const facts = {
      sandbox: this.name,
      clock: clockRow(now, this.options.host),
      limits: this.limiter.save(),
    }
    return toDocument(this.store, this.service.collections.keys(), facts)
  }

  exchange(call: Call): Exchange {
    this.#requests += 1
    const id = `${this.name}-${String(this.#requests).padStart(6, '0')}`
    return new Exchange(call, id, this.store.begin(), this.clock.now, this.seed, this.#settings)
  }

  inputOf(operation: AnyOperation): Input {
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

  record(exchange: Exchange, status: number, admission: Admission): void {
    const { id, at, call, step, caller, idempotency, refusal, assumed, commit } = exchange
    this.log.add({
      id,
      at,
      method: call.method,
      path: call.path,
      operation: call.operation.name,
      status,
      // What succeeded was decided where its answer was made.
      decided: refusal === undefined ? (idempotency === 'replay' ? 'recall' : 'handle') : step,
      caller,
      admission,
      idempotency,
      error: refusal && { code: refusal.code, detail: refusal.message },
      assumed: [...assumed],
      commit,
    })
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
