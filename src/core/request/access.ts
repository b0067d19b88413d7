import { Refusal, refuse } from '../errors.ts'
import type { Sandbox } from '../sandboxes/sandbox.ts'
import { teamspaceHeader } from './auth.ts'
import type { Exchange } from './exchange.ts'

/** Sets the caller of the request, in the teamspace that a header may select. Refuses an unknown key with `unauthorized`. */
export function authenticate(sandbox: Sandbox, exchange: Exchange): void {
  const { headers } = exchange.call
  const caller = sandbox.authenticator.identifyCall(exchange.call, exchange.settings)
  const header = exchange.settings.get(teamspaceHeader)
  const chosen = header === null ? undefined : headers[header.toLowerCase()]
  exchange.ownTeamspace = caller.teamspace_id
  exchange.caller = chosen === undefined ? caller : { ...caller, teamspace_id: chosen }
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
export function mayCall(sandbox: Sandbox, exchange: Exchange): boolean {
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
  const { principal, name } = call.operation
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
