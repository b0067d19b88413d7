import { explainRequests, inSandbox } from '../control-client/explained.ts'
import { findingCounts, findingLines, findingsFrom } from '../core/conduct/finding-lines.ts'
import { printable } from '../core/quoted.ts'
import { counted } from '../core/words.ts'
import type { ActiveScenario, RequestEntry, SandboxClient } from '../index.ts'
import { isUnfired } from './fired-faults.ts'

/** The number of latest requests, and of findings, in a report. */
const MAX_REQUESTS = 10
const MAX_FINDINGS = 5

/** More requests than any log has. */
const WHOLE_LOG = 100_000

/**
 * A report on the sandbox of a failed test, in a few lines: the last requests with the reasons for their responses, the faults
 * that never fired, the last error of the scenario, and the conduct of the client. Call it before the sandbox is removed. It
 * never rejects: if there is nothing to report, its text has the reason.
 */
export function reportOn(sandbox: SandboxClient): Promise<string> {
  return gathered(sandbox).catch(
    (error: unknown) =>
      `The report of the sandbox is not available: ${error instanceof Error ? error.message : error}`,
  )
}

async function gathered(sandbox: SandboxClient): Promise<string> {
  const [clock, all, faults, active, { findings }] = await Promise.all([
    sandbox.clock.show(),
    sandbox.requests.list({ limit: WHOLE_LOG }),
    sandbox.faults.list(),
    sandbox.scenarios.active(),
    sandbox.conduct(),
  ])
  const explained = await explainRequests(sandbox, all.slice(-MAX_REQUESTS))
  const unfired = faults.filter(isUnfired).map(({ id }) => id)
  // Notes are left out: a client may be right to cause them.
  const found = findingsFrom(findings, 'warning')
  const lines = [
    requestsTitle(all),
    ...explained.flatMap(({ line, reasons }) => [`  ${line}`, ...reasons.map((reason) => `    ${reason}`)]),
    ...(clock.frozen === null ? [] : [clock.frozen]),
    ...(unfired.length === 0 ? [] : [`faults that were armed and never fired: ${unfired.join(', ')}`]),
    ...(active === null ? [] : scenarioLines(active)),
    ...(found.length === 0 ? [] : [`conduct of the client: ${findingCounts(found)}`]),
    ...found
      .slice(0, MAX_FINDINGS)
      .flatMap(findingLines)
      .map((line) => inSandbox(sandbox, `  ${line}`)),
  ]
  const title = `The emulated service, as this test left it (sandbox ${sandbox.name}, ${clock.now}, rate ${clock.rate}):`
  return [title, ...lines.map((line) => `  ${printable(line)}`)].join('\n')
}

function requestsTitle(all: readonly RequestEntry[]): string {
  if (all.length === 0)
    return 'it received no request: does the client use sandbox.baseUrl and sandbox.apiKey?'
  const unreadable = all.filter(({ cors }) => cors !== undefined).length
  const refused = `the browser was not allowed to read ${counted(unreadable, 'response')}`
  const isWhole = all.length <= MAX_REQUESTS
  if (isWhole && unreadable === all.length) return `${refused}:`
  const title = isWhole ? 'requests' : `the last ${MAX_REQUESTS} of ${all.length} requests`
  return unreadable === 0 ? `${title}:` : `${title}, of which ${refused}:`
}

function scenarioLines({ name, problem, last_error: error }: ActiveScenario): string[] {
  return [
    ...(problem === null ? [] : [`the scenario ${name} could not be reloaded: ${problem}`]),
    ...(error === null ? [] : [`the scenario ${name} failed at ${error.at}, ${error.ref}: ${error.message}`]),
  ]
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
