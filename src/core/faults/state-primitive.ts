import type { Content, Exchange } from '../request/exchange.ts'
import type { HeaderList } from '../request/headers.ts'
import type { Admission } from '../request/rate-limiter.ts'
import type { Step } from '../request/steps.ts'
import type { Sandbox } from '../sandboxes/sandbox.ts'
import type { Treatment } from '../webhooks/records.ts'
import type { Decision, FiredAction } from './decision.ts'
import type { AtLeastOne, FaultPrimitive, ParametersOf, PrimitiveSchema } from './primitive.ts'

/** The actions of one primitive that have fired on a request. */
export interface Fault<P> {
  readonly sandbox: Sandbox
  readonly exchange: Exchange
  readonly decision: Decision
  /** In order; never empty. */
  readonly given: readonly FiredAction<P>[]
}

/** The rate-limit part of a response. */
export interface RatePart {
  readonly admission: Admission
  readonly headers: HeaderList
}

/** The points at which a primitive can act on the sandbox, in this order. Any of them may refuse the request. */
export interface StateHooks<P> {
  /** After `authenticate`: the caller is known. */
  readonly authenticate: (fault: Fault<P>) => void
  /** Before `rateLimit`. */
  readonly rateLimit: (fault: Fault<P>) => void
  /** Before `replay`. */
  readonly replay: (fault: Fault<P>) => void
  /** Before the handler, and before anything else is changed. */
  readonly passTime: (fault: Fault<P>) => void
  /** Before the handler. */
  readonly beforeHandler: (fault: Fault<P>) => void
  /** After the handler, or a replay. */
  readonly afterHandler: (fault: Fault<P>) => void
  /** Replaces the content of the handler or of a refusal; undefined keeps it. */
  readonly content: (fault: Fault<P>) => Content | undefined
  /** Changes the content before it is sent: that of the handler, of a refusal or of the hook `content`. */
  readonly shown: (fault: Fault<P>, content: Content) => Content
  /** The rate-limit part of the response. */
  readonly rate: (fault: Fault<P>, found: Admission) => RatePart | undefined
  /** The `Date` of the response, in milliseconds. */
  readonly date: (fault: Fault<P>, now: number) => number
  /** Changes the complete list of response headers. */
  readonly headers: (fault: Fault<P>, headers: HeaderList) => HeaderList
  /** How a webhook that a rule has fired on is delivered. */
  readonly webhook: (decision: Decision) => Treatment
  /** Whether the response waits until the webhooks that are due have been delivered. */
  readonly waitsForWebhooks: (decision: Decision) => boolean
}

/** A primitive that acts on the sandbox. */
export interface StatePrimitive<N extends string, Schema extends PrimitiveSchema>
  extends FaultPrimitive<N, Schema, AtLeastOne<StateHooks<ParametersOf<Schema>>>> {
  readonly kind: 'state'
  readonly step: (parameters: ParametersOf<Schema>) => Step
}
