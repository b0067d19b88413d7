import type { ScenarioEntry } from './source.ts'

/** A function of a scenario, or an action of a step, that has failed. */
export interface ScenarioFailure {
  /** Virtual instant. */
  readonly at: string
  /** `scenario/name/index` for a step, `scenario/name/on/event` for a hook. */
  readonly ref: string
  readonly message: string
}

/** The scenario of one world. */
export interface ActiveScenario {
  readonly name: string
  readonly generation: number
  readonly started_at: string
  readonly hooks: readonly string[]
  /** Functions that are still to be called. */
  readonly pending_calls: number
  /** Why a newer version of its script could not take its place; null when nothing is in its way. */
  readonly problem: string | null
  /** The last failure since the start. */
  readonly last_error: ScenarioFailure | null
}

export interface ListedScenario extends Omit<ScenarioEntry, 'problems'> {
  /** What is wrong with the script as it is now, one `file:line` a line; null while nothing is. */
  readonly error: string | null
  readonly active: boolean
}
