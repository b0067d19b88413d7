import { Settings } from '../assumptions.ts'
import type { Refusal } from '../errors.ts'
import { FaultBook } from '../faults/book.ts'
import { RequestLog } from '../log/request-log.ts'
import { Recording } from '../record/recording.ts'
import { Authenticator } from '../request/auth.ts'
import { HandlerScope, type Hooks } from '../request/exchange.ts'
import { Limits } from '../request/rate-limiter.ts'
import { addHookCalls } from '../scenarios/hooks.ts'
import { scenarioCalls } from '../scenarios/row.ts'
import type { Service } from '../service.ts'
import { keepPositions } from '../state/collection.ts'
import type { Commit } from '../state/commit.ts'
import {
  CLOCK,
  ContentRevision,
  type Document,
  ORIGIN,
  type OriginRow,
  SANDBOX_TABLE,
  type SandboxState,
  SETTINGS,
  type SettingsRow,
  toDocument,
} from '../state/state.ts'
import { Store } from '../state/store.ts'
import { Clock, type ClockRow, clockRow, END_OF_TIME, type HostTime, hostTime } from '../time/clock.ts'
import { formatInstant } from '../time/instant.ts'
import { MAX_EVENTS_AT_ONE_INSTANT, Scheduler } from '../time/scheduler.ts'
import { type Delivery, deliveries } from '../webhooks/records.ts'
import { Advances } from './advances.ts'
import { Deliveries } from './deliveries.ts'
import { Listeners } from './listeners.ts'

/** The options of a sandbox. They do not change while it is open. */
export interface SandboxOptions {
  readonly name: string
  readonly service: Service
  /** An unknown key acts as the sandbox's first key of its kind. */
  readonly anyKey: boolean
  /** Whether rate limits refuse; the headers are sent in either case. */
  readonly enforceLimits: boolean
  /** No invented bodies: settings have their strict defaults, and endpoints without a contract respond with 501. */
  readonly strict: boolean
  /** Whether responses name the fault rules that fired on them. */
  readonly revealFaults: boolean
  readonly host: HostTime
  /** `http://host:port` of the server; undefined while there is none. */
  readonly origin: () => string | undefined
  /** Creates the hooks for requests, with which faults act; undefined for none. */
  readonly hooks: ((sandbox: Sandbox) => Hooks) | undefined
  /** More events than this at one instant mean that an event schedules itself in an endless loop. */
  readonly mostEvents: number
  /** Called with defects of the emulator; the client only sees a plain 500. */
  readonly onDefect: (error: unknown) => void
  /** Called with warnings about the clock for the person who runs the emulator. */
  readonly onWarning: (message: string) => void
}

/** The defaults of all options that a caller may leave out. */
export const sandboxDefaults = {
  name: 'default',
  anyKey: false,
  enforceLimits: true,
  strict: false,
  revealFaults: false,
  host: hostTime,
  origin: () => undefined,
  hooks: undefined,
  mostEvents: MAX_EVENTS_AT_ONE_INSTANT,
  onDefect: () => {},
  onWarning: () => {},
} as const

/**
 * One isolated sandbox: its state, clock, schedule, rate windows and log. The pipeline, `run-events.ts`, `advance.ts` and
 * `change.ts` work on it.
 */
export class Sandbox {
  readonly options: SandboxOptions
  readonly name: string
  readonly service: Service
  readonly store: Store
  readonly content: ContentRevision
  readonly limits: Limits
  readonly log = new RequestLog()
  readonly recording: Recording
  readonly clock: Clock
  readonly scheduler: Scheduler
  readonly authenticator: Authenticator
  readonly faults: FaultBook
  readonly hooks: Hooks | undefined
  readonly advances: Advances
  readonly deliveries = new Deliveries()
  readonly listeners = new Listeners()
  #settings: Settings

  /**
   * A sandbox that starts from the given state, which it does not change.
   * @param floor the earliest instant of the clock, in virtual milliseconds: that of the last commit of a log
   */
  constructor(options: SandboxOptions, start: SandboxState, floor?: number) {
    this.options = options
    this.name = options.name
    this.service = options.service
    this.store = Store.from(start.store)
    this.content = new ContentRevision(this.store)
    this.log.load(start.log)
    this.clock = new Clock(options.host, this.#clockRow(), floor)
    this.scheduler = new Scheduler(this.store)
    this.limits = new Limits(this.clock)
    this.limits.windows.load(start.limits)
    this.advances = new Advances(options.name, options.mostEvents)
    this.authenticator = new Authenticator(this.store, options.anyKey)
    this.faults = new FaultBook(this.store, options.service.primitives, {
      now: () => this.clock.now,
      wall: options.host,
      seed: () => this.seed,
      warn: (aborted) =>
        options.onWarning(`The sandbox ${this.name} was reset, replaced or closed ${aborted}`),
    })
    this.deliveries.add(this.faults.gates)
    this.hooks = options.hooks?.(this)
    this.#settings = new Settings()
    this.#readSettings()
    this.store.follow((commit) => this.#follow(commit))
    this.recording = new Recording(this)
  }

  /** `http://host:port` of the server that serves it. */
  get origin(): string | undefined {
    return this.options.origin()
  }

  get settings(): Settings {
    return this.#settings
  }

  get seed(): number {
    return (this.store.get(SANDBOX_TABLE, ORIGIN) as OriginRow).seed
  }

  /** The scope for a handler, with a new transaction at the current instant. `cause`: the cause of all its changes. */
  scope(cause: string): HandlerScope {
    return new HandlerScope(this.store.begin(), this.clock.now, this, cause)
  }

  /** Commits the writes of a scope, with the calls of hooks and the places of cursors that follow from them. */
  commit(scope: HandlerScope): Commit | undefined {
    if (scope.tx.isEmpty) return undefined
    addHookCalls(scope, this.store, this.service)
    keepPositions(scope.tx, this.store, this.service.collections)
    return this.store.commit(scope.tx, scope.at)
  }

  /** Replaces the whole state. The clock continues from the instant of the given state. Durable when it returns. */
  replaceWith({ store, limits, log }: SandboxState): void {
    const clock = store.get(SANDBOX_TABLE, CLOCK) as ClockRow
    const anchored = clockRow({ ...clock, now: Date.parse(clock.now) }, this.options.host)
    this.faults.gates.abandon()
    this.store.replaceAll(store, formatInstant(this.clock.now), [[SANDBOX_TABLE, anchored]])
    this.limits.windows.load(limits)
    this.log.load(log)
    this.clock.restart(this.#clockRow())
    this.advances.reset()
    this.faults.release()
    this.listeners.replaced()
  }

  /**
   * Closes this sandbox: everything that waits for its time to pass is refused with this reason. With `isRemoved`, later
   * writes are refused too, because there is nothing left to write to.
   */
  close(reason: Refusal, isRemoved: boolean): void {
    if (this.listeners.closedReason === undefined) {
      this.faults.release()
      this.listeners.closed(reason)
    }
    if (!isRemoved) return
    this.log.clear()
    this.store.journal = {
      append: () => {
        throw reason
      },
      flush: () => {},
    }
  }

  /**
   * A copy of the whole state at this moment. It shares the records with the sandbox, so it costs only a few references.
   * @param log whether it has the log; otherwise only the number of requests
   */
  capture({ log: withLog = true } = {}): SandboxState {
    const store = Store.from(this.store)
    store.transaction(formatInstant(this.clock.now), (tx) => tx.put(SANDBOX_TABLE, this.clock.toRow()))
    // Only the row of the clock was updated, which is no change of the sandbox: the revision stays the same.
    store.revision = this.store.revision
    const log = withLog ? this.log.save() : { entries: [], dropped: 0, requests: this.log.requests }
    return { store, limits: this.limits.windows.save(), log }
  }

  /** The whole state at this moment, as a document. */
  document(): Document {
    const facts = {
      sandbox: this.name,
      clock: this.clock.toRow(),
      limits: this.limits.windows.save(),
      requests: this.log.requests,
    }
    return toDocument(this.store, this.service.collections.keys(), facts)
  }

  #clockRow(): ClockRow {
    return this.store.get(SANDBOX_TABLE, CLOCK) as ClockRow
  }

  #follow(commit: Commit): void {
    for (const { table, id, after } of commit.changes) {
      if (table !== SANDBOX_TABLE || after === undefined) continue
      if (id === CLOCK) this.clock.follow(after as ClockRow)
      if (id === SETTINGS) this.#readSettings()
    }
  }

  #readSettings(): void {
    const { values } = this.store.get(SANDBOX_TABLE, SETTINGS) as SettingsRow
    this.#settings = new Settings(values, this.options.strict)
    this.limits.follow(this.#settings, this.options.enforceLimits)
  }
}

/**
 * The instant on the host's clock (ISO 8601) at which a sandbox next works without a request: that of its next event while
 * its clock runs, or now when a webhook or a call is pending. Null when it only waits for requests.
 */
export function wakesAt(sandbox: Pick<Sandbox, 'store' | 'scheduler' | 'clock'>): string | null {
  const { store, scheduler, clock } = sandbox
  const sent = [...store.rows(deliveries.name).values()] as Delivery[]
  const isSending = sent.some(({ status }) => status === 'pending' || status === 'sending')
  if (isSending || store.rows(scenarioCalls.name).size > 0) return formatInstant(clock.host())
  const next = scheduler.peek()
  const wait = next === undefined ? undefined : clock.realUntil(Date.parse(next.due_at))
  return wait === undefined ? null : formatInstant(Math.min(END_OF_TIME, clock.host() + Math.ceil(wait)))
}
