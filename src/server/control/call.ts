import type * as z from 'zod'
import { isStorageFailure, Refusal, refuseInvalid } from '../../core/errors.ts'
import { nothing } from '../../core/fields.ts'
import { IssueList } from '../../core/issue-list.ts'
import type { Issue } from '../../core/json.ts'
import type { ControlInput } from '../../core/record/recording.ts'
import { runWaiting } from '../../core/request/pipeline.ts'
import { controlUrlOf } from '../../core/sandboxes/name.ts'
import type { Sandbox } from '../../core/sandboxes/sandbox.ts'
import { runDueEvents } from '../../core/time/run-events.ts'
import { parsed, zodIssues } from '../../core/zod-issues.ts'
import { openSandbox } from '../selection.ts'
import type { ControlHost } from './host.ts'
import { type AnyControlRoute, type ControlReply, controlInput } from './route.ts'

/** A call, before its input is checked. */
interface RawCall extends Omit<ControlInput, 'route'> {
  readonly route: AnyControlRoute
  /** The name of the sandbox that it chooses. */
  readonly sandbox: string
  /** `http://host:port` that received the call; absent for a call inside the process. */
  readonly origin?: string
  /** The path at which a user's server has mounted the emulator. */
  readonly mount?: string
  /** Whether a page of another site sends it. Such a page may not create a sandbox. */
  readonly isForeign?: boolean
  /** Aborted when the client does not wait for the response any more. */
  readonly gone: AbortSignal
}

/** The emulator and the routes that serve calls, over HTTP or inside the process. */
export interface Context {
  readonly host: ControlHost
  readonly routes: readonly AnyControlRoute[]
}

/**
 * Serves one call: it opens the sandbox, runs due events, checks the input, and runs the handler of the route. Rejects with a
 * `Refusal`. @returns the response, and the sandbox whose time it has
 */
export async function serveCall({ host, routes }: Context, call: RawCall): Promise<[ControlReply, Sandbox]> {
  const { route, sandbox: name, params, query, body, ifMatch, origin, mount, isForeign, gone } = call
  const { sandboxes } = host
  if (route.opens === true) await sandboxes.openSaved(name)
  const onlyReads = route.method === 'GET'
  const sandbox =
    sandboxes.get(name) ??
    (route.withoutSandbox === true
      ? sandboxes.default
      : await openSandbox(sandboxes, name, { onlyReads, foreignPage: isForeign ? {} : undefined }))
  runWaiting(sandbox)
  const record = isRecorded(route)
    ? sandbox.recording.call({ route: `${route.method} ${route.path}`, params, query, body, ifMatch })
    : undefined
  try {
    // A replay does not repeat a call that is not recorded: during an advance, it must not change the order of events.
    const isUnseen = record === undefined && sandbox.advances.running === 'advance'
    if (route.withoutSandbox !== true && route.runsDueEvents !== true && !isUnseen) catchUp(sandbox, route)
    const input = parseInput(sandbox, route, body, query)
    const controlUrl = controlUrlOf(sandbox.name, origin ?? sandbox.origin, mount)
    const onBegin = record?.begins
    const given = { host, sandbox, routes, params, ...input, ifMatch, controlUrl, gone, onBegin }
    const replying = route.handle(given)
    if (route.runsDueEvents !== true && route.actsLater !== true) onBegin?.()
    const reply = await replying
    record?.ended(replyStatus(reply), reply.body)
    return [reply, sandbox]
  } catch (error) {
    record?.ended(0, error instanceof Refusal ? { code: error.code } : undefined)
    throw error
  }
}

// A recording has what may change the sandbox.
function isRecorded({ method, withoutSandbox, unrecorded }: AnyControlRoute): boolean {
  return method !== 'GET' && withoutSandbox !== true && unrecorded !== true
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
  const given = {
    query: check(input.query ?? nothing, query, '/query', issues),
    body: route.method === 'GET' ? undefined : check(input.body ?? nothing, value, '', issues),
  }
  refuseInvalid(issues)
  return given
}

/**
 * Checks a value against a schema and adds its issues to the list; an unknown field gets the nearest known name. Returns
 * undefined for an invalid value.
 */
function check(schema: z.ZodType, value: unknown, at: string, issues: IssueList): unknown {
  const result = parsed(schema, value)
  if (result.success) return result.data
  for (const issue of zodIssues(result.error, at)) issues.push(value === undefined ? NO_BODY : issue)
  return undefined
}

const NO_BODY: Issue = { pointer: '', detail: 'a JSON body is required' }
