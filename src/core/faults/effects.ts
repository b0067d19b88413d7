import type { Sandbox } from '../sandboxes/sandbox.ts'
import type { Decision } from './decision.ts'
import type { Primitives } from './primitive.ts'
import type { Fault, StateHooks } from './state-primitive.ts'

type AnyHooks = StateHooks<never>
type DecisionHook = 'webhook' | 'waitsForWebhooks'
export type ExchangeHook = Exclude<keyof AnyHooks, DecisionHook>
export type PlainHook = {
  [H in ExchangeHook]: ReturnType<AnyHooks[H]> extends void ? H : never
}[ExchangeHook]
export type MoreOf<H extends ExchangeHook> =
  Parameters<AnyHooks[H]> extends [unknown, ...infer More] ? More : []
export type Bindable<H extends ExchangeHook> = (
  fault: Fault<never>,
  ...more: MoreOf<H>
) => ReturnType<AnyHooks[H]>

/** The functions of the fired primitives for one hook. */
export function firedEffects<H extends keyof AnyHooks>(sandbox: Sandbox, decision: Decision, hook: H) {
  return [...sandbox.service.primitives.values()].flatMap(({ name, kind, effect }) => {
    const act = kind === 'state' ? (effect as Partial<AnyHooks>)[hook] : undefined
    const isFired = decision.actions.some((action) => name in action)
    return act === undefined || !isFired ? [] : [{ name: name as keyof Primitives, act: act as AnyHooks[H] }]
  })
}
