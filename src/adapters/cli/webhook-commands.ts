import { callCommand } from './call-command.ts'
import { command, SANDBOX_OPTIONS } from './command.ts'
import { controlOf } from './control-client.ts'
import { listenForWebhooks, subscription } from './listen.ts'
import { linesOf, show } from './print.ts'

const listed = (name: string) =>
  callCommand({
    name,
    description: 'List the webhook subscriptions',
    route: 'GET /webhooks',
    columns: ['id', 'url', 'events', 'has_secret', 'created_at'],
  })

const URL_ARGUMENT = { name: '[url]', description: 'of the receiver; without it the built-in inbox' }

const DELIVERY = { name: '<id>', description: 'the delivery, as webhook deliveries lists it' }

export const webhookCommands = [
  listed('webhook'),
  listed('webhook list'),
  callCommand({
    name: 'webhook add',
    description: 'Subscribe a receiver, or the built-in inbox, to webhooks',
    args: [URL_ARGUMENT],
    options: ['event', 'secret'],
    route: 'POST /webhooks',
    body: ({ url }, options) => subscription(url, options),
  }),
  command({
    name: 'webhook remove',
    description: 'Remove a webhook subscription, or all; their waiting deliveries are not sent',
    args: [{ name: '[id]', description: 'the subscription, as webhook lists it' }],
    options: SANDBOX_OPTIONS,
    run: async (invocation) => {
      const ask = controlOf(invocation.options)
      const [id] = invocation.args
      const body =
        id === undefined
          ? await ask('DELETE /webhooks')
          : await ask('DELETE /webhooks/{id}', { params: { id } })
      return show(invocation, body, linesOf(body))
    },
  }),
  callCommand({
    name: 'webhook deliveries',
    description: 'List the webhook deliveries with their attempts, oldest first',
    route: 'GET /webhooks/deliveries',
    lines: ({ data }) =>
      linesOf({ data: data.map((each) => ({ ...each, attempts: each.attempts.length })) }, [
        'id',
        'created_at',
        'type',
        'status',
        'attempts',
        'url',
      ]),
  }),
  callCommand({
    name: 'webhook redeliver',
    description: 'Send an ended delivery again, or a waiting one at once',
    args: [DELIVERY],
    route: 'POST /webhooks/deliveries/{id}/redeliver',
  }),
  callCommand({
    name: 'webhook to-inbox',
    description:
      'Put the webhook of a delivery into the built-in inbox, whatever the status of the delivery is',
    args: [DELIVERY],
    route: 'POST /webhooks/deliveries/{id}/inbox',
  }),
  callCommand({
    name: 'webhook inbox',
    description: 'List the webhooks that the built-in inbox has received, newest first',
    route: 'GET /webhooks/inbox',
    columns: ['received_at', 'type', 'id', 'attempt', 'body'],
  }),
  command({
    name: 'webhook listen',
    description: 'Subscribe the built-in inbox or a receiver, and print its deliveries until Ctrl-C',
    options: [...SANDBOX_OPTIONS, 'forwardTo', 'event', 'secret'],
    run: listenForWebhooks,
  }),
]
