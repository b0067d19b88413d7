import { z } from 'zod'
import { refuse } from '../errors.ts'
import { intBetween } from '../fields.ts'
import { type ApiKey, apiKeys, type Caller, type PrincipalKind } from '../request/auth.ts'
import type { Exchange } from '../request/exchange.ts'
import type { Sandbox } from '../sandboxes/sandbox.ts'
import { someOf } from '../strict-input.ts'
import type { ParametersOf } from './primitive.ts'
import type { Fault, StatePrimitive } from './state-primitive.ts'

/** How the API key of a request is treated. */
export type AuthFault = ParametersOf<typeof schema>

function schema() {
  return someOf({
    /** Refuses with 401: the key has expired. */
    expire_now: z.boolean().optional(),
    /** Refuses in the same way after this number of calls, as the rule counts them; 0 to 1,000,000. */
    expire_after_calls: intBetween(0, 1_000_000).optional(),
    /** The request is handled as if its key were of this kind. */
    kind: z.enum(['user', 'service']).optional(),
    /** Removes the record of the key, so that later requests are refused, too. */
    revoke: z.boolean().optional(),
  })
}

export const auth: StatePrimitive<'auth', typeof schema> = {
  name: 'auth',
  kind: 'state',
  description: 'keys that expire, are revoked, or turn into another kind',
  schema,
  example: { parameters: { expire_after_calls: 2 } },
  step: () => 'authenticate',
  effect: { authenticate },
}

// A revoked key is removed from the sandbox, although the request itself is refused.
function authenticate({ sandbox, exchange, given }: Fault<AuthFault>): void {
  for (const { parameters, n } of given) {
    const { revoke, expire_now, expire_after_calls: calls, kind } = parameters
    if (revoke === true) revokeKey(sandbox, exchange)
    if (expire_now === true || (calls !== undefined && n > calls)) invalid('The key has expired.')
    if (kind !== undefined && kind !== exchange.caller.kind)
      exchange.caller = ofKind(sandbox, exchange.caller, kind)
  }
}

// In a separate transaction: that of the request is discarded with the refusal.
function revokeKey(sandbox: Sandbox, exchange: Exchange): never {
  const scope = sandbox.scope(exchange.id)
  scope.tx.in(apiKeys).delete(exchange.caller.key_id)
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

// A user-scoped key needs a user: that of the first such key in the teamspace, else in the organization.
function ofKind(sandbox: Sandbox, caller: Caller, kind: PrincipalKind): Caller {
  if (kind === 'service') return { ...caller, kind, user_id: null }
  const keys = [...sandbox.store.rows(apiKeys.name).values()] as ApiKey[]
  const ofUsers = keys.filter((key) => key.kind === 'user' && key.organization_id === caller.organization_id)
  const near = ofUsers.find(({ teamspace_id }) => teamspace_id === caller.teamspace_id) ?? ofUsers[0]
  return { ...caller, kind, user_id: near?.user_id ?? null }
}
