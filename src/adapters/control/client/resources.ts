import type { Ask } from './ask.ts'
import type { ConnectionView, Membership, OauthFlow, OauthFlowDraft } from './views/resources.ts'

/** MCP servers, as far as the API leaves them to others. */
export interface SandboxMcpServers {
  /** Starts an OAuth flow, which the API then completes. */
  startOauth(flow: OauthFlowDraft): Promise<OauthFlow>
}

/** Teamspaces, as far as the API leaves them to others. */
export interface SandboxTeamspaces {
  /**
   * Lets a user of the organization join an open teamspace unaided; a closed one rejects with `conflict`.
   * @param role default `member`
   */
  join(teamspaceId: string, userId: string, role?: string): Promise<Membership>
}

/** Connections that were asked for. */
export interface SandboxConnections {
  /** What a `redirect_url` stands for. */
  show(id: string): Promise<ConnectionView>
}

export function mcpServersOver(ask: Ask): SandboxMcpServers {
  return { startOauth: (flow) => ask('POST /mcp-oauth-flows', { body: flow }) }
}

export function teamspacesOver(ask: Ask): SandboxTeamspaces {
  return {
    join: (teamspaceId, userId, role) =>
      ask('POST /teamspaces/{teamspace_id}/join', {
        params: { teamspace_id: teamspaceId },
        body: { user_id: userId, role },
      }),
  }
}

export function connectionsOver(ask: Ask): SandboxConnections {
  return { show: (id) => ask('GET /connections/{id}', { params: { id } }) }
}
