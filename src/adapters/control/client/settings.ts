import type { Assumption } from '../../../core/assumptions.ts'
import type { Ask } from './ask.ts'
import type { List } from './views/list.ts'

/** The choices that are in force. */
export interface SettingsView {
  readonly object: string
  readonly strict: boolean
  /** Every setting by its dotted key. */
  readonly values: Readonly<Record<string, unknown>>
  /** Those that differ from the defaults. */
  readonly overrides: Readonly<Record<string, unknown>>
}

/** One thing that the specification leaves open, and what is done about it. */
export interface AssumptionView extends Assumption {
  /** The choices that it offers. */
  readonly settings: readonly {
    readonly key: string
    readonly description: string
    readonly default: unknown
    readonly value: unknown
  }[]
  /** How many answers of the request log rest on it. */
  readonly used: number
}

/** Choices where the specification leaves something open. */
export interface SandboxSettings {
  show(): Promise<SettingsView>
  /** Changes settings by their dotted keys: null goes back to the default. */
  change(changes: Readonly<Record<string, unknown>>): Promise<SettingsView>
  /** The assumptions of what the specification leaves open. */
  assumptions(): Promise<List<AssumptionView>>
}

export function settingsOver(ask: Ask): SandboxSettings {
  // That the overrides are an object, the route cannot say, since it strikes the secrets out of any value.
  return {
    show: async () => (await ask('GET /settings')) as SettingsView,
    change: async (changes) => (await ask('PATCH /settings', { body: changes })) as SettingsView,
    assumptions: () => ask('GET /assumptions'),
  }
}
