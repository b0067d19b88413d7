import { z } from 'zod'
import { type InputOf, list, listOf, type ShapeOf } from '../../../core/fields.ts'
import type { Sandbox } from '../../../core/sandboxes/sandbox.ts'
import { activeScenario, listedScenario, shownScenario } from '../../../core/scenarios/source.ts'
import type { ControlHost } from '../host.ts'
import { route } from '../route.ts'

/** Options of the start of a scenario. */
const scenarioStart = () =>
  z
    .strictObject({
      /** Whether the sandbox is reset first. Default false. */
      reset: z.boolean().default(false),
    })
    .prefault({})

export type ScenarioStart = NonNullable<InputOf<typeof scenarioStart>>

/** The scenarios of the emulator, and the one that is active on the sandbox. */
const scenarioList = () => listOf(listedScenario()).extend({ active: activeScenario().nullable() })

type ScenarioList = ShapeOf<typeof scenarioList>

/** The scripts of the scenarios folder, and which of them is active on a sandbox. */
export const scenarioRoutes = [
  route('GET /scenarios', {
    name: 'scenarios.list',
    summary: 'List the scenarios, and show the one that is active on the sandbox',
    returns:
      'Every script: whether it is valid, its problems by file and line, and its generation in force; active is the active scenario with the last error of its functions.',
    output: scenarioList,
    handle: async ({ host, sandbox }) => ({ body: await show(host, sandbox) }),
  }),
  route('POST /scenarios', {
    name: 'scenarios.refresh',
    unrecorded: true,
    summary: 'Load changed scripts at once, without waiting for the file watcher',
    returns: 'The same as GET, after the scripts are loaded.',
    output: scenarioList,
    handle: async ({ host, sandbox }) => {
      await host.scenarios.refresh()
      return { body: await show(host, sandbox) }
    },
  }),
  route('GET /scenarios/{name}', {
    name: 'scenarios.show',
    summary: 'Show one scenario with the text of its script',
    returns: 'The script as in the list, and its text; null for a scenario that is not in a file.',
    output: shownScenario,
    handle: async ({ host, sandbox, params }) => ({ body: await host.scenarios.show(sandbox, params.name) }),
  }),
  route('POST /scenarios/{name}/start', {
    name: 'scenarios.start',
    summary:
      'Start a scenario on the sandbox instead of the active one; with reset, the sandbox is reset first; a refused scenario changes nothing',
    returns: 'The active scenario.',
    input: () => ({ body: scenarioStart() }),
    output: activeScenario,
    actsLater: true,
    handle: async ({ host, sandbox, params, onBegin, body: { reset } }) => {
      const start = reset ? () => host.sandboxes.startOf(sandbox) : undefined
      return { body: await host.scenarios.start(sandbox, params.name, { start, onBegin }) }
    },
  }),
  route('POST /scenarios/stop', {
    name: 'scenarios.stop',
    summary:
      'Stop the active scenario: its faults, stubs, hooks and future steps are removed, and the settings restored; its other changes of the sandbox stay',
    returns: 'The name of the scenario that was active.',
    output: () => z.strictObject({ stopped: z.string() }),
    actsLater: true,
    handle: async ({ host, sandbox, onBegin }) => ({
      body: { stopped: await host.scenarios.stop(sandbox, onBegin) },
    }),
  }),
] as const

async function show({ scenarios }: ControlHost, sandbox: Sandbox): Promise<ScenarioList> {
  return { ...list(await scenarios.list(sandbox)), active: scenarios.active(sandbox) }
}
