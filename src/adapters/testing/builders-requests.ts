import type { JsonObject } from '../../core/json.ts'

// Bodies that a client sends. A sandbox with the fixtures `demo` accepts every default, with the key of the owner; override only
// the fields that matter to a test. The same arguments always return the same body.

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

/** Fields of a batch that override the defaults; `items` may also be a number of items. */
export type BatchChanges = Partial<Omit<BatchBody, 'items'>> & {
  readonly items?: number | readonly BatchItemBody[]
}

/**
 * Body of `POST /batch-predictions`, with one item by default. If `items` is a number, the items have the ids `item-1`,
 * `item-2`, ... and all refer to the same invoice.
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

/** One item of a batch, about the first invoice of the fixtures `demo`. */
export function aBatchItem(changes: Partial<BatchItemBody> = {}): BatchItemBody {
  return { file_id: 'file-invoice-1', custom_id: 'item-1', ...changes }
}

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
