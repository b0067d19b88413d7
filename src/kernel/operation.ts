import type * as z from 'zod'
import type { Assumptions, Setting, Settings } from './assumptions.ts'
import type { Dialect } from './errors.ts'
import type { Decision } from './faults/decision.ts'
import { byFamily, type MagicValue, type Preset } from './faults/preset.ts'
import { generalPresets } from './faults/presets/index.ts'
import { type FieldKit, fieldKit } from './fields.ts'
import type { Json, JsonObject } from './json.ts'
import { unknownFields } from './open-items.ts'
import type { Chance, Label } from './random.ts'
import { apiKeys, type Caller, type PrincipalKind } from './request/auth.ts'
import type { AnyCollection } from './state/collection.ts'
import type { Row } from './state/commit.ts'
import type { Transaction } from './state/store.ts'
import type { NewEvent, ScheduledEvent } from './time/scheduler.ts'

export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE' | 'PUT'

/** The zod schemas of an operation's input. Members that are absent take anything. */
export interface Input {
  readonly query?: z.ZodType
  readonly body?: z.ZodType
}

type Parsed<I extends Input, K extends keyof Input> = I[K] extends z.ZodType ? z.output<I[K]> : unknown

/** What an operation answers. `body`: anything that serialises to JSON; undefined for none. `lines`: an NDJSON stream, made as the client reads. */
export interface Reply {
  /** Overrides the operation's success status. */
  readonly status?: number
  readonly body?: object
  readonly lines?: Iterable<string>
  readonly headers?: readonly (readonly [string, string])[]
}

/** What every handler, of a request or of an event, can do. It destructures what it needs. */
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
  /** What all this happens because of: the id of a request or of an event, or a word for anything else. */
  readonly cause: string
  /** The next object id of this world: 24 hexadecimal characters in order of creation. */
  newId(): string
  /** The next UUID of this world. */
  newUuid(): string
  /** A stream of draws that depends on the seed and the labels alone. */
  chance(...labels: readonly Label[]): Chance
  /** Puts an event into the schedule; it replaces one of the same kind about the same record. */
  schedule(event: NewEvent): void
  /** Takes the events of these kinds about a record out of the schedule. */
  unschedule(ref: string, kinds: readonly string[]): void
  /**
   * What the fault rules decide about a webhook that is about to be left for a subscriber; undefined where there are none.
   * It counts as a match of theirs. `resource`: id of the record that it is about.
   */
  webhookFaults(type: string, url: string, resource: string): Decision | undefined
}

/** What a request's handler has beyond the scope. */
export interface Request<I extends Input, Target> extends Scope {
  readonly params: Readonly<Record<string, string>>
  readonly query: Parsed<I, 'query'>
  readonly body: Parsed<I, 'body'>
  readonly caller: Caller
  /** What `find` returned. */
  readonly target: Target
  /** What stands before `/v1` in the request's path: empty, or `/@name` where the path selects the sandbox. */
  readonly pathPrefix: string
  /** The request body as the client sent it, parsed. */
  readonly rawBody: Json | undefined
  /** The request itself: method, path and query as they came, headers by lower-case name. */
  readonly call: {
    readonly method: string
    readonly path: string
    readonly query: Readonly<Record<string, string | readonly string[]>>
    readonly headers: Readonly<Record<string, string | undefined>>
  }
  /** Reads a setting and notes that the answer rests on its ledger item. */
  assume<T>(setting: Setting<T>): T
  /** Notes that the answer rests on a ledger item. */
  note(item: string): void
}

/** What `find` sees: the path and the caller, before anybody looks at the body. */
export type Finder = Pick<
  Request<Input, unknown>,
  'params' | 'caller' | 'tx' | 'now' | 'assume' | 'note' | 'settings'
>

/** What it means to poll. */
export interface Poll {
  /** The record polled, as `collection/id`. */
  readonly ref: (params: Readonly<Record<string, string>>) => string
  /** Notes one poll, in a transaction of its own before the answer is made. */
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
  readonly dialect: Dialect
  /** False for an endpoint that the specification names without a contract. */
  readonly contract: boolean
  readonly beta?: boolean
  /** Which keys may call; another kind is refused with the given code. */
  readonly principal?: { readonly kind: PrincipalKind; readonly code: 'mcp_oauth_requires_user_principal' }
  /** Bytes of the decoded body; 1 MiB when absent. */
  readonly bodyLimit?: number
  /** Members of the body, or of the query, that are secrets: the request log never has their values. */
  readonly secrets?: readonly string[]
  /** Whether an `Idempotency-Key` header is honoured. */
  readonly idempotent?: boolean
  /** Where the success status comes from: the specification (a number) or a setting. */
  readonly success: number | Setting<number>
  /** `application/x-ndjson` for the result stream; JSON when absent. */
  readonly media?: 'application/x-ndjson'
  /** Shape of the successful body, for the OpenAPI document and the tests of conformance. */
  readonly answer?: (settings: Settings) => z.ZodType
  readonly input?: (fields: FieldKit, settings: Settings) => I
  /** Path and permission: finds what the request is about, or refuses. Runs before the body is looked at (R123, T34). */
  readonly find?: (finder: Finder) => Target
  /** Set where a call polls something that makes progress. */
  readonly poll?: Poll
  readonly handle: (request: Request<I, Target>) => Reply
  /** Set where a stub answers in the place of the service: its id. */
  readonly stub?: string
}

// biome-ignore lint/suspicious/noExplicitAny: a list of operations forgets each one's input types; its own handler keeps them.
export type AnyOperation = Operation<any, any>

/**
 * Declares an operation; the handler's types flow from the schemas.
 * @example
 * const createPage = operation({ name: 'pages.create', method: 'POST', path: '/pages', ..., handle: ({ body }) => ({ body: ... }) })
 */
export function operation<I extends Input = Input, Target = undefined>(
  declared: Operation<I, Target>,
): Operation<I, Target> {
  return declared
}

/** What happens when a scheduled event is due. */
export interface EventHandler {
  readonly kind: string
  /** One sentence for the reference: what the event does. */
  readonly says: string
  readonly handle: (scope: Scope, event: ScheduledEvent) => void
}

/** A problem that stands inside an answer: the error of a record or of a line, not of the request. */
export interface EmbeddedProblem {
  readonly code: string
  readonly title: string
  readonly status: number
  /** One sentence for whoever follows its type. */
  readonly says: string
}

/** One room of the service: what it declares is all that doors and kernel know of it. */
export interface Resource {
  readonly name: string
  readonly operations: readonly AnyOperation[]
  readonly collections: readonly AnyCollection[]
  readonly events?: readonly EventHandler[]
  readonly assumptions?: Assumptions
  readonly problems?: (settings: Settings) => readonly EmbeddedProblem[]
  /**
   * Puts into the schedule what a record calls for that has come into the world from outside the API: a fixture, a hand
   * edit, the control interface. Called for every record written that way; the same record may come again.
   */
  readonly arm?: (scope: Scope, table: string, record: Row) => void
  /** Refuses callers who have no business in the teamspace of their key. Runs in `authorize`, for every operation. */
  readonly authorize?: (request: AuthorizeRequest) => void
  /** Interventions that the control API offers on records of this room. */
  readonly controls?: readonly Control[]
  /** What time can be advanced to. */
  readonly milestones?: readonly AnyMilestone[]
  /** Types of the webhooks that records of this room give rise to. */
  readonly notices?: readonly Notice[]
  /** What the fault primitive `state` can do to records of this room. */
  readonly moves?: readonly AnyMove[]
  /** Values of requests that stand for a fault, as test cards do with a payment provider; not under `--strict`. */
  readonly magic?: readonly MagicValue[]
  /** Ready-made faults about this room. */
  readonly presets?: readonly Preset[]
  /** What scenarios can have a hook on. */
  readonly happenings?: readonly Happening[]
  /** What scenarios can do with records of this room. */
  readonly script?: Script
}

/** Something that happens to records of a room: one comes to be, or comes to have a status. */
export interface Happening {
  /** `batch.completed`, unique. */
  readonly name: string
  readonly says: string
  /** The collection. */
  readonly table: string
  /** Null for a record that comes to be. */
  readonly status: string | null
}

/** Records as scripts of scenarios know them. */
export interface Script {
  /** What they call one: `batch`. */
  readonly word: string
  /** The collection. */
  readonly table: string
  /** One as the answers of the API show it. */
  readonly show: (record: Row, at: Pick<Scope, 'now' | 'sandbox'>) => JsonObject
  /** What can be done to one: interventions whose path has its id as `{id}`. */
  readonly moves: readonly Control[]
  /** The members of a scenario that are short for a setting: `pace`. */
  // biome-ignore lint/suspicious/noExplicitAny: settings of every value type; each checks its own value.
  readonly short: Readonly<Record<string, Setting<any>>>
}

/** A change of one record that the fault primitive `state` makes: `{"state": {"batch": "fail"}}`. */
export interface Move<A> {
  /** The member of `state`. */
  readonly name: string
  readonly says: string
  readonly schema: (settings: Settings) => z.ZodType<A>
  /** `id`: the record that is meant; undefined when nothing names one. Does nothing where the record is in the wrong state. */
  readonly apply: (scope: Scope, id: string | undefined, argument: A) => void
}

// biome-ignore lint/suspicious/noExplicitAny: a list of moves forgets each one's argument; its own functions keep it.
export type AnyMove = Move<any>

/** One type of webhook. */
export interface Notice {
  readonly type: string
  /** One sentence for the reference: when it is sent. */
  readonly says: string
}

/** Something about a record that time can be advanced to: `{"until": {"batch": "...", "status": "terminal"}}`. */
export interface Milestone<G> {
  /** The member of `until` that names the record. */
  readonly name: string
  /** All of `until`. */
  readonly schema: () => z.ZodType<G>
  /** The record, as `collection/id`. */
  readonly ref: (goal: G) => string
  /**
   * The virtual instant at which it is reached, at the latest now when it has been. Undefined while another event about the
   * record has to come first. Refuses when it never will be.
   */
  readonly reachedAt: (scope: Scope, goal: G) => number | undefined
}

/** What `authorize` sees. */
export interface AuthorizeRequest {
  readonly caller: Caller
  readonly operation: AnyOperation
  readonly tx: Transaction
}

/** An intervention from outside the API: a move that a test wants to make. */
export interface Control {
  readonly name: string
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** Path below `/__emulator`: `/batches/{id}/fail`. */
  readonly path: string
  readonly summary: string
  readonly body?: (settings: Settings) => z.ZodType
  readonly handle: (
    scope: Scope,
    input: { readonly params: Readonly<Record<string, string>>; readonly body: unknown },
  ) => JsonObject
}

// biome-ignore lint/suspicious/noExplicitAny: a list of milestones forgets each one's goal; its own functions keep it.
export type AnyMilestone = Milestone<any>

/** Everything that makes one service: the rooms joined. Built once, shared by all sandboxes. */
export interface Service {
  readonly resources: readonly Resource[]
  readonly operations: ReadonlyMap<string, AnyOperation>
  readonly collections: ReadonlyMap<string, AnyCollection>
  readonly events: ReadonlyMap<string, EventHandler>
  readonly milestones: readonly AnyMilestone[]
  /** Every type of webhook. */
  readonly notices: readonly Notice[]
  readonly moves: ReadonlyMap<string, AnyMove>
  readonly magic: readonly MagicValue[]
  /** The presets of the kernel and of every room. */
  readonly presets: ReadonlyMap<string, Preset>
  readonly happenings: ReadonlyMap<string, Happening>
  /** By the word for a record. */
  readonly scripts: ReadonlyMap<string, Script>
}

/** Joins rooms into a service; the keys, which the kernel itself needs, are always there. Throws when two rooms declare the same name. */
export function service(resources: readonly Resource[]): Service {
  const named = <T>(list: readonly T[], key: (each: T) => string): ReadonlyMap<string, T> => {
    const map = new Map(list.map((each) => [key(each), each]))
    if (map.size !== list.length) throw new Error(`declared twice: ${list.map(key).join(', ')}`)
    return map
  }
  return {
    resources,
    operations: named(
      resources.flatMap((room) => room.operations),
      (each) => each.name,
    ),
    collections: named([apiKeys, ...resources.flatMap((room) => room.collections)], (each) => each.name),
    events: named(
      resources.flatMap((room) => room.events ?? []),
      (each) => each.kind,
    ),
    milestones: resources.flatMap((room) => room.milestones ?? []),
    notices: resources.flatMap((room) => room.notices ?? []),
    moves: named(
      resources.flatMap((room) => room.moves ?? []),
      (each) => each.name,
    ),
    magic: resources.flatMap((room) => room.magic ?? []),
    presets: named(
      byFamily([...generalPresets, ...resources.flatMap((room) => room.presets ?? [])]),
      (each) => each.name,
    ),
    happenings: named(
      resources.flatMap((room) => room.happenings ?? []),
      (each) => each.name,
    ),
    scripts: named(
      resources.flatMap(({ script }) => script ?? []),
      (each) => each.word,
    ),
  }
}

/** Tells every room of a record that has come into the world from outside the API. */
export function armRecord(service: Service, scope: Scope, table: string, record: Row): void {
  for (const room of service.resources) room.arm?.(scope, table, record)
}

/** The `collection/id` under which events refer to a record. */
export function refOf(collection: { readonly name: string }, record: Row): string {
  return `${collection.name}/${record.id}`
}

/** The id in a `collection/id`. */
export function idOf(ref: string): string {
  return ref.slice(ref.indexOf('/') + 1)
}

/** The input schemas of an operation under the settings in force. */
export function makeInput(operation: AnyOperation, settings: Settings): Input {
  return operation.input?.(fieldKit(settings.get(unknownFields)), settings) ?? {}
}
