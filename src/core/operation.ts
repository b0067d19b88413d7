import type * as z from 'zod'
import { memoizeBySettings, type Reliance, type Setting, type Settings } from './assumptions.ts'
import { successStatus, unknownFields } from './core-assumptions.ts'
import type { ErrorCode } from './error-kinds.ts'
import type { ErrorFormat, Refusal } from './errors.ts'
import { type FieldKit, fieldKit } from './fields.ts'
import type { Immutable, Json, JsonObject } from './json.ts'
import type { Chance, Label } from './random.ts'
import type { Caller, PrincipalKind } from './request/auth.ts'
import type { StreamBody } from './request/stream.ts'
import type { Row } from './state/commit.ts'
import type { Transaction } from './state/transaction.ts'
import type { NewEvent, ScheduledEvent } from './time/scheduler.ts'
import type { Tomorrow } from './tomorrow.ts'
import type { Treatment } from './webhooks/records.ts'

export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE' | 'PUT'

/** The zod schemas of an operation's input. An absent schema accepts anything. */
export interface Input {
  readonly query?: z.ZodType
  readonly body?: z.ZodType
}

/** The parameters that a path template names: `{ id: string }` for `/batches/{id}`. */
export type ParamsOf<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? { readonly [Key in Name]: string } & ParamsOf<Rest>
  : unknown

/** A part of an operation's input, parsed by its schema; `unknown` when it has no schema. */
export type Parsed<I extends Input, K extends keyof Input> = I[K] extends z.ZodType ? z.output<I[K]> : unknown

/**
 * The response of an operation. `body`: anything that serialises to JSON; undefined for none. `lines`: an NDJSON stream,
 * created while the client reads it; at an empty text, other work gets a turn.
 */
export interface Reply {
  /** Overrides the operation's success status. */
  readonly status?: number
  readonly body?: object
  /** The serialised body, when it is known already. */
  readonly text?: string
  readonly lines?: Iterable<string>
  /** The body as bytes, in place of the others. */
  readonly bytes?: Buffer
  /** The body in parts, in place of the others. */
  readonly stream?: StreamBody
  /** The Content-Type of `text` or `bytes`; JSON when absent. */
  readonly type?: string
  /** What is wrong with a response that is sent nevertheless; for the log. */
  readonly remark?: string
  readonly headers?: readonly (readonly [string, string])[]
}

/** The capabilities of every handler, of a request or of an event. A handler destructures those that it needs. */
export interface Scope {
  /** The transaction that everything here belongs to. */
  readonly tx: Transaction
  /** Virtual milliseconds since the Unix epoch; the same for the whole request or event. */
  readonly now: number
  /** The same instant as a timestamp. */
  readonly at: string
  readonly seed: number
  /** Name of the sandbox. */
  readonly sandbox: string
  readonly settings: Settings
  /** The control interface of this sandbox as an absolute URL, for URLs in responses. */
  readonly controlUrl: string
  /** The cause of all changes: the id of a request or of an event, or a word for anything else. */
  readonly cause: string
  /** The header of the request that has led to this, by way of events too; undefined without a valid one. */
  readonly traceparent: string | undefined
  readonly tomorrow: Tomorrow | undefined
  /** The next object id of this sandbox: 24 hexadecimal characters in order of creation. */
  newId(): string
  /** The next UUID of this sandbox. */
  newUuid(): string
  /** A stream of draws that depends on the seed and the labels alone. */
  chance(...labels: readonly Label[]): Chance
  /** Adds an event to the schedule. It replaces an event of the same kind about the same record. */
  schedule(event: NewEvent): void
  /** Removes the events of these kinds about a record from the schedule. */
  unschedule(ref: string, kinds: readonly string[]): void
  /**
   * How a new webhook for a receiver is treated; undefined: it is delivered as usual.
   * @param resource id of the record that it is about
   */
  treatmentOf(type: string, url: string, resource: string): Treatment | undefined
  /** Why no webhook may be sent to a URL, decided from the URL alone; undefined when no problem is known. */
  receiverProblem(url: string): string | undefined
}

/** The scope of a request's handler, with the facts about the request. */
export interface Request<I extends Input, Target> extends Scope {
  readonly params: Readonly<Record<string, string>>
  readonly query: Parsed<I, 'query'>
  readonly body: Parsed<I, 'body'>
  readonly caller: Caller
  /** The result of `find`. */
  readonly target: Target
  /** The text before `/v1` in the request's path: the path of a mount, then `/@name` where the path selects the sandbox. */
  readonly pathPrefix: string
  /** The request body as the client sent it, parsed. */
  readonly rawBody: Json | undefined
  /** The request itself: method, path and query as the client sent them, headers by lower-case name. */
  readonly call: {
    readonly method: string
    readonly path: string
    readonly query: Readonly<Record<string, string | readonly string[]>>
    readonly headers: Readonly<Record<string, string | undefined>>
  }
  /** Reads a setting, and notes that the response relies on its assumption unless the setting is given. */
  assume<T>(setting: Setting<T>): T
  /** Notes that the response relies on an assumption, unless all settings in `reliance` are given. */
  note(...reliance: Reliance): void
}

/** The parts of a request that `find` gets: the path and the caller, not the body. */
export type Finder = Pick<
  Request<Input, unknown>,
  'params' | 'caller' | 'tx' | 'now' | 'assume' | 'note' | 'settings'
>

/** An operation that polls a record. */
export interface Poll {
  /** The polled record, as `collection/id`. */
  readonly ref: (params: Readonly<Record<string, string>>) => string
  /** Notes one poll, in a separate transaction before the handler runs. */
  readonly progress: (scope: Scope, ref: string) => void
}

/** One operation of the service, as data. */
export interface Operation<I extends Input = Input, Target = unknown> {
  /** `resource.verb`, unique. */
  readonly name: string
  readonly method: Method
  /** Path template below the base URL: `/pages`, `/skills/{skill_id}/promote`. */
  readonly path: string
  /** One line for listings. */
  readonly summary: string
  /** Heading of the specification's section. */
  readonly section: string
  readonly errorFormat: ErrorFormat
  /** False for an endpoint that the specification names without a contract. */
  readonly contract: boolean
  readonly beta?: boolean
  /** The kind of key that may call; the other kind is refused with the given code. Absent: both may call. */
  readonly principal?: { readonly kind: PrincipalKind; readonly code: ErrorCode }
  /** True when the specification contains the permissions that a caller needs; otherwise they are assumed (U071). */
  readonly permissionShown?: boolean
  /** Bytes of the decoded body; 1 MiB when absent. */
  readonly bodyLimit?: number
  /** Fields of the body, or of the query, that are secrets: the request log never has their values. */
  readonly secrets?: readonly string[]
  /** Whether an `Idempotency-Key` header is honoured. */
  readonly idempotent?: boolean
  /** The success status: a number from the specification, or a setting. */
  readonly success: number | Setting<number>
  /** `application/x-ndjson` for the result stream; JSON when absent. */
  readonly media?: 'application/x-ndjson'
  /** Shape of the successful body, for the OpenAPI document and the tests of conformance. */
  readonly output?: (settings: Settings) => z.ZodType
  readonly input?: (fields: FieldKit, settings: Settings) => I
  /** Codes of its own refusals, in addition to those that follow from its declaration; for the OpenAPI document. */
  readonly refusals?: readonly ErrorCode[]
  /** The forms of path parameters that are not just any text, by name; for the OpenAPI document. */
  readonly pathPatterns?: Readonly<Record<string, RegExp>>
  /** Refuses ids in the path that are malformed. Runs before permissions are checked. */
  readonly checkPathIds?: (params: Readonly<Record<string, string>>) => void
  /**
   * The refusal for both a missing object and one that the caller may not access, when the specification makes no difference.
   * It replaces the refusal for a missing permission, so that a response does not reveal which of the two it was.
   */
  readonly missingOrForbidden?: (params: Readonly<Record<string, string>>) => Refusal
  /** Finds the object of the request by path and caller, or refuses. Runs before the body is validated (R123, T34). */
  readonly find?: (finder: Finder) => Target
  /** Set when a request polls a record that makes progress. */
  readonly poll?: Poll
  /** Set when a request reads results of a record. `lost`: number of finished items whose results were removed; else 0. */
  readonly results?: Pick<Poll, 'ref'> & { readonly lost: (record: Row, now: number) => number }
  readonly handle: (request: Request<I, Target>) => Reply
  /** The id of the stub that responds instead of the service, if there is one. */
  readonly stub?: string
  /** Chooses the operation that serves a request, where that does not depend on method and path alone. */
  readonly choose?: (call: Chosen) => AnyOperation
  /** Where a user has defined it: `file:line`. Absent for operations of the service. */
  readonly place?: string
  /** `bytes`: a body of any type, which is not parsed. */
  readonly accept?: 'bytes'
  /** Whether it always responds with 501, as only its name is known. */
  readonly isUnanswered?: true
  /** False: no key is needed. */
  readonly auth?: false
}

/** The parts of a request by which its operation can be chosen. */
export type Chosen = Pick<Request<Input, unknown>['call'], 'query' | 'headers'> & {
  readonly body: { readonly kind: string; readonly value?: unknown }
}

// biome-ignore lint/suspicious/noExplicitAny: a list of operations forgets each one's input types; its own handler keeps them.
export type AnyOperation = Operation<any, any>

/**
 * Declares an operation; the handler's types flow from the schemas. By default it has a contract, errors of the standard form,
 * and the status of successful operations with its method.
 * @example
 * const createPage = operation({ name: 'pages.create', method: 'POST', path: '/pages', ..., handle: ({ body }) => ({ body: ... }) })
 */
export function operation<I extends Input = Input, Target = undefined>(
  declared: Omit<Operation<I, Target>, Usual> & Partial<Pick<Operation, Usual>>,
): Operation<I, Target> {
  return { errorFormat: 'standard', contract: true, success: successStatus[declared.method], ...declared }
}

type Usual = 'errorFormat' | 'contract' | 'success'

/** The body of an operation as a client writes it. Fields that a setting may require are optional. */
export type BodyOf<O extends AnyOperation> =
  O extends Operation<infer I, infer _> ? WithOptionals<Immutable<z.input<NonNullable<I['body']>>>> : never

/** An object type whose fields may be left out where they may be undefined. */
export type WithOptionals<T> = {
  readonly [K in keyof T as undefined extends T[K] ? never : K]: T[K]
} & { readonly [K in keyof T as undefined extends T[K] ? K : never]?: T[K] }

/** The handler of one kind of scheduled events. */
export interface EventHandler {
  readonly kind: string
  /** One sentence for the reference: what the event does. */
  readonly description: string
  /** One sentence about an event that has changed its record. Default: the sentence with which it was scheduled. */
  readonly outcome?: string
  readonly handle: (scope: Scope, event: ScheduledEvent) => void
}

/** A problem inside a response: the error of a record or of a line, not of the request. */
export interface EmbeddedProblem {
  readonly code: string
  readonly title: string
  readonly status: number
  /** One sentence for the page of its type. */
  readonly description: string
}

/** Something that happens to a record of a resource: it is created, or it gets a status. */
export interface RecordEvent {
  /** `batch.completed`, unique. */
  readonly name: string
  readonly description: string
  /** The collection. */
  readonly table: string
  /** Null for the creation of a record. */
  readonly status: string | null
}

/** The records that scripts of scenarios can read and move. */
export interface Script {
  /** The collection. */
  readonly table: string
  /** A record as the responses of the API show it. */
  readonly show: (record: Row, at: Pick<Scope, 'now' | 'sandbox' | 'settings' | 'controlUrl'>) => JsonObject
  /** The interventions on a record: controls whose path has its id as `{id}`. */
  readonly moves: readonly AnyControl[]
  /** The fields of a scenario that are short forms of a setting: `pace`. */
  // biome-ignore lint/suspicious/noExplicitAny: settings of every value type; each checks its own value.
  readonly settingAliases: Readonly<Record<string, Setting<any>>>
}

/** A change of one record that the fault primitive `state` makes: `{"state": {"batch": "fail"}}`. */
export interface RecordFault<A> {
  /** The field of `state`. */
  readonly name: string
  readonly description: string
  readonly schema: (settings: Settings) => z.ZodType<A>
  /** `id`: the record to change; undefined when none is named. Does nothing when the record is in the wrong state. */
  readonly apply: (scope: Scope, id: string | undefined, argument: A) => void
}

// biome-ignore lint/suspicious/noExplicitAny: a list of moves forgets each one's argument; its own functions keep it.
export type AnyRecordFault = RecordFault<any>

/** One type of webhook. */
export interface WebhookType {
  readonly type: string
  /** One sentence for the reference: when it is sent. */
  readonly description: string
}

/** A condition of a record that time can be advanced to: `{"until": {"batch": "...", "status": "terminal"}}`. */
export interface Milestone<G> {
  /** The field of `until` that names the record. */
  readonly name: string
  /** The schema of the whole `until`. */
  readonly schema: () => z.ZodType<G>
  /** The record, as `collection/id`. */
  readonly ref: (goal: G) => string
  /**
   * The virtual instant at which it is reached, in milliseconds; now or earlier when it has been reached. Undefined while
   * another event about the record has to run first. Refuses when it cannot be reached.
   */
  readonly reachedAt: (scope: Scope, goal: G) => number | undefined
}

/** The argument of `authorize`. */
export interface AuthorizeRequest {
  readonly caller: Caller
  readonly operation: AnyOperation
  readonly tx: Transaction
  readonly settings: Settings
}

/** An intervention of a test from outside the API, declared like an operation. Its handler runs in one transaction. */
export interface Control<
  Verb extends Method = Method,
  Path extends string = string,
  I extends Input = Input,
  Output extends z.ZodType = z.ZodType,
> {
  readonly name: string
  readonly method: Verb
  /** Path template below `/__emulator`: `/batches/{id}/fail`. */
  readonly path: Path
  readonly summary: string
  /** Without a schema for the body, it must be empty or `{}`. Without one for the query, every parameter is unknown. */
  readonly input?: (settings: Settings) => I
  /** Shape of the response body; for a stream, that of one event. */
  readonly output: (settings: Settings) => Output
  /** Gets the body and the query as parsed by their schemas. */
  readonly handle: (
    scope: Scope,
    input: {
      readonly params: ParamsOf<Path>
      readonly body: Parsed<I, 'body'>
      readonly query: Parsed<I, 'query'>
    },
  ) => Immutable<z.output<Output>>
}

// biome-ignore lint/suspicious/noExplicitAny: a list of controls forgets each one's types; its own handler keeps them.
export type AnyControl = Control<any, any, any, any>

/** Declares an intervention; the handler's types flow from the path template and the schemas. */
export function control<
  const Verb extends Method,
  const Path extends string,
  I extends Input = Input,
  Output extends z.ZodType = z.ZodType,
>(declared: Control<Verb, Path, I, Output>): Control<Verb, Path, I, Output> {
  return declared
}

// biome-ignore lint/suspicious/noExplicitAny: a list of milestones forgets each one's goal; its own functions keep it.
export type AnyMilestone = Milestone<any>

/** The `collection/id` under which events refer to a record. */
export function refOf(collection: { readonly name: string }, record: Row): string {
  return `${collection.name}/${record.id}`
}

/** The id in a `collection/id`. */
export function idOf(ref: string): string {
  return ref.slice(ref.indexOf('/') + 1)
}

/** The input schemas of an operation under the settings in force. */
export const inputOf = memoizeBySettings(
  ({ input }: AnyOperation, settings): Input =>
    input?.(fieldKit(settings.get(unknownFields)), settings) ?? {},
)

/** The codes of the errors that an operation can respond with. */
export function codesOf(
  { path, principal, idempotent, contract, missingOrForbidden, refusals = [] }: AnyOperation,
  { query, body }: Input,
): ErrorCode[] {
  return [
    'unauthorized',
    ...(missingOrForbidden === undefined ? (['forbidden'] as const) : []),
    'rate_limit_exceeded',
    ...(query === undefined && body === undefined ? [] : (['validation_failed'] as const)),
    ...(path.includes('{') ? (['not_found'] as const) : []),
    ...(body !== undefined
      ? (['malformed_json', 'payload_too_large', 'unsupported_media_type'] as const)
      : []),
    ...(principal === undefined ? [] : [principal.code]),
    ...(idempotent === true ? (['idempotency_key_reused'] as const) : []),
    ...(contract ? [] : (['emulator_contract_unspecified'] as const)),
    ...refusals,
  ]
}
