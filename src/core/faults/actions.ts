import type { Json, JsonObject } from '../json.ts'

/**
 * Where in one exchange something is done to it, in order. `accept`: the connection is there, no byte has been read.
 * `before-read` and `after-request-head`: method, path and headers are known, the body is not. `{request_bytes}`: so much of
 * the body has come. `before-handler` and `after-handler`: whether the effect exists is what sets them apart. Then the
 * answer: before and behind its head, at a place in its body, before the chunk that ends it, behind its last byte, and when
 * the connection has come to rest.
 */
export const STAGES = [
  'accept',
  'before-read',
  'after-request-head',
  'before-handler',
  'after-handler',
  'before-head',
  'after-head',
  'before-last-chunk',
  'end',
  'idle',
] as const

export type NamedStage = (typeof STAGES)[number]

/** A place in the body of the answer, as it is sent: so many bytes, a part of all, or so many whole lines, and some bytes more. */
export type BodyPlace = {
  readonly bytes?: number | undefined
  /** 0 to 1. */
  readonly fraction?: number | undefined
  /** Whole lines; of an NDJSON body, results. */
  readonly line?: number | undefined
  /** Negative: so many bytes before the place. */
  readonly plus_bytes?: number | undefined
}

export type Stage = NamedStage | { readonly request_bytes: number } | BodyPlace

/** Whether the handler runs: `none` leaves the sandbox as it is, `apply` makes the effect although the client never learns of it. */
export type Effects = 'none' | 'apply'

/** An answer instead of the handler's, in the error format of the operation unless it models a proxy in front of the service. */
export interface Respond {
  readonly status: number
  /** Machine-readable code of the error, one of the catalog; default: by the status. */
  readonly code?: string | undefined
  readonly detail?: string | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** JSON, or a text that is sent as it is. Absent: the error body of the error format for a status from 400 on, else none. */
  readonly body?: Json | undefined
  /** Default `none`. */
  readonly effects?: Effects | undefined
  /** The answer of something in front of the service: without rate-limit headers. */
  readonly proxy?: boolean | undefined
}

/** Changes the head of the answer. */
export interface HeadFault {
  readonly status?: number | undefined
  /** Reason phrase. */
  readonly reason?: string | undefined
  readonly version?: '1.0' | '1.1' | undefined
  /** Sets headers in any letter case, in the place of one of the same name. */
  readonly set?: Readonly<Record<string, string>> | undefined
  readonly remove?: readonly string[] | undefined
  /** Pairs behind our own headers, as they are given: letter case and repetitions are kept. */
  readonly raw?: readonly (readonly [string, string])[] | undefined
  /** The letter case of our own header names. */
  readonly case?: 'lower' | 'upper' | undefined
  /** Informational answers before it: status 100 to 199. */
  readonly interim?:
    | readonly { readonly status: number; readonly headers?: Readonly<Record<string, string>> | undefined }[]
    | undefined
}

/** The bodies that come with the emulator, for the primitive `body`. */
export const BODY_FIXTURES = ['html-error', 'html-login', 'empty'] as const

export type BodyFixture = (typeof BODY_FIXTURES)[number]

/** Changes the body of the answer, step by step in the order of the members here. */
export interface BodyFault {
  /** Default `apply`. With `none`, one of text, base64 and fixture has to say what is sent. */
  readonly effects?: Effects | undefined
  /** JSON Merge Patch over the body. */
  readonly patch?: Json | undefined
  /** JSON Pointers of members that become null, which a merge patch cannot say. */
  readonly nulls?: readonly string[] | undefined
  /** Instead of the body; its Content-Type is text/plain unless `type` says otherwise. */
  readonly text?: string | undefined
  readonly base64?: string | undefined
  readonly fixture?: BodyFixture | undefined
  /** Content-Type. */
  readonly type?: string | undefined
  /** Puts the JSON body into a member of this name of a new object. */
  readonly envelope?: string | undefined
  /** Writes these digits as they are at a place of the JSON text (JSON Pointer): a number that no double holds. */
  readonly raw_number?: { readonly pointer: string; readonly digits: string } | undefined
  /** Bytes in front. */
  readonly prefix_b64?: string | undefined
  /** What is left of it. Without `frame` the Content-Length is that of what is left. */
  readonly truncate?: BodyPlace | undefined
  /** Compresses it and says so. */
  readonly encode?: 'gzip' | 'br' | undefined
}

/** Changes the lines of an NDJSON body, in the order of the members here. Lines are counted from 0. */
export interface LinesFault {
  readonly order?: 'reverse' | 'shuffle' | readonly number[] | undefined
  /** Only these. */
  readonly keep?: readonly number[] | undefined
  readonly drop?: readonly number[] | undefined
  /** Each of these once more, right behind itself. */
  readonly dup?: readonly number[] | undefined
  /** Texts before these lines; at the number of lines, behind the last. An empty text is a blank line. */
  readonly insert?: readonly { readonly at: number; readonly text: string }[] | undefined
  readonly replace?: readonly { readonly at: number; readonly text: string }[] | undefined
  /** Default `\n`. */
  readonly eol?: '\n' | '\r\n' | '\r' | undefined
  /** Default true. */
  readonly final_newline?: boolean | undefined
  /** Leaves out everything behind a place, the Content-Length included. */
  readonly truncate?: BodyPlace | undefined
}

/** How the end of the body is told. */
export interface FrameFault {
  /** Default: as the answer would be sent. `close`: by the end of the connection. */
  readonly mode?: 'length' | 'chunked' | 'close' | undefined
  /** Added to the true length in Content-Length. */
  readonly length_delta?: number | undefined
  /** Bytes behind the end of the message. */
  readonly tail_b64?: string | undefined
}

/** When the bytes are sent: always real milliseconds. */
export interface PaceFault {
  readonly before_handler_ms?: number | undefined
  readonly before_head_ms?: number | undefined
  /** Where the body is split into pieces of their own: offsets in bytes, inside a character of several bytes, or between CR and LF. */
  readonly chunks?: readonly number[] | 'inside-multibyte' | 'between-cr-lf' | undefined
  /** Bytes of each piece, where no places are named. */
  readonly bytes?: number | undefined
  /** Between pieces; at least 5, which is what it takes for a client to see them apart. */
  readonly gap_ms?: number | undefined
  /** Kilobits per second. */
  readonly kbps?: number | undefined
  /** Nothing more is sent from here on. */
  readonly stall_at?: Stage | undefined
  /** The longest that all of this may take; then the rest is sent at once, and what was stalled ends. Default 60,000, at most 600,000. */
  readonly max_ms?: number | undefined
  /** `Expect: 100-continue` is never answered. */
  readonly no_continue?: boolean | undefined
}

/** Ends the connection. `pause`: it stays open and silent until the client, a reset or the end of the emulator ends it. */
export interface CutFault {
  readonly at: Stage
  readonly how: 'fin' | 'rst' | 'pause'
}

/** Bytes instead of the whole answer; the connection ends behind them. */
export interface RawFault {
  readonly base64: string
}

/** What the limiter says of a request, and in which form. */
export interface QuotaFault {
  readonly limit?: number | undefined
  readonly remaining?: number | undefined
  /** Seconds until the window frees a place. May be fractional, negative or larger than any clock. */
  readonly reset_in_s?: number | undefined
  /** Real length of the window in the IETF fields. */
  readonly window_s?: number | undefined
  /** Name of the policy in the IETF fields, and what the refusal speaks of: `org-concurrency`. */
  readonly policy?: string | undefined
  /** Refuses the request with 429. */
  readonly reject?: boolean | undefined
  /** `x-ratelimit`: the headers of every answer (default). `ietf`: RateLimit and RateLimit-Policy. `both`, or `none` of them. */
  readonly fields?: 'x-ratelimit' | 'ietf' | 'both' | 'none' | undefined
  /** How Retry-After is written; default `seconds`. `missing` leaves it out. */
  readonly retry_after?: 'seconds' | 'http-date' | 'missing' | { readonly text: string } | undefined
  /** How X-RateLimit-Reset is written; default `epoch-seconds`. */
  readonly reset_format?: 'epoch-seconds' | 'epoch-milliseconds' | 'seconds' | 'http-date' | 'iso' | undefined
}

/** What becomes of the Idempotency-Key of a request. */
export interface IdemFault {
  /** Refused with 409 as if the first request with this key were still under way. */
  readonly concurrent?: boolean | undefined
  /** Status of a key that comes again with another body. */
  readonly mismatch_status?: number | undefined
  /** What keys are unique in. Default `teamspace`: one teamspace and operation. */
  readonly scope?: 'teamspace' | 'organization' | 'api_key' | undefined
  /** What is remembered under the key is forgotten before anybody looks: the request is made once more. */
  readonly forget?: boolean | undefined
}

/** Names a record: its id, or where the request has it. */
export type RecordRef =
  | string
  | { readonly param: string }
  | { readonly query: string }
  /** JSON Pointer into the body of the request. */
  | { readonly body: string }

/**
 * Moves the sandbox. Members that are not named here are moves that the resources of the service declare (`batch`). Without a
 * record of its own, what the request is about is meant: the last parameter of its path, or what it has created.
 */
export interface StateFault {
  /** Default `before-handler`. Behind a creation, `after-handler` is where its record is. */
  readonly at?: 'before-handler' | 'after-handler' | undefined
  /** The record that is meant; for `batch` also `latest`. */
  readonly id?: RecordRef | undefined
  readonly delete?: { readonly collection: string; readonly id?: RecordRef | undefined } | undefined
  /** New records, as they are given, or so many made up. */
  readonly insert_rows?:
    | {
        readonly collection: string
        readonly records?: readonly JsonObject[] | undefined
        readonly count?: number | undefined
      }
    | undefined
  /** Results of the batch are removed. */
  readonly cleanup?: boolean | undefined
  /** The record is not found by the first so many requests that the rule counts. */
  readonly visible_after_reads?: number | undefined
  readonly [move: string]: unknown
}

/** What becomes of the key of a request. */
export interface AuthFault {
  /** Refused with 401: the key has expired. */
  readonly expire_now?: boolean | undefined
  /** Refused so from the call behind this many on, as the rule counts them. */
  readonly expire_after_calls?: number | undefined
  /** The request acts as one of a key of this kind. */
  readonly kind?: 'user' | 'service' | undefined
  /** The key's record is removed, so that it stays refused. */
  readonly revoke?: boolean | undefined
}

/** What becomes of time, at `before-handler`. */
export interface ClockFault {
  /** Shifts the Date of this answer: `-5m`, `2h`. The sandbox's clock stays right. */
  readonly offset?: string | undefined
  /** The clock stands still from here on. */
  readonly freeze?: boolean | undefined
  /** So much time passes, and all that is due happens, before the handler runs. */
  readonly advance?: string | undefined
  /** The same up to an instant; one that is over changes nothing. */
  readonly jump?: string | undefined
}

/** What becomes of a webhook: a rule for these matches `webhook`. With `when`, the rule matches a request instead. */
export interface DeliverFault {
  /** How often it is delivered in all, with the same id; 1 to 10. */
  readonly copies?: number | undefined
  /** `after-next`: behind the next one to the same subscriber, at most 60 s of virtual time later. */
  readonly order?: 'after-next' | undefined
  /** Virtual time by which its first attempt is late. */
  readonly delay?: string | undefined
  /** It is never sent. */
  readonly drop?: boolean | undefined
  /** The answer of the request is held until the webhooks that are due have been delivered. */
  readonly when?: 'before-response' | undefined
  /** Virtual times between attempts instead of the schedule's; an empty list: one attempt. */
  readonly retries?: readonly string[] | undefined
  /** Real milliseconds that an attempt may take. */
  readonly timeout_ms?: number | undefined
  /** Default `valid`. */
  readonly sign?: 'valid' | 'wrong' | 'missing' | undefined
  /** JSON Merge Patch over what is delivered. */
  readonly body?: Json | undefined
}

/** The thirteen primitives, and `respond`, which is short for a head and a body. */
export interface Primitives {
  readonly respond: Respond
  readonly head: HeadFault
  readonly body: BodyFault
  readonly lines: LinesFault
  readonly frame: FrameFault
  readonly pace: PaceFault
  readonly cut: CutFault
  readonly raw: RawFault
  readonly quota: QuotaFault
  readonly idem: IdemFault
  readonly state: StateFault
  readonly auth: AuthFault
  readonly clock: ClockFault
  readonly deliver: DeliverFault
}

export type PrimitiveName = keyof Primitives

/** One thing to do: an object with one member, the primitive. */
export type Action = { readonly [N in PrimitiveName]: { readonly [K in N]: Primitives[N] } }[PrimitiveName]

/** Those that act on bytes and connections; an adapter carries them out. */
export const WIRE_PRIMITIVES = ['head', 'body', 'lines', 'frame', 'pace', 'cut', 'raw'] as const

/** Those that act on the sandbox. */
export const STATE_PRIMITIVES = ['respond', 'quota', 'idem', 'state', 'auth', 'clock', 'deliver'] as const

/** The parameters of every action of one primitive, in order. */
export function allOf<N extends PrimitiveName>(
  actions: readonly Action[],
  name: N,
): readonly Primitives[N][] {
  return actions.flatMap((action) => (name in action ? [(action as Record<N, Primitives[N]>)[name]] : []))
}
