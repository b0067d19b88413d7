import type { RequestEntry } from '../server/control/request-entry.ts'
import type { SandboxRequests } from './requests.ts'

/** A sandbox whose requests can be explained. */
interface Explaining {
  readonly name: string
  readonly requests: Pick<SandboxRequests, 'explain'>
}

/** A request on one line, and the reasons for its response. */
export interface ExplainedRequest {
  readonly line: string
  readonly reasons: readonly string[]
}

/** Requests for a report that is read after the sandbox is removed, so that paths have no name of a sandbox. */
export async function explainRequests(
  sandbox: Explaining,
  entries: readonly RequestEntry[],
): Promise<ExplainedRequest[]> {
  const reasons = await Promise.all(entries.map((entry) => reasonsOf(sandbox, entry)))
  return entries.map((entry, index) => {
    const { id, method, path, status, faults, cors } = entry
    const what = `${method} ${path}`
    const response = status === 0 ? 'no response' : String(status)
    const fired = faults.length === 0 ? '' : `  fault ${faults.join(', ')}`
    const blocked = cors === undefined ? '' : '  blocked by CORS'
    const own = withoutRepeated(entry, reasons[index] ?? [], reasons.slice(0, index))
    return {
      line: inSandbox(sandbox, `${what}  ${response}${fired}${blocked}  ${id}`),
      reasons: own.map((reason) => inSandbox(sandbox, reason.replace(what, 'It'))),
    }
  })
}

// Successful requests get no explanation: it would hide those of the failed ones.
async function reasonsOf(
  sandbox: Explaining,
  { id, status, faults, cors }: RequestEntry,
): Promise<readonly string[]> {
  if (status >= 100 && status < 400 && faults.length === 0)
    return cors === undefined ? [] : [`${cors.detail} ${cors.mitigation}`]
  const { summary, error } = await sandbox.requests.explain(id)
  return [summary, error?.mitigation, cors?.mitigation].filter((each) => typeof each === 'string')
}

/** The reasons of one request of a page, without those of an earlier one: all its requests have the same origin. */
function withoutRepeated(
  { cors }: RequestEntry,
  reasons: readonly string[],
  earlier: readonly (readonly string[])[],
): readonly string[] {
  const known = new Set(cors === undefined ? [] : earlier.flat())
  return reasons.filter((each) => !known.has(each))
}

/** Removes the prefix with the name of the sandbox from the paths in a text: all of them have the same one. */
export function inSandbox({ name }: Pick<Explaining, 'name'>, text: string): string {
  return text.replaceAll(`/@${name}/v1`, '/v1')
}
