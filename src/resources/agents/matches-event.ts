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

/** Whether an event is the one that a trigger waits for: the same provider and the same name, as it is written. */
export function concerns(trigger: FiringRule, { source, event }: ProviderEvent): boolean {
  return trigger.trigger_source === source && trigger.trigger_event === event
}

/**
 * Why a trigger does not fire on its event, in words; undefined when it does. Conditions in natural language are not
 * evaluated: the record holds their verdict (U062).
 */
export function obstacle({ enabled, run_conditions, _emulator }: FiringRule): string | undefined {
  if (!enabled) return 'The trigger is paused: enabled is false. The event is dropped, not kept for later.'
  if (run_conditions === null || _emulator.condition_verdict) return undefined
  return 'The run_conditions of the trigger do not hold: _emulator.condition_verdict of its record is false.'
}
