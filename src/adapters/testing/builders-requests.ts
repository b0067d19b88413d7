// Bodies that a client sends. A sandbox with the fixtures `demo` accepts every default, with the key of the owner; override only
// the fields that matter to a test. The same arguments always return the same body.

/** Body of `POST /pages`. Specification: Endpoints / Create page. */
export type PageBody = {
  readonly name: string
  readonly parent?: { readonly type: 'page'; readonly page_id: string }
}

/** Body of `POST /pages`: a page at the top level. */
export function aPage(changes: Partial<PageBody> = {}): PageBody {
  return { name: 'Roof plan', ...changes }
}

/** Body of `POST /organization/teamspaces`. Specification: Endpoints / Create teamspace. */
export type TeamspaceBody = {
  /** At most 300 characters. */
  readonly name: string
  readonly access?: 'open' | 'closed'
  /** The value of one of the settings `names.cloud_a` and `names.cloud_b`. */
  readonly cloud_provider?: string
}

/** Body of `POST /organization/teamspaces`; also of the `PATCH` that renames one. */
export function aTeamspace(changes: Partial<TeamspaceBody> = {}): TeamspaceBody {
  return { name: 'Quay wall', ...changes }
}

/** Body of `POST /connections`. Specification: Endpoints / Create connection. */
export type ConnectionBody = { readonly connector_id: string; readonly connection_provider_id: string }

/** Body of `POST /connections`. */
export function aConnection(changes: Partial<ConnectionBody> = {}): ConnectionBody {
  return { connector_id: 'connector-drive', connection_provider_id: 'provider-drive', ...changes }
}

/** Body of `POST /conversations/{conversation_id}/messages/{message_id}`. Specification: Endpoints / Message feedback. */
export type FeedbackBody = {
  readonly like: 1 | -1
  readonly feedback?: string | null
  /** One of the setting `names.ui_surfaces`. */
  readonly ui_surface?: string | null
}

/** Body of a message's feedback: a like without words. */
export function aFeedback(changes: Partial<FeedbackBody> = {}): FeedbackBody {
  return { like: 1, ...changes }
}

/** The argument of `sandbox.webhooks.create`. */
export type WebhookSubscription = {
  readonly url: string
  /** Names of events; default: all events. */
  readonly events?: readonly string[]
  /** Signs each delivery as the setting `webhooks.signature` defines. */
  readonly secret?: string
}

/** A subscription to all events. Its default address is port 9 of this machine, where usually no server listens. */
export function aWebhook(changes: Partial<WebhookSubscription> = {}): WebhookSubscription {
  return { url: 'http://127.0.0.1:9/hook', ...changes }
}
