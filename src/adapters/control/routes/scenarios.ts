import * as z from 'zod'
import type { Sandbox } from '../../../core/sandboxes/sandbox.ts'
import type { ControlHost } from '../host.ts'
import { route } from '../route.ts'

const howToStart = () => z.strictObject({ reset: z.boolean().default(false) }).prefault({})

/** The scripts of the scenarios folder, and which of them is active on a sandbox. */
export const scenarioRoutes = [
  route({
    name: 'scenarios.list',
    method: 'GET',
    path: '/scenarios',
    summary: 'List the scenarios, and show the one that is active on the sandbox',
    answers:
      'Every script: whether it is valid, or what is wrong by file and line; the generation in force; and active, with the last error of its functions.',
    handle: async ({ host, sandbox }) => ({ body: await listOf(host, sandbox) }),
  }),
  route({
    name: 'scenarios.refresh',
    method: 'POST',
    path: '/scenarios',
    summary: 'Load at once what has changed of the scripts, without waiting until the watch sees it',
    answers: 'What GET answers, afterwards.',
    handle: async ({ host, sandbox }) => {
      await host.scenarios.refresh()
      return { body: await listOf(host, sandbox) }
    },
  }),
  route({
    name: 'scenarios.start',
    method: 'POST',
    path: '/scenarios/{name}/start',
    summary:
      'Start a scenario on the sandbox, in the place of the active one, or refuse it whole; with reset on its starting state',
    answers: 'The scenario as it is active.',
    body: howToStart,
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
    answers: 'The name of the scenario that was active.',
    handle: async ({ host, sandbox }) => ({ body: { stopped: await host.scenarios.stop(sandbox) } }),
  }),
] as const

async function listOf({ scenarios }: ControlHost, sandbox: Sandbox) {
  return { object: 'list', data: await scenarios.list(sandbox), active: scenarios.active(sandbox) }
}
