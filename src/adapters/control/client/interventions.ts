import type { AgentRuns, ProviderEventDraft, ProviderEventResult } from './views/agents.ts'
import type { BatchFailure, BatchPlanChange, BatchView } from './views/batch.ts'
import type { List } from './views/list.ts'
import type { ConnectionView, Membership, OauthFlow, OauthFlowDraft } from './views/resources.ts'
import type { WebhookDelivery, WebhookDraft, WebhookView } from './views/webhooks.ts'

/** One call: `unknown` is what it does not take. */
interface Call<Params, Body, Answer> {
  readonly params: Params
  readonly query: unknown
  readonly body: Body
  readonly answer: Answer
}

interface Id {
  readonly id: string
}

/**
 * The interventions that the resources of this service declare. The control interface serves them without knowing their types,
 * so they are written down here; a test holds each against the schema that checks it.
 */
export interface Interventions {
  readonly 'GET /batches/{id}': Call<Id, unknown, BatchView>
  readonly 'PATCH /batches/{id}': Call<Id, BatchPlanChange, BatchView>
  readonly 'POST /batches/{id}/fail': Call<Id, BatchFailure | undefined, BatchView>
  readonly 'POST /batches/{id}/expire': Call<Id, unknown, BatchView>
  readonly 'POST /batches/{id}/complete': Call<Id, unknown, BatchView>
  readonly 'POST /batches/{id}/cleanup': Call<Id, unknown, BatchView>
  readonly 'GET /webhooks': Call<unknown, unknown, List<WebhookView>>
  readonly 'POST /webhooks': Call<unknown, WebhookDraft, WebhookView>
  readonly 'DELETE /webhooks': Call<unknown, unknown, { readonly deleted: number }>
  readonly 'DELETE /webhooks/{id}': Call<Id, unknown, { readonly deleted: number }>
  readonly 'GET /webhooks/deliveries': Call<unknown, unknown, List<WebhookDelivery>>
  readonly 'POST /webhooks/deliveries/{id}/redeliver': Call<Id, unknown, WebhookDelivery>
  readonly 'POST /provider-events': Call<unknown, ProviderEventDraft, ProviderEventResult>
  readonly 'GET /agent-runs': Call<unknown, unknown, AgentRuns>
  readonly 'POST /mcp-oauth-flows': Call<unknown, OauthFlowDraft, OauthFlow>
  readonly 'POST /teamspaces/{teamspace_id}/join': Call<
    { readonly teamspace_id: string },
    { readonly user_id: string; readonly role?: string | undefined },
    Membership
  >
  readonly 'GET /connections/{id}': Call<Id, unknown, ConnectionView>
}
