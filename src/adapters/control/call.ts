import { isStorageFailure, Refusal, refuseInvalid } from '../../core/errors.ts'
import { nothing } from '../../core/fields.ts'
import { IssueList } from '../../core/issue-list.ts'
import { controlUrlOf } from '../../core/sandboxes/name.ts'
import type { Sandbox } from '../../core/sandboxes/sandbox.ts'
import { runDueEvents } from '../../core/time/run-events.ts'
import type { ControlHost } from './host.ts'
import { check } from './input.ts'
import { type AnyControlRoute, type ControlReply, controlInput } from './route.ts'

/** The input of a call, before it is checked. */
interface RawCall {
  readonly params: Readonly<Record<string, string>>
  readonly query: unknown
  readonly body: unknown
  readonly ifMatch?: string | undefined
  /** `http://host:port` that received the call; absent for a call inside the process. */
  readonly origin?: string
  /** The path at which a user's server has mounted the emulator. */
  readonly mount?: string
  /** Aborted when the client does not wait for the response any more. */
  readonly gone: AbortSignal
}

/** The emulator and the routes that serve calls, over HTTP or inside the process. */
export interface Context {
  readonly host: ControlHost
  readonly routes: readonly AnyControlRoute[]
}

/** Serves one call: it runs due events, checks the input, and runs the handler of the route. Rejects with a `Refusal`. */
export async function serveCall(
  { host, routes }: Context,
  { route, sandbox }: { readonly route: AnyControlRoute; readonly sandbox: Sandbox },
  { params, query, body, ifMatch, origin, mount, gone }: RawCall,
): Promise<ControlReply> {
  const record = isRecorded(route)
    ? sandbox.recording.call({ route: `${route.method} ${route.path}`, params, query, body, ifMatch })
    : undefined
  try {
    // A replay does not repeat a call that is not recorded: during an advance, it must not change the order of events.
    const isUnseen = record === undefined && sandbox.running === 'advance'
    if (route.withoutSandbox !== true && route.runsDueEvents !== true && !isUnseen) catchUp(sandbox, route)
    const input = parseInput(sandbox, route, body, query)
    const controlUrl = controlUrlOf(sandbox.name, origin ?? sandbox.origin, mount)
    const onBegin = record?.begins
    const given = { host, sandbox, routes, params, ...input, ifMatch, controlUrl, gone, onBegin }
    const replying = route.handle(given)
    if (route.runsDueEvents !== true && route.actsLater !== true) onBegin?.()
    const reply = await replying
    record?.ended(replyStatus(reply), reply.body)
    return reply
  } catch (error) {
    record?.ended(0, error instanceof Refusal ? { code: error.code } : undefined)
    throw error
  }
}

const NOT_RECORDED: readonly string[] = ['requests.verify', 'requests.wait', 'scenarios.refresh']

// Snapshots and searches change nothing that requests depend on; a restored snapshot begins another recording.
function isRecorded({ method, name, withoutSandbox }: AnyControlRoute): boolean {
  if (method === 'GET' || withoutSandbox === true || name.startsWith('snapshots.')) return false
  return !NOT_RECORDED.includes(name)
}

// Reads still work when due events cannot be written to the disk.
function catchUp(sandbox: Sandbox, { method }: AnyControlRoute): void {
  try {
    runDueEvents(sandbox)
  } catch (error) {
    if (method !== 'GET' || !isStorageFailure(error)) throw error
  }
}

/** The status of a reply. Default: 204 without a body or stream, otherwise 200. */
export function replyStatus({ status, body, stream }: ControlReply): number {
  return status ?? (body === undefined && stream === undefined ? 204 : 200)
}

function parseInput({ settings }: Sandbox, route: AnyControlRoute, value: unknown, query: unknown) {
  const input = controlInput(route, settings)
  const issues = new IssueList()
  const parsed = {
    query: check(input.query ?? nothing, query, '/query', issues),
    body: route.method === 'GET' ? undefined : check(input.body ?? nothing, value, '', issues),
  }
  refuseInvalid(issues)
  return parsed
}
