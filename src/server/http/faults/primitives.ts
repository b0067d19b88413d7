import { type Action, type AnyPrimitive, usesOf } from '../../../core/faults/primitive.ts'
import { body } from './body.ts'
import { cut } from './cut.ts'
import { frame } from './frame.ts'
import { head } from './head.ts'
import { lines } from './lines.ts'
import { pace } from './pace.ts'
import { raw } from './raw.ts'
import type { Stop } from './stage.ts'
import type { AskedPace, WireHooks } from './wire-primitive.ts'

/** The primitives that act on the bytes of an exchange. */
export const wirePrimitives = [head, body, lines, frame, pace, cut, raw] as const

declare module '../../../core/faults/primitive.ts' {
  interface PrimitiveLists {
    readonly wire: typeof wirePrimitives
  }
}

/**
 * The primitives for an emulator without a port. They refuse what the response of `emulator.fetch` cannot show, so that no test
 * passes because of a fault that has no effect.
 */
export const primitivesWithoutPort: readonly AnyPrimitive[] = wirePrimitives.map((primitive) => ({
  ...primitive,
  unseen: (parameters) => {
    const [parameter, reason] = primitive.onlyOnSockets?.(parameters as never) ?? []
    if (parameter === undefined) return undefined
    const message = `has no effect on emulator.fetch: ${reason}. Start the emulator with a port (without listen: false), and send the request there`
    return { path: [parameter], message }
  },
}))

const byName = new Map<string, AnyPrimitive>(wirePrimitives.map((primitive) => [primitive.name, primitive]))

type AnyHooks = WireHooks<never>
type Others<H extends keyof AnyHooks> =
  Parameters<AnyHooks[H]> extends [...infer First, never] ? First : never

/** The effects of some actions at one hook, in their order. */
export function wireEffects<H extends keyof AnyHooks>(actions: readonly Action[], hook: H) {
  return usesOf(actions, byName).flatMap(({ primitive, parameters }) => {
    const act = (primitive.effect as Partial<AnyHooks>)[hook] as
      | ((...given: [...Others<H>, never]) => ReturnType<AnyHooks[H]>)
      | undefined
    return act === undefined ? [] : [(...first: Others<H>) => act(...first, parameters as never)]
  })
}

/** All stops of some actions: cuts and pauses in their order, then stalls. */
export function stopsOf(actions: readonly Action[]): Stop[] {
  const stops = wireEffects(actions, 'stop').flatMap((act) => act() ?? [])
  return stops.toSorted((a, b) => Number(a.how === 'stall') - Number(b.how === 'stall'))
}

/** The pace that some actions set together. When two set the same field, the later one counts. */
export function paceOf(actions: readonly Action[]): AskedPace & { readonly max_ms: number } {
  const { max_ms = DEFAULT_MAX, ...pace } = wireEffects(actions, 'pace').reduce<AskedPace>(
    (pace, act) => act(pace),
    {},
  )
  return { ...pace, max_ms }
}

/** Maximum milliseconds of a pace without `max_ms`. */
const DEFAULT_MAX = 60_000
