import type { Provider } from './providers.ts'

/** What an external provider emits. Specification: Inbound provider events. */
export interface ProviderEvent {
  /** The provider, as records call it. */
  readonly source: Provider
  /** `ResourceName:eventType`. */
  readonly event: string
}

/** What decides whether a trigger fires. */
export interface FiringRule {
  readonly enabled: boolean
  readonly trigger_source: Provider
  readonly trigger_event: string
  readonly run_conditions: string | null
  readonly _emulator: { readonly condition_verdict: boolean }
}

/**
 * Whether an event fires a trigger. Conditions in natural language are not evaluated: the record holds their verdict
 * (U062). Specification: Inbound provider events.
 */
export function matchesEvent(trigger: FiringRule, { source, event }: ProviderEvent): boolean {
  if (!trigger.enabled) return false
  if (trigger.trigger_source !== source || trigger.trigger_event !== event) return false
  return trigger.run_conditions === null || trigger._emulator.condition_verdict
}
