import type { ScenarioSource } from '../../src/core/scenarios/source.ts'

/** The source of scenarios of an emulator that has no folder of scenarios. */
export const NO_SCENARIOS: ScenarioSource = {
  list: () => [],
  get: () => undefined,
  call: async (name) => {
    throw new Error(
      `There is no folder of scenarios, so that nothing of "${name}" can be called. Start with --scenarios DIR.`,
    )
  },
  onChange: () => () => {},
}
