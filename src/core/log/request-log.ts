import type { Settings } from '../assumptions.ts'
import type { Issue, Json } from '../json.ts'
import type { AnyOperation } from '../operation.ts'
import { LAST_NUMBER } from '../random.ts'
import type { Caller } from '../request/auth.ts'
import type { Admission, Admitted, Limit } from '../request/rate-limiter.ts'
import type { Step } from '../request/steps.ts'
import type { Commit } from '../state/commit.ts'
import type { KeptResponse } from './kept-response.ts'

/** What selected the sandbox of a request: the first of these that names one. */
export const CHOSEN_BY = ['path', 'header', 'token', 'default'] as const

export type ChosenBy = (typeof CHOSEN_BY)[number]

/** What is kept of a body: the parsed value, unless it is large. The bytes never are. */
export type KeptBody =
  | { readonly kind: 'none' }
  /** `bytes`: its length on arrival, undefined for a call that came without HTTP. */
  | { readonly kind: 'json'; readonly value: Json; readonly bytes: number | undefined }
  | { readonly kind: 'large'; readonly bytes: number | undefined }
  /** It could not be read: too large, not JSON, of another type. */
  | { readonly kind: 'refused' }

/** What is kept of a refusal. Not the error itself: its stack would hold the whole request, raw body included. */
export interface KeptError {
  readonly code: string
  readonly detail: string
  readonly mitigation: string | undefined
  /** The first hundred of them; a large body can be wrong in thousands of places. */
  readonly issues: readonly Issue[]
  /** How many there were. */
  readonly issueCount: number
  /** Whether the rate-limit headers of the response describe a rule of the handler's, not the operation's own window. */
  readonly byOtherRule: boolean
}

/** What a poll did before the response was made. */
export interface KeptPoll {
  readonly commit: Commit | undefined
  /** Number of events that ran because of it. */
  readonly events: number
}

/** How long a request took, in real milliseconds. The adapter that it came through fills it in. */
export interface RequestTiming {
  /** As `elapsedTime` counts. */
  readonly began: number
  /** From its head to the last byte of its response that was handed to the connection; undefined until then. */
  took: number | undefined
  /** Called then. */
  onOver: (() => void) | undefined
}

/**
 * What happened to one API request: the raw material of every explanation. It holds references to records; sentences and
 * differences are made on demand. Secrets are already left out here, so that no reader has to.
 */
export interface LogEntry {
  readonly id: string
  /** Virtual instant. */
  readonly at: string
  readonly method: string
  readonly path: string
  /** The text before `/v1` in the path: empty, or `/@name`. */
  readonly pathPrefix: string
  readonly chosenBy: ChosenBy
  /** Name of the operation; undefined when no route matched. */
  readonly operation: string | undefined
  /** The operation itself where a stub stood for the service. */
  readonly stubbed?: AnyOperation
  readonly params: Readonly<Record<string, string>>
  /** `METHOD /template` of the operations that come nearest to a request that fits none. */
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
  /** The step that had refused it before a fault answered instead. */
  readonly overruled: Step | undefined
  /** Number of due events that ran before the first step of the request. */
  readonly caughtUp: number
  readonly caller: Caller | undefined
  /** The window that the request asked for a place; undefined when it never came so far. */
  readonly window: KeptWindow | undefined
  /** What the rate-limit headers of the response say. */
  readonly admission: Admission
  readonly idempotency: 'none' | 'fresh' | 'replay' | 'conflict'
  readonly error: KeptError | undefined
  /** The assumptions that the response relies on, the universal ones too. */
  readonly assumed: readonly string[]
  /** Those that it also relies on, and never names. */
  readonly mentioned: readonly string[]
  /** The choices that were in force. */
  readonly settings: Settings
  readonly poll: KeptPoll | undefined
  /** What the request changed; references to the records, never copies. */
  readonly commit: Commit | undefined
  /** What the fault rules decided; undefined when there were none. */
  readonly faults: FaultReport | undefined
  /** Undefined for a request that came without HTTP. */
  readonly timing: RequestTiming | undefined
}

/** How far an exchange came that a fault was done to. */
export interface Sent {
  /** The last stage that was reached. */
  readonly stage: string
  /** Bytes of the response, its head included, that were handed to the connection. */
  readonly bytes: number
  /** `whole`; `cut` by the fault; `held` open and silent; `left` by the client. */
  readonly end: 'whole' | 'cut' | 'held' | 'left'
}

/** What a client has noticed of an exchange that a fault ended. */
export const EXCHANGE_ENDS = ['reset', 'closed', 'stalled', 'timed out', 'left'] as const

/** What fault rules did to a request, as the explanation of the request needs it. */
export interface FaultReport {
  /** The rules that fired, in the order in which they did. */
  readonly fired: readonly {
    readonly rule: { readonly id: string; readonly source: string; readonly preset: string | null }
    readonly n: number
  }[]
  /** What was decided about each rule. */
  readonly verdicts: readonly { readonly fired: boolean; readonly description: string }[]
  /** How far the exchange came, once an adapter has reported it. */
  readonly sent: Sent | undefined
  /** What the client has noticed of its end; null for a response that was sent whole. */
  readonly end: (typeof EXCHANGE_ENDS)[number] | null
  /** Which rules acted in a step, and how: `The fault rule a took part: quota.` Empty for none. */
  partIn(step: Step): string
  /** How far the response came, as a sentence; empty where no fault was done to its connection. */
  wayOf(): string
  /** Whether the rate-limit headers say what a rule says. */
  readonly tellsQuota: boolean
  /** Whether the response is that of a proxy, without rate-limit headers. */
  readonly isProxy: boolean
  /** What faults have changed because of the request, in order. */
  readonly moved: readonly { readonly step: Step; readonly commit: Commit }[]
}

/** A rate window as a request found it. */
export interface KeptWindow {
  readonly key: string
  readonly limit: Limit
  readonly admission: Admitted
}

/** A log at rest. */
export interface SavedLog {
  /** Oldest first. */
  readonly entries: readonly LogEntry[]
  readonly dropped: number
  readonly requests: number
}

/** The newest entries, oldest first; older ones are dropped and counted. */
export class RequestLog {
  readonly capacity: number
  #entries: LogEntry[] = []
  #first = 0
  #dropped = 0
  #requests = 0
  readonly #listeners = new Set<(entry: LogEntry) => void>()

  constructor(capacity = 1_000) {
    this.capacity = capacity
  }

  /** Number of entries that newer ones have displaced since the log was last emptied. */
  get dropped(): number {
    return this.#dropped
  }

  /** How many entries there are. */
  get size(): number {
    return this.#entries.length
  }

  /** Number of requests that have arrived since the sandbox began. */
  get requests(): number {
    return this.#requests
  }

  /** The number of a request that has arrived, counted from 1. */
  count(): number {
    // After the last number comes the first one again: its entry was dropped long ago.
    this.#requests = (this.#requests % LAST_NUMBER) + 1
    return this.#requests
  }

  add(entry: LogEntry): void {
    if (this.#entries.length < this.capacity) this.#entries.push(entry)
    else {
      this.#entries[this.#first]?.response?.leaveLog()
      this.#entries[this.#first] = entry
      this.#first = (this.#first + 1) % this.capacity
      this.#dropped += 1
    }
    for (const listener of this.#listeners) listener(entry)
  }

  /** Calls the listener for every new entry. @returns removes the listener */
  onEntry(listener: (entry: LogEntry) => void): () => void {
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
    for (const { response } of this.#entries) response?.share()
    return { entries: this.entries(), dropped: this.#dropped, requests: this.#requests }
  }

  /** Goes back to a log at rest, or to one without a past. */
  load({ entries, dropped, requests }: SavedLog = NO_PAST): void {
    this.clear()
    this.#entries = [...entries]
    this.#dropped = dropped
    this.#requests = requests
  }

  /** Forgets the entries; the count of requests goes on. */
  clear(): void {
    for (const { response } of this.#entries) response?.leaveLog()
    this.#entries = []
    this.#first = 0
    this.#dropped = 0
  }
}

const NO_PAST: SavedLog = { entries: [], dropped: 0, requests: 0 }
