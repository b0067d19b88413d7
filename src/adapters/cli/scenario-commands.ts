import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import { command, listCommands, SANDBOX_OPTIONS, type SandboxInvocation } from './command.ts'
import { ask } from './control-client.ts'
import { unfiredLines } from './fault-commands.ts'
import { cell, columns, objectsOf, show } from './print.ts'

export const scenarioCommands = [
  ...listCommands(
    'scenario',
    'List the scenarios and say which is active',
    'List the scenarios, as scenario alone does',
    SANDBOX_OPTIONS,
    list,
  ),
  command({
    name: 'scenario start',
    description: 'Make a scenario the active one of a sandbox',
    args: [{ name: '<name>', description: 'name of its file, without the ending' }],
    options: [...SANDBOX_OPTIONS, 'reset'],
    run: async (invocation) => {
      const { args, options } = invocation
      const reset = options.reset ? { reset: true } : {}
      const path = `/scenarios/${encodeURIComponent(args[0] ?? '')}/start`
      const body = await ask(options, 'POST', path, reset)
      return show(invocation, body, activeLines(body))
    },
  }),
  command({
    name: 'scenario stop',
    description: 'Undo what the active scenario has put into force',
    options: SANDBOX_OPTIONS,
    run: async (invocation) => {
      const { data } = await ask(invocation.options, 'GET', '/faults')
      const body = await ask(invocation.options, 'POST', '/scenarios/stop')
      const own = objectsOf(data).filter(({ source }) => source === `scenario:${body.stopped}`)
      const unfired = own.filter(({ fired }) => fired === 0).map(({ id }) => cell(id))
      const lines = [`Scenario ${body.stopped} stopped.`, ...unfiredLines(unfired)]
      return show(invocation, { ...body, never_fired: unfired }, lines)
    },
  }),
]

async function list(invocation: SandboxInvocation): Promise<number> {
  const body = await ask(invocation.options, 'GET', '/scenarios')
  const scenarios = objectsOf(body.data)
  const rows = scenarios.map((entry) => [cell(entry.name), stateOf(entry), cell(entry.description)])
  const none = 'There are no scenarios. A file in the directory that --scenarios of start names is one.'
  return show(invocation, body, [
    ...(rows.length === 0 ? [none] : columns([['NAME', 'STATE', 'DESCRIPTION'], ...rows])),
    ...scenarios.flatMap(({ error }) => (typeof error === 'string' ? error.split('\n') : [])),
    ...activeLines(body.active),
  ])
}

function stateOf({ active, valid, generation }: JsonObject): string {
  const states = [
    ...(active === true ? ['active'] : []),
    ...(valid === true ? [] : [generation === null ? 'broken' : 'broken, an older version is in force']),
  ]
  return states.length === 0 ? 'ready' : states.join(', ')
}

/** Since when a scenario is active, and what has gone wrong in it. */
function activeLines(active: Json | undefined): string[] {
  if (!isObject(active)) return []
  const { name, started_at, problem, last_error } = active
  return [
    `${name} is active since ${started_at}.`,
    ...(typeof problem === 'string' ? [`  its newest version is not in force: ${problem}`] : []),
    ...(isObject(last_error)
      ? [`  ${last_error.ref} failed at ${last_error.at}: ${last_error.message}`]
      : []),
  ]
}
