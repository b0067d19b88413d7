import * as z from 'zod'
import { type InputOf, list, listOf, type ShapeOf } from '../../../core/fields.ts'
import type { Sandbox } from '../../../core/sandboxes/sandbox.ts'
import { activeScenario, listedScenario } from '../../../core/scenarios/source.ts'
import type { ControlHost } from '../host.ts'
import { route } from '../route.ts'

/** How a scenario is started. */
const scenarioStart = () =>
  z
    .strictObject({
      /** Whether the sandbox starts again first. Default: it stays as it is. */
      reset: z.boolean().default(false),
    })
    .prefault({})

export type ScenarioStart = NonNullable<InputOf<typeof scenarioStart>>

/** The scenarios of the emulator, and the one that is active on the sandbox. */
const scenarioList = () => listOf(listedScenario()).extend({ active: activeScenario().nullable() })

export type ScenarioList = ShapeOf<typeof scenarioList>

/** The scripts of the scenarios folder, and which of them is active on a sandbox. */
export const scenarioRoutes = [
  route({
    name: 'scenarios.list',
    method: 'GET',
    path: '/scenarios',
    summary: 'List the scenarios, and show the one that is active on the sandbox',
    returns:
      'Every script: whether it is valid, or what is wrong by file and line; the generation in force; and active, with the last error of its functions.',
    output: scenarioList,
    handle: async ({ host, sandbox }) => ({ body: await show(host, sandbox) }),
  }),
  route({
    name: 'scenarios.refresh',
    method: 'POST',
    path: '/scenarios',
    summary: 'Load at once what has changed of the scripts, without waiting until the watch sees it',
    returns: 'What GET answers, afterwards.',
    output: scenarioList,
    handle: async ({ host, sandbox }) => {
      await host.scenarios.refresh()
      return { body: await show(host, sandbox) }
    },
  }),
  route({
    name: 'scenarios.start',
    method: 'POST',
    path: '/scenarios/{name}/start',
    summary:
      'Start a scenario on the sandbox, in the place of the active one, or refuse it whole; with reset on its starting state',
    returns: 'The scenario as it is active.',
    input: () => ({ body: scenarioStart() }),
    output: activeScenario,
    handle: async ({ host, sandbox, params, body: { reset } }) => {
      const start = reset ? () => host.sandboxes.startOf(sandbox) : undefined
      return { body: await host.scenarios.start(sandbox, params.name, start) }
    },
  }),
  route({
    name: 'scenarios.stop',
    method: 'POST',
    path: '/scenarios/stop',
    summary:
      'Stop the active scenario: its faults, stubs, hooks and steps to come go, and its settings go back; what it has done to the sandbox stays done',
    returns: 'The name of the scenario that was active.',
    output: () => z.strictObject({ stopped: z.string() }),
    handle: async ({ host, sandbox }) => ({ body: { stopped: await host.scenarios.stop(sandbox) } }),
  }),
] as const

async function show({ scenarios }: ControlHost, sandbox: Sandbox): Promise<ScenarioList> {
  return { ...list(await scenarios.list(sandbox)), active: scenarios.active(sandbox) }
}
