import { z } from 'zod'
import { refuse, refuseInvalid } from '../errors.ts'
import { list, listOf, type ShapeOf } from '../fields.ts'
import { control, type Scope, type WebhookType } from '../operation.ts'
import type { Resource } from '../service.ts'
import { collection } from '../state/collection.ts'
import { END_OF_TIME } from '../time/clock.ts'
import { formatInstant, parseDuration } from '../time/instant.ts'
import { armDelivery, deliveryEvents, redeliver, sendToInbox, subscriptionsOf } from './delivery.ts'
import { INBOX_URL, inboxMessage, inboxOf } from './inbox.ts'
import {
  type Delivery,
  deliveries,
  deliveryFields,
  deliveryRecord,
  isStandardSecret,
  newSubscription,
  STANDARD_SECRET,
  secretRotation,
  subscriptionChange,
  type Webhook,
  webhookRecord,
  webhooks,
} from './records.ts'
import { scheme, signature, webhookAssumptions } from './settings.ts'

/**
 * The resource for webhook subscriptions and deliveries. The emulated API has no endpoint for either (U046); the control
 * interface, fixtures and settings use this resource.
 * @param webhookTypes every webhook type of the other resources
 */
export function webhooksResource(webhookTypes: readonly WebhookType[]): Resource {
  return {
    name: 'webhooks',
    operations: [],
    collections: [
      collection<Webhook>({ ...webhooks, schema: () => webhookRecord(webhookTypes) }),
      collection<Delivery>({ ...deliveries, schema: () => deliveryRecord(webhookTypes) }),
    ],
    events: deliveryEvents,
    recordEvents: [
      {
        name: 'webhook.delivered',
        description: 'A webhook has arrived.',
        table: deliveries.name,
        status: 'delivered',
      },
      {
        name: 'webhook.failed',
        description: 'A webhook is given up.',
        table: deliveries.name,
        status: 'failed',
      },
    ],
    controls: webhookControls(webhookTypes),
    assumptions: webhookAssumptions(webhookTypes),
    arm: (scope, table, record) => {
      if (table === deliveries.name) armDelivery(scope, record as Delivery)
    },
  }
}

/** A subscription as the control interface shows it: without its secret. */
const webhookView = () =>
  z.strictObject({
    /** `null` for subscriptions that come from settings. */
    id: z.string().nullable(),
    url: z.string(),
    /** The subscribed types; null for all. */
    events: z.array(z.string()).nullable(),
    has_secret: z.boolean(),
    /** The instant until which an earlier secret signs, too; absent when there is none. */
    rotates_until: z.string().exactOptional(),
    /** Nothing is sent to it since this instant; absent while it is enabled. */
    disabled_at: z.string().exactOptional(),
    created_at: z.string().nullable(),
  })

export type WebhookView = ShapeOf<typeof webhookView>

/** A subscription with its new secret, which no other response contains. */
const rotated = () => webhookView().extend({ secret: z.string() })

export type RotatedWebhook = ShapeOf<typeof rotated>

const removal = () => z.strictObject({ deleted: z.int() })

/** The endpoints of the control interface for webhooks. */
export const webhookControls = (webhookTypes: readonly WebhookType[]) =>
  [
    control({
      name: 'list',
      method: 'GET',
      path: '/webhooks',
      summary: 'List the webhook subscriptions; those from settings are last and have no id',
      output: () => listOf(webhookView()),
      handle: (scope) => list(subscriptionsOf(scope).map((each) => shown(each, scope))),
    }),
    control({
      name: 'create',
      method: 'POST',
      path: '/webhooks',
      summary:
        'Subscribe a receiver, or the built-in inbox with inbox: true, to all webhooks or to some types; a secret signs them',
      input: () => ({ body: newSubscription(webhookTypes) }),
      output: webhookView,
      handle: (scope, { body }) => {
        const { tx, newId, at } = scope
        const { url = INBOX_URL, events = null, secret = null } = body
        requireUsable(scope, { url, secret })
        return shown(tx.in(webhooks).insert({ id: newId(), url, events, secret, created_at: at }), scope)
      },
    }),
    control({
      name: 'change',
      method: 'PATCH',
      path: '/webhooks/{id}',
      summary:
        'Change the receiver, the types or the secret of a subscription, or disable it; deliveries that exist keep their receiver',
      input: () => ({ body: subscriptionChange(webhookTypes) }),
      output: webhookView,
      handle: (scope, { params: { id }, body: { disabled, ...body } }) => {
        const { disabled_at, ...kept } = scope.tx.in(webhooks).require(id)
        const since = disabled === undefined ? disabled_at : disabled ? (disabled_at ?? scope.at) : undefined
        const changed = { ...kept, ...body, ...(since !== undefined && { disabled_at: since }) }
        requireUsable(scope, { url: changed.url, secret: body.secret ?? null })
        return shown(scope.tx.in(webhooks).put(changed), scope)
      },
    }),
    control({
      name: 'rotate',
      method: 'POST',
      path: '/webhooks/{id}/rotate',
      summary:
        'Give a subscription a new secret; the one before signs, too, until the overlap ends. Only under the setting webhooks.scheme: standard',
      input: () => ({ body: secretRotation() }),
      output: rotated,
      handle: (scope, { params: { id }, body }) => {
        const { tx, settings, now, newId } = scope
        const webhook = tx.in(webhooks).require(id)
        if (settings.get(scheme) !== 'standard')
          refuse('conflict', {
            detail:
              'Only Standard Webhooks have several signatures, and the setting webhooks.scheme is emulator.',
            mitigation: 'Set webhooks.scheme to standard, or change the secret of the subscription.',
          })
        const { secret = newSecret(scope), overlap } = body
        requireUsable(scope, { secret })
        const old = webhook.secret ?? settings.get(signature)?.secret
        const valid = (webhook.previous ?? []).filter(({ expires_at }) => Date.parse(expires_at) > now)
        const until = Math.min(END_OF_TIME, now + (parseDuration(overlap) ?? 0))
        const expires_at = formatInstant(until)
        const added = old === undefined || until === now ? [] : [{ id: newId(), secret: old, expires_at }]
        const previous = [...added, ...valid]
        return { ...shown(tx.in(webhooks).put({ ...webhook, secret, previous }), scope), secret }
      },
    }),
    control({
      name: 'inbox',
      method: 'GET',
      path: '/webhooks/inbox',
      summary: 'List the webhooks that the built-in inbox has received, newest first',
      output: () => listOf(inboxMessage()),
      handle: ({ tx }) => list(inboxOf(tx.in(deliveries))),
    }),
    control({
      name: 'delete-all',
      method: 'DELETE',
      path: '/webhooks',
      summary:
        'Remove every webhook subscription except those from settings; pending deliveries are not sent',
      output: removal,
      handle: (scope) => remove(scope, [...scope.tx.in(webhooks)]),
    }),
    control({
      name: 'delete',
      method: 'DELETE',
      path: '/webhooks/{id}',
      summary: 'Remove a webhook subscription; pending deliveries are not sent',
      output: removal,
      handle: (scope, { params: { id } }) => remove(scope, [scope.tx.in(webhooks).require(id)]),
    }),
    control({
      name: 'deliveries',
      method: 'GET',
      path: '/webhooks/deliveries',
      summary:
        'List the webhook deliveries with their attempts and the fault rules that fired on them, oldest first; beyond 10,000, the oldest ended ones are removed',
      output: () => listOf(deliveryFields(webhookTypes)),
      handle: ({ tx }) => list([...tx.in(deliveries)]),
    }),
    control({
      name: 'send-to-inbox',
      method: 'POST',
      path: '/webhooks/deliveries/{id}/inbox',
      summary: 'Add a copy of a delivery to the built-in inbox, whatever its status',
      output: () => deliveryFields(webhookTypes),
      handle: (scope, { params: { id } }) => sendToInbox(scope, scope.tx.in(deliveries).require(id)),
    }),
    control({
      name: 'redeliver',
      method: 'POST',
      path: '/webhooks/deliveries/{id}/redeliver',
      summary: 'Send an ended delivery again, or a waiting one at once, without faults',
      output: () => deliveryFields(webhookTypes),
      handle: (scope, { params: { id } }) => redeliver(scope, scope.tx.in(deliveries).require(id)),
    }),
  ] as const

function requireUsable(
  { receiverProblem, settings }: Scope,
  { url, secret }: { readonly url?: string; readonly secret: string | null },
): void {
  const problem = url === undefined ? undefined : receiverProblem(url)
  if (problem !== undefined) refuseInvalid([{ pointer: '/url', detail: problem }])
  const isUsable = secret === null || settings.get(scheme) !== 'standard' || isStandardSecret(secret)
  if (!isUsable) refuseInvalid([{ pointer: '/secret', detail: STANDARD_SECRET }])
}

/** A secret of 32 bytes. */
function newSecret({ chance, newId }: Scope): string {
  const draws = chance('webhook-secret', newId())
  return `whsec_${Buffer.from(Array.from({ length: 32 }, () => draws.next() * 256)).toString('base64')}`
}

function shown(subscription: ReturnType<typeof subscriptionsOf>[number], { now }: Scope): WebhookView {
  const { id, url, events, secret, previous = [], disabled_at, created_at } = subscription
  const until = previous.reduce((last, { expires_at }) => Math.max(last, Date.parse(expires_at)), 0)
  return {
    ...{ id, url, events, has_secret: secret !== null },
    ...(until > now && { rotates_until: formatInstant(until) }),
    ...(disabled_at !== undefined && { disabled_at }),
    created_at,
  }
}

function remove({ tx }: Scope, removed: readonly Webhook[]) {
  for (const { id } of removed) tx.in(webhooks).delete(id)
  return { deleted: removed.length }
}
