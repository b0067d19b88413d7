import type { Reliance, Setting, Settings } from '../assumptions.ts'
import type { KeyScope } from '../core-assumptions.ts'
import type { Refusal } from '../errors.ts'
import type { Json } from '../json.ts'
import type { ChosenBy, FaultReport, KeptPoll, KeptWindow, RequestTiming } from '../log/request-log.ts'
import type { AnyOperation, Reply, Request, Scope } from '../operation.ts'
import { Chance, type Label } from '../random.ts'
import { controlUrlOf } from '../sandboxes/name.ts'
import type { Commit } from '../state/commit.ts'
import { nextId, nextNumber } from '../state/counters.ts'
import type { Transaction } from '../state/transaction.ts'
import { formatInstant } from '../time/instant.ts'
import { type NewEvent, schedule, unschedule } from '../time/scheduler.ts'
import type { Treatment } from '../webhooks/records.ts'
import type { Caller } from './auth.ts'
import type { HeaderList } from './headers.ts'
import type { Admission } from './rate-limiter.ts'
import type { Step } from './steps.ts'

/** What came with a request instead of, or as, its body. */
export type CallBody =
  | { readonly kind: 'none' }
  | { readonly kind: 'json'; readonly value: Json; readonly bytes?: Uint8Array }
  /** The adapter could not read a body: the refusal is raised where the body would have been understood. */
  | { readonly kind: 'refused'; readonly refusal: Refusal }

export type { ChosenBy }

/** One API request, free of HTTP: what the pipeline needs to know of it. */
export interface Call {
  readonly operation: AnyOperation
  /** `POST`, or `HEAD` for a GET without its body. */
  readonly method: string
  /** The path as it was requested, without the query: the `instance` of a problem. */
  readonly path: string
  /** What stands before `/v1` in it: empty, or `/@name`. */
  readonly pathPrefix: string
  /** `http://host:port` that it came to; absent where it came without HTTP: that of the server. */
  readonly origin?: string
  readonly chosenBy: ChosenBy
  readonly params: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, string | readonly string[]>>
  /** Lower-case names; a repeated header has its first value. */
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: CallBody
  /** Id of the key that calls, for a call that carries no key: one that was logged is made again. */
  readonly keyId?: string
  /** Lower-case names of headers that came in more than one line, of those where only one can be meant. */
  readonly repeated?: readonly string[]
  /** The connection that it came on, and which of its requests this is, from 1. */
  readonly connection?: { readonly id: string; readonly index: number }
  /** Ids of the rules that its own header X-Emulator-Fault has armed; they act on no other request. */
  readonly armed?: readonly string[]
  /** Absent: `perform` asks the sandbox for them. */
  readonly hooks?: RequestHooks
  /** Absent where it came without HTTP. */
  readonly timing?: RequestTiming
}

/** What a response says, without the headers that every response carries. */
export interface Content {
  readonly status: number
  readonly headers: HeaderList
  /** The serialised body; undefined when there is none or when it is streamed. */
  readonly text: string | undefined
  /** Lines of an NDJSON stream. */
  readonly lines: Iterable<string> | undefined
}

/** The headers of a response, by where they come from, and what they say of the rate limit. */
export interface ResponseHead {
  readonly content: HeaderList
  readonly admission: Admission
  readonly own: HeaderList
}

/** What is done to one request from outside the pipeline. Everything but the response may refuse the request. */
export interface RequestHooks {
  /** @returns true: the response is there, and no step is needed any more */
  before(exchange: Exchange, step: Step): boolean
  after(exchange: Exchange, step: Step): void
  /** What is sent instead of the content; undefined for the content itself. */
  content(exchange: Exchange): Content | undefined
  response(
    exchange: Exchange,
    head: ResponseHead,
  ): { readonly admission: Admission; readonly headers: HeaderList }
  /** What the log keeps of it. */
  readonly report: FaultReport
}

/** The hooks of a sandbox. */
export interface Hooks {
  /** Undefined where nothing is to be done to a request, which costs next to nothing. */
  begin(call: Call): RequestHooks | undefined
  /** What happens to a new webhook; undefined: it is delivered as usual. */
  treatmentOf(type: string, url: string, resource: string): Treatment | undefined
}

/** What a handler is told of the sandbox around it. */
export interface Surroundings {
  readonly seed: number
  readonly name: string
  readonly settings: Settings
  /** `http://host:port` of the server itself. */
  readonly origin?: string | undefined
  /** None while a starting state is made. */
  readonly hooks?: Hooks | undefined
  /** See {@link Scope.receiverProblem}; absent where nothing sends. */
  readonly receiverProblem?: Scope['receiverProblem'] | undefined
}

/** The capabilities of a handler, bound to one transaction. */
export class HandlerScope implements Scope {
  tx: Transaction
  now: number
  readonly seed: number
  readonly sandbox: string
  readonly settings: Settings
  readonly cause: string
  readonly #origin: string | undefined
  readonly #hooks: Surroundings['hooks']
  readonly #receiverProblem: Surroundings['receiverProblem']

  constructor(
    tx: Transaction,
    now: number,
    { seed, name, settings, origin, hooks, receiverProblem }: Surroundings,
    cause: string,
  ) {
    this.tx = tx
    this.now = now
    this.seed = seed
    this.sandbox = name
    this.settings = settings
    this.cause = cause
    this.#origin = origin
    this.#hooks = hooks
    this.#receiverProblem = receiverProblem
  }

  get at(): string {
    return formatInstant(this.now)
  }

  get controlUrl(): string {
    return controlUrlOf(this.sandbox, this.#origin)
  }

  readonly newId = (): string => nextId(this.tx, this.seed, 'ids')
  readonly newUuid = (): string => nextId(this.tx, this.seed, 'uuids')
  readonly chance = (...labels: readonly Label[]): Chance => new Chance(this.seed, ...labels)
  readonly schedule = (event: NewEvent): void => {
    schedule(this.tx, event, { seq: nextNumber(this.tx, 'events'), caused_by: this.cause })
  }
  readonly unschedule = (ref: string, kinds: readonly string[]): void => unschedule(this.tx, ref, kinds)
  readonly treatmentOf = (type: string, url: string, resource: string): Treatment | undefined =>
    this.#hooks?.treatmentOf(type, url, resource)
  readonly receiverProblem = (url: string): string | undefined => this.#receiverProblem?.(url)
}

/** One request in the pipeline: its scope, and everything that the steps find out. */
// biome-ignore lint/suspicious/noExplicitAny: the operation's schemas have given query and body their types before a handler sees them.
export class Exchange extends HandlerScope implements Request<any, any> {
  readonly call: Call
  /** The step under way; when the exchange is over, the one that decided. */
  step: Step = 'runDueEvents'
  caller!: Caller // set by authenticate, before any handler runs
  /** The teamspace of the key, which a header may have replaced in the caller. */
  ownTeamspace!: string // set by authenticate, with the caller
  /** The place that it asked for in its rate window. */
  window: KeptWindow | undefined
  target: unknown
  query: unknown
  body: unknown
  reply: Reply | undefined
  refusal: Refusal | undefined
  idempotency: 'none' | 'fresh' | 'replay' | 'conflict' = 'none'
  commit: Commit | undefined
  hooks: RequestHooks | undefined
  /** What a fault makes an Idempotency-Key unique in; undefined: what the setting says. */
  keyPlace: KeyScope | undefined
  /** The status for an Idempotency-Key that comes again with another body; undefined: that of the service. */
  mismatchStatus: number | undefined
  /** A fault has responded instead of the handler; `step` is where. */
  injected = false
  /** The step that had refused the request before a fault responded instead. */
  overruled: Step | undefined
  /** Number of events that were due and ran before the request was looked at. */
  caughtUp = 0
  polled: KeptPoll | undefined
  /** Near misses of a request that fits no route. */
  nearest: readonly string[] = NO_NAMES
  /** Digest of the body, once it was needed: a large one takes a good part of a second. */
  fingerprint: string | undefined
  #assumed: Set<string> | undefined
  #mentioned: Set<string> | undefined

  constructor(call: Call, ...scope: ConstructorParameters<typeof HandlerScope>) {
    super(...scope)
    this.call = call
    this.hooks = call.hooks
  }

  /** The id of the request: the cause of all that it does. */
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

  /** Assumptions that only the log has of this response, although other responses name them. */
  get mentioned(): ReadonlySet<string> {
    return this.#mentioned ?? NOTHING
  }

  /** Notes for the log alone that the response relies on an assumption. */
  mention(item: string): void {
    this.#mentioned ??= new Set()
    this.#mentioned.add(item)
  }

  readonly assume = <T>(setting: Setting<T>): T => {
    this.note(setting.item, setting)
    return this.settings.get(setting)
  }

  readonly note = (...[item, ...settings]: Reliance): void => {
    if (this.settings.settle(settings)) return
    this.#assumed ??= new Set()
    this.#assumed.add(item)
  }
}

const NOTHING: ReadonlySet<string> = new Set()
const NO_NAMES: readonly string[] = []
