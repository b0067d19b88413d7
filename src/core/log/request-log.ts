import { z } from 'zod'
import type { Settings } from '../assumptions.ts'
import type { ShapeOf } from '../fields.ts'
import type { Issue, Json } from '../json.ts'
import type { AnyOperation } from '../operation.ts'
import type { OwnResult } from '../record/own-result.ts'
import type { Caller } from '../request/auth.ts'
import type { Admission, FoundWindow } from '../request/rate-limiter.ts'
import type { Step } from '../request/steps.ts'
import type { Commit } from '../state/commit.ts'
import type { TomorrowKind } from '../tomorrow.ts'
import type { Evidence } from './evidence.ts'
import type { KeptResponse } from './kept-response.ts'

/** The sources that can select the sandbox of a request; the first that names one counts. */
export const CHOSEN_BY = ['path', 'header', 'token', 'default'] as const

export type ChosenBy = (typeof CHOSEN_BY)[number]

/** The kept part of a body: the parsed value, unless it is large. The bytes are never kept. */
export type KeptBody =
  | { readonly kind: 'none' }
  /** `bytes`: its length on arrival; undefined for a call without HTTP. */
  | { readonly kind: 'json'; readonly value: Json; readonly bytes: number | undefined }
  | { readonly kind: 'large'; readonly bytes: number | undefined }
  /** It could not be read: too large, not JSON, or of another type. */
  | { readonly kind: 'refused' }

/** The kept part of a refusal. Not the error itself: its stack would keep the whole request in memory, with its raw body. */
export interface KeptError {
  readonly code: string
  readonly detail: string
  readonly mitigation: string | undefined
  /** The first hundred issues; a large body can be wrong in thousands of places. */
  readonly issues: readonly Issue[]
  /** Number of all issues. */
  readonly issueCount: number
  /** Whether the rate-limit headers of the response describe a limit of the handler, not the window of the operation. */
  readonly byOtherRule: boolean
}

/** The effects of a poll before the response was created. */
export interface KeptPoll {
  readonly commit: Commit | undefined
  /** Number of events that ran because of it. */
  readonly events: number
}

/** How long a request took, in real milliseconds. The adapter of the request fills it in. */
export interface RequestTiming {
  /** Start of the request, as `elapsedTime` counts. */
  readonly began: number
  /** From its head to the last byte of its response that was handed to the connection; undefined until then. */
  took: number | undefined
  /** Called when `took` is set. */
  onOver: (() => void) | undefined
}

/** What the browser does with the response to a request of a web page. The adapter of the request fills it in. */
export interface CorsCheck {
  /** The header `Origin`; null when the browser sent none. */
  readonly origin: string | null
  /** Whether it is the preflight that a browser sends before a request of a page. */
  readonly isPreflight: boolean
  /** Why the page cannot read the response, and the fix; undefined when it can. */
  refusal: { readonly detail: string; readonly mitigation: string } | undefined
}

/**
 * The log entry of one API request: the raw data for every explanation. It has references to records; sentences and
 * differences are created on demand. Secrets are already left out here, so that readers need not do it.
 */
export interface LogEntry {
  readonly id: string
  /** Virtual instant. */
  readonly at: string
  readonly method: string
  readonly path: string
  /** The text before `/v1` in the path: the path of a mount, then `/@name`; empty without both. */
  readonly pathPrefix: string
  readonly chosenBy: ChosenBy
  /** Name of the operation; undefined when no route matched. */
  readonly operation: string | undefined
  /** The operation itself if it is not one of the service: of a stub, or of a user, whose definitions may have changed since. */
  readonly added: AnyOperation | undefined
  /** What is wrong with a response that was sent nevertheless. */
  readonly remark: string | undefined
  /** The kinds of changes by the setting `tomorrow`; undefined for none. */
  readonly tomorrow?: readonly TomorrowKind[] | undefined
  readonly params: Readonly<Record<string, string>>
  /** `METHOD /template` of the nearest operations, for a request that matched none. */
  readonly nearest: readonly string[]
  readonly query: Readonly<Record<string, string | readonly string[]>>
  /** Lower-case names; without those that carry credentials, and without `host`. */
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: KeptBody
  /** 0 for a request that a fault cut off before there was a response. */
  readonly status: number
  /** Undefined for a request that a fault cut off before there was one. */
  readonly response: KeptResponse | undefined
  /** The step that decided the response: `handle` when it succeeded. */
  readonly decided: Step
  /** The step that refused it before a fault replaced the response. */
  readonly overruled: Step | undefined
  /** Number of due events that ran before the first step of the request. */
  readonly caughtUp: number
  readonly caller: Caller | undefined
  /** Digest of the credential of a request without a known caller; undefined if it had none. */
  readonly credential?: string | undefined
  /** The rate window of the request; undefined if it did not reach the limiter. */
  readonly window: FoundWindow | undefined
  /** The values in the rate-limit headers of the response. */
  readonly admission: Admission
  readonly idempotency: 'none' | 'fresh' | 'replay' | 'conflict'
  readonly error: KeptError | undefined
  /** The assumptions that the response relies on, including the universal ones. */
  readonly assumed: readonly string[]
  /** Further assumptions that it relies on without naming them. */
  readonly mentioned: readonly string[]
  /** The settings at the time of the request. */
  readonly settings: Settings
  readonly poll: KeptPoll | undefined
  /** The changes by the request; references to the records, never copies. */
  readonly commit: Commit | undefined
  /** The decision of the fault rules; undefined when there were none. */
  readonly faults: FaultReport | undefined
  /** Undefined for a request without HTTP. */
  readonly timing: RequestTiming | undefined
  /** Undefined for a request that no web page of another origin has sent. */
  readonly cors: CorsCheck | undefined
  /** Undefined for a request without HTTP. */
  readonly evidence: Evidence | undefined
}

/** How far an exchange with a fault came. */
export const sentTrace = () =>
  z.strictObject({
    /** The last stage that was reached. */
    stage: z.string(),
    /** Bytes of the response, its head included, that were handed to the connection. */
    bytes: z.int(),
    /** `whole`; `cut` by the fault; `held` open and silent; `left` by the client. */
    end: z.enum(['whole', 'cut', 'held', 'left']),
  })

export type Sent = ShapeOf<typeof sentTrace>

/** How an exchange that a fault ended looks to the client. */
export const EXCHANGE_ENDS = ['reset', 'closed', 'stalled', 'timed out', 'left'] as const

/** The effects of fault rules on a request, for its explanation. */
export interface FaultReport {
  /** The rules that fired, in order. */
  readonly fired: readonly {
    readonly rule: { readonly id: string; readonly source: string; readonly preset: string | null }
    readonly n: number
  }[]
  /** How far the exchange came, once an adapter has reported it. */
  readonly sent: Sent | undefined
  /** How its end looks to the client; null for a response that was sent whole. */
  readonly end: (typeof EXCHANGE_ENDS)[number] | null
  /** How long it waited at a gate, from one virtual instant to another. */
  readonly gated?: { readonly from: number; readonly until: number } | undefined
  /** The rules that acted in a step, as a sentence: `The fault rule a took part: quota.` Empty for none. */
  partIn(step: Step): string
  /** How far the response came, as a sentence; empty if no fault acted on its connection. */
  wayOf(): string
  /** Whether a rule has set the rate-limit headers. */
  readonly setsQuota: boolean
  /** Whether the response is that of a proxy, without rate-limit headers. */
  readonly isProxy: boolean
  /** The changes by faults on the request, in order. */
  readonly moved: readonly { readonly step: Step; readonly commit: Commit }[]
}

/** The bodies of a request and of its response, whole. They are not kept. */
export interface WholeBodies {
  readonly request: Json | undefined
  /** Undefined for a stream, and for a response that faults have changed. */
  readonly response: object | undefined
  /** What an endpoint of the user has done. */
  readonly result?: OwnResult | undefined
}

/** Is called with each new entry. */
export type EntryListener = (entry: LogEntry, bodies: WholeBodies) => void

/** A saved log. */
export interface SavedLog {
  /** Oldest first. */
  readonly entries: readonly LogEntry[]
  readonly dropped: number
  readonly requests: number
}

/** Keeps the newest entries, 1,000 by default; older ones are dropped and counted. */
export class RequestLog {
  readonly capacity: number
  #entries: LogEntry[] = []
  #first = 0
  /** Number of entries that newer ones have replaced since the log was last emptied. */
  dropped = 0
  /** Number of requests that have arrived since the sandbox began. */
  requests = 0
  readonly #listeners = new Set<EntryListener>()

  constructor(capacity = 1_000) {
    this.capacity = capacity
  }

  /** Number of entries, at most `capacity`. */
  get size(): number {
    return this.#entries.length
  }

  /** Counts a request that has arrived. @returns its id */
  count(sandbox: string): string {
    this.requests += 1
    return requestId(sandbox, this.requests)
  }

  add(entry: LogEntry, bodies: WholeBodies = NO_BODIES): void {
    entry.response?.hold()
    if (this.#entries.length < this.capacity) this.#entries.push(entry)
    else {
      this.#entries[this.#first]?.response?.release()
      this.#entries[this.#first] = entry
      this.#first = (this.#first + 1) % this.capacity
      this.dropped += 1
    }
    for (const listener of this.#listeners) listener(entry, bodies)
  }

  /** Calls the listener for every new entry. @returns removes the listener */
  onEntry(listener: EntryListener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Oldest first. */
  entries(): LogEntry[] {
    return [...this.#entries.slice(this.#first), ...this.#entries.slice(0, this.#first)]
  }

  find(id: string): LogEntry | undefined {
    return this.#entries.find((entry) => entry.id === id)
  }

  save(): SavedLog {
    for (const { response } of this.#entries) response?.hold()
    return { entries: this.entries(), dropped: this.dropped, requests: this.requests }
  }

  /** Replaces the log with a saved one. Default: an empty log with a count of 0. */
  load({ entries, dropped, requests }: SavedLog = { entries: [], dropped: 0, requests: 0 }): void {
    for (const { response } of entries) response?.hold()
    this.clear()
    this.#entries = [...entries]
    this.dropped = dropped
    this.requests = requests
  }

  /** Removes the entries; the count of requests goes on. */
  clear(): void {
    for (const { response } of this.#entries) response?.release()
    this.#entries = []
    this.#first = 0
    this.dropped = 0
  }
}

const NO_BODIES: WholeBodies = { request: undefined, response: undefined }

/** The id of a request of a sandbox. @param number counted from 1 */
export function requestId(sandbox: string, number: number): string {
  return `${sandbox}-${String(number).padStart(6, '0')}`
}
