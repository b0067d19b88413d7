import type * as z from 'zod'
import type { Settings } from '../assumptions.ts'
import type { Json } from '../json.ts'
import type { Step } from '../request/steps.ts'
import type { AnyCollection } from '../state/collection.ts'
import type { Clash } from '../strict-input.ts'

/** The parameters of every primitive, by its name. The file of a primitive adds its own. */
// biome-ignore lint/suspicious/noEmptyInterface: the declarations of all primitives are merged into it.
export interface Primitives {}

export type PrimitiveName = keyof Primitives

/** One thing to do: an object with one field, the primitive. */
export type Action = { readonly [N in PrimitiveName]: { readonly [K in N]: Primitives[N] } }[PrimitiveName]

/** When a rule is decided: as soon as the earliest of its actions needs it. */
export type Phase = 'accept' | 'head' | 'call' | 'webhook'

/** What the schemas of primitives know of the service. */
export interface KnownNames {
  readonly collections: ReadonlyMap<string, AnyCollection>
  readonly moves: ReadonlyMap<
    string,
    { readonly name: string; readonly schema: (settings: Settings) => z.ZodType }
  >
}

/**
 * A fault primitive: everything that there is about it. Rules are checked, described and carried out by the list of these
 * that the service is made with.
 */
export interface FaultPrimitive<N extends PrimitiveName, Effect> {
  /** The field of an action. */
  readonly name: N
  /** What it is for, in the reference. */
  readonly description: string
  /** Whether it acts on the bytes of an exchange, which an adapter does, or on the sandbox. */
  readonly kind: 'wire' | 'state'
  readonly schema: (service: KnownNames, settings: Settings) => z.ZodType<Primitives[N]>
  /** What it does. */
  readonly effect: Effect
  /** The step of the request in which it acts. Default: `log`, when the response is there. */
  readonly step?: (parameters: Primitives[N]) => Step
  /** When a rule that has it must be decided. Default: `call`, when the body is known. */
  readonly phase?: (parameters: Primitives[N]) => Exclude<Phase, 'webhook'>
  /** What a rule that fires does of it, where that is left to chance. @param draw from 0 to 1, always the same for a match */
  readonly draw?: (parameters: Primitives[N], draw: number) => Primitives[N]
  /** Whether it may keep an exchange from ending for a while. */
  readonly holds?: (parameters: Primitives[N]) => boolean
  /** How it ends a connection, where it does. */
  readonly ends?: (parameters: Primitives[N]) => 'reset' | 'closed' | undefined
  /** Whether the handler must not run, by all of it that has fired on a request. */
  readonly replacesHandler?: (all: readonly Primitives[N][]) => boolean
  /** What is wrong with it in a rule about requests or about webhooks. Default: it is done to requests alone. */
  readonly clash?: (parameters: Primitives[N], about: 'request' | 'webhook') => Clash | undefined
}

// biome-ignore lint/suspicious/noExplicitAny: a list of primitives forgets each one's parameters; its own functions keep them.
export type AnyPrimitive = FaultPrimitive<any, unknown>

export type PrimitiveMap = ReadonlyMap<string, AnyPrimitive>

/** An object with one or more of some fields. */
export type AtLeastOne<T> = { readonly [K in keyof T]: Pick<T, K> & Partial<T> }[keyof T]

/** The parameters that a schema accepts; nothing that has been accepted is changed. */
export type ParametersOf<Schema extends (...context: never[]) => z.ZodType> = Unchanging<
  z.output<ReturnType<Schema>>
>

type Unchanging<T> = Json extends T ? T : T extends object ? { readonly [K in keyof T]: Unchanging<T[K]> } : T

/** The parameters of every action of one primitive, in order. */
export function allOf<N extends PrimitiveName>(
  actions: readonly Action[],
  name: N,
): readonly Primitives[N][] {
  return actions.flatMap((action) => (name in action ? [(action as Record<N, Primitives[N]>)[name]] : []))
}

/** Actions with what is left to chance decided. @param draw from 0 to 1 */
export function drawnActions(
  actions: readonly Action[],
  primitives: PrimitiveMap,
  draw: () => number,
): readonly Action[] {
  if (!usesOf(actions, primitives).some(({ primitive }) => primitive.draw !== undefined)) return actions
  return actions.map((action) => {
    const drawn = Object.entries(action).map(([name, parameters]) => {
      return [name, primitives.get(name)?.draw?.(parameters, draw()) ?? parameters]
    })
    return Object.fromEntries(drawn) as Action
  })
}

/** An action with its primitive. */
export interface Use {
  readonly primitive: AnyPrimitive
  readonly parameters: unknown
}

/** Each action with its primitive. */
export function usesOf(actions: readonly Action[], primitives: PrimitiveMap): readonly Use[] {
  return actions.flatMap((action) =>
    Object.entries(action).flatMap(([name, parameters]) => {
      const primitive = primitives.get(name)
      return primitive === undefined ? [] : [{ primitive, parameters }]
    }),
  )
}
