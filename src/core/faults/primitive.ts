import type * as z from 'zod'
import type { Settings } from '../assumptions.ts'
import type { Json, JsonObject } from '../json.ts'
import type { Step } from '../request/steps.ts'
import type { AnyCollection } from '../state/collection.ts'
import type { Clash } from '../strict-input.ts'

/** The lists of primitives. Each list is declared as a part of it, so that a rule can name all primitives. */
// biome-ignore lint/suspicious/noEmptyInterface: the declarations of all primitives are merged into it.
export interface PrimitiveLists {}

/** The parameters of every primitive, by its name. */
export type Primitives = {
  readonly [Each in PrimitiveLists[keyof PrimitiveLists][number] as Each['name']]: ParametersOf<
    Each['schema']
  >
}

export type PrimitiveName = keyof Primitives

/** One action: an object with one field, named after its primitive. */
export type Action = { readonly [N in PrimitiveName]: { readonly [K in N]: Primitives[N] } }[PrimitiveName]

/** When a rule is decided: as soon as the earliest of its actions needs it. */
export type Phase = 'accept' | 'head' | 'call' | 'webhook'

/** The parts of the service that the schemas of primitives use. */
export interface KnownNames {
  readonly collections: ReadonlyMap<string, AnyCollection>
  readonly recordFaults: ReadonlyMap<
    string,
    { readonly name: string; readonly schema: (settings: Settings) => z.ZodType }
  >
}

/** Creates the schema of a primitive's parameters. */
export type PrimitiveSchema = (service: KnownNames, settings: Settings) => z.ZodType

/**
 * The complete definition of a fault primitive. Rules are checked, described and carried out with the list of these that the
 * service is created with.
 */
export interface FaultPrimitive<N extends string, Schema extends PrimitiveSchema, Effect> {
  /** The name of its field in an action. */
  readonly name: N
  /** Its purpose, for the reference. */
  readonly description: string
  /** `wire`: an adapter applies it to the bytes of an exchange. `state`: it acts on the sandbox. */
  readonly kind: 'wire' | 'state'
  readonly schema: Schema
  /** A use that is easy to change. Without `match`, its rule is about every request. */
  readonly example: { readonly match?: JsonObject; readonly parameters: ParametersOf<Schema> }
  /** The functions that carry it out, by hook. */
  readonly effect: Effect
  /** The step of the request in which it acts. Default: `log`, after the response is created. */
  readonly step?: (parameters: ParametersOf<Schema>) => Step
  /** When a rule that has it must be decided. Default: `call`, when the body is known. */
  readonly phase?: (parameters: ParametersOf<Schema>) => Exclude<Phase, 'webhook'>
  /** Fixes its random parameters when a rule fires. @param draw from 0 to 1, always the same for a match */
  readonly draw?: (parameters: ParametersOf<Schema>, draw: number) => ParametersOf<Schema>
  /** Whether it can hold an exchange open. */
  readonly holds?: (parameters: ParametersOf<Schema>) => boolean
  /** How it ends a connection; undefined when it does not. */
  readonly ends?: (parameters: ParametersOf<Schema>) => 'reset' | 'closed' | undefined
  /** Whether the handler must not run, given all its actions that fired on a request. */
  readonly replacesHandler?: (all: readonly ParametersOf<Schema>[]) => boolean
  /** Its error in a rule about requests or about webhooks. Default: it is only valid for requests. */
  readonly clash?: (parameters: ParametersOf<Schema>, about: 'request' | 'webhook') => Clash | undefined
  /** What it does that no client of this emulator can see. Default: clients see all of it. */
  readonly unseen?: (parameters: ParametersOf<Schema>) => Clash | undefined
}

// biome-ignore lint/suspicious/noExplicitAny: a list of primitives forgets each one's parameters; its own functions keep them.
export type AnyPrimitive = FaultPrimitive<string, any, unknown>

export type PrimitiveMap = ReadonlyMap<string, AnyPrimitive>

/** An object with one or more of some fields. */
export type AtLeastOne<T> = { readonly [K in keyof T]: Pick<T, K> & Partial<T> }[keyof T]

/** The parameters that a schema accepts, as a deeply readonly type. */
export type ParametersOf<Schema extends (...context: never[]) => z.ZodType> = Unchanging<
  z.output<ReturnType<Schema>>
>

type Unchanging<T> = Json extends T ? T : T extends object ? { readonly [K in keyof T]: Unchanging<T[K]> } : T

/** Actions with their random parameters fixed. @param draw from 0 to 1 */
export function drawnActions(actions: readonly Action[], primitives: PrimitiveMap, draw: () => number) {
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
