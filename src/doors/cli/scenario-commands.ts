import { isObject, type Json, type JsonObject } from '../../kernel/json.ts'
import { ask } from './control-client.ts'
import { unfiredLines } from './fault-lines.ts'
import type { Invocation, SandboxInvocation, SCENARIO_START_OPTIONS } from './invocation.ts'
import { cell, columns, objectsOf, show } from './print.ts'

/** `scenario list`: the scenarios of the directory, what is wrong with those that are broken, and what the active one does. */
export async function list(invocation: SandboxInvocation): Promise<number> {
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

/** `scenario start`: makes a scenario the active one. */
export async function start(
  invocation: Invocation<(typeof SCENARIO_START_OPTIONS)[number]>,
): Promise<number> {
  const { args, options } = invocation
  const [name = ''] = args
  const asked = options.reset ? { reset: true } : {}
  const body = await ask(options, 'POST', `/scenarios/${encodeURIComponent(name)}/start`, asked)
  return show(invocation, body, activeLines(body))
}

/** `scenario stop`: takes back what the active scenario has put into force, and says which of its faults never fired. */
export async function stop(invocation: SandboxInvocation): Promise<number> {
  const { data } = await ask(invocation.options, 'GET', '/faults')
  const body = await ask(invocation.options, 'POST', '/scenarios/stop')
  const own = objectsOf(data).filter(({ source }) => source === `scenario:${body.stopped}`)
  const unfired = own.filter(({ fired }) => fired === 0).map(({ id }) => cell(id))
  const answer = { ...body, never_fired: unfired }
  return show(invocation, answer, [`Scenario ${body.stopped} stopped.`, ...unfiredLines(unfired)])
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
