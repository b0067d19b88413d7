import type { ActiveScenario, ListedScenario } from '../../../kernel/scenario/listing.ts'
import type { Ask } from './ask.ts'
import type { List } from './views/list.ts'

/** The scenarios of the emulator, and the one that is active on the world. */
export interface ScenarioList extends List<ListedScenario> {
  readonly active: ActiveScenario | null
}

/** How a scenario is started. */
export interface ScenarioStart {
  /** Whether the world starts again first. Default: it stays as it is. */
  readonly reset?: boolean | undefined
}

/** Scripts that make a world do something. */
export interface WorldScenarios {
  list(): Promise<ScenarioList>
  /** Starts a scenario in the place of the active one, or refuses it whole. */
  start(name: string, options?: ScenarioStart): Promise<ActiveScenario>
  /** Stops the active scenario; what it has done to the world stays done. Rejects with `conflict` where none is active. */
  stop(): Promise<{ readonly stopped: string }>
  /** Loads at once what has changed of the scripts. */
  refresh(): Promise<ScenarioList>
}

export function scenariosOver(ask: Ask): WorldScenarios {
  return {
    list: () => ask('GET /scenarios'),
    start: (name, options) => ask('POST /scenarios/{name}/start', { params: { name }, body: options }),
    stop: () => ask('POST /scenarios/stop'),
    refresh: () => ask('POST /scenarios'),
  }
}
