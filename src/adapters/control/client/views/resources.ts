/** An OAuth flow that is to be started. */
export interface OauthFlowDraft {
  readonly server_id: string
  /** http or https; http on a loopback host alone. */
  readonly redirect_uri: string
}

/** What the real service's start of a flow, and the provider, would return: shown this once. */
export interface OauthFlow extends OauthFlowDraft {
  readonly state: string
  readonly code: string
}

/** A user's place in a teamspace. */
export interface Membership {
  readonly id: string
  readonly teamspace_id: string
  readonly user_id: string
  readonly role: string
  readonly agent_ids: readonly string[]
  readonly created_at: string
  readonly removed_at: string | null
  readonly self_joined: boolean
}

/** A connection that was asked for, and why it ends there. */
export interface ConnectionView {
  readonly id: string
  readonly teamspace_id: string
  readonly user_id: string | null
  readonly connector_id: string | null
  readonly connection_provider_id: string | null
  readonly created_at: string
  readonly message: string
}
