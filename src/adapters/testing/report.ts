import type { ActiveScenario, RequestEntry, SandboxClient } from '../../index.ts'
import { isUnfired } from './fired-faults.ts'

/** Requests that a report tells of, the latest. */
const MAX_REQUESTS = 10

/**
 * What a failed test needs to know of its sandbox: the last requests and why each was answered as it was, the faults that nobody
 * met, and the last error of its scenario. Text of a few lines, made before the sandbox is removed. Never rejects: where there is
 * nothing to tell, it tells why.
 */
export function reportOn(sandbox: SandboxClient): Promise<string> {
  return gathered(sandbox).catch(
    (error: unknown) =>
      `The emulated service cannot tell what it has seen: ${error instanceof Error ? error.message : error}`,
  )
}

async function gathered(sandbox: SandboxClient): Promise<string> {
  const [clock, log, { matched }, faults, active] = await Promise.all([
    sandbox.clock.show(),
    sandbox.requests.list({ limit: MAX_REQUESTS }),
    sandbox.requests.count(),
    sandbox.faults.list(),
    sandbox.scenarios.active(),
  ])
  const reasons = await Promise.all(log.map((entry) => reasonsOf(sandbox, entry)))
  return [
    `The emulated service, as this test left it (sandbox ${sandbox.name}, ${clock.now}, rate ${clock.rate}):`,
    requestsTitle(log.length, matched),
    ...log.flatMap((entry, index) =>
      requestLines(entry, reasons[index] ?? []).map((line) => inSandbox(sandbox, line)),
    ),
    ...(clock.frozen === null ? [] : [`  ${clock.frozen}`]),
    ...neverFired(faults.filter(isUnfired).map(({ id }) => id)),
    ...scenarioLines(active),
  ].join('\n')
}

// What went well needs no explanation, and would hide what did not.
async function reasonsOf(
  sandbox: SandboxClient,
  { id, status, faults }: RequestEntry,
): Promise<readonly string[]> {
  if (status >= 100 && status < 400 && faults.length === 0) return []
  const { summary, error } = await sandbox.requests.explain(id)
  return error?.mitigation ? [summary, error.mitigation] : [summary]
}

function requestsTitle(shown: number, all: number): string {
  if (all === 0)
    return '  it received no request at all: does the client use sandbox.baseUrl and sandbox.apiKey?'
  return shown === all ? '  requests:' : `  the last ${shown} of ${all} requests:`
}

function requestLines(
  { id, method, path, status, faults }: RequestEntry,
  reasons: readonly string[],
): string[] {
  const what = `${method} ${path}`
  const response = status === 0 ? 'no answer' : String(status)
  const fired = faults.length === 0 ? '' : `  fault ${faults.join(', ')}`
  // A path to the explanation would lead nowhere: the report is read when the sandbox is gone.
  return [
    `    ${what}  ${response}${fired}  ${id}`,
    ...reasons.map((reason) => `      ${reason.replace(what, 'It')}`),
  ]
}

function neverFired(ids: readonly string[]): string[] {
  return ids.length === 0 ? [] : [`  faults that were armed and never fired: ${ids.join(', ')}`]
}

function scenarioLines(active: ActiveScenario | null): string[] {
  if (active === null) return []
  const { name, problem, last_error } = active
  return [
    ...(problem === null ? [] : [`  the scenario ${name} could not be reloaded: ${problem}`]),
    ...(last_error === null
      ? []
      : [`  the scenario ${name} failed at ${last_error.at}, ${last_error.ref}: ${last_error.message}`]),
  ]
}

/** A text about requests of one sandbox, without the prefix of its paths that only says which sandbox it is. */
export function inSandbox({ name }: SandboxClient, text: string): string {
  return text.replaceAll(`/@${name}/v1`, '/v1')
}

/** An error of a test, as its runner keeps it. */
export interface TestFailure {
  message: string
  stack?: string | undefined
}

/**
 * Puts a report behind the message of an error, in its stack as well: some reporters print the one, some the other. The lines of
 * the stack that name places stay at its end, where tools look for them.
 */
export function addReport(error: TestFailure, report: string): void {
  const { message, stack } = error
  error.message = `${message}\n\n${report}\n`
  if (stack === undefined) return
  const end = stack.indexOf(message) + message.length
  const place = stack.includes(message) ? end : stack.search(/\n\s+at /)
  error.stack =
    place === -1 ? `${stack}\n\n${report}\n` : `${stack.slice(0, place)}\n\n${report}\n${stack.slice(place)}`
}
