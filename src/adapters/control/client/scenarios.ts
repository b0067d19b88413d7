import type { ActiveScenario, ListedScenario } from '../../../core/scenarios/source.ts'
import type { Ask } from './ask.ts'
import type { List } from './views/list.ts'

/** The scenarios of the emulator, and the one that is active on the sandbox. */
export interface ScenarioList extends List<ListedScenario> {
  readonly active: ActiveScenario | null
}

/** How a scenario is started. */
export interface ScenarioStart {
  /** Whether the sandbox starts again first. Default: it stays as it is. */
  readonly reset?: boolean | undefined
}

/** Scripts that make a sandbox do something. */
export interface SandboxScenarios {
  list(): Promise<ScenarioList>
  /** Starts a scenario in the place of the active one, or refuses it whole. */
  start(name: string, options?: ScenarioStart): Promise<ActiveScenario>
  /** Stops the active scenario; what it has done to the sandbox stays done. Rejects with `conflict` where none is active. */
  stop(): Promise<{ readonly stopped: string }>
  /** Loads at once what has changed of the scripts. */
  refresh(): Promise<ScenarioList>
}

export function scenariosOver(ask: Ask): SandboxScenarios {
  return {
    list: () => ask('GET /scenarios'),
    start: (name, options) => ask('POST /scenarios/{name}/start', { params: { name }, body: options }),
    stop: () => ask('POST /scenarios/stop'),
    refresh: () => ask('POST /scenarios'),
  }
}
