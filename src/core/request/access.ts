import { limitClock, pathKey } from '../core-assumptions.ts'
import { Refusal, refuse } from '../errors.ts'
import type { Sandbox } from '../sandboxes/sandbox.ts'
import { type Caller, teamspaceHeader } from './auth.ts'
import type { Exchange } from './exchange.ts'

/** Sets the caller of the request, in the teamspace that a header may select. Refuses an unknown key with `unauthorized`. */
export function authenticate(sandbox: Sandbox, exchange: Exchange): void {
  const { headers } = exchange.call
  const caller = callerOf(sandbox, exchange)
  const header = exchange.settings.get(teamspaceHeader)
  const chosen = header === null ? undefined : headers[header.toLowerCase()]
  exchange.ownTeamspace = caller.teamspace_id
  exchange.caller = chosen === undefined ? caller : { ...caller, teamspace_id: chosen }
}

function callerOf({ authenticator }: Sandbox, { call, settings }: Exchange): Caller {
  if (call.operation.auth !== false) return authenticator.identifyCall(call, settings)
  return authenticator.guessCall(call, settings) ?? NOBODY
}

/** The caller of a request without a known key, where none is needed. */
const NOBODY: Caller = {
  key_id: '',
  kind: 'service',
  user_id: null,
  organization_id: '',
  teamspace_id: '',
  account_admin: false,
  permissions: [],
  denied: [],
}

/** The key of the rate window that a request uses. */
export function windowKey(sandbox: Sandbox, exchange: Exchange): string {
  const { caller, ownTeamspace, call, settings } = exchange
  const { operation, path, pathPrefix } = call
  // A caller who may not act in a teamspace must not use up its windows either.
  const isTheirs = caller.teamspace_id === ownTeamspace || mayCall(sandbox, exchange)
  const teamspace = isTheirs ? caller.teamspace_id : ownTeamspace
  const own = path.slice(pathPrefix.length)
  const place = settings.get(pathKey) === 'template' ? operation.name : `${operation.method} ${own}`
  return `${teamspace} ${place}`
}

/** Takes a place in the rate window of the request, or refuses it with 429. Specification: Limits / Rate limits. */
export function rateLimit(sandbox: Sandbox, exchange: Exchange): void {
  const window = sandbox.limits.admit(windowKey(sandbox, exchange), exchange.call.operation.name)
  exchange.window = window
  const { limit, admission } = window
  if (admission.admitted) return
  const frozen = sandbox.clock.rate === 0 && exchange.settings.get(limitClock) === 'virtual'
  refuse('rate_limit_exceeded', {
    detail: `The limit of ${exchange.call.operation.name} in this teamspace is ${limit.limit} per ${limit.window / 1000} s.`,
    mitigation: frozen
      ? `The virtual clock is frozen, so waiting does not help: advance it with "workspace-emulator clock advance ${admission.retryAfter}s".`
      : `Wait ${admission.retryAfter} s, the value of Retry-After.`,
  })
}

/** Refuses a caller who may not call the operation. */
export function authorizeCall(sandbox: Sandbox, exchange: Exchange): void {
  const { operation, params } = exchange.call
  try {
    checkPermission(sandbox, exchange)
    if (operation.permissionShown !== true) exchange.mention('U071')
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== 'forbidden') throw error
    throw operation.missingOrForbidden?.(params).because(error) ?? error
  }
}

/** Whether the caller may call the operation. */
function mayCall(sandbox: Sandbox, exchange: Exchange): boolean {
  try {
    authorizeCall(sandbox, exchange)
    return true
  } catch (error) {
    if (error instanceof Refusal) return false
    throw error
  }
}

function checkPermission(sandbox: Sandbox, exchange: Exchange): void {
  const { caller, call, tx, settings } = exchange
  const { principal, name, auth } = call.operation
  if (auth === false) return
  if (principal !== undefined && principal.kind !== caller.kind) {
    refuse(principal.code, {
      detail: `${name} is only for ${principal.kind}-scoped keys; this is a ${caller.kind} key.`,
    })
  }
  if (caller.denied.includes(name)) {
    refuse('forbidden', {
      detail: `The key may not call ${name}: the field "denied" of its record lists it.`,
    })
  }
  for (const resource of sandbox.service.resources)
    resource.authorize?.({ caller, operation: call.operation, tx, settings })
}
