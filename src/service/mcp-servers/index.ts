import { inResponse, unnamedItem } from '../../core/assumptions.ts'
import type { Resource } from '../../core/service.ts'
import { oauthConsent } from './consent.ts'
import {
  callbackMessage,
  completeFlow,
  configuredAfter,
  oauthFlows,
  principalStatus,
  startFlow,
  stateReuse,
} from './oauth.ts'
import { listHasMore, listServers, mcpServers, nullValues } from './servers.ts'

export const mcpServersResource: Resource = {
  name: 'mcp-servers',
  operations: [completeFlow, listServers],
  collections: [mcpServers, oauthFlows],
  controls: [startFlow],
  consents: [oauthConsent],
  assumptions: {
    items: [
      unnamedItem(
        'U005',
        'Values and transitions of transport and status of an MCP server.',
        'Any strings, as the sandbox gives them; nothing changes them but the control API.',
        'A response shows what the fixtures gave.',
      ),
      inResponse(
        'U031',
        'Parameters and has_more of the list of MCP servers.',
        'No parameter is read; the list is whole, so has_more is false.',
      ),
      inResponse(
        'U032',
        'How an OAuth flow is started, and whether a state works twice.',
        'The control API or a fixture starts a flow, and a page of the emulator gives the consent; a state works once, and any code is accepted if the flow has none.',
        'The record of a flow has its code or none, and the codes of the real provider are not known. Whether a state works twice has a setting.',
      ),
      inResponse(
        'U033',
        'Statuses of the OAuth callback for a service key and for a state, code or redirect URI that does not fit.',
        '403 for the key, the status of validation for the rest.',
      ),
      inResponse(
        'T21',
        'Which lists carry has_more.',
        'All but data views, for which the specification shows none. mcp.list.has_more removes it from the list of MCP servers.',
      ),
      inResponse(
        'T30',
        'Which redirect URIs count as loopback.',
        'Those whose host is written localhost, 127.0.0.1 or [::1], with any port and path and without a user name.',
        'The specification writes three addresses, and another spelling of them is none of the three.',
      ),
      unnamedItem(
        'T32',
        'What last_synced_at of a server that never synced, and managed_by_app of an unmanaged one, hold.',
        'Values of their plain types, which fixtures supply. No response names it: null occurs only where the setting has allowed it.',
        'Null occurs only where the setting has allowed it.',
      ),
      inResponse(
        'T37',
        'Whether a completed flow sets oauth_configured of the server.',
        'Yes; tool_count and last_synced_at change only if the record lists the tools that a sync finds.',
      ),
    ],
    settings: [principalStatus, listHasMore, nullValues, stateReuse, configuredAfter, callbackMessage],
  },
}
