import type * as z from 'zod'
import type { JsonObject } from '../json.ts'
import type { Control, Notice, Resource, Scope } from '../operation.ts'
import { armDelivery, deliveryEvents, redeliver } from './delivery.ts'
import {
  type Delivery,
  deliveries,
  subscriptionFields,
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
    controls: [...subscriptionControls(notices), ...deliveryControls],
    assumptions: webhookAssumptions(notices),
    arm: (scope, table, record) => {
      if (table === deliveries.name) armDelivery(scope, record as Delivery)
    },
  }
}

const subscriptionControls = (notices: readonly Notice[]): readonly Control[] => [
  {
    name: 'list',
    method: 'GET',
    path: '/webhooks',
    summary: 'List the webhook subscriptions, those of the settings last and without an id',
    handle: (scope) => ({ object: 'list', data: subscriptions(scope) }),
  },
  {
    name: 'create',
    method: 'POST',
    path: '/webhooks',
    summary: 'Subscribe a receiver to all webhooks or to some types; a secret signs them',
    body: () => subscriptionFields(notices),
    handle: ({ tx, newId, at }, { body }) => {
      const { url, events = null, secret = null } = body as z.output<ReturnType<typeof subscriptionFields>>
      return shown(tx.in(webhooks).insert({ id: newId(), url, events, secret, created_at: at }))
    },
  },
  {
    name: 'delete-all',
    method: 'DELETE',
    path: '/webhooks',
    summary: 'Remove every webhook subscription but those of the settings; what is not yet sent is not sent',
    handle: (scope) => remove(scope, [...scope.tx.in(webhooks)]),
  },
  {
    name: 'delete',
    method: 'DELETE',
    path: '/webhooks/{id}',
    summary: 'Remove a webhook subscription; what is not yet sent is not sent',
    handle: (scope, { params: { id = '' } }) => remove(scope, [scope.tx.in(webhooks).require(id)]),
  },
]

const deliveryControls: readonly Control[] = [
  {
    name: 'deliveries',
    method: 'GET',
    path: '/webhooks/deliveries',
    summary:
      'List the webhook deliveries with their attempts and the fault rules that fired on them, oldest first; of more than 10,000 the oldest that are over are dropped',
    handle: ({ tx }) => ({ object: 'list', data: [...tx.in(deliveries)].map(asJson) }),
  },
  {
    name: 'redeliver',
    method: 'POST',
    path: '/webhooks/deliveries/{id}/redeliver',
    summary: 'Send a delivery again that has ended, or at once one that waits; faults do not touch it then',
    handle: (scope, { params: { id = '' } }) => asJson(redeliver(scope, scope.tx.in(deliveries).require(id))),
  },
]

function subscriptions({ tx, settings }: Scope): JsonObject[] {
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

function shown({ id, url, events, secret, created_at }: Subscription): JsonObject {
  return { id, url, events, has_secret: secret !== null, created_at }
}

function asJson(delivery: Delivery): JsonObject {
  return delivery as unknown as JsonObject
}

function remove({ tx }: Scope, removed: readonly Webhook[]): JsonObject {
  for (const { id } of removed) tx.in(webhooks).delete(id)
  return { deleted: removed.length }
}
