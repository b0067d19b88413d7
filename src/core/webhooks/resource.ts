import * as z from 'zod'
import { refuseInvalid } from '../errors.ts'
import { list, listOf, type ShapeOf } from '../fields.ts'
import { control, type Notice, type Scope } from '../operation.ts'
import type { Resource } from '../service.ts'
import { armDelivery, deliveryEvents, redeliver, sendToInbox } from './delivery.ts'
import { INBOX_URL, inboxMessage, inboxOf } from './inbox.ts'
import {
  type Delivery,
  deliveries,
  deliveryFields,
  newSubscription,
  type Webhook,
  webhookCollections,
  webhooks,
} from './records.ts'
import { fixedSubscriptions, webhookAssumptions } from './settings.ts'

/**
 * Webhook subscriptions and what is delivered to them. The emulated API has no endpoint for either (U046); this is how the
 * control interface, fixtures and settings get at them.
 * @param notices every type of webhook of the other resources
 */
export function webhooksResource(notices: readonly Notice[]): Resource {
  return {
    name: 'webhooks',
    operations: [],
    collections: webhookCollections(notices),
    events: deliveryEvents,
    happenings: [
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
    controls: webhookControls(notices),
    assumptions: webhookAssumptions(notices),
    arm: (scope, table, record) => {
      if (table === deliveries.name) armDelivery(scope, record as Delivery)
    },
  }
}

/** A subscription as the control interface shows it: without its secret. */
const webhookView = () =>
  z.strictObject({
    /** Null for one that is in the settings. */
    id: z.string().nullable(),
    url: z.string(),
    /** The types that are wanted; null for all. */
    events: z.array(z.string()).nullable(),
    has_secret: z.boolean(),
    created_at: z.string().nullable(),
  })

export type WebhookView = ShapeOf<typeof webhookView>

const removal = () => z.strictObject({ deleted: z.int() })

/** What the control interface does with webhooks. */
export const webhookControls = (notices: readonly Notice[]) =>
  [
    control({
      name: 'list',
      method: 'GET',
      path: '/webhooks',
      summary: 'List the webhook subscriptions, those of the settings last and without an id',
      output: () => listOf(webhookView()),
      handle: (scope) => list(subscriptions(scope)),
    }),
    control({
      name: 'create',
      method: 'POST',
      path: '/webhooks',
      summary:
        'Subscribe a receiver, or with inbox: true the built-in one, to all webhooks or to some types; a secret signs them',
      input: () => ({ body: newSubscription(notices) }),
      output: webhookView,
      handle: ({ tx, newId, at, receiverProblem }, { body }) => {
        const { url = INBOX_URL, events = null, secret = null } = body
        const problem = receiverProblem(url)
        if (problem !== undefined) refuseInvalid([{ pointer: '/url', detail: problem }])
        return shown(tx.in(webhooks).insert({ id: newId(), url, events, secret, created_at: at }))
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
        'Remove every webhook subscription but those of the settings; what is not yet sent is not sent',
      output: removal,
      handle: (scope) => remove(scope, [...scope.tx.in(webhooks)]),
    }),
    control({
      name: 'delete',
      method: 'DELETE',
      path: '/webhooks/{id}',
      summary: 'Remove a webhook subscription; what is not yet sent is not sent',
      output: removal,
      handle: (scope, { params: { id } }) => remove(scope, [scope.tx.in(webhooks).require(id)]),
    }),
    control({
      name: 'deliveries',
      method: 'GET',
      path: '/webhooks/deliveries',
      summary:
        'List the webhook deliveries with their attempts and the fault rules that fired on them, oldest first; of more than 10,000 the oldest that are over are dropped',
      output: () => listOf(deliveryFields(notices)),
      handle: ({ tx }) => list([...tx.in(deliveries)]),
    }),
    control({
      name: 'send-to-inbox',
      method: 'POST',
      path: '/webhooks/deliveries/{id}/inbox',
      summary: 'Put what a delivery sends into the built-in inbox, whatever has become of it',
      output: () => deliveryFields(notices),
      handle: (scope, { params: { id } }) => sendToInbox(scope, scope.tx.in(deliveries).require(id)),
    }),
    control({
      name: 'redeliver',
      method: 'POST',
      path: '/webhooks/deliveries/{id}/redeliver',
      summary: 'Send a delivery again that has ended, or at once one that waits; faults do not touch it then',
      output: () => deliveryFields(notices),
      handle: (scope, { params: { id } }) => redeliver(scope, scope.tx.in(deliveries).require(id)),
    }),
  ] as const

function subscriptions({ tx, settings }: Scope): WebhookView[] {
  const fixed = settings.get(fixedSubscriptions).map(({ url, events = null, secret = null }) => ({
    id: null,
    url,
    events,
    secret,
    created_at: null,
  }))
  return [...tx.in(webhooks), ...fixed].map(shown)
}

type Subscription = Pick<Webhook, 'url' | 'events' | 'secret'> & {
  readonly id: string | null
  readonly created_at: string | null
}

function shown({ id, url, events, secret, created_at }: Subscription): WebhookView {
  return { id, url, events, has_secret: secret !== null, created_at }
}

function remove({ tx }: Scope, removed: readonly Webhook[]) {
  for (const { id } of removed) tx.in(webhooks).delete(id)
  return { deleted: removed.length }
}
