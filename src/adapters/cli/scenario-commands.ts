import type { ActiveScenario, ListedScenario } from '../../core/scenarios/source.ts'
import type { OwnCalls } from '../control/client/ask.ts'
import { callCommand } from './call-command.ts'
import { command, listCommands, SANDBOX_OPTIONS, type SandboxInvocation } from './command.ts'
import { controlOf } from './control-client.ts'
import { unfiredLines } from './fault-commands.ts'
import { cell, columns, show } from './print.ts'

export const scenarioCommands = [
  ...listCommands(
    'scenario',
    'List the scenarios, and show which one is active',
    'List the scenarios, the same as scenario alone',
    SANDBOX_OPTIONS,
    list,
  ),
  command({
    name: 'scenario start',
    description: 'Start a scenario on a sandbox, instead of the active one',
    args: [{ name: '<name>', description: 'name of its file, without the extension' }],
    options: [...SANDBOX_OPTIONS, 'reset'],
    run: async (invocation) => {
      const { args, options } = invocation
      const body = await controlOf(options)('POST /scenarios/{name}/start', {
        params: { name: args[0] ?? '' },
        body: options.reset ? { reset: true } : {},
      })
      return show(invocation, body, activeLines(body))
    },
  }),
  callCommand({
    name: 'scenario refresh',
    description: 'Load changed scripts at once',
    route: 'POST /scenarios',
    lines: scenarioLines,
  }),
  command({
    name: 'scenario stop',
    description: 'Stop the active scenario, and remove its faults, stubs and settings',
    options: SANDBOX_OPTIONS,
    run: async (invocation) => {
      const ask = controlOf(invocation.options)
      const { data } = await ask('GET /faults')
      const body = await ask('POST /scenarios/stop')
      const own = data.filter(({ source }) => source === `scenario:${body.stopped}`)
      const unfired = own.filter(({ fired }) => fired === 0).map(({ id }) => id)
      const lines = [`Scenario ${body.stopped} stopped.`, ...unfiredLines(unfired)]
      return show(invocation, { ...body, never_fired: unfired }, lines)
    },
  }),
]

async function list(invocation: SandboxInvocation): Promise<number> {
  const body = await controlOf(invocation.options)('GET /scenarios')
  return show(invocation, body, scenarioLines(body))
}

function scenarioLines(body: OwnCalls['GET /scenarios']['output']): string[] {
  const rows = body.data.map((entry) => [entry.name, entry.origin, stateOf(entry), cell(entry.description)])
  return [
    ...columns([['NAME', 'ORIGIN', 'STATE', 'DESCRIPTION'], ...rows]),
    ...body.data.flatMap(({ error }) => (error === null ? [] : error.split('\n'))),
    ...activeLines(body.active),
  ]
}

function stateOf({ active, valid, generation }: ListedScenario): string {
  const states = [
    ...(active ? ['active'] : []),
    ...(valid ? [] : [generation === null ? 'broken' : 'broken, an older version is in force']),
  ]
  return states.length === 0 ? 'ready' : states.join(', ')
}

/** The start of the active scenario, and its errors. */
function activeLines(active: ActiveScenario | null): string[] {
  if (active === null) return []
  const { name, started_at, problem, last_error } = active
  return [
    `${name} is active since ${started_at}.`,
    ...(problem === null ? [] : [`  its newest version is not in force: ${problem}`]),
    ...(last_error === null ? [] : [`  ${last_error.ref} failed at ${last_error.at}: ${last_error.message}`]),
  ]
}
