import type { StandardSchemaV1 } from '@standard-schema/spec'
import { noted } from '../adapters/scenarios/problem.ts'
import type { Json } from '../core/json.ts'
import type { ResponseDraft, VariantMatch } from '../core/scenarios/stub.ts'
import type { EndpointSchema } from './schema.ts'

/** The value that a schema returns; `unknown` for a JSON Schema. */
type OutputOf<S> = S extends StandardSchemaV1<infer _, infer Output> ? Output : unknown

/** An endpoint without a contract in the specification, as a user defines it. It has `handle`, `response` or `responses`. */
export interface Endpoint<
  Query extends EndpointSchema = EndpointSchema,
  Body extends EndpointSchema = EndpointSchema,
> {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** The path after `/v1`, with `{names}` for parameters. A path that has a contract is refused. */
  readonly path: string
  /** The name in fault rules, limits, log and coverage. Default: `notes.list` for `GET /notes`, and so on. */
  readonly name?: string
  readonly summary?: string
  /** Values of the query are texts: use a schema that converts them, such as `z.coerce.number()`. */
  readonly query?: Query
  /** A body that does not fit gets 400 with every wrong field. */
  readonly body?: Body
  /** A response that does not fit is sent, and reported in the log and in the explanation of the request. */
  readonly output?: EndpointSchema
  /** Whether an `Idempotency-Key` is honoured, as at the creation of batches. Default false. */
  readonly idempotent?: boolean
  /** Whether a key is needed. Default true. */
  readonly auth?: boolean
  /** `bytes`: any Content-Type; the body is a `Uint8Array` of at most 100 MiB. Default `json`. */
  readonly accept?: 'json' | 'bytes'
  /** Conditions as in the match of a fault rule. Of several definitions of one path, the one with the most that fit responds. */
  readonly match?: VariantMatch
  /** A synchronous function; it may run for 5 s. An error, or a refusal, leaves nothing of what it has written. */
  handle?(request: EndpointRequest<OutputOf<Query>, OutputOf<Body>>): EndpointResponse
  /** A response as data. `{"$request": "/body/text"}` in it is replaced by a part of the request. */
  readonly response?: ResponseDraft
  /** Responses that are given in turn, counted in each sandbox; the last one stays. */
  readonly responses?: readonly ResponseDraft[]
  /** Whether `responses` begin again after the last one. */
  readonly cycle?: boolean
}

/** The request that a handler gets. It is frozen. */
export interface EndpointRequest<Query = unknown, Body = unknown> {
  readonly method: string
  /** As the client sent it. */
  readonly path: string
  readonly params: Readonly<Record<string, string>>
  /** As its schema returns it. */
  readonly query: Query
  /** By lower-case name, without credentials. */
  readonly headers: Readonly<Record<string, string | undefined>>
  /** As its schema returns it. */
  readonly body: Body
  readonly caller: {
    readonly user_id: string | null
    readonly teamspace_id: string
    readonly organization_id: string
    readonly kind: 'user' | 'service'
  }
  /** Virtual instant, ISO 8601. */
  readonly at: string
  /** The next id of the sandbox: 24 hexadecimal characters. */
  newId(): string
  /** The next number in [0, 1) of a sequence that depends on the seed and the request. */
  chance(): number
  /** A collection: a built-in one, or one of your own, which need not be declared. */
  // biome-ignore lint/suspicious/noExplicitAny: only the user knows the fields of the records; a type parameter can name them.
  records<T extends object = any>(collection: string): Records<T>
  /** One page of the rows, in their order, by `limit`, `after` and `before` of the query, as the body of a list. */
  list(rows: readonly object[]): object
  /** Ends the request with an error in the format of its path. */
  refuse(status: number, code: string, detail: string): never
  readonly stream: {
    /** Server-sent events. */
    events(parts: readonly StreamPart[], options?: StreamOptions): EndpointResponse
    /** NDJSON. */
    lines(parts: readonly StreamPart[], options?: StreamOptions): EndpointResponse
    /** Texts or bytes. */
    chunks(parts: readonly StreamPart[], options?: StreamOptions): EndpointResponse
  }
}

/** Status (default 200), headers and body. A body that is a text or bytes is sent as it is, with the `content-type` of `headers`. */
export interface EndpointResponse {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
  readonly stream?: ResponseDraft['stream']
}

/** A part of a stream: at most 10,000 of them, and 10 MB. */
export interface StreamPart {
  /** The type of a server-sent event. */
  readonly event?: string
  readonly data: Json | object | Uint8Array
  /** The pause before the part, such as `250ms`; at most an hour. */
  readonly after?: string
}

interface StreamOptions {
  /** The clock of the pauses. Default `real`: real time if the clock of the sandbox runs, no pauses if it is frozen. */
  readonly clock?: 'real' | 'virtual'
}

/** The records of a collection. Reads see what the same call has written. Records are frozen. */
export interface Records<T extends object = Record<string, unknown>> {
  get(id: string): (T & { readonly id: string }) | undefined
  /** All of them, oldest first. */
  all(): readonly (T & { readonly id: string })[]
  /** Those for which `fits` is true, oldest first. */
  find(fits: (record: T & { readonly id: string }) => boolean): readonly (T & { readonly id: string })[]
  /** Writes a new record, with a new id if it has none. */
  insert(record: T & { readonly id?: string }): T & { readonly id: string }
  /** Replaces fields of a record. Throws when there is no such record. */
  update(id: string, changes: Partial<T>): T & { readonly id: string }
  /** @returns whether there was such a record */
  delete(id: string): boolean
  newId(): string
  /** The records of the teamspace of the caller; those that belong to no teamspace too. */
  visibleTo(caller: { readonly teamspace_id: string }): readonly (T & { readonly id: string })[]
}

/**
 * Defines an endpoint; the types of `query` and `body` follow from their schemas. It has no effect of its own: export it from a
 * file of the folder `endpoints`, or give it to `startEmulator({ endpoints: [...] })`.
 * @example
 * export default defineEndpoint({ method: 'GET', path: '/notes', handle: ({ records, list }) => ({ body: list(records('notes').all()) }) })
 */
export const defineEndpoint: <Query extends EndpointSchema, Body extends EndpointSchema>(
  endpoint: Endpoint<Query, Body>,
) => Endpoint = noted as never
