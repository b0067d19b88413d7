import type { RequestEffects } from '../../../../core/explain/effects.ts'
import type { StepTrace } from '../../../../core/explain/steps.ts'
import type { FaultTrace } from '../../../../core/faults/trace.ts'
import type { Issue, Json } from '../../../../core/json.ts'
import type { RequestCaller, RequestEntry } from './requests.ts'

/** What a rule about the rate of requests says. */
export interface QuotaTrace {
  readonly remaining: number
  /** Unix epoch second at which a place becomes free. */
  readonly reset: number
  /** Seconds. */
  readonly retry_after: number | null
}

// Written anew, and held against core's by the compiler: that one leads to schemas, which the package's types must not.
/** Why a request was answered as it was: its whole way, in the order in which a reader wants it. */
export interface RequestTrace extends RequestEffects {
  /** One sentence: the step that decided, and why. */
  readonly summary: string
  readonly request: {
    readonly id: string
    /** Virtual instant. */
    readonly at: string
    readonly method: string
    readonly path: string
    readonly query: Readonly<Record<string, string | readonly string[]>>
    /** Without those that carry credentials. */
    readonly headers: Readonly<Record<string, string | undefined>>
    /** Null when there was none, or it was not kept. */
    readonly body: Json
    readonly body_kept: boolean
    /** Length on arrival; null when it was not counted. */
    readonly body_bytes: number | null
  }
  readonly sandbox: {
    readonly name: string
    readonly chosen_by: RequestEntry['chosen_by']
    readonly description: string
  }
  readonly route: {
    readonly operation: string | null
    readonly method: string | null
    /** Template below `/v1`. */
    readonly path: string | null
    /** Id of the stub that answered; absent where the service itself did. */
    readonly stub?: string
    readonly params: Readonly<Record<string, string>>
    /** The operations that come nearest to a request that fits none. */
    readonly near_misses: readonly string[]
  }
  readonly steps: readonly StepTrace[]
  readonly caller: RequestCaller | null
  readonly limiter: {
    /** Teamspace and operation; null when the request never came so far as to ask for a place. */
    readonly key: string | null
    readonly limit: number
    readonly window_s: number | null
    readonly before: { readonly remaining: number } | null
    readonly after: QuotaTrace
    /** What the headers of the answer describe instead, where another rule refused. */
    readonly other_rule: (QuotaTrace & { readonly limit: number }) | null
    readonly description: string
  }
  readonly idempotency: {
    readonly outcome: RequestEntry['idempotency']
    readonly key: string | null
    readonly description: string
  }
  /** Every fault rule that the request was held against; of those that did not fire, the first hundred of a phase. */
  readonly faults: readonly FaultTrace[]
  readonly error: {
    readonly code: string
    readonly status: number
    readonly detail: string
    readonly mitigation: string | null
    /** The first hundred of `issues_total`. */
    readonly issues: readonly Issue[]
    readonly issues_total: number
  } | null
  /** What the specification leaves open and the answer rests on, with the choices as they were in force. */
  readonly assumptions: readonly {
    readonly id: string
    readonly open: string
    readonly decision: string
    readonly settings: readonly { readonly key: string; readonly value: unknown }[]
  }[]
  /** Heading of the section of the specification; null when no route matched. */
  readonly specification: string | null
}
