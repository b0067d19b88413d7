import type { ActiveScenario, ListedScenario } from '../core/scenarios/source.ts'
import { toggle } from '../emulator/option.ts'
import { call, sandboxCommand } from '../terminal/call-command.ts'
import { show, table } from '../terminal/print.ts'
import { unfiredLines } from './fault-commands.ts'

export const scenarioCommands = [
  call('scenario list', 'GET /scenarios', {
    description: 'List the scenarios, and show which one is active',
    lines: ({ data, active }) => [
      ...table(
        ['NAME', 'ORIGIN', 'STATE', 'DESCRIPTION'],
        data.map((entry) => [entry.name, entry.origin, stateOf(entry), entry.description]),
      ),
      ...data.flatMap(({ error }) => (error === null ? [] : error.split('\n'))),
      ...activeLines(active),
    ],
  }),
  call('scenario start', 'POST /scenarios/{name}/start', {
    description: 'Start a scenario on a sandbox, instead of the active one',
    args: { '<name>': 'name of its file, without the extension' },
    options: { reset: toggle('reset the sandbox to its starting state first') },
    body: (_, { reset }) => (reset ? { reset } : {}),
    lines: activeLines,
  }),
  sandboxCommand('scenario stop', {
    description: 'Stop the active scenario, and remove its faults, stubs and settings',
    run: async (ask, invocation) => {
      const { data } = await ask('GET /faults')
      const body = await ask('POST /scenarios/stop')
      const own = data.filter(({ source }) => source === `scenario:${body.stopped}`)
      const unfired = own.filter(({ fired }) => fired === 0).map(({ id }) => id)
      const lines = [`Scenario ${body.stopped} stopped.`, ...unfiredLines(unfired)]
      return show(invocation, { ...body, never_fired: unfired }, lines)
    },
  }),
]

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
