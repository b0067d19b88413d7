import { isStorageFailure, refuseInvalid } from '../../core/errors.ts'
import { nothing } from '../../core/fields.ts'
import type { Issue } from '../../core/json.ts'
import { controlUrlOf } from '../../core/sandboxes/name.ts'
import type { Sandbox } from '../../core/sandboxes/sandbox.ts'
import { runDueEvents } from '../../core/time/run-events.ts'
import type { ControlHost } from './host.ts'
import { check } from './input.ts'
import { type AnyControlRoute, type ControlReply, controlInput } from './route.ts'

/** What a call has brought, as it came. */
export interface Brought {
  readonly params: Readonly<Record<string, string>>
  readonly query: unknown
  readonly body: unknown
  readonly ifMatch?: string | undefined
  /** `http://host:port` that it came to; absent within the process. */
  readonly origin?: string
  /** Aborted when nobody waits for the response any more. */
  readonly gone: AbortSignal
}

/** Serves calls, over HTTP and from within the process. */
export interface Context {
  readonly host: ControlHost
  readonly routes: readonly AnyControlRoute[]
}

/**
 * Serves one call: what is due happens first, then what was brought is checked, then the route does its work, and what it
 * changed is as durable as the emulator promises before the reply is given. Rejects with a `Refusal`.
 */
export async function serveCall(
  { host, routes }: Context,
  { route, sandbox }: { readonly route: AnyControlRoute; readonly sandbox: Sandbox },
  { params, query, body, ifMatch, origin, gone }: Brought,
): Promise<ControlReply> {
  if (route.withoutSandbox !== true && route.settles !== true) catchUp(sandbox, route)
  const input = understand(sandbox, route, body, query)
  const controlUrl = controlUrlOf(sandbox.name, origin ?? sandbox.origin)
  const reply = await route.handle({ host, sandbox, routes, params, ...input, ifMatch, controlUrl, gone })
  if (route.method !== 'GET') await sandbox.store.journal?.durable()
  return reply
}

// What waits for the disk keeps nobody from reading.
function catchUp(sandbox: Sandbox, { method }: AnyControlRoute): void {
  try {
    runDueEvents(sandbox)
  } catch (error) {
    if (method !== 'GET' || !isStorageFailure(error)) throw error
  }
}

/** Status of a reply that names none. */
export function replyStatus({ status, body, stream }: ControlReply): number {
  return status ?? (body === undefined && stream === undefined ? 204 : 200)
}

function understand({ settings }: Sandbox, route: AnyControlRoute, value: unknown, query: unknown) {
  const input = controlInput(route, settings)
  const issues: Issue[] = []
  const parsed = {
    query: check(input.query ?? nothing(), query, '/query', issues),
    body: route.method === 'GET' ? undefined : check(input.body ?? nothing(), value, '', issues),
  }
  refuseInvalid(issues)
  return parsed
}
