import { type AssumptionCatalog, Settings } from '../assumptions.ts'
import { limitClock, limitOverrides, limitsEnforced } from '../core-assumptions.ts'
import { defect, type Refusal, refuse } from '../errors.ts'
import { FaultBook } from '../faults/book.ts'
import { RequestLog } from '../log/request-log.ts'
import type { Scope } from '../operation.ts'
import { Recording } from '../record/recording.ts'
import { Authenticator } from '../request/auth.ts'
import { type Call, Exchange, HandlerScope, type Hooks } from '../request/exchange.ts'
import { DEFAULT_LIMIT, type Limit, RateLimiter } from '../request/rate-limiter.ts'
import { addHookCalls } from '../scenarios/hooks.ts'
import { scenarioCalls } from '../scenarios/row.ts'
import type { Service } from '../service.ts'
import { keepPositions } from '../state/collection.ts'
import type { Commit } from '../state/commit.ts'
import {
  CLOCK,
  type Document,
  isContent,
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
import { formatDuration, formatInstant } from '../time/instant.ts'
import { type AdvanceResult, MAX_EVENTS_AT_ONE_INSTANT, type RanEvent, Scheduler } from '../time/scheduler.ts'
import { InstantLimit, type PendingWork } from '../time/turn.ts'
import { type Delivery, deliveries } from '../webhooks/records.ts'

/** The options of a sandbox. They do not change while it is open. */
export interface SandboxOptions {
  readonly name: string
  readonly service: Service
  readonly assumptions: AssumptionCatalog
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

const noAdvance = (): { readonly running: boolean; readonly result: AdvanceResult | null } => ({
  running: false,
  result: null,
})

/**
 * One isolated sandbox: its state, clock, schedule, rate windows and log. The pipeline, `run-events.ts`, `advance.ts` and
 * `change.ts` work on it.
 */
export class Sandbox {
  readonly options: SandboxOptions
  readonly name: string
  readonly service: Service
  readonly assumptions: AssumptionCatalog
  readonly store: Store
  readonly limiter = new RateLimiter()
  readonly log = new RequestLog()
  readonly recording: Recording
  readonly clock: Clock
  readonly scheduler: Scheduler
  readonly authenticator: Authenticator
  readonly faults: FaultBook
  readonly hooks: Hooks | undefined
  readonly instantLimit: InstantLimit
  /** Waits for outgoing webhooks; undefined: none is sent. */
  pendingWork: PendingWork | undefined
  /** Checks the URLs of new subscriptions; undefined: none is refused. */
  receiverProblem: Scope['receiverProblem'] | undefined
  /** What runs events in turns at the moment. Requests then run no events themselves and are handled at the time reached. */
  running: 'advance' | 'backlog' | undefined
  /** Resolves at the end of the advance that began last. */
  advanceEnd: Promise<void> = Promise.resolve()
  /** The running advance up to now, or the last one. It has no result before the first one, and after the state was replaced. */
  latestAdvance = noAdvance
  /** The revision of the last commit that changed content, see {@link isContent}. An edit of an older state is outdated. */
  contentRevision: number
  #settings: Settings
  #limits: ReadonlyMap<string, Limit> = new Map()
  /** Grows with each replacement of the state. Work that began before a replacement belongs to the earlier state. */
  replacements = 0
  /** Why the sandbox is closed; undefined while it is in use. */
  closedReason: Refusal | undefined
  readonly #eventListeners = new Set<(event: RanEvent) => void>()
  readonly #replaceListeners = new Set<() => void>()
  readonly #closeListeners = new Set<() => void>()

  /**
   * A sandbox that starts from the given state, which it does not change.
   * @param floor the earliest instant of the clock, in virtual milliseconds: that of the last commit of a log
   */
  constructor(options: SandboxOptions, start: SandboxState, floor = 0) {
    this.options = options
    this.name = options.name
    this.service = options.service
    this.assumptions = options.assumptions
    this.store = Store.from(start.store)
    this.contentRevision = this.store.revision
    this.limiter.load(start.limits)
    this.log.load(start.log)
    this.clock = new Clock(options.host, this.#clockRow(), floor)
    this.scheduler = new Scheduler(this.store)
    this.instantLimit = new InstantLimit(options.mostEvents)
    this.authenticator = new Authenticator(this.store, options.anyKey)
    this.faults = new FaultBook(this.store, options.service.primitives, {
      now: () => this.clock.now,
      wall: options.host,
      seed: () => this.seed,
    })
    this.hooks = options.hooks?.(this)
    this.#settings = new Settings()
    this.#readSettings()
    this.store.onCommit((commit) => this.#follow(commit))
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

  /** Changes how time passes from now on, and makes the current instant of the clock durable. */
  setClock(changes: { rate?: number | undefined; skip_on_poll?: boolean | undefined } = {}): void {
    const { rate = this.clock.rate, skip_on_poll = this.skipsOnPoll } = changes
    const row = clockRow({ now: this.clock.now, rate, skip_on_poll }, this.options.host)
    this.store.transaction(formatInstant(this.clock.now), (tx) => tx.put(SANDBOX_TABLE, row))
  }

  /** Virtual milliseconds that the clock is late, because due events have not run yet. */
  get lag(): number {
    const due = this.clock.due()
    const next = this.scheduler.peek()
    return next !== undefined && Date.parse(next.due_at) <= due ? due - this.clock.now : 0
  }

  /** Detects that the host's clock was set or the machine slept, and warns what that means for the virtual clock. */
  followHost(): void {
    const jump = this.clock.compareWithHost()
    if (jump === undefined) return
    const by = formatDuration(Math.abs(Math.round(jump / 1000)) * 1000)
    this.options.onWarning(
      jump < 0
        ? `The clock of this machine was set back by ${by}. The virtual clock of the sandbox ${this.name} is not set back: it continues with the real time that passes.`
        : `The clock of this machine is ${by} ahead of the time that has passed in this process: the machine slept, or its clock was set. The virtual clock of the sandbox ${this.name} was moved forward with it. To go back, reset it ("workspace-emulator reset") or restore a snapshot.`,
    )
    // The next process starts from the instant of the host's clock in this record.
    this.store.transaction(formatInstant(this.clock.now), (tx) => tx.put(SANDBOX_TABLE, this.#presentClock()))
  }

  /** Whether polls of unfinished work skip to its next step. */
  get skipsOnPoll(): boolean {
    return this.#clockRow().skip_on_poll
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

  /** Refuses with `conflict` while the clock is being advanced on behalf of another request. */
  refuseDuringAdvance(): void {
    if (this.running !== 'advance') return
    refuse('conflict', {
      detail: `The clock of the sandbox "${this.name}" is being advanced on behalf of another request.`,
      mitigation:
        'Send the request again after that request has its response. To end the advance earlier, close the connection of that request.',
    })
  }

  /** Replaces the whole state. The clock continues from the instant of the given state. Durable when it returns. */
  replaceWith({ store, limits, log }: SandboxState): void {
    const clock = store.get(SANDBOX_TABLE, CLOCK) as ClockRow
    const anchored = clockRow({ ...clock, now: Date.parse(clock.now) }, this.options.host)
    this.store.replaceAll(store, formatInstant(this.clock.now), [[SANDBOX_TABLE, anchored]])
    this.limiter.load(limits)
    this.log.load(log)
    this.clock.restart(this.#clockRow())
    this.replacements += 1
    this.latestAdvance = noAdvance
    this.instantLimit.reset()
    this.faults.release()
    for (const listener of this.#replaceListeners) listener()
  }

  /**
   * Closes this sandbox: everything that waits for its time to pass is refused with this reason. With `isRemoved`, later
   * writes are refused too, because there is nothing left to write to.
   */
  close(reason: Refusal, isRemoved: boolean): void {
    if (this.closedReason === undefined) {
      this.closedReason = reason
      this.faults.release()
      for (const listener of this.#closeListeners) listener()
    }
    if (!isRemoved) return
    this.log.clear()
    this.store.journal = {
      append: () => {
        throw reason
      },
    }
  }

  /** Calls the listener when the sandbox is closed. @returns removes the listener */
  onClosed(listener: () => void): () => void {
    this.#closeListeners.add(listener)
    return () => this.#closeListeners.delete(listener)
  }

  /** Calls the listener when the whole state was replaced. @returns removes the listener */
  onReplaced(listener: () => void): () => void {
    this.#replaceListeners.add(listener)
    return () => this.#replaceListeners.delete(listener)
  }

  /** Calls the listener for every event that runs and every delivery. @returns removes the listener */
  onEvent(listener: (event: RanEvent) => void): () => void {
    this.#eventListeners.add(listener)
    return () => this.#eventListeners.delete(listener)
  }

  reportEvent(event: RanEvent): void {
    for (const listener of this.#eventListeners) listener(event)
  }

  /** A copy of the whole state at this moment. It shares the records with the sandbox, so it costs only a few references. */
  capture(): SandboxState {
    return { ...this.checkpoint(), log: this.log.save() }
  }

  /** As {@link capture}, with the number of requests in place of the log. */
  checkpoint(): SandboxState {
    const store = Store.from(this.store)
    store.transaction(formatInstant(this.clock.now), (tx) => tx.put(SANDBOX_TABLE, this.#presentClock()))
    // Only the row of the clock was updated, which is no change of the sandbox: the revision stays the same.
    store.revision = this.store.revision
    const log = { entries: [], dropped: 0, requests: this.log.requests }
    return { store, limits: this.limiter.save(), log }
  }

  /** The whole state at this moment, as a document. */
  document(): Document {
    const { requests } = this.log
    const facts = { sandbox: this.name, clock: this.#presentClock(), limits: this.limiter.save(), requests }
    return toDocument(this.store, this.service.collections.keys(), facts)
  }

  exchange(call: Call): Exchange {
    this.recording.begin()
    return new Exchange(call, this.store.begin(), this.clock.now, this, this.requestId(this.log.count()))
  }

  /** @param number counted from 1 */
  requestId(number: number): string {
    return `${this.name}-${String(number).padStart(6, '0')}`
  }

  limitOf(operation: string): Limit {
    return this.#limits.get(operation) ?? DEFAULT_LIMIT
  }

  /** Whether a full rate window refuses. */
  get enforcesLimits(): boolean {
    return this.#settings.get(limitsEnforced) ?? this.options.enforceLimits
  }

  /** The time that rate windows go by (T07). */
  limiterNow(): number {
    return this.#settings.get(limitClock) === 'virtual' ? this.clock.now : this.options.host()
  }

  reportDefect(error: unknown): Refusal {
    this.options.onDefect(error)
    return defect()
  }

  #presentClock(): ClockRow {
    return this.clock.toRow(this.skipsOnPoll)
  }

  #clockRow(): ClockRow {
    return this.store.get(SANDBOX_TABLE, CLOCK) as ClockRow
  }

  #follow(commit: Commit): void {
    if (commit.changes.some(isContent)) this.contentRevision = commit.revision
    for (const { table, id, after } of commit.changes) {
      if (table !== SANDBOX_TABLE || after === undefined) continue
      if (id === CLOCK) this.clock.follow(after as ClockRow)
      if (id === SETTINGS) this.#readSettings()
    }
  }

  #readSettings(): void {
    const { values } = this.store.get(SANDBOX_TABLE, SETTINGS) as SettingsRow
    this.#settings = new Settings(values, this.options.strict)
    const overrides = this.#settings.get(limitOverrides)
    this.#limits = new Map(
      overrides.map(({ operation, limit, window_s }) => [operation, { limit, window: window_s * 1000 }]),
    )
  }
}

/**
 * The instant on the host's clock (ISO 8601) at which a sandbox next works without a request: that of its next event while
 * its clock runs, or now when a webhook or a call is pending. Null when it only waits for requests.
 */
export function wakesAt({
  store,
  scheduler,
  clock,
}: Pick<Sandbox, 'store' | 'scheduler' | 'clock'>): string | null {
  const sent = [...store.rows(deliveries.name).values()] as Delivery[]
  const isSending = sent.some(({ status }) => status === 'pending' || status === 'sending')
  if (isSending || store.rows(scenarioCalls.name).size > 0) return formatInstant(clock.host())
  const next = scheduler.peek()
  const wait = next === undefined ? undefined : clock.realUntil(Date.parse(next.due_at))
  return wait === undefined ? null : formatInstant(Math.min(END_OF_TIME, clock.host() + Math.ceil(wait)))
}
