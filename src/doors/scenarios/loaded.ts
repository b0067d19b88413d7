import type { LoadedScenario as KernelScenario, ScenarioStep } from '../../kernel/scenario/source.ts'
import type { StepAction } from '../../kernel/scenario/step-actions.ts'
import type { StubDraft } from '../../kernel/scenario/stub.ts'
import type { ScenarioOutcome, ScenarioPace } from './define-scenario.ts'

/** A scenario in force, with everything that was checked. */
export interface LoadedScenario extends KernelScenario {
  readonly description?: string | undefined
  readonly pace?: ScenarioPace | undefined
  readonly outcomes?: readonly ScenarioOutcome[] | undefined
  readonly stubs: readonly StubDraft[]
  readonly timeline: readonly LoadedStep[]
}

export interface LoadedStep extends ScenarioStep {
  readonly do: 'function' | readonly StepAction[]
}

/** The data of a scenario, checked. */
export type ScenarioData = Omit<LoadedScenario, 'name' | 'file' | 'generation'>
