import type { Missed, RequestMatch } from '../../../../core/log/request-match.ts'
import type { Step } from '../../../../core/request/steps.ts'
import type { List } from './list.ts'

/** Who made a request: what the record of its key says, without the token. */
export interface RequestCaller {
  readonly key_id: string
  readonly kind: 'user' | 'service'
  readonly user_id: string | null
  readonly organization_id: string
  readonly teamspace_id: string
  readonly account_admin: boolean
  readonly permissions: readonly string[]
  /** Names of operations that the key is refused. */
  readonly denied: readonly string[]
}

/** One API request: what it was, and what became of it. */
export interface RequestEntry {
  readonly id: string
  /** Virtual instant. */
  readonly at: string
  readonly sandbox: string
  /** What chose the sandbox. */
  readonly chosen_by: 'path' | 'header' | 'token' | 'default'
  readonly method: string
  readonly path: string
  /** Null when no route matched. */
  readonly operation: string | null
  /** 0 for a request that a fault cut off before there was an answer. */
  readonly status: number
  /** The step that decided the answer: `handle` when it succeeded. */
  readonly decided: Step
  readonly caller: RequestCaller | null
  /** What the rate-limit headers of the answer said. */
  readonly admission: {
    readonly admitted: boolean
    readonly limit: number
    readonly remaining: number
    /** Unix epoch second. */
    readonly reset: number
    /** Seconds. */
    readonly retry_after: number | null
  }
  readonly idempotency: 'none' | 'fresh' | 'replay' | 'conflict'
  readonly idempotency_key: string | null
  readonly error: { readonly code: string; readonly detail: string } | null
  /** Items of the assumption assumptions that the answer rests on. */
  readonly assumed: readonly string[]
  /** Ids of the fault rules that fired. */
  readonly faults: readonly string[]
  /** Records that were changed, each as `collection/id`. */
  readonly changed: readonly string[]
  /** Path that explains it. */
  readonly explain: string
}

/** The log of API requests, as far as it was asked for. */
export interface RequestList extends List<RequestEntry> {
  /** How many fit, also those that were left out. */
  readonly matched: number
  /** How many the log can hold. */
  readonly capacity: number
  /** How many it has dropped. */
  readonly dropped: number
}

/** Which requests of the log are asked for; all that is given must hold. */
export interface RequestFilter {
  readonly operation?: string | undefined
  readonly method?: string | undefined
  /** A glob: `*` is any run of characters. */
  readonly path?: string | undefined
  /** A status such as 429, or a class such as `4xx`. */
  readonly status?: number | string | undefined
  readonly idempotency_key?: string | undefined
  /** A virtual instant, or the id of a request: those after it. */
  readonly since?: string | undefined
  /** The newest so many; 100 when left out, at most 100,000. */
  readonly limit?: number | undefined
}

/** Which requests are looked for, and from where on: a virtual instant, or the id of a request. */
export type RequestSearch = RequestMatch & { readonly since?: string | undefined }

/** How many there are to be: exactly so many, or at least, at most, or both. */
export interface RequestCount {
  readonly at_least?: number | undefined
  readonly at_most?: number | undefined
  readonly exactly?: number | undefined
}

/** Whether requests have come as expected. */
export interface RequestCheck {
  readonly passed: boolean
  /** How many matched. */
  readonly actual: number
  readonly expected: RequestCount
  /** Their ids. */
  readonly matched: readonly string[]
  /** Of a check that has not passed: the requests that come nearest to what is looked for. */
  readonly nearest?: readonly NearestRequest[]
  /** Of a wait that has not passed: whether its time was over, and why it ended in words. */
  readonly timed_out?: boolean
  readonly description?: string
}

/** A request that does not fit, and what it misses. */
export interface NearestRequest {
  readonly id: string
  readonly method: string
  readonly path: string
  readonly status: number
  readonly missed: readonly Missed[]
  /** Path that explains it. */
  readonly explain: string
}
