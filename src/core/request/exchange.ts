import type { AnySetting, Setting, Settings } from '../assumptions.ts'
import type { KeyScope } from '../core-assumptions.ts'
import type { Refusal } from '../errors.ts'
import type { Json } from '../json.ts'
import type { Evidence } from '../log/evidence.ts'
import type { ChosenBy, CorsCheck, FaultReport, KeptPoll, RequestTiming } from '../log/request-log.ts'
import { validTraceparent } from '../log/traceparent.ts'
import type { AnyOperation, Reply, Request, Scope } from '../operation.ts'
import { Chance, type Label, objectId } from '../random.ts'
import type { OwnResult } from '../record/own-result.ts'
import { controlUrlOf } from '../sandboxes/name.ts'
import type { Commit } from '../state/commit.ts'
import { nextFree, nextId, nextNumber } from '../state/counters.ts'
import type { Transaction } from '../state/transaction.ts'
import { END_OF_TIME } from '../time/clock.ts'
import { formatInstant } from '../time/instant.ts'
import { type NewEvent, schedule, unschedule } from '../time/scheduler.ts'
import { type Tomorrow, tomorrow, tomorrowOf } from '../tomorrow.ts'
import type { Treatment } from '../webhooks/records.ts'
import type { Caller } from './auth.ts'
import type { HeaderList } from './headers.ts'
import type { Admission, FoundWindow } from './rate-limiter.ts'
import type { Step } from './steps.ts'
import type { StreamBody } from './stream.ts'

/** The body of a request: none, JSON, or the reason why the adapter could not read it. */
export type CallBody =
  | { readonly kind: 'none' }
  | { readonly kind: 'json'; readonly value: Json; readonly bytes?: Uint8Array }
  /** For an operation that accepts bytes. */
  | { readonly kind: 'bytes'; readonly value: Uint8Array }
  /** The step `validate` throws the refusal. */
  | { readonly kind: 'refused'; readonly refusal: Refusal }

/** The maximum size of a JSON body. */
export interface BodyBounds {
  /** Maximum number of bytes after content decoding. */
  readonly bytes: number
  /** Maximum number of tokens: strings, numbers, literals and structural characters. */
  readonly tokens: number
}

/** One API request, independent of HTTP, as the pipeline needs it. */
export interface Call {
  readonly operation: AnyOperation
  /** `POST`, or `HEAD` for a GET without its body. */
  readonly method: string
  /** The path as it was requested, without the query: the `instance` of a problem. */
  readonly path: string
  /** The part of the path before `/v1`: where a user's server has mounted the emulator, then `/@name`; empty without both. */
  readonly pathPrefix: string
  /** `http://host:port` that it was sent to. Absent for a request without HTTP: then the origin of the server is used. */
  readonly origin?: string | undefined
  readonly chosenBy: ChosenBy
  readonly params: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, string | readonly string[]>>
  /** Lower-case names; a repeated header has its first value. */
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: CallBody
  /** Id of the calling key, for a request that is repeated from the log, where it has no token. */
  readonly keyId?: string
  /** Lower-case names of headers that were sent more than once, of those that may be sent only once. */
  readonly repeated?: readonly string[] | undefined
  /** The id that was reserved for it when it arrived, because it waited. Absent: it gets the next one. */
  readonly id?: string
  /** Ids of the rules that its X-Emulator-Fault header has armed. They act only on this request. */
  readonly armed?: readonly string[] | undefined
  /** Absent: `perform` asks the sandbox for them. */
  readonly hooks?: RequestHooks
  /** Absent for a request without HTTP. */
  readonly timing?: RequestTiming | undefined
  /** Absent for a request that no web page of another origin has sent. */
  readonly cors?: CorsCheck | undefined
  /** Absent for a request without HTTP. */
  readonly evidence?: Evidence | undefined
}

/** The status, the headers and the body of a response. */
export interface Content {
  readonly status: number
  readonly headers: HeaderList
  /** The serialised body; undefined when there is none or when it is streamed. */
  readonly text: string | undefined
  /** Lines of an NDJSON stream, created while they are read. */
  readonly lines: Iterable<string> | undefined
  /** The body as bytes, in place of the others. */
  readonly bytes?: Buffer | undefined
  /** The body in parts, in place of the others. */
  readonly stream?: StreamBody | undefined
}

/** The headers of a response by their source, and the decision that the rate-limit headers describe. */
export interface ResponseHead {
  readonly content: HeaderList
  readonly admission: Admission
  readonly own: HeaderList
}

/** What faults do to one request from outside the pipeline. Only `before` and `after` may refuse the request. */
export interface RequestHooks {
  /** @returns true when the exchange has a response, so that the remaining steps are skipped */
  before(exchange: Exchange, step: Step): boolean
  after(exchange: Exchange, step: Step): void
  /** The content that is sent instead of the original one; undefined to send the original one. */
  content(exchange: Exchange): Content | undefined
  response(
    exchange: Exchange,
    head: ResponseHead,
  ): { readonly admission: Admission; readonly headers: HeaderList }
  /** The report for the log. */
  readonly report: FaultReport
}

/** The hooks of a sandbox. */
export interface Hooks {
  /** The hooks of a request; undefined when there is nothing to do, which takes almost no time. */
  begin(call: Call): RequestHooks | undefined
  /** How a new webhook is treated; undefined: it is delivered as usual. */
  treatmentOf(type: string, url: string, resource: string): Treatment | undefined
}

/** The facts about its sandbox that a handler gets. */
export interface Surroundings {
  readonly seed: number
  readonly name: string
  readonly settings: Settings
  /** `http://host:port` of the server itself. */
  readonly origin?: string | undefined
  /** Undefined while a starting state is built. */
  readonly hooks?: Hooks | undefined
  /** Absent while a starting state is built. */
  readonly deliveries?: { readonly problemOf: Scope['receiverProblem'] } | undefined
}

/** The capabilities of a handler, bound to one transaction. */
export class HandlerScope implements Scope {
  tx: Transaction
  now: number
  readonly settings: Settings
  readonly cause: string
  #seed: number | undefined
  traceparent: string | undefined
  tomorrow: Tomorrow | undefined
  /** True for an event: what is due must happen, so a later event after the end of the clock is not planned, and not refused. */
  isOfEvent = false
  readonly #surroundings: Surroundings

  constructor(tx: Transaction, now: number, surroundings: Surroundings, cause: string, operation?: string) {
    this.tx = tx
    this.now = now
    this.settings = surroundings.settings
    this.cause = cause
    this.#surroundings = surroundings
    if (this.settings.overrides.tomorrow !== undefined)
      this.tomorrow = tomorrowOf(this.settings.get(tomorrow), () => this.seed, operation)
  }

  get seed(): number {
    this.#seed ??= this.#surroundings.seed
    return this.#seed
  }

  get sandbox(): string {
    return this.#surroundings.name
  }

  get at(): string {
    return formatInstant(this.now)
  }

  get controlUrl(): string {
    return controlUrlOf(this.sandbox, this.#surroundings.origin)
  }

  readonly newId = (): string =>
    this.tomorrow?.makes('id')
      ? nextFree(this.tx, 'ids', (n) => objectId(this.seed, n).padEnd(64, objectId(~this.seed, n)))
      : nextId(this.tx, this.seed, 'ids')
  readonly newUuid = (): string => nextId(this.tx, this.seed, 'uuids')
  readonly chance = (...labels: readonly Label[]): Chance => new Chance(this.seed, ...labels)
  readonly schedule = (event: NewEvent): void => {
    if (this.isOfEvent && event.due > END_OF_TIME) this.unschedule(event.ref, [event.kind])
    else
      schedule(this.tx, event, {
        seq: nextNumber(this.tx, 'events'),
        caused_by: this.cause,
        traceparent: this.traceparent,
      })
  }
  readonly unschedule = (ref: string, kinds: readonly string[]): void => unschedule(this.tx, ref, kinds)
  readonly treatmentOf = (type: string, url: string, resource: string): Treatment | undefined =>
    this.#surroundings.hooks?.treatmentOf(type, url, resource)
  readonly receiverProblem = (url: string): string | undefined =>
    this.#surroundings.deliveries?.problemOf(url)
}

/** One request in the pipeline: its scope, and the results of its steps. */
// biome-ignore lint/suspicious/noExplicitAny: the operation's schemas have given query and body their types before a handler sees them.
export class Exchange extends HandlerScope implements Request<any, any> {
  readonly call: Call
  /** The current step; at the end, the step that decided the response. */
  step: Step = 'runDueEvents'
  caller!: Caller // set by authenticate, before any handler runs
  /** The teamspace of the key, which a header may have replaced in the caller. */
  ownTeamspace!: string // set by authenticate, with the caller
  /** Its rate window, and the decision of the limiter. */
  window: FoundWindow | undefined
  target: unknown
  query: unknown
  body: unknown
  reply: Reply | undefined
  /** What the handler has returned and written; only for an endpoint of the user. */
  result: OwnResult | undefined
  refusal: Refusal | undefined
  idempotency: 'none' | 'fresh' | 'replay' | 'conflict' = 'none'
  commit: Commit | undefined
  hooks: RequestHooks | undefined
  /** The scope of Idempotency-Keys that a fault has set; undefined: that of the setting. */
  keyScope: KeyScope | undefined
  /** The status that a fault has set for a reused Idempotency-Key with another body; undefined: that of the service. */
  mismatchStatus: number | undefined
  /** Whether a fault has responded instead of the handler. If so, `step` is the step of the fault. */
  injected = false
  /** The step that had refused the request before a fault responded instead. */
  overruled: Step | undefined
  /** The number of due events that ran before the request was handled. */
  caughtUp = 0
  polled: KeptPoll | undefined
  /** `METHOD /template` of similar operations, for a request without a route. */
  nearest: readonly string[] = NO_NAMES
  /** Digest of the body, computed at most once: for a large body it takes a good part of a second. */
  fingerprint: string | undefined
  #assumed: Set<string> | undefined
  #mentioned: Set<string> | undefined

  constructor(call: Call, ...[tx, now, around, id]: ConstructorParameters<typeof HandlerScope>) {
    super(tx, now, around, id, call.operation.name)
    this.call = call
    if (call.headers.traceparent !== undefined) this.traceparent = validTraceparent(call.headers.traceparent)
    this.hooks = call.hooks
  }

  /** The id of the request, which is the cause of all its changes. */
  get id(): string {
    return this.cause
  }

  get params(): Readonly<Record<string, string>> {
    return this.call.params
  }

  get pathPrefix(): string {
    return this.call.pathPrefix
  }

  override get controlUrl(): string {
    const { origin, pathPrefix } = this.call
    return origin === undefined ? super.controlUrl : controlUrlOf(this.sandbox, origin, pathPrefix)
  }

  get rawBody(): Json | undefined {
    return this.call.body.kind === 'json' ? this.call.body.value : undefined
  }

  get assumed(): ReadonlySet<string> {
    return this.#assumed ?? NOTHING
  }

  /** Assumptions that only the log names for this response, although other responses name them in a header. */
  get mentioned(): ReadonlySet<string> {
    return this.#mentioned ?? NOTHING
  }

  /** Notes an assumption that the response relies on, only for the log. */
  mention(item: string): void {
    this.#mentioned ??= new Set()
    this.#mentioned.add(item)
  }

  readonly assume = <T>(setting: Setting<T>): T => {
    this.note(setting.item, setting)
    return this.settings.get(setting)
  }

  readonly note = (item: string, ...settings: readonly AnySetting[]): void => {
    if (settings.length > 0 && this.settings.isChosen && this.settings.settle(settings)) return
    this.#assumed ??= new Set()
    this.#assumed.add(item)
  }
}

const NOTHING: ReadonlySet<string> = new Set()
const NO_NAMES: readonly string[] = []
