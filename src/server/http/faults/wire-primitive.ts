import type {
  AtLeastOne,
  FaultPrimitive,
  ParametersOf,
  PrimitiveSchema,
  Primitives,
} from '../../../core/faults/primitive.ts'
import type { Draft, Head } from './draft.ts'
import type { Stop } from './stage.ts'

/** How the end of a body is marked, as set by all actions together. */
export type AskedFraming = Primitives['frame']

/** When the bytes are sent, as set by all actions together. */
export type AskedPace = Primitives['pace']

/** The hooks in which a primitive changes a response. Each is called for one action after the other, in their order. */
export interface WireHooks<P> {
  /** The bytes that are sent instead of the whole response; the connection ends after them. */
  readonly bytes: (parameters: P) => Buffer
  /** Changes the body; the framing follows. */
  readonly body: (draft: Draft, parameters: P) => Draft | Promise<Draft>
  readonly framing: (asked: AskedFraming, parameters: P) => AskedFraming
  /** Changes the head, framing headers included. */
  readonly head: (head: Head, parameters: P) => Head
  readonly pace: (pace: AskedPace, parameters: P) => AskedPace
  /** Where the exchange stops; undefined when it goes on to its end. */
  readonly stop: (parameters: P) => Stop | undefined
}

/** A primitive that acts on the bytes of an exchange. */
export interface WirePrimitive<N extends string, Schema extends PrimitiveSchema>
  extends FaultPrimitive<N, Schema, AtLeastOne<WireHooks<ParametersOf<Schema>>>> {
  readonly kind: 'wire'
  /** The parameter whose effect `fetch` does not show, and why. Default: it shows all effects. */
  readonly onlyOnSockets?: (
    parameters: ParametersOf<Schema>,
  ) => readonly [parameter: string, reason: string] | undefined
}
