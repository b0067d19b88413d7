import type { JsonObject } from '../../core/json.ts'

// What a client sends. Every default is accepted by the sandbox `demo` under the key of its owner; a test names what matters to
// it and nothing else. The same arguments always give the same body.

/** One item of a batch. Specification: Endpoints / Create batch prediction. */
export type BatchItemBody = {
  readonly file_id: string
  /** Unique within its batch; at most 128 characters. */
  readonly custom_id: string
  /** From 1; only for files of a paged format. */
  readonly page?: number
}

/** Body of `POST /batch-predictions`. Specification: Endpoints / Create batch prediction. */
export type BatchBody = {
  readonly prompt: string
  /** JSON Schema Draft 2020-12 whose root has the type object. */
  readonly output_schema: JsonObject
  readonly model: string
  readonly completion_window?: '24h'
  /** At most 16 values. */
  readonly metadata?: Readonly<Record<string, string>>
  /** 1 to 5,000. */
  readonly items: readonly BatchItemBody[]
}

/** What is to be different about a batch; `items` also as their number. */
export type BatchChanges = Partial<Omit<BatchBody, 'items'>> & {
  readonly items?: number | readonly BatchItemBody[]
}

/**
 * Body of `POST /batch-predictions`: one item, unless `items` says how many or which. Numbered items have the ids `item-1`,
 * `item-2`, ... and are all about the same invoice.
 */
export function aBatch({ items = 1, ...changes }: BatchChanges = {}): BatchBody {
  return {
    prompt: 'Read vendor and total.',
    output_schema: {
      type: 'object',
      properties: { vendor: { type: 'string' }, total: { type: 'number' } },
      required: ['vendor', 'total'],
    },
    model: 'any-model',
    items: typeof items === 'number' ? Array.from({ length: items }, (_, index) => numbered(index)) : items,
    ...changes,
  }
}

function numbered(index: number): BatchItemBody {
  return aBatchItem({ custom_id: `item-${index + 1}` })
}

/** One item of a batch, about the first invoice of the sandbox `demo`. */
export function aBatchItem(changes: Partial<BatchItemBody> = {}): BatchItemBody {
  return { file_id: 'file-invoice-1', custom_id: 'item-1', ...changes }
}

/** Body of `POST /pages`. Specification: Endpoints / Create page. */
export type PageBody = {
  readonly name: string
  readonly parent?: { readonly type: 'page'; readonly page_id: string }
}

/** Body of `POST /pages`: a page at the top. */
export function aPage(changes: Partial<PageBody> = {}): PageBody {
  return { name: 'Roof plan', ...changes }
}

/** Body of `POST /organization/teamspaces`. Specification: Endpoints / Create teamspace. */
export type TeamspaceBody = {
  /** At most 300 characters. */
  readonly name: string
  readonly access?: 'open' | 'closed'
  /** The name of one of the two clouds, as the settings `names.cloud_a` and `names.cloud_b` have it. */
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

/** What `sandbox.webhooks.create` takes. */
export type WebhookSubscription = {
  readonly url: string
  /** Which events; all of them when left out. */
  readonly events?: readonly string[]
  /** Signs each delivery, where the setting `webhooks.signature` says how. */
  readonly secret?: string
}

/** A subscription to all events. Nobody listens at its address unless the test does. */
export function aWebhook(changes: Partial<WebhookSubscription> = {}): WebhookSubscription {
  return { url: 'http://127.0.0.1:9/hook', ...changes }
}
