import { refuse } from '../../errors.ts'
import { type ApiKey, apiKeys, type Caller, type PrincipalKind } from '../../request/auth.ts'
import type { Exchange } from '../../request/exchange.ts'
import type { Sandbox } from '../../sandboxes/sandbox.ts'
import { allOf } from '../actions.ts'
import type { Decision } from '../decision.ts'

/**
 * What fired rules make of the key of a request: the caller that it acts as. Refuses with `unauthorized` when the key has
 * expired or is revoked; a revoked one is gone from the sandbox, whatever becomes of the request.
 */
export function actOnKey(sandbox: Sandbox, exchange: Exchange, caller: Caller, decision: Decision): Caller {
  let acting = caller
  for (const { actions, n } of decision.fired) {
    for (const { revoke, expire_now, expire_after_calls: calls, kind } of allOf(actions, 'auth')) {
      if (revoke === true) revokeKey(sandbox, exchange, caller)
      if (expire_now === true || (calls !== undefined && n > calls)) invalid('The key has expired.')
      if (kind !== undefined && kind !== acting.kind) acting = ofKind(sandbox, acting, kind)
    }
  }
  return acting
}

// In a transaction of its own: that of the request ends with the refusal.
function revokeKey(sandbox: Sandbox, exchange: Exchange, { key_id }: Caller): never {
  const scope = sandbox.scope(exchange.id)
  scope.tx.in(apiKeys).delete(key_id)
  exchange.commit = sandbox.commit(scope)
  return invalid('The key has been revoked.')
}

function invalid(detail: string): never {
  return refuse('unauthorized', {
    detail,
    mitigation: 'Send the request with another key.',
    headers: [['WWW-Authenticate', 'Bearer error="invalid_token"']],
  })
}

// A user-scoped key belongs to somebody: to whom the first such key of the teamspace belongs, who has business there.
function ofKind(sandbox: Sandbox, caller: Caller, kind: PrincipalKind): Caller {
  if (kind === 'service') return { ...caller, kind, user_id: null }
  const keys = [...sandbox.store.rows(apiKeys.name).values()] as ApiKey[]
  const ofUsers = keys.filter((key) => key.kind === 'user' && key.organization_id === caller.organization_id)
  const near = ofUsers.find(({ teamspace_id }) => teamspace_id === caller.teamspace_id) ?? ofUsers[0]
  return { ...caller, kind, user_id: near?.user_id ?? null }
}
