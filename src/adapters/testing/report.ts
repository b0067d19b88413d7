import type { ActiveScenario, RequestEntry, SandboxClient } from '../../index.ts'
import { isUnfired } from './fired-faults.ts'

/** The number of latest requests in a report. */
const MAX_REQUESTS = 10

/**
 * A report on the sandbox of a failed test, in a few lines: the last requests with the reasons for their responses, the faults
 * that never fired, and the last error of the scenario. Call it before the sandbox is removed. It never rejects: if there is
 * nothing to report, its text has the reason.
 */
export function reportOn(sandbox: SandboxClient): Promise<string> {
  return gathered(sandbox).catch(
    (error: unknown) =>
      `The report of the sandbox is not available: ${error instanceof Error ? error.message : error}`,
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

// Successful requests get no explanation: it would hide those of the failed ones.
async function reasonsOf(
  sandbox: SandboxClient,
  { id, status, faults }: RequestEntry,
): Promise<readonly string[]> {
  if (status >= 100 && status < 400 && faults.length === 0) return []
  const { summary, error } = await sandbox.requests.explain(id)
  return error?.mitigation ? [summary, error.mitigation] : [summary]
}

function requestsTitle(shown: number, all: number): string {
  if (all === 0) return '  it received no request: does the client use sandbox.baseUrl and sandbox.apiKey?'
  return shown === all ? '  requests:' : `  the last ${shown} of ${all} requests:`
}

function requestLines(
  { id, method, path, status, faults }: RequestEntry,
  reasons: readonly string[],
): string[] {
  const what = `${method} ${path}`
  const response = status === 0 ? 'no response' : String(status)
  const fired = faults.length === 0 ? '' : `  fault ${faults.join(', ')}`
  // No path to the explanation: the report is read after the sandbox is removed.
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

/** Removes the prefix with the name of the sandbox from the paths in a text: all of them have the same one. */
export function inSandbox({ name }: SandboxClient, text: string): string {
  return text.replaceAll(`/@${name}/v1`, '/v1')
}

/** An error of a test, as its runner keeps it. */
export interface TestFailure {
  message: string
  stack?: string | undefined
}

/**
 * Adds a report after the message of an error, also in its stack: some reporters print the message, some the stack. The stack
 * still ends with the lines that have places, where tools expect them.
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
