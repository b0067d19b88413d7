import type { RequestEntry, World } from '../../index.ts'
import { inWorld } from './in-world.ts'

/** Requests that a report tells of, the latest. */
const MOST_REQUESTS = 10

/**
 * What a failed test needs to know of its world: the last requests and why each was answered as it was, the faults that nobody
 * met, and the last error of its scenario. Text of a few lines, made before the world is removed. Never rejects: where there is
 * nothing to tell, it tells why.
 */
export function reportOn(world: World): Promise<string> {
  return gathered(world).catch(
    (error: unknown) =>
      `The emulated service cannot tell what it has seen: ${error instanceof Error ? error.message : error}`,
  )
}

async function gathered(world: World): Promise<string> {
  const [clock, log, faults, scenarios] = await Promise.all([
    world.clock.show(),
    world.requests.list({ limit: MOST_REQUESTS }),
    world.faults.list(),
    world.scenarios.list(),
  ])
  const summaries = await Promise.all(log.data.map((entry) => summaryOf(world, entry)))
  return [
    `The emulated service, as this test left it (world ${world.name}, ${clock.now}, rate ${clock.rate}):`,
    requestsTitle(log.data.length, log.matched),
    ...log.data.flatMap((entry, index) =>
      requestLines(entry, summaries[index]).map((line) => inWorld(world, line)),
    ),
    ...neverFired(faults.never_fired),
    ...scenarioLines(scenarios.active),
  ].join('\n')
}

// What went well needs no explanation, and would hide what did not.
async function summaryOf(world: World, { id, status, faults }: RequestEntry): Promise<string | undefined> {
  if (status >= 100 && status < 400 && faults.length === 0) return undefined
  return (await world.requests.explain(id)).summary
}

function requestsTitle(shown: number, all: number): string {
  if (all === 0) return '  it received no request at all: does the client use world.baseUrl and world.apiKey?'
  return shown === all ? '  requests:' : `  the last ${shown} of ${all} requests:`
}

function requestLines(
  { method, path, status, faults, explain }: RequestEntry,
  summary: string | undefined,
): string[] {
  const what = `${method} ${path}`
  const answer = status === 0 ? 'no answer' : String(status)
  const fired = faults.length === 0 ? '' : `  fault ${faults.join(', ')}`
  return [
    `    ${what}  ${answer}${fired}  ${explain}`,
    ...(summary === undefined ? [] : [`      ${summary.replace(what, 'It')}`]),
  ]
}

function neverFired(ids: readonly string[]): string[] {
  return ids.length === 0 ? [] : [`  faults that were armed and never fired: ${ids.join(', ')}`]
}

function scenarioLines(active: Awaited<ReturnType<World['scenarios']['list']>>['active']): string[] {
  if (active === null) return []
  const { name, problem, last_error } = active
  return [
    ...(problem === null ? [] : [`  the scenario ${name} could not be loaded anew: ${problem}`]),
    ...(last_error === null
      ? []
      : [`  the scenario ${name} failed at ${last_error.at}, ${last_error.ref}: ${last_error.message}`]),
  ]
}
