import { callControlOver } from '../client/ask.ts'
import { type ExplainedRequest, explainRequests } from '../client/explained.ts'
import { requestsOver } from '../client/requests.ts'
import { annotation, harmless } from '../core/quoted.ts'
import { counted } from '../core/words.ts'
import type { RunningEmulator } from '../emulator/emulator.ts'
import { proxyVariable } from '../terminal/exec-child.ts'
import type { Environment } from '../terminal/options.ts'
import { isFailure } from '../terminal/request-line.ts'
import type { Tally } from '../terminal/tally.ts'

/** Maximum number of requests in the report of a failed run; a workflow of GitHub shows as many annotations for a step. */
const MAX_REFUSED = 10
/** More requests than any log has. */
const WHOLE_LOG = 100_000

/** The last requests that were refused in any sandbox that still exists, with their reasons. Undefined when none was refused. */
export async function refusalsOf(
  { sandboxes, control }: RunningEmulator,
  isWorkflow: boolean,
  env: Environment,
  { operations }: Pick<Tally, 'operations'>,
): Promise<string | undefined> {
  const explained: ExplainedRequest[] = []
  // Sandboxes that were deleted count, too.
  const outcomes = operations.flatMap((each) => Object.entries(each.outcomes))
  const sum = (counts: typeof outcomes) => counts.reduce((all, [, count]) => all + count, 0)
  const [total, refused] = [sum(outcomes), sum(outcomes.filter(([name]) => !/^[123]xx$/.test(name)))]
  for (const { sandbox } of sandboxes.list()) {
    const requests = requestsOver(callControlOver(control, sandbox.name))
    const entries = await requests.list({ limit: WHOLE_LOG })
    const failures = entries.filter(isFailure)
    const last = failures.slice(-MAX_REFUSED)
    for (const each of await explainRequests({ name: sandbox.name, requests }, last)) explained.push(each)
  }
  if (total === 0) {
    const proxy = proxyVariable(env)
    const likely = `${proxy} is set: a client that ignores NO_PROXY sends its requests to that proxy.`
    return `No request came to the emulator. Does the command read WORKSPACE_BASE_URL?${proxy ? ` ${likely}` : ''}`
  }
  if (refused === 0) return undefined
  const shown = explained.slice(-MAX_REFUSED)
  const title = `The emulator refused ${refused} of ${counted(total, 'request')}${refused > shown.length ? `; the last ${shown.length}` : ''}:`
  return [title, ...shown.flatMap(isWorkflow ? refusalAnnotation : linesOf)].map(harmless).join('\n')
}

const linesOf = ({ line, reasons }: ExplainedRequest) => [
  `  ${line}`,
  ...reasons.map((each) => `    ${each}`),
]

const refusalAnnotation = ({ line, reasons }: ExplainedRequest) =>
  annotation('error', line, reasons.length > 0 ? reasons : [line])
