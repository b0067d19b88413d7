import { type Consent, type ConsentCall, withQuery } from '../../core/consent.ts'
import { refuse } from '../../core/errors.ts'
import type { Scope } from '../../core/operation.ts'
import { seal } from '../../core/secrets.ts'
import { presentedSecret, requirePending, unusedSecret } from '../records.ts'
import { teamspaces } from '../teamspaces/schema.ts'
import { CONSENT, type OAuthFlow, oauthFlows } from './oauth.ts'
import { mcpServers } from './servers.ts'

/** The error codes of RFC 6749 (section 4.1.2.1) for a flow that the provider does not grant. */
const REFUSALS: Readonly<Record<string, string>> = {
  deny: 'access_denied',
  server_error: 'server_error',
  temporarily_unavailable: 'temporarily_unavailable',
}

/**
 * The page of the provider of an MCP server. It returns to the flow's redirect_uri with a code and the state, or with an
 * error. A new code is created when access is allowed: the sandbox has only a digest of the code from the start of the flow.
 */
export const oauthConsent: Consent = {
  name: CONSENT,
  errors: {
    server_error: 'Server error',
    temporarily_unavailable: 'Temporarily unavailable',
    expired_state: 'Allow, and forget the state',
    wrong_state: 'Allow, and return another state',
  },
  ask: (scope, call) => {
    const { flow, state } = flowOf(scope, call)
    const { name, base_url, _emulator } = scope.tx.in(mcpServers).require(flow.server_id)
    const teamspace = scope.tx.in(teamspaces).get(_emulator.teamspace_id)
    return {
      title: `Connect ${name} to ${teamspace?.name ?? _emulator.teamspace_id}?`,
      asker: `Requested by the MCP server at ${base_url}.`,
      grants: ['Use the tools of this server', 'Keep access until it is revoked'],
      facts: [['State', state]],
      returnsTo: flow.redirect_uri,
    }
  },
  decide: (scope, call, outcome) => {
    const { flow, state } = flowOf(scope, call)
    const { tx, newUuid, at } = scope
    const flows = tx.in(oauthFlows)
    const error = REFUSALS[outcome]
    if (error !== undefined) {
      flows.put({ ...flow, decided_at: at })
      return withQuery(flow.redirect_uri, { error, state })
    }
    const code = unusedSecret(newUuid, flows, (each) => each.code ?? '')
    if (outcome === 'expired_state') flows.delete(flow.id)
    else flows.put({ ...flow, code: seal(code), decided_at: at })
    return withQuery(flow.redirect_uri, { code, state: outcome === 'wrong_state' ? newUuid() : state })
  },
}

// The state is in the URL, because the sandbox keeps only its digest.
function flowOf({ tx }: Scope, { nonce, query }: ConsentCall): { flow: OAuthFlow; state: string } {
  const flow = requirePending(tx.in(oauthFlows), nonce)
  const state = query.get('state') ?? ''
  if (presentedSecret(state) === flow.state) return { flow, state }
  return refuse('bad_request', {
    detail: 'The state in the address is not the one of this flow.',
    mitigation: 'Open the address as authorize_url shows it.',
  })
}
