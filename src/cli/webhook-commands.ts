import type { Delivery } from '../core/webhooks/records.ts'
import { call, sandboxCommand } from '../terminal/call-command.ts'
import { jsonArgument } from '../terminal/json-files.ts'
import type { Line } from '../terminal/line.ts'
import { freeText, freeTexts, type OptionValues } from '../terminal/options.ts'
import { linesOf, show } from '../terminal/print.ts'

const SUBSCRIBED = {
  event: freeTexts('type', 'only webhooks of this type; may be repeated'),
  secret: freeText('text', 'secret that signs the webhooks'),
}

export const webhookCommands = [
  call('webhook list', 'GET /webhooks', {
    description: 'List the webhook subscriptions',
    columns: ['id', 'url', 'events', 'has_secret', 'created_at'],
  }),
  call('webhook add', 'POST /webhooks', {
    description: 'Subscribe a receiver, or the built-in inbox, to webhooks',
    args: { '[url]': 'of the receiver; without it the built-in inbox' },
    options: SUBSCRIBED,
    body: ({ url }, options) => subscription(url, options),
  }),
  call('webhook trigger', 'POST /webhooks/trigger', {
    description: 'Send a webhook about a batch, the newest one by default; the batch itself does not change',
    args: { '<type>': 'such as batch_prediction.completed' },
    options: {
      batch: freeText('id', 'batch that the webhook is about', 'newest'),
      patch: {
        ...freeText('json', 'merge patch for the object in the webhook, as JSON'),
        flag: 'data',
        variable: 'webhook-data',
      },
    },
    body: ({ type }, { batch, patch }) => ({ type, batch, data: patch && jsonArgument('--data', patch, '') }),
    lines: (body, { type }) =>
      deliveryTable(
        (body as { readonly data: readonly Delivery[] }).data,
        `No subscription wants ${type}: "workspace-emulator webhook add" adds one.`,
      ),
  }),
  call('webhook remove', ['DELETE /webhooks/{id}', 'DELETE /webhooks'], {
    description: 'Remove a webhook subscription, or all; their waiting deliveries are not sent',
    args: { '[id]': 'the subscription, as webhook lists it' },
  }),
  call('webhook deliveries', 'GET /webhooks/deliveries', {
    description: 'List the webhook deliveries with their attempts, oldest first',
    lines: ({ data }) => deliveryTable(data),
  }),
  call('webhook redeliver', 'POST /webhooks/deliveries/{id}/redeliver', {
    description: 'Send an ended delivery again, or a waiting one at once',
    args: { '<id>': 'the delivery, as webhook deliveries lists it' },
  }),
  call('webhook inbox', 'GET /webhooks/inbox', {
    description: 'List the webhooks that the built-in inbox has received, newest first',
    columns: ['received_at', 'type', 'id', 'attempt', 'body'],
  }),
  sandboxCommand('webhook listen', {
    description: 'Subscribe the built-in inbox or a receiver, and print its deliveries until Ctrl-C',
    options: { forwardTo: freeText('url', 'receiver that the webhooks are sent to'), ...SUBSCRIBED },
    // The emulator itself sends the webhooks, so signatures, retries and faults work as usual.
    run: async (ask, invocation) => {
      const { options, terminal } = invocation
      const made = await ask('POST /webhooks', { body: subscription(options.forwardTo, options) })
      const id = made.id ?? ''
      const receiver = options.forwardTo ?? 'the built-in inbox'
      const stopped = new AbortController()
      for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => stopped.abort())
      const { follow } = await import('./follow.ts')
      try {
        return await follow(invocation, { types: ['delivery'], signal: stopped.signal }, async (event) => {
          if (event.type === 'hello') terminal.err(`Listening: ${receiver} is subscribed. Ctrl-C ends it.`)
          if (event.type !== 'delivery') return
          const { data } = await ask('GET /webhooks/deliveries')
          const delivery = data.find((each) => event.data.ref === `webhook_deliveries/${each.id}`)
          if (delivery?.webhook_id === id) show(invocation, delivery, attemptLines(delivery))
        })
      } finally {
        // An emulator that has ended has no subscription any more.
        await ask('DELETE /webhooks/{id}', { params: { id } }).catch(() => {})
      }
    },
  }),
]

/** The latest attempt of a delivery. */
function attemptLines({ id, type, ref, body, status, attempts }: Delivery): string[] {
  const last = attempts.at(-1)
  const outcome = typeof last?.status === 'number' ? `HTTP ${last.status}` : (last?.error ?? status)
  return [
    `${last?.at ?? ''}  ${type} about ${ref}, attempt ${last?.attempt ?? 0}: ${outcome}  ${id}`,
    `  ${JSON.stringify(body)}`,
  ]
}

/** A subscription as the control interface accepts it. @param url of the receiver; absent: the inbox */
function subscription(url: string | undefined, { event, secret }: OptionValues<typeof SUBSCRIBED>) {
  const events = event.length === 0 ? undefined : event
  return { ...(url === undefined ? { inbox: true as const } : { url }), events, secret }
}

function deliveryTable(deliveries: readonly Delivery[], none?: string): Line[] {
  const data = deliveries.map((each) => ({ ...each, attempts: each.attempts.length }))
  return linesOf({ data }, ['id', 'created_at', 'type', 'status', 'attempts', 'url'], none)
}
