import * as z from 'zod'
import { refuseInvalid } from '../errors.ts'
import { list, listOf, type ShapeOf } from '../fields.ts'
import { control, type Scope, type WebhookType } from '../operation.ts'
import type { Resource } from '../service.ts'
import { collection } from '../state/collection.ts'
import { armDelivery, deliveryEvents, redeliver, sendToInbox, subscriptionsOf } from './delivery.ts'
import { INBOX_URL, inboxMessage, inboxOf } from './inbox.ts'
import {
  type Delivery,
  deliveries,
  deliveryFields,
  deliveryRecord,
  newSubscription,
  subscriptionChange,
  type Webhook,
  webhookRecord,
  webhooks,
} from './records.ts'
import { webhookAssumptions } from './settings.ts'

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
    created_at: z.string().nullable(),
  })

export type WebhookView = ShapeOf<typeof webhookView>

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
      handle: (scope) => list(subscriptionsOf(scope).map(shown)),
    }),
    control({
      name: 'create',
      method: 'POST',
      path: '/webhooks',
      summary:
        'Subscribe a receiver, or the built-in inbox with inbox: true, to all webhooks or to some types; a secret signs them',
      input: () => ({ body: newSubscription(webhookTypes) }),
      output: webhookView,
      handle: ({ tx, newId, at, receiverProblem }, { body }) => {
        const { url = INBOX_URL, events = null, secret = null } = body
        requireAllowed(receiverProblem(url))
        return shown(tx.in(webhooks).insert({ id: newId(), url, events, secret, created_at: at }))
      },
    }),
    control({
      name: 'change',
      method: 'PATCH',
      path: '/webhooks/{id}',
      summary:
        'Change the receiver, the types or the secret of a subscription; deliveries that exist keep their receiver',
      input: () => ({ body: subscriptionChange(webhookTypes) }),
      output: webhookView,
      handle: ({ tx, receiverProblem }, { params: { id }, body }) => {
        const changed = { ...tx.in(webhooks).require(id), ...body }
        requireAllowed(receiverProblem(changed.url))
        return shown(tx.in(webhooks).put(changed))
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

function requireAllowed(problem: string | undefined): void {
  if (problem !== undefined) refuseInvalid([{ pointer: '/url', detail: problem }])
}

function shown({
  id,
  url,
  events,
  secret,
  created_at,
}: ReturnType<typeof subscriptionsOf>[number]): WebhookView {
  return { id, url, events, has_secret: secret !== null, created_at }
}

function remove({ tx }: Scope, removed: readonly Webhook[]) {
  for (const { id } of removed) tx.in(webhooks).delete(id)
  return { deleted: removed.length }
}
